//! `shopfloor up` and `shopfloor serve`: this process becomes a hub.

mod browser;
pub(crate) mod log;
mod runner;
mod start;

use clap::Args;

pub(crate) use start::Stop;

use super::serve_args::ServeArgs;
use crate::{Context, Failure};

/// Arguments of `up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    #[command(flatten)]
    hub: ServeArgs,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Do not start a runner on this machine
    #[arg(long)]
    no_runner: bool,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeCommand {
    #[command(flatten)]
    hub: ServeArgs,
}

/// Runs a hub and opens its page.
pub(crate) async fn up(args: UpArgs, context: &Context) -> Result<(), Failure> {
    start::run(args.hub, start::Beside { browser: !args.no_open, runner: !args.no_runner }, context).await
}

/// Runs a hub.
pub(crate) async fn serve(args: ServeCommand, context: &Context) -> Result<(), Failure> {
    start::run(args.hub, start::Beside { browser: false, runner: false }, context).await
}
