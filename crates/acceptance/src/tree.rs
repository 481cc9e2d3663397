//! The descendants of this process, and killing them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Adopts orphans: otherwise a process could leave the tree.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Pid::from_raw(1));
}

/// Kills all descendants until none is left or the time is up.
pub(crate) fn kill_all(patience: Duration) {
    let deadline = Instant::now() + patience;
    loop {
        let left = descendants();
        if left.is_empty() || Instant::now() >= deadline {
            reap();
            return;
        }
        for pid in left {
            kill(pid);
        }
        std::thread::sleep(LOOK_AGAIN);
        reap();
    }
}

/// The parents of all live processes.
fn parents() -> HashMap<i32, i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let one = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        // The program's name is in parentheses and may contain parentheses.
        let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
        let state = fields.next()?.to_owned();
        let parent: i32 = fields.next()?.parse().ok()?;
        (!matches!(state.as_str(), "Z" | "X")).then_some((pid, parent))
    };
    entries.filter_map(one).collect()
}

fn descends(parents: &HashMap<i32, i32>, mut pid: i32, ancestor: i32) -> bool {
    for _ in 0..parents.len() {
        match parents.get(&pid) {
            Some(parent) if *parent == ancestor => return true,
            Some(parent) => pid = *parent,
            None => return false,
        }
    }
    false
}

fn descendants() -> Vec<Pid> {
    let own = std::process::id().cast_signed();
    let parents = parents();
    parents.keys().filter(|pid| descends(&parents, **pid, own)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// Kills one process if it is still our descendant: its id may have been reused.
fn kill(pid: Pid) {
    #[cfg(target_os = "linux")]
    {
        let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        if descends(&parents(), pid.as_raw_nonzero().get(), std::process::id().cast_signed()) {
            let _ = rustix::process::pidfd_send_signal(&handle, Signal::KILL);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Reaps exited processes.
fn reap() {
    while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
}
