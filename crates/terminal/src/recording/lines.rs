//! Collects the text of a terminal's stream in lines, and keeps those that match.

use std::time::Duration;

use alacritty_terminal::vte::{Params, Perform};

use super::Found;

/// A program that never ends its line must not fill our memory.
const LONGEST: usize = 64 << 10;

/// Reads a stream; a redrawn line counts once, equal lines below each other all count.
#[derive(Default)]
pub(super) struct Lines {
    query: String,
    most: usize,
    found: Vec<Found>,
    line: String,
    began: Option<(Duration, u64)>,
    time: Duration,
    offset: u64,
    /// What was last written into this row.
    last: String,
    /// Whether the cursor was moved here, so that the next text may be a redraw.
    moved: bool,
    /// Rows of the screen below the cursor after such a move.
    below: usize,
    rows: usize,
}

impl Lines {
    pub(super) fn new(query: &str, most: usize, rows: u16) -> Self {
        Self { query: query.to_lowercase(), most, rows: rows.into(), ..Self::default() }
    }

    /// What comes was written then.
    pub(super) fn at(&mut self, time: Duration, offset: u64) {
        (self.time, self.offset) = (time, offset);
    }

    pub(super) fn resize(&mut self, rows: u16) {
        self.rows = rows.into();
    }

    pub(super) fn full(&self) -> bool {
        self.found.len() >= self.most
    }

    pub(super) fn finish(mut self) -> Vec<Found> {
        self.end();
        self.found
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        let (time, offset) = self.began.take().unwrap_or_default();
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        if !self.full() && line.to_lowercase().contains(&self.query) && !self.again(line) {
            self.found.push(Found { time, offset, line: line.to_owned() });
        }
        line.clone_into(&mut self.last);
    }

    /// Whether it was already reported, and is only redrawn.
    fn again(&self, line: &str) -> bool {
        self.last == line || (self.moved && self.found.iter().any(|hit| hit.line == line))
    }

    /// The next row: below the last one of the screen it is a new one.
    fn feed(&mut self) {
        self.end();
        self.last.clear();
        self.moved &= self.below > 0;
        self.below = self.below.saturating_sub(1);
    }

    fn go(&mut self, below: usize) {
        self.end();
        (self.moved, self.below) = (true, below.min(self.rows));
    }
}

impl Perform for Lines {
    fn print(&mut self, character: char) {
        self.began.get_or_insert((self.time, self.offset));
        self.line.push(character);
        if self.line.len() > LONGEST {
            self.end();
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' | 0x0B | 0x0C => self.feed(),
            b'\r' => self.end(),
            b'\t' => self.print(' '),
            _ => (),
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], _: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first()).copied().unwrap_or(0);
        let count = usize::from(first.max(1));
        match action {
            'A' | 'F' => self.go(self.below + count),
            'B' | 'E' => self.go(self.below.saturating_sub(count)),
            'H' | 'd' | 'f' => self.go(self.rows.saturating_sub(count)),
            'J' | 'L' | 'M' | 'S' | 'T' => self.end(),
            'h' | 'l' if intermediates == b"?" => {
                // A screen of its own, and back to where the lines were.
                match (first, action) {
                    (47 | 1047 | 1049, 'h') => self.go(self.rows),
                    (47 | 1047 | 1049, _) => {
                        self.end();
                        (self.moved, self.below) = (false, 0);
                    }
                    _ => self.end(),
                }
            }
            'C' | 'G' => self.print(' '),
            _ => (),
        }
    }
}
