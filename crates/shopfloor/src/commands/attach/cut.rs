//! A session whose terminal has another size than the person's: what stands on it, cut to fit.
//!
//! Another size would break every line that the session's programs have laid out, so its bytes cannot be passed on.

use terminal::Screen;

/// The session's screen.
pub(super) struct Cut {
    screen: Screen,
    /// Whether it is painted with its colours and attributes.
    colours: bool,
    /// Whether something is not painted yet.
    pub(super) dirty: bool,
}

impl Cut {
    /// The screen of a snapshot.
    pub(super) fn new(cols: u16, rows: u16, bytes: &[u8], colours: bool) -> Self {
        let mut cut = Self { screen: Screen::new(cols, rows, 0), colours, dirty: true };
        cut.feed(bytes);
        cut
    }

    /// What follows it.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.screen.feed(bytes);
        // The session's host has answered.
        let _ = self.screen.take_answers();
        self.dirty = true;
    }

    /// What shows the last lines of it in a terminal of this size, without the one at the bottom.
    pub(super) fn paint(&mut self, cols: u16, rows: u16) -> Vec<u8> {
        self.dirty = false;
        // A terminal that takes a character for wider than we do must not break the line over it.
        let mut painted = b"\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[0m\x1b[H".to_vec();
        for line in self.screen.crop(cols, rows.saturating_sub(1), self.colours) {
            painted.extend(line);
            painted.extend(b"\r\n");
        }
        painted.extend(b"\x1b[J\x1b[?2026l");
        painted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(colours: bool, expected: &str) {
        let mut cut = Cut::new(20, 5, b"one\r\ntwo\r\n\x1b[31mthree is long\x1b[0m\r\n", colours);
        cut.feed("日本語 four".as_bytes());
        let painted = String::from_utf8(cut.paint(9, 4)).unwrap();
        let body = painted.strip_prefix("\x1b[?2026h\x1b[?25l\x1b[?7l\x1b[0m\x1b[H").unwrap();
        assert_eq!(body, expected);
        assert!(!cut.dirty);
    }

    #[test]
    fn the_last_lines_are_shown_and_cut() {
        check(true, "two\x1b[K\r\n\x1b[31mthree is \x1b[m\r\n日本語 fo\r\n\x1b[J\x1b[?2026l");
        check(false, "two\x1b[K\r\nthree is \r\n日本語 fo\r\n\x1b[J\x1b[?2026l");
    }
}
