//! Questions on the terminal.

use std::io::{IsTerminal, Write};

use clap::Args;

use crate::Failure;
use crate::output::clean;

/// The option of commands that ask before they act.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Yes {
    /// Do not ask; for scripts
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Asks before something that cannot be taken back, such as `delete` of `project Parser with 3 tasks`; refuses without a
/// terminal. `--yes` is the answer of scripts.
pub(crate) fn sure(yes: bool, act: &str, what: &str, consequence: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !can_ask() {
        let detail = format!("nothing was changed; this would {act} {what}");
        return Err(Failure::usage(detail).advise("there is no terminal to ask on: pass --yes if you are sure"));
    }
    let consequence = if consequence.is_empty() { String::new() } else { format!("\n{consequence}") };
    match asked(&clean(&format!("This will {act} {what}.{consequence}\nContinue? [y/N] ")))? {
        true => Ok(()),
        false => Err(Failure::usage("nothing was changed")),
    }
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on the terminal; only a yes counts.
pub(crate) fn asked(question: &str) -> Result<bool, Failure> {
    Ok(matches!(answer(question)?.to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Asks on the terminal; the answer without white space around it.
pub(crate) fn answer(question: &str) -> Result<String, Failure> {
    let unread = |error: std::io::Error| Failure::other(format!("could not read the answer: {error}"));
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(question.as_bytes()).and_then(|()| stderr.flush()).map_err(unread)?;
    drop(stderr);
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(unread)?;
    Ok(answer.trim().to_owned())
}
