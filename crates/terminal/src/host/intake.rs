//! Reads the terminal on a thread of its own, so that the program writes on while the screen takes in what it wrote.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use tokio::sync::Notify;

/// More than this is not read ahead: then the program has to wait.
const MOST: usize = 256 << 10;
/// The most that the kernel might hand out at once, so far 4 KiB.
const READ: usize = 16 << 10;
const STACK: usize = 64 << 10;

/// What the program has written and nobody has looked at yet.
pub(crate) struct Intake {
    shared: Arc<Shared>,
    /// Written to when the thread is to read what is there and end.
    ending: OwnedFd,
}

struct Shared {
    state: Mutex<State>,
    /// There is room again.
    room: Condvar,
    /// There is as much as was wished for, or no more will come.
    bell: Notify,
}

#[derive(Default)]
struct State {
    bytes: Vec<u8>,
    /// The bell rings when there is so much.
    wished: usize,
    closed: bool,
}

impl Shared {
    /// A thread that panicked left the bytes whole.
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
            read(&terminal, &end, &reads);
            reads.state().closed = true;
            reads.bell.notify_one();
        })?;
        Ok(Intake { shared, ending })
    }

    /// Returns when there is at least so much to take; not at all when no more comes and everything was taken.
    pub(crate) async fn filled(&self, wished: usize) {
        loop {
            {
                let mut state = self.shared.state();
                if state.bytes.len() >= wished || (state.closed && !state.bytes.is_empty()) {
                    return;
                }
                state.wished = wished;
            }
            self.shared.bell.notified().await;
        }
    }

    /// Swaps what has come for an empty buffer.
    pub(crate) fn take(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
        let mut state = self.shared.state();
        if state.bytes.len() >= MOST {
            self.shared.room.notify_one();
        }
        std::mem::swap(&mut state.bytes, buffer);
    }

    /// Lets the thread read what is there and end; returns when something must be taken for that, or everything was read.
    pub(crate) async fn end(&self) {
        // Fails only if it was written to very often.
        let _ = rustix::io::write(&self.ending, &1u64.to_ne_bytes());
        loop {
            {
                let mut state = self.shared.state();
                if state.closed || state.bytes.len() >= MOST {
                    return;
                }
                state.wished = MOST;
            }
            self.shared.bell.notified().await;
        }
    }
}

fn read(terminal: &OwnedFd, end: &OwnedFd, shared: &Shared) {
    let mut buffer = vec![0; READ];
    let mut ending = false;
    loop {
        match rustix::io::read(terminal, &mut buffer) {
            // Nobody has the other side open any more.
            Ok(0) => return,
            Ok(count) => give(shared, &buffer[..count]),
            Err(Errno::INTR) => (),
            Err(Errno::AGAIN) if ending => return,
            Err(Errno::AGAIN) => {
                let mut fds = [PollFd::new(terminal, PollFlags::IN), PollFd::new(end, PollFlags::IN)];
                let _ = poll(&mut fds, None);
                ending = !fds[1].revents().is_empty();
            }
            Err(_) => return,
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
        intake.end().await;
        intake.take(&mut buffer);
        assert!(buffer.is_empty());
    }

    #[tokio::test]
    async fn what_is_there_at_the_end_is_read_although_somebody_has_it_open() {
        let (mut inside, intake) = pair();
        inside.write_all(b"the last words").unwrap();
        intake.end().await;
        let mut buffer = Vec::new();
        intake.take(&mut buffer);
        assert_eq!(buffer, b"the last words");
        drop(inside);
    }
}
