//! A line at the bottom of the terminal that says what the session itself cannot.

use unicode_width::UnicodeWidthStr;

use crate::output::clean;
use crate::table::shorten;

/// What draws `text` on the last line and leaves the cursor where it was.
pub(super) fn draw(text: &str, cols: u16, rows: u16) -> Vec<u8> {
    let width = usize::from(cols).saturating_sub(1);
    let text = shorten(&clean(text).replace('\n', " "), width);
    let padding = " ".repeat(width.saturating_sub(text.width()));
    format!("\x1b7\x1b[{rows};1H\x1b[0;7m{text}{padding}\x1b[0m\x1b8").into_bytes()
}

/// What takes the banner away.
pub(super) fn erase(rows: u16) -> Vec<u8> {
    format!("\x1b7\x1b[{rows};1H\x1b[0m\x1b[2K\x1b8").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_fits_and_is_harmless() {
        let drawn = String::from_utf8(draw("attached\x1b[2J to a long name", 20, 5)).unwrap();
        assert_eq!(drawn, "\x1b7\x1b[5;1H\x1b[0;7mattached\u{FFFD}[2J to a… \x1b[0m\x1b8");
    }
}
