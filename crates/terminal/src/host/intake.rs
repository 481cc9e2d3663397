//! Reads a terminal ahead on a separate thread, so that a program with much output can continue while the screen
//! processes it. The thread ends after a while without output.
//!
//! It does not block on the kernel: a program that writes short lines would wake it for each of them.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use tokio::sync::Notify;

/// Maximum read-ahead: after that the program has to wait.
const MOST: usize = 256 << 10;
/// The most that the kernel returns at once, currently 4 KiB.
const READ: usize = 16 << 10;
/// When it returns less than this, there is no more: another read would only disturb the writer.
const SOME: usize = 4000;
/// How long the writer is then left alone; after much longer the kernel's buffer would be full.
const NAP: Duration = Duration::from_micros(20);
const STACK: usize = 64 << 10;
/// The thread ends after this long without output.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Why reading ahead stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// There is no output for now.
    Quiet,
    /// Nobody has the other side open any more.
    Gone,
}

/// Output that was read ahead.
pub(crate) struct Intake {
    shared: Arc<Shared>,
    /// Written to when the thread should read what is there and end.
    ending: OwnedFd,
}

struct Shared {
    state: Mutex<State>,
    /// There is room again.
    room: Condvar,
    /// There is as much as requested, or no more will come.
    bell: Notify,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// Notify at this much.
    wished: usize,
    end: Option<End>,
}

impl Shared {
    /// A panicked thread left the bytes consistent.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Intake {
    /// Starts to read.
    pub(crate) fn start(terminal: OwnedFd) -> io::Result<Intake> {
        let shared = Arc::new(Shared { state: Mutex::default(), room: Condvar::new(), bell: Notify::new() });
        let ending = eventfd(0, EventfdFlags::CLOEXEC)?;
        let (reads, end) = (shared.clone(), ending.try_clone()?);
        std::thread::Builder::new().name("reader".into()).stack_size(STACK).spawn(move || {
            let end = read(&terminal, &end, &reads);
            reads.state().end = Some(end);
            reads.bell.notify_one();
        })?;
        Ok(Intake { shared, ending })
    }

    /// Returns when there is at least this much, or no more comes.
    pub(crate) async fn filled(&self, wished: usize) {
        loop {
            {
                let mut state = self.shared.state();
                if state.bytes.len() >= wished || state.end.is_some() {
                    return;
                }
                state.wished = wished;
            }
            self.shared.bell.notified().await;
        }
    }

    /// Swaps the output for an empty buffer; says if that was all.
    pub(crate) fn take(&self, buffer: &mut Vec<u8>) -> Option<End> {
        buffer.clear();
        let mut state = self.shared.state();
        if state.bytes.len() >= MOST {
            self.shared.room.notify_one();
        }
        std::mem::swap(&mut state.bytes, buffer);
        state.end
    }

    /// Makes the thread read what is there and end.
    pub(crate) fn finish(&self) {
        // Fails only if it was written to very often.
        let _ = rustix::io::write(&self.ending, &1u64.to_ne_bytes());
    }
}

fn read(terminal: &OwnedFd, end: &OwnedFd, shared: &Shared) -> End {
    // Short naps need precise timers; without them only speed suffers.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut buffer = vec![0; READ];
    let mut ending = false;
    loop {
        match rustix::io::read(terminal, &mut buffer) {
            Ok(0) => return End::Gone,
            Ok(count) => {
                give(shared, &buffer[..count]);
                if count < SOME && !ending {
                    std::thread::sleep(NAP);
                }
            }
            Err(Errno::INTR) => (),
            Err(Errno::AGAIN) if ending => return End::Quiet,
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::new(terminal, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
                let ready = poll(&mut fds, Some(&QUIET));
                // Once more before it ends: output may have come meanwhile.
                ending = ready == Ok(0) || !fds[1].revents().is_empty();
            }
            Err(_) => return End::Gone,
        }
    }
}

fn give(shared: &Shared, bytes: &[u8]) {
    let mut state = shared.state();
    while state.bytes.len() >= MOST {
        state = shared.room.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let before = state.bytes.len();
    state.bytes.extend_from_slice(bytes);
    if before < state.wished && state.bytes.len() >= state.wished {
        shared.bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (UnixStream, Intake) {
        let (inside, outside) = UnixStream::pair().unwrap();
        outside.set_nonblocking(true).unwrap();
        (inside, Intake::start(outside.into()).unwrap())
    }

    #[tokio::test]
    async fn everything_comes_in_order_and_no_more_than_fits_is_read_ahead() {
        let (mut inside, intake) = pair();
        let sent: Vec<u8> = (0..4 * MOST).map(|at| (at / 100) as u8).collect();
        let written = sent.clone();
        let writing = std::thread::spawn(move || inside.write_all(&written).unwrap());
        let (mut came, mut buffer) = (Vec::new(), Vec::new());
        while came.len() < sent.len() {
            intake.filled(1).await;
            intake.take(&mut buffer);
            assert!(buffer.len() < MOST + READ);
            came.extend_from_slice(&buffer);
        }
        assert!(came == sent);
        writing.join().unwrap();
    }

    #[tokio::test]
    async fn the_intake_ends_with_its_source_or_when_it_is_quiet() {
        let (mut inside, intake) = pair();
        inside.write_all(b"the last words").unwrap();
        intake.finish();
        intake.filled(MOST).await;
        let mut buffer = Vec::new();
        assert_eq!(intake.take(&mut buffer), Some(End::Quiet), "somebody has it open");
        assert_eq!(buffer, b"the last words");
        let (inside, intake) = pair();
        drop(inside);
        intake.filled(1).await;
        assert_eq!(intake.take(&mut buffer), Some(End::Gone));
        let (_inside, intake) = pair();
        intake.filled(1).await;
        assert_eq!(intake.take(&mut buffer), Some(End::Quiet));
    }
}
