//! The last bytes of a terminal, and what a watcher gets next from them. Pure.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Bytes;
use protocol::terminal::WATCH_WINDOW;

/// How many bytes to keep for watchers that lag.
const KEPT: u64 = 1024 * 1024;
/// A screen older than this is requested again instead of replaying from it.
const STALE: u64 = 64 * 1024;
/// Maximum size of a frame.
const FRAME: usize = 32 * 1024;

/// A terminal's screen at a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Screen {
    pub(crate) offset: u64,
    pub(crate) cols: u16,
    pub(crate) rows: u16,
    pub(crate) title: String,
    pub(crate) bytes: Vec<u8>,
}

/// How a terminal's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exit {
    pub(crate) offset: u64,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// One watcher's position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The next byte that it needs; `None`: it needs the screen.
    at: Option<u64>,
    /// The size that it knows.
    epoch: u64,
    /// Everything before this was processed.
    credit: u64,
    /// Everything before this was sent.
    sent: u64,
    /// The offset of the last sent screen, and how many bytes of screens were not processed yet.
    screened: u64,
    unread: u64,
    /// Where the terminal was when the watcher first needed a screen: any later screen will do.
    missed: Option<u64>,
    exited: bool,
}

impl Cursor {
    /// The watcher processed everything before `offset`.
    pub(crate) fn credit(&mut self, offset: u64) {
        self.credit = self.credit.max(offset.min(self.sent));
        if self.credit >= self.screened {
            self.unread = 0;
        }
    }
}

/// What a watcher gets next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing now.
    Wait,
    /// The screen, in place of everything before.
    Screen(Arc<Screen>),
    /// Output from this position on.
    Data(u64, Bytes),
    /// The end.
    Exit(Exit),
    /// Nothing now: a fresh screen must be requested.
    WantScreen,
}

/// The last bytes of a terminal.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    chunks: VecDeque<(u64, Bytes)>,
    start: u64,
    end: u64,
    screen: Option<Arc<Screen>>,
    /// The size of the newest screen.
    size: Option<(u16, u16)>,
    /// Counts the sizes; every watcher needs a screen of the newest.
    epoch: u64,
    /// Where the size last changed: a watcher that left before needs the screen.
    resized_at: Option<u64>,
    exit: Option<Exit>,
}

impl Ring {
    /// Starts at a position that the first watcher already knows.
    pub(crate) fn starting_at(offset: u64) -> Self {
        Self { start: offset, end: offset, ..Self::default() }
    }

    /// The end of the known bytes.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Adds output. It may overlap known output: it may arrive twice.
    pub(crate) fn data(&mut self, offset: u64, bytes: Bytes) {
        // Offset overflow: the runner is broken; drop it.
        if offset.checked_add(bytes.len() as u64).is_none() {
            return;
        }
        if offset > self.end {
            // A gap: nobody can continue from before it without a screen.
            self.restart(offset);
            self.screen = None;
        }
        let known = usize::try_from(self.end - offset).unwrap_or(usize::MAX).min(bytes.len());
        let fresh = bytes.slice(known..);
        if fresh.is_empty() {
            return;
        }
        let length = fresh.len() as u64;
        self.chunks.push_back((self.end, fresh));
        self.end += length;
        while self.end - self.start > KEPT
            && let Some((at, chunk)) = self.chunks.pop_front()
        {
            self.start = at + chunk.len() as u64;
        }
    }

    /// Adds a screen.
    pub(crate) fn screen(&mut self, screen: Screen) {
        if screen.offset > self.end || screen.offset < self.start {
            self.restart(screen.offset);
        }
        // Without a size to compare, a watcher that returned without a screen may have another size.
        let size = Some((screen.cols, screen.rows));
        if self.size != size {
            self.epoch += 1;
            self.resized_at = Some(screen.offset);
            self.size = size;
        }
        self.screen = Some(Arc::new(screen));
    }

    /// The process ended.
    pub(crate) fn exit(&mut self, exit: Exit) {
        self.exit = Some(exit);
    }

    /// The start position of a watcher that knows everything before `from`.
    pub(crate) fn enter(&self, from: Option<u64>) -> Cursor {
        let known = from.filter(|from| self.resized_at.is_none_or(|resized| resized < *from));
        let credit = from.unwrap_or(0);
        Cursor { at: known, epoch: self.epoch, credit, sent: credit, ..Cursor::default() }
    }

