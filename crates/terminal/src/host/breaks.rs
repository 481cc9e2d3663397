//! Short pauses of a host whose program floods the terminal, so that other processes get the processor.
//!
//! The kernel lets a busy process run for milliseconds before it switches. With as many floods as there are cores,
//! every key of every other session would wait for that at each process that its echo passes.

use std::time::{Duration, Instant};

/// Longer output is a flood. Shorter output is finished sooner without a pause.
const LONG: Duration = Duration::from_millis(500);
/// How much of a flood is processed at a time…
const PIECE: usize = 32 << 10;
/// …and how long, before a pause.
const WORK: Duration = Duration::from_micros(300);
/// As short as possible: giving up the processor is what counts; the kernel makes about 60 µs of it.
const BREAK: Duration = Duration::from_micros(1);

/// Schedules the pauses.
pub(crate) struct Breaks {
    since: Option<Instant>,
}

impl Breaks {
    /// For output that has lasted since then.
    pub(crate) fn new(busy_since: Option<Instant>) -> Breaks {
        let now = Instant::now();
        Breaks { since: busy_since.is_some_and(|busy| now - busy > LONG).then_some(now) }
    }

    /// The output in the pieces in which it is processed.
    pub(crate) fn pieces<'a>(&self, bytes: &'a [u8]) -> std::slice::Chunks<'a, u8> {
        bytes.chunks(if self.since.is_some() { PIECE } else { bytes.len().max(1) })
    }

    /// Pauses if it is time.
    pub(crate) fn rest(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= WORK) {
            // Pauses the thread, not the task: all of its other work should wait, too.
            std::thread::sleep(BREAK);
            self.since = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_processed_in_pieces_and_a_burst_at_once() {
        let output = vec![b'x'; 3 * PIECE + 1];
        let begun = Instant::now();
        assert_eq!(Breaks::new(None).pieces(&output).len(), 1);
        assert_eq!(Breaks::new(Some(begun)).pieces(&output).len(), 1);
        let flood = Breaks::new(begun.checked_sub(2 * LONG));
        assert_eq!(flood.pieces(&output).len(), 4);
        assert_eq!(flood.pieces(&output).flatten().count(), output.len());
        assert_eq!(Breaks::new(None).pieces(&[]).len(), 0);
    }
}
