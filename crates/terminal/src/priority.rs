//! Gives a session's processes a lower priority than its host.

use rustix::process::{Pid, getpriority_process, setpriority_pgrp};

/// Lowers the priority of a process that was just started, and of its descendants, by `nice`. It must lead its session.
///
/// Not from a low-priority thread: the process would be that thread's child, and bubblewrap (`--die-with-parent`) ends
/// with the *thread* that started it.
pub(crate) fn lower(leader: Pid, nice: u8) {
    if nice == 0 {
        return;
    }
    // If even that is forbidden, it runs with normal priority. Applied to the group, to include its first children.
    let own = getpriority_process(None).unwrap_or(0);
    let _ = setpriority_pgrp(Some(leader), (own + i32::from(nice)).min(19));
    // Where the kernel groups processes by session, as on desktops, priorities count only inside a group. Absent on
    // most servers.
    let _ = std::fs::write(format!("/proc/{}/autogroup", leader.as_raw_nonzero()), nice.to_string());
}
