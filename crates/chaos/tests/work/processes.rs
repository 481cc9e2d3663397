//! The agents' processes, found by where they work: below the fixture's own folder and nowhere else.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The scripted agents that run below `folder` now.
pub(crate) fn agents(folder: &Path) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| is_agent(*pid, folder)).collect()
}

fn is_agent(pid: u32, folder: &Path) -> bool {
    let below = std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    below && line.split(|byte| *byte == 0).any(|argument| argument == b"scripted-agent")
}

/// Sends a signal; the process may be gone already.
pub(crate) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Stops a process for a while, as a machine that sleeps does.
pub(crate) async fn pause(pid: u32, time: Duration) {
    signal(pid, Signal::STOP);
    tokio::time::sleep(time).await;
    signal(pid, Signal::CONT);
}
