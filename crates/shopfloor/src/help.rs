//! The command line for help, man pages and completions.

mod groups;

use clap::{Arg, Command, CommandFactory};

use crate::Cli;

/// The exit codes in every help text.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  any other error
  2  invalid command line or input
  3  not found or not allowed (or no valid token)
  4  conflict: somebody changed it first, or it is taken
  5  the hub does not answer";

/// The whole command line, with the exit codes below every help text.
pub fn command() -> Command {
    groups::grouped(explained(Cli::command()))
}

fn explained(command: Command) -> Command {
    let own = command.get_after_help().map(ToString::to_string);
    let after = own.map_or_else(|| EXIT_CODES.to_owned(), |own| format!("{own}\n\n{EXIT_CODES}"));
    command.after_help(after).mut_args(negative).mut_subcommands(explained)
}

/// Accepts `--priority -5` as a number, which is refused with its limits, and not as an unknown option.
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
