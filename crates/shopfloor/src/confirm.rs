//! Questions on the terminal.

use std::io::{IsTerminal, Write};

use crate::Failure;

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
