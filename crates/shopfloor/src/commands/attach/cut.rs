//! A session whose terminal has another size than the person's: its screen, cut to fit.
//!
//! Its programs laid out their lines for the session's size, so its bytes cannot be forwarded as they are.

use terminal::Screen;

/// The session's screen.
pub(super) struct Cut {
    screen: Screen,
    /// Whether to paint colours and attributes.
    colours: bool,
    /// Whether there are unpainted changes.
    pub(super) dirty: bool,
}

impl Cut {
    /// The screen of a snapshot.
    pub(super) fn new(cols: u16, rows: u16, bytes: &[u8], colours: bool) -> Self {
        let mut cut = Self { screen: Screen::new(cols, rows, 0), colours, dirty: true };
        cut.feed(bytes);
        cut
    }

    /// Feeds the bytes that follow the snapshot.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.screen.feed(bytes);
        // The session's host has answered the program's queries.
        let _ = self.screen.take_answers();
        self.dirty = true;
    }

    /// Bytes that paint its last lines in a terminal of this size, leaving the bottom line free.
    pub(super) fn paint(&mut self, cols: u16, rows: u16) -> Vec<u8> {
        self.dirty = false;
        // A terminal that counts a character as wider than we do must not wrap the line.
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
