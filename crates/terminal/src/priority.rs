//! Starts what may take a processor to itself at a lower priority than whoever starts it.

use tokio::runtime::Handle;

/// Runs `start` at a priority that is lower by `nice`; what it starts keeps that priority.
///
/// On Linux each thread has its own priority, and a process gets that of the thread which starts it. So a thread of its
/// own starts it, and the caller stays as it is.
pub(crate) fn lowered<T: Send>(nice: u8, start: impl FnOnce() -> T + Send) -> T {
    if nice == 0 {
        return start();
    }
    let runtime = Handle::try_current().ok();
    std::thread::scope(|scope| {
        let started = scope.spawn(move || {
            let _inside = runtime.as_ref().map(Handle::enter);
            // Where even that is forbidden it runs as it would have without.
            let _ = rustix::process::nice(i32::from(nice));
            start()
        });
        started.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lowers a process group's share where the kernel groups processes by session, as desktops do: there, priorities count
/// only inside a group. The process must lead its session.
pub(crate) fn lower_group(pid: rustix::process::Pid, nice: u8) {
    if nice > 0 {
        // Absent on most servers.
        let _ = std::fs::write(format!("/proc/{}/autogroup", pid.as_raw_nonzero()), nice.to_string());
    }
}
