//! Opens a link in the person's browser.

use std::process::Stdio;

use tokio::process::Command;

use crate::Output;

/// Opens `link`; prints a note if that fails.
pub(crate) fn open(link: &str, out: &Output) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let screen = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !screen {
        out.note("no display found: open the link above in a browser");
        return;
    }
    let spawned =
        Command::new(program).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = spawned {
        out.note(&format!("could not open a browser with {program} ({error}): open the link above"));
    }
}
