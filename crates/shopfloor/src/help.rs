//! The command line as help, man page and completions show it.

use clap::{Command, CommandFactory};

use crate::Cli;

/// What every help text says about how the program ends.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  it worked
  1  something else went wrong
  2  the command line or the input is wrong
  3  not found, or not allowed (also: no valid token)
  4  conflict: it changed meanwhile, or is taken
  5  no hub answers";

/// The whole command line, with the exit codes under every command's help.
pub fn command() -> Command {
    explained(Cli::command())
}

fn explained(command: Command) -> Command {
    let own = command.get_after_help().map(ToString::to_string);
    let after = own.map_or_else(|| EXIT_CODES.to_owned(), |own| format!("{own}\n\n{EXIT_CODES}"));
    command.after_help(after).mut_subcommands(explained)
}
