//! Asks on the terminal before something that cannot be undone.

use std::io::{IsTerminal, Write};

use crate::Failure;
use crate::output::clean;

/// Whether somebody is there to answer.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on the terminal; only a yes counts. Without a terminal the answer is no.
pub(crate) fn ask(question: &str) -> Result<bool, Failure> {
    let unread = |error: std::io::Error| Failure::other(format!("could not read the answer: {error}"));
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(clean(question).as_bytes()).and_then(|()| stderr.flush()).map_err(unread)?;
    drop(stderr);
    if !can_ask() {
        return Ok(false);
    }
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(unread)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
