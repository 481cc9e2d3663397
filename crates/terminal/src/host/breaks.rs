//! Short breaks of a host whose program writes and writes, so that whoever waits for a processor gets one.
//!
//! The kernel lets who works go on for milliseconds before it looks at who waits, and with as many floods as there are
//! cores every key of every other session would wait for that, at each of the processes that its echo passes.

use std::time::{Duration, Instant};

/// Output that lasts longer than this is a flood. What is shorter is over sooner without a break.
const LONG: Duration = Duration::from_millis(500);
/// So much of a flood is taken in at a time…
const PIECE: usize = 32 << 10;
/// …and after so much work there is a break.
const WORK: Duration = Duration::from_micros(300);
/// As short as can be: what counts is that the processor is given up, the kernel makes about 60 µs of it.
const BREAK: Duration = Duration::from_micros(1);

/// When to have the next break.
pub(crate) struct Breaks {
    since: Option<Instant>,
}

impl Breaks {
    /// For output that goes on since then.
    pub(crate) fn new(busy_since: Option<Instant>) -> Breaks {
        let now = Instant::now();
        Breaks { since: busy_since.is_some_and(|busy| now - busy > LONG).then_some(now) }
    }

    /// The output in the pieces that it is taken in.
    pub(crate) fn pieces<'a>(&self, bytes: &'a [u8]) -> std::slice::Chunks<'a, u8> {
        bytes.chunks(if self.since.is_some() { PIECE } else { bytes.len().max(1) })
    }

    /// Has a break if it is time.
    pub(crate) fn rest(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= WORK) {
            // The thread, not the task: there is nothing else for it to do that should not wait, too.
            std::thread::sleep(BREAK);
            self.since = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_taken_in_by_pieces_and_a_burst_at_once() {
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