    /// What a watcher gets next; advances its cursor.
    pub(crate) fn next(&self, cursor: &mut Cursor) -> Step {
        if cursor.sent.saturating_sub(cursor.credit) >= WATCH_WINDOW {
            return Step::Wait;
        }
        match cursor.at.filter(|at| (self.start..=self.end).contains(at) && cursor.epoch == self.epoch) {
            Some(at) if at == self.end => self.at_end(cursor),
            Some(at) => self.more(cursor, at),
            None => self.whole(cursor),
        }
    }

    fn at_end(&self, cursor: &mut Cursor) -> Step {
        match self.exit {
            Some(exit) if !cursor.exited && exit.offset <= self.end => {
                cursor.exited = true;
                Step::Exit(exit)
            }
            _ => Step::Wait,
        }
    }

    fn more(&self, cursor: &mut Cursor, at: u64) -> Step {
        let index = self.chunks.partition_point(|(offset, chunk)| offset + chunk.len() as u64 <= at);
        let Some((offset, chunk)) = self.chunks.get(index) else { return Step::Wait };
        let from = usize::try_from(at - offset).unwrap_or(0);
        let bytes = chunk.slice(from..chunk.len().min(from + FRAME));
        let next = at + bytes.len() as u64;
        (cursor.at, cursor.sent) = (Some(next), next);
        Step::Data(at, bytes)
    }

    fn whole(&self, cursor: &mut Cursor) -> Step {
        // A watcher that processes no screens would be sent ever more of them.
        if cursor.unread >= WATCH_WINDOW {
            return Step::Wait;
        }
        let missed = *cursor.missed.get_or_insert(self.end);
        let fresh = |screen: &&Arc<Screen>| screen.offset >= missed || self.end - screen.offset <= STALE;
        let Some(screen) = self.screen.as_ref().filter(|screen| screen.offset >= self.start).filter(fresh) else {
            return Step::WantScreen;
        };
        cursor.missed = None;
        cursor.at = Some(screen.offset);
        cursor.epoch = self.epoch;
        // Skipped output need not be processed any more.
        (cursor.sent, cursor.screened) = (screen.offset, screen.offset);
        cursor.unread += screen.bytes.len() as u64;
        cursor.credit = screen.offset.saturating_sub(screen.bytes.len() as u64).max(cursor.credit.min(screen.offset));
        Step::Screen(screen.clone())
    }

