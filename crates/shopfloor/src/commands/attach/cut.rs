//! A session whose terminal has another size than the person's: its text, cut to fit.
//!
//! Another size would break every line that the session's programs have laid out, so its bytes cannot be passed on.

use terminal::Screen;
use unicode_width::UnicodeWidthChar;

/// The session's screen.
pub(super) struct Cut {
    screen: Screen,
    /// Whether something is not painted yet.
    pub(super) dirty: bool,
}

impl Cut {
    /// The screen of a snapshot.
    pub(super) fn new(cols: u16, rows: u16, bytes: &[u8]) -> Self {
        let mut cut = Self { screen: Screen::new(cols, rows, 0), dirty: true };
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
        let text = self.screen.text();
        let lines: Vec<&str> = text.lines().collect();
        let room = usize::from(rows).saturating_sub(1);
        let mut painted = String::from("\x1b[?2026h\x1b[?25l\x1b[0m\x1b[H");
        for line in &lines[lines.len().saturating_sub(room)..] {
            painted.push_str(&first_columns(line, usize::from(cols).saturating_sub(1)));
            painted.push_str("\x1b[K\r\n");
        }
        painted.push_str("\x1b[J\x1b[?2026l");
        painted.into_bytes()
    }
}

fn first_columns(line: &str, width: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    line.chars().filter(|c| !c.is_control()).take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown_and_cut() {
        let mut cut = Cut::new(20, 5, b"one\r\ntwo\r\n\x1b[31mthree is long\x1b[0m\r\n");
        cut.feed("日本語 four".as_bytes());
        let painted = String::from_utf8(cut.paint(9, 4)).unwrap();
        let body = painted.strip_prefix("\x1b[?2026h\x1b[?25l\x1b[0m\x1b[H").unwrap();
        assert_eq!(body, "two\x1b[K\r\nthree is\x1b[K\r\n日本語 f\x1b[K\r\n\x1b[J\x1b[?2026l");
        assert!(!cut.dirty);
    }
}
