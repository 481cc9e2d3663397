//! The hosts of sessions, found by their folder: below the fixture's own and nowhere else.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// The session hosts whose folder is below this one: the fixture's own and nobody else's.
pub(crate) fn hosts(folder: &Path) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = folder.to_string_lossy().into_owned();
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        line.contains("session-host") && line.contains(&ours)
    })
    .collect()
}

/// Sends a signal; the process may be gone already.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}
