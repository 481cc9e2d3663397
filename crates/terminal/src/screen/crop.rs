//! The lowest lines of a screen for a terminal of another size: characters with their looks, and no other effects.

use alacritty_terminal::index::Line;
use alacritty_terminal::term::cell::{Cell, Flags};
use unicode_width::UnicodeWidthChar;

use super::Screen;
use super::pen::{Pen, Style, untouched};

impl Screen {
    /// The lowest visible lines, cut to this size, each as bytes that overwrite a line from its first column. Without
    /// `looks` they are plain text.
    ///
    /// They contain only commands that set colours and attributes or erase to the end of the line.
    pub fn crop(&self, cols: u16, rows: u16, looks: bool) -> Vec<Vec<u8>> {
        let grid = self.vt.term.grid();
        let last = (0..self.vt.size().rows).rfind(|row| seen(&grid[Line(*row as i32)][..], looks) > 0);
        let end = last.map_or(0, |last| last + 1);
        let shown = end.saturating_sub(usize::from(rows))..end;
        shown.map(|row| line(&grid[Line(row as i32)][..], usize::from(cols), looks)).collect()
    }
}

/// How many cells are visible, including those before.
fn seen(row: &[Cell], looks: bool) -> usize {
    let nothing = |cell: &Cell| if looks { untouched(cell) } else { text(cell).trim().is_empty() };
    row.iter().rposition(|cell| !nothing(cell)).map_or(0, |column| column + 1)
}

fn line(row: &[Cell], cols: usize, looks: bool) -> Vec<u8> {
    let (mut pen, end, mut column) = (Pen::new(), seen(row, looks), 0);
    while column < end.min(cols) {
        let cell = &row[column];
        let wide = cell.flags.contains(Flags::WIDE_CHAR);
        let whole = row.get(column + 1).is_some_and(|next| next.flags.contains(Flags::WIDE_CHAR_SPACER));
        if looks {
            // The target of a link is invisible here, so links are left out.
            pen.style(Style { link: None, ..Style::of(cell) });
        }
        match wide && (!whole || column + 2 > cols) {
            true => pen.raw(b" "),
            false => pen.raw(text(cell).as_bytes()),
        }
        column += if wide && whole { 2 } else { 1 };
    }
    pen.style(Style::plain());
    // A full line has nothing right of it, and erasing there would remove its last character.
    if column < cols {
        pen.raw(b"\x1b[K");
    }
    pen.out
}

/// The text of a cell: always exactly as wide as the cell.
fn text(cell: &Cell) -> String {
    let first = match cell.c {
        character if character.is_control() => " ".to_owned(),
        character if character.width() == Some(0) => format!(" {character}"),
        character => character.to_string(),
    };
    let combining = cell.zerowidth().into_iter().flatten().filter(|character| !character.is_control());
    first.chars().chain(combining.copied()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(bytes: &str, (cols, rows): (u16, u16), looks: bool, expected: &[&str]) {
        let mut screen = Screen::new(20, 5, 0);
        screen.feed(bytes.as_bytes());
        let lines = screen.crop(cols, rows, looks).into_iter().map(|line| String::from_utf8(line).unwrap());
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{bytes:?}");
    }

    #[test]
    fn colours_and_attributes_are_kept() {
        let red = "plain \x1b[1;31mred\x1b[0m end";
        check(red, (80, 24), true, &["plain \x1b[1;31mred\x1b[m end\x1b[K"]);
        check(red, (8, 24), true, &["plain \x1b[1;31mre\x1b[m"]);
        check(red, (80, 24), false, &["plain red end\x1b[K"]);
        check("\x1b[38;5;208;48;2;1;2;3;4:3mx", (80, 24), true, &["\x1b[4:3;38;5;208;48;2;1;2;3mx\x1b[m\x1b[K"]);
    }

    #[test]
    fn the_lowest_lines_with_something_on_them_are_kept() {
        let lines = "one\r\ntwo\r\n\x1b[44m  \x1b[m\r\n\r\n";
        check(lines, (80, 2), true, &["two\x1b[K", "\x1b[44m  \x1b[m\x1b[K"]);
        check(lines, (80, 2), false, &["one\x1b[K", "two\x1b[K"]);
        check("", (80, 2), true, &[]);
    }

    #[test]
    fn a_character_is_whole_or_not_there() {
        check("a日b", (2, 1), true, &["a "]);
        check("a日b", (3, 1), true, &["a日"]);
        check("\x1b[4le\u{301}\r\n\u{301}x", (9, 2), true, &["e\u{301}\x1b[K", " \u{301}x\x1b[K"]);
    }

    #[test]
    fn links_titles_and_the_clipboard_are_left_out() {
        let hostile =
            "\x1b]8;;https://x.example\x1b\\a\x1b]8;;\x1b\\\x1b]52;c;ZXZpbA==\x07\x1b]0;t\x07\x1b[c\x1b[6nb\u{9b}5n";
        check(hostile, (80, 24), true, &["ab5n\x1b[K"]);
    }

    /// What is left of a line without colours, attributes and erasing to its end.
    fn rest(line: &str) -> String {
        let mut rest = String::new();
        let mut parts = line.split("\x1b[");
        rest.extend(parts.next());
        for part in parts {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ';' | ':'));
            match digits.strip_prefix(['m', 'K']) {
                Some(text) => rest.push_str(text),
                None => rest.push_str(&format!("\x1b[{part}")),
            }
        }
        rest
    }

    proptest! {
        #[test]
        fn a_cropped_screen_contains_no_escape_sequences(
            parts in proptest::collection::vec(prop_oneof![
                "\\PC{0,8}", "\x1b\\[[?>=]?[0-9;:]{0,6}[ -/]?[@-~]", "\x1b[\\]PX^_][ -~]{0,12}(\x07|\x1b\\\\)?", "[\x00-\x1f\u{80}-\u{9f}]{0,3}",
            ], 0..20),
            cols in 1u16..30, rows in 1u16..8,
        ) {
            let mut screen = Screen::new(20, 5, 0);
            screen.feed(parts.concat().as_bytes());
            for line in screen.crop(cols, rows, true) {
                let line = String::from_utf8(line).unwrap();
                prop_assert!(!rest(&line).contains(char::is_control), "{line:?}");
                let width: usize = rest(&line).chars().filter_map(UnicodeWidthChar::width).sum();
                prop_assert!(width <= usize::from(cols), "{line:?} is wider than {cols}");
            }
        }
    }
}
