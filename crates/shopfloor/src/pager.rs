//! Long texts on a terminal, one page at a time.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::{Failure, Output};

/// Prints text through `$PAGER`, or `less` if it is installed; as it is if the output is not a terminal.
pub(crate) fn page(text: &str, out: &Output) -> Result<(), Failure> {
    let Some(program) = out.width.and_then(|_| chosen()) else { return out.raw(text) };
    let mut words = program.split_whitespace();
    let Some(name) = words.next() else { return out.raw(text) };
    let mut pager = Command::new(name);
    // `less` with these options quits if the text fits, and keeps colours.
    pager.args(words).env("LESS", std::env::var("LESS").unwrap_or_else(|_| "FRX".into())).stdin(Stdio::piped());
    let Ok(mut child) = pager.spawn() else { return out.raw(text) };
    if let Some(mut stdin) = child.stdin.take() {
        // The reader may quit before the end.
        let _ = stdin.write_all(text.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }
    child.wait().map(|_| ()).map_err(|error| Failure::other(format!("could not run the pager `{program}`: {error}")))
}

/// The pager; `None` if the user wants none.
fn chosen() -> Option<String> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    (!pager.trim().is_empty() && pager.trim() != "cat").then_some(pager)
}
