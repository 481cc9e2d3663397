//! stub
use crate::commands::serve_args::ServeArgs;
use crate::{Context, Failure};
pub(crate) async fn run(args: ServeArgs, open: bool, context: &Context) -> Result<(), Failure> {
    let s = args.settle(&context.layers, &context.settings.data_dir.value)?;
    super::log::start(s.log.value);
    s.tls();
    s.github()?;
    if open {
        super::browser::open("x", &context.out);
    }
    Ok(())
}
