//! The program's output: read directly, or ahead by a thread while there is much.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use tokio::net::unix::pipe;

use super::intake::{End, Intake};

/// Under load, output is collected for this long before it is processed and watchers are woken…
const COLLECT: Duration = Duration::from_millis(4);
/// …or until this much has come.
const COLLECT_BYTES: usize = 128 << 10;
/// It is load when that happens more often than this, after a few times at once.
const UNHURRIED: Duration = Duration::from_millis(2);
const AT_ONCE: u32 = 8;
/// Maximum of a direct read.
const READ: usize = 32 << 10;

/// The output of a terminal.
pub(crate) struct Output {
    terminal: OwnedFd,
    way: Way,
    pace: Pace,
    buffer: Vec<u8>,
}

enum Way {
    /// Without a thread: a key's echo does not wait for one to wake.
    Direct(pipe::Receiver),
    /// Since then.
    Ahead(Intake, Instant),
    Over,
}

impl Output {
    pub(crate) fn new(terminal: OwnedFd) -> io::Result<Output> {
        let way = Way::direct(&terminal)?;
        Ok(Output { terminal, way, pace: Pace::new(), buffer: Vec::new() })
    }

    /// Returns when there is output to process.
    pub(crate) async fn ready(&self) {
        match &self.way {
            Way::Direct(reader) => drop(reader.readable().await),
            Way::Ahead(intake, _) => {
                if let Some(due) = self.pace.due() {
                    let _ = tokio::time::timeout_at(due.into(), intake.filled(COLLECT_BYTES)).await;
                }
                intake.filled(1).await;
            }
            Way::Over => std::future::pending().await,
        }
    }

    /// Since when there has been much output without a pause.
    pub(crate) fn busy_since(&self) -> Option<Instant> {
        match self.way {
            Way::Ahead(_, since) => Some(since),
            Way::Direct(_) | Way::Over => None,
        }
    }

    /// What has come.
    pub(crate) fn take(&mut self) -> &[u8] {
        match &self.way {
            Way::Direct(reader) => {
                let gone = read(reader, &mut self.buffer);
                self.pace.taken();
                if gone {
                    self.way = Way::Over;
                } else if self.pace.due().is_some()
                    && let Ok(intake) = self.terminal.try_clone().and_then(Intake::start)
                {
                    self.way = Way::Ahead(intake, Instant::now());
                }
            }
            Way::Ahead(intake, _) => {
                let end = intake.take(&mut self.buffer);
                self.pace.taken();
                match end {
                    None => (),
                    Some(End::Gone) => self.way = Way::Over,
                    Some(End::Quiet) => self.way = Way::direct(&self.terminal).unwrap_or(Way::Over),
                }
            }
            Way::Over => self.buffer.clear(),
        }
        &self.buffer
    }

    /// The remaining output, in pieces; empty at the end.
    pub(crate) async fn rest(&mut self) -> &[u8] {
        while let Way::Ahead(intake, _) = &self.way {
            intake.finish();
            intake.filled(COLLECT_BYTES).await;
            if intake.take(&mut self.buffer).is_some() {
                self.way = Way::Over;
            }
            if !self.buffer.is_empty() {
                return &self.buffer;
            }
        }
        // Even if somebody has reopened it meanwhile.
        self.buffer.resize(READ, 0);
        let count = rustix::io::retry_on_intr(|| rustix::io::read(&self.terminal, &mut self.buffer)).unwrap_or(0);
        &self.buffer[..count]
    }
}

impl Way {
    fn direct(terminal: &OwnedFd) -> io::Result<Way> {
        Ok(Way::Direct(pipe::Receiver::from_owned_fd_unchecked(terminal.try_clone()?)?))
    }
}

/// Reads until there is nothing more: the kernel returns at most 4 KiB at a time. Returns whether the other side is
/// closed.
fn read(reader: &pipe::Receiver, buffer: &mut Vec<u8>) -> bool {
    buffer.resize(READ, 0);
    let mut filled = 0;
    let gone = loop {
        match reader.try_read(&mut buffer[filled..]) {
            Ok(0) => break filled < READ,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => break error.kind() != io::ErrorKind::WouldBlock,
        }
    };
    buffer.truncate(filled);
    gone
}

/// When to process output: at once unless that is too often, otherwise when enough was collected.
struct Pace {
    taken_at: Instant,
    /// How often output can be processed at once before it is load.
    left: u32,
}

impl Pace {
    fn new() -> Pace {
        Pace { taken_at: Instant::now(), left: AT_ONCE }
    }

    /// Until when output is collected, if it is.
    fn due(&self) -> Option<Instant> {
        (self.left(Instant::now()) == 0).then(|| self.taken_at + COLLECT)
    }

    fn taken(&mut self) {
        let now = Instant::now();
        *self = Pace { taken_at: now, left: self.left(now).saturating_sub(1) };
    }

    fn left(&self, now: Instant) -> u32 {
        let rested = (now - self.taken_at).as_micros() / UNHURRIED.as_micros();
        self.left.saturating_add(u32::try_from(rested).unwrap_or(AT_ONCE)).min(AT_ONCE)
    }
}
