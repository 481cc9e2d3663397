//! `shopfloor completions` and `shopfloor man`

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::{Context, Failure, help};

/// Which shell.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell that they are for
    shell: Shell,
}

/// Where man pages go.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page for each command into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints completions.
pub(crate) fn completions(args: &CompletionsArgs, context: &Context) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "shopfloor", &mut script);
    context.out.bytes(&script)
}

/// Prints the man page, or writes all of them.
pub(crate) fn man(args: &ManArgs, context: &Context) -> Result<(), Failure> {
    let Some(dir) = &args.dir else {
        let mut page = Vec::new();
        clap_mangen::Man::new(help::command())
            .render(&mut page)
            .map_err(|error| Failure::other(format!("could not make the man page: {error}")))?;
        return context.out.bytes(&page);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(help::command(), dir))
        .map_err(|error| Failure::other(format!("could not write man pages into {}: {error}", dir.display())))?;
    context.out.note(&format!("wrote the man pages into {}", dir.display()));
    Ok(())
}
