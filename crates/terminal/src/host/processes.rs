//! The processes of a session: the descendants of the host, and no others.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use tokio::time::Instant;

/// How often to check the tree while it is being stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long to wait for the descendants; a process stuck in the kernel is not waited for.
const KILLING: Duration = Duration::from_secs(2);

/// The parents of all live processes.
fn parents() -> HashMap<i32, i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The program's name is in parentheses and may contain parentheses.
            let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
            let state = fields.next()?;
            let parent: i32 = fields.next()?.parse().ok()?;
            (!matches!(state, "Z" | "X")).then_some((pid, parent))
        })
        .collect()
}

fn descends(parents: &HashMap<i32, i32>, mut pid: i32, ancestor: i32) -> bool {
    while let Some(parent) = parents.get(&pid) {
        if *parent == ancestor {
            return true;
        }
        pid = *parent;
    }
    false
}

/// All descendants of this process, including orphans, which it adopts.
pub(crate) fn descendants() -> Vec<Pid> {
    descendants_of(std::process::id() as i32)
}

fn descendants_of(ancestor: i32) -> Vec<Pid> {
    let parents = parents();
    parents.keys().filter(|pid| descends(&parents, **pid, ancestor)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// Sends signals to one process if it is still our descendant: its id may have been reused.
fn signal(pid: Pid, signals: &[Signal]) {
    signal_below(std::process::id() as i32, pid, signals);
}

fn signal_below(ancestor: i32, pid: Pid, signals: &[Signal]) {
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    if !descends(&parents(), pid.as_raw_nonzero().get(), ancestor) {
        return;
    }
    send(&handle, signals);
}

/// Reaps exited orphans that we adopted, but not the child itself.
pub(crate) fn reap_orphans(child: Option<Pid>) {
    let own = std::process::id();
    let Ok(children) = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")) else { return };
    for pid in children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        if Some(pid) != child {
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Asks all processes of the session to end, and kills the remaining ones when the time is up.
pub(crate) async fn stop_all(grace: Duration, child: Option<Pid>) {
    let deadline = Instant::now() + grace;
    // A stopped process must continue to notice that it should end.
    for pid in descendants() {
        signal(pid, &[Signal::HUP, Signal::TERM, Signal::CONT]);
    }
    loop {
        reap_orphans(child);
        let left = descendants();
        if left.is_empty() {
            return;
        }
        if Instant::now() >= deadline {
            for pid in left {
                signal(pid, &[Signal::KILL]);
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Kills all descendants of a host that does not answer, and then the host. `is_host` says whether the id is still the
/// host's.
pub(crate) async fn kill_host(host: i32, is_host: impl Fn() -> io::Result<bool>) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(host) else { return Ok(()) };
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
    if !is_host()? {
        return Ok(());
    }
    let deadline = Instant::now() + KILLING;
    // First the descendants: without the host nobody could tell whose they are.
    loop {
        let left = descendants_of(host);
        if left.is_empty() || Instant::now() >= deadline {
            break;
        }
        left.into_iter().for_each(|pid| signal_below(host, pid, &[Signal::KILL]));
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    Ok(rustix::process::pidfd_send_signal(&handle, Signal::KILL)?)
}

/// Ends leftovers: every process with this variable, and no other. Gently first.
pub async fn end_left(variable: &str, grace: Duration) {
    let begun = Instant::now();
    let mut asked = false;
    loop {
        let left = given(variable);
        let waited = begun.elapsed();
        // A process stuck in the kernel is not waited for.
        if left.is_empty() || waited >= grace + KILLING {
            return;
        }
        for pid in left {
            match waited >= grace {
                true => signal_given(variable, pid, &[Signal::KILL]),
                false if !asked => signal_given(variable, pid, &[Signal::HUP, Signal::TERM, Signal::CONT]),
                false => {}
            }
        }
        asked = true;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// The processes whose initial environment had this variable; those of other people are unreadable, and not ours.
fn given(variable: &str) -> Vec<Pid> {
    let (parents, us) = (parents(), std::process::id() as i32);
    // Exclude this process and its ancestors, if they run in that session.
    let others = parents.keys().filter(|pid| **pid != us && !descends(&parents, us, **pid));
    others.filter(|pid| was_given(**pid, variable)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

fn was_given(pid: i32, variable: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|given| given == variable.as_bytes())
}

fn signal_given(variable: &str, pid: Pid, signals: &[Signal]) {
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    if was_given(pid.as_raw_nonzero().get(), variable) {
        send(&handle, signals);
    }
}

fn send(handle: &OwnedFd, signals: &[Signal]) {
    for signal in signals {
        let _ = rustix::process::pidfd_send_signal(handle, *signal);
    }
}
