//! The processes of a session: those that descend from the host, and no other.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};
use tokio::time::Instant;

/// How often the tree is looked at while it is being stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long what is below a host may take to be gone; a process that the kernel holds is not waited for.
const KILLING: Duration = Duration::from_secs(2);

/// Parents of all processes that are not dead already.
fn parents() -> HashMap<i32, i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name of the program is in parentheses and may itself contain some.
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

/// All processes that descend from this one. Orphans do too: this process adopts them.
pub(crate) fn descendants() -> Vec<Pid> {
    descendants_of(std::process::id() as i32)
}

fn descendants_of(ancestor: i32) -> Vec<Pid> {
    let parents = parents();
    parents.keys().filter(|pid| descends(&parents, **pid, ancestor)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// Sends signals to one process if it still descends from us: its number may have gone to somebody else meanwhile.
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

/// Waits for orphans that we adopted and that have ended, but not for the child itself.
pub(crate) fn reap_orphans(child: Option<Pid>) {
    let own = std::process::id();
    let Ok(children) = std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")) else { return };
    for pid in children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        if Some(pid) != child {
            let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

/// Asks all processes of the session to end, and kills those that have not when the time is over.
pub(crate) async fn stop_all(grace: Duration, child: Option<Pid>) {
    let deadline = Instant::now() + grace;
    // A stopped process does not see that it should end before it goes on.
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

/// Kills all processes below a host that does not answer, and then the host. `is_host` says whether the number still is
/// the host's.
pub(crate) async fn kill_host(host: i32, is_host: impl Fn() -> io::Result<bool>) -> io::Result<()> {
    let Some(pid) = Pid::from_raw(host) else { return Ok(()) };
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
    if !is_host()? {
        return Ok(());
    }
    let deadline = Instant::now() + KILLING;
    // First what is below it: without the host nobody could tell whose they are.
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

/// Ends what somebody who is gone left behind: every process that was given this variable, and no other. Asks first.
pub async fn end_left(variable: &str, grace: Duration) {
    let begun = Instant::now();
    let mut asked = false;
    loop {
        let left = given(variable);
        let waited = begun.elapsed();
        // A process that the kernel holds is not waited for.
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

/// The processes whose environment began with this variable in it; those of other people cannot be read, and are not ours.
fn given(variable: &str) -> Vec<Pid> {
    let (parents, us) = (parents(), std::process::id() as i32);
    // Nor are we, or whoever started us, when somebody did so in that session.
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
