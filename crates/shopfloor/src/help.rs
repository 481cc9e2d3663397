//! The command line as help, man page and completions show it.

use clap::{Arg, Command, CommandFactory};

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
    command.after_help(after).mut_args(negative).mut_subcommands(explained)
}

/// Lets `--priority -5` be a number that is refused with its limits, not an option that nobody knows.
fn negative(arg: Arg) -> Arg {
    let takes = arg.get_action().takes_values() && !arg.is_positional();
    if takes { arg.allow_negative_numbers(true) } else { arg }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_number_is_a_value() {
        let said = |args: &[&str]| command().try_get_matches_from(args).unwrap_err().to_string();
        let priority = said(&["shopfloor", "task", "add", "--project", "P", "x", "--priority", "-5"]);
        assert!(priority.contains("invalid value '-5' for '--priority <N>'"), "{priority}");
        let budget = said(&["shopfloor", "worker", "start", "--project", "P", "--budget", "-1", "--", "true"]);
        assert!(budget.contains("`-1` is not an amount in dollars"), "{budget}");
    }
}