    fn restart(&mut self, offset: u64) {
        self.chunks.clear();
        (self.start, self.end) = (offset, offset);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn screen(offset: u64, cols: u16) -> Screen {
        Screen { offset, cols, rows: 24, title: String::new(), bytes: b"screen".to_vec() }
    }

    #[test]
    fn a_late_watcher_gets_the_screen_and_then_the_output() {
        let mut ring = Ring::default();
        ring.data(0, Bytes::from_static(b"hello "));
        let mut late = ring.enter(None);
        assert_eq!(ring.next(&mut late), Step::WantScreen);
        ring.screen(screen(6, 80));
        ring.data(6, Bytes::from_static(b"world"));
        assert!(matches!(ring.next(&mut late), Step::Screen(got) if got.offset == 6));
        assert_eq!(ring.next(&mut late), Step::Data(6, Bytes::from_static(b"world")));
        assert_eq!(ring.next(&mut late), Step::Wait);
        ring.exit(Exit { offset: 11, code: Some(0), signal: None });
        assert!(matches!(ring.next(&mut late), Step::Exit(_)));
        assert_eq!(ring.next(&mut late), Step::Wait);
    }

    #[test]
    fn a_stalled_watcher_waits_and_then_gets_the_screen_without_new_output() {
        let mut ring = Ring::starting_at(0);
        let mut slow = ring.enter(Some(0));
        let mut sent = 0;
        for part in 0..100u64 {
            ring.data(part * 32_768, Bytes::from(vec![b'x'; 32_768]));
            while let Step::Data(_, bytes) = ring.next(&mut slow) {
                sent += bytes.len() as u64;
            }
        }
        assert_eq!(sent, WATCH_WINDOW, "at most the window is in flight");
        slow.credit(sent);
        assert_eq!(ring.next(&mut slow), Step::WantScreen);
        ring.screen(screen(ring.end(), 80));
        assert!(matches!(ring.next(&mut slow), Step::Screen(_)));
        assert_eq!(ring.next(&mut slow), Step::Wait);
    }

    #[test]
    fn screens_do_not_pile_up_for_a_stalled_watcher() {
        let mut ring = Ring::default();
        let mut slow = ring.enter(None);
        let large = |offset| Screen { bytes: vec![b'x'; 10_000], ..screen(offset, 80) };
        let mut sent = 0;
        for part in 1..100 {
            ring.screen(large(part * 2_000_000));
            sent += u64::from(matches!(ring.next(&mut slow), Step::Screen(_)));
        }
        assert_eq!(sent, WATCH_WINDOW.div_ceil(10_000), "at most the window is in flight");
        slow.credit(sent * 2_000_000);
        assert!(matches!(ring.next(&mut slow), Step::Screen(got) if got.offset == 198_000_000), "the newest");
    }

    #[test]
    fn every_watcher_gets_the_screen_after_a_resize() {
        let mut ring = Ring::starting_at(0);
        ring.screen(screen(0, 80));
        let mut there = ring.enter(None);
        assert!(matches!(ring.next(&mut there), Step::Screen(got) if got.cols == 80));
        assert_eq!(ring.next(&mut there), Step::Wait);
        ring.screen(screen(0, 100));
        assert!(matches!(ring.next(&mut there), Step::Screen(got) if got.cols == 100));
        let mut back = ring.enter(Some(0));
        assert!(matches!(ring.next(&mut back), Step::Screen(got) if got.cols == 100));
    }

    #[test]
    fn a_watcher_that_returned_without_a_screen_gets_the_first_one() {
        let mut ring = Ring::starting_at(10);
        let mut back = ring.enter(Some(10));
        assert_eq!(ring.next(&mut back), Step::Wait);
        ring.screen(screen(10, 100));
        assert!(matches!(ring.next(&mut back), Step::Screen(got) if got.cols == 100), "its size may differ");
    }

    #[test]
    fn a_requested_screen_is_used_despite_much_later_output() {
        let mut ring = Ring::starting_at(0);
        ring.data(0, Bytes::from(vec![b'x'; 1000]));
        let mut late = ring.enter(None);
        assert_eq!(ring.next(&mut late), Step::WantScreen);
        ring.screen(screen(1000, 80));
        ring.data(1000, Bytes::from(vec![b'x'; 200_000]));
        assert!(matches!(ring.next(&mut late), Step::Screen(got) if got.offset == 1000));
        let mut later = ring.enter(None);
        assert_eq!(ring.next(&mut later), Step::WantScreen, "a new watcher waits for a newer one");
    }

    proptest! {
        /// Whatever arrives, in whatever pieces, twice or with a gap: a watcher's bytes are the terminal's since its
        /// last screen, without a gap.
        #[test]
        fn no_watcher_misses_a_byte(
            steps in proptest::collection::vec((0u8..6, 1usize..5000), 1..200),
        ) {
            let source: Vec<u8> = (0..2_000_000u32).map(|i| (i % 251) as u8).collect();
            let mut ring = Ring::default();
            let mut cursor = ring.enter(None);
            let mut at: Option<u64> = None;
            for (kind, size) in steps {
                let end = ring.end() as usize;
                match kind {
                    0..=2 => ring.data(end as u64, Bytes::copy_from_slice(&source[end..(end + size * 20).min(source.len())])),
                    3 => {
                        let from = end.saturating_sub(size);
                        ring.data(from as u64, Bytes::copy_from_slice(&source[from..(end + 10).min(source.len())]));
                    }
                    4 => {
                        let to = (end + size).min(source.len() - 1);
                        ring.screen(screen(to as u64, 80 + (size % 2) as u16));
                    }
                    _ => cursor.credit(at.unwrap_or(0)),
                }
                loop {
                    match ring.next(&mut cursor) {
                        Step::Screen(screen) => at = Some(screen.offset),
                        Step::Data(offset, bytes) => {
                            prop_assert_eq!(Some(offset), at);
                            let start = offset as usize;
                            prop_assert_eq!(&bytes[..], &source[start..start + bytes.len()]);
                            at = Some(offset + bytes.len() as u64);
                        }
                        Step::WantScreen => {
                            ring.screen(screen(ring.end(), 80));
                        }
                        Step::Wait | Step::Exit(_) => break,
                    }
                }
            }
        }
    }
}
