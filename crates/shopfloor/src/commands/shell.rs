//! `shopfloor completions` and `shopfloor man`

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use crate::{Context, Failure, complete, help};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page for each command into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints completions.
pub(crate) fn completions(args: &CompletionsArgs, context: &Context) -> Result<(), Failure> {
    context.out.bytes(&complete::script(args.shell)?)
}

/// Prints the man page, or writes one for each command.
pub(crate) fn man(args: &ManArgs, context: &Context) -> Result<(), Failure> {
    let mut command = help::command();
    // Gives every command its full name, as `shopfloor-project-create`.
    command.build();
    let Some(dir) = &args.dir else {
        return context.out.raw(&page(command)?.1);
    };
    let wrong = |error: std::io::Error| Failure::other(format!("could not write into {}: {error}", dir.display()));
    std::fs::create_dir_all(dir).map_err(wrong)?;
    let pages = pages(command)?;
    for (name, text) in &pages {
        std::fs::write(dir.join(name), text).map_err(wrong)?;
    }
    context.out.note(&format!("wrote {} man pages into {}", pages.len(), dir.display()));
    Ok(())
}

fn pages(command: clap::Command) -> Result<Vec<(String, String)>, Failure> {
    let mut all = Vec::new();
    // `help` has a copy of every command below it.
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        all.extend(pages(inner.clone())?);
    }
    all.push(page(command)?);
    Ok(all)
}

fn page(command: clap::Command) -> Result<(String, String), Failure> {
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| Failure::other(format!("could not create the man page: {error}")))?;
    // The library cannot name the section after the options.
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\nExit codes:", ".SH \"EXIT STATUS\"");
    Ok((page.get_filename(), text))
}
