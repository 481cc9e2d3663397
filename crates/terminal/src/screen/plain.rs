//! The short way for what most output is: text and ends of lines, without asking the parser about every character.

use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{CharsetIndex, Handler, StandardCharset};
use memchr::memrchr_iter;
use unicode_width::UnicodeWidthChar;

use super::Screen;
use super::vt::Vt;

/// It is not worth the trouble to look whether anybody would see less text than this.
const MUCH: usize = 4096;

impl Screen {
    /// Shows text without escape sequences.
    pub(super) fn show(&mut self, text: &str) {
        let mut rest = &text[self.vt.unseen(text.as_bytes())..];
        while !rest.is_empty() {
            let shown = self.vt.show_plain(rest);
            let (_, more) = rest.split_at(shown);
            let alone = match self.vt.is_plain() {
                true => more.chars().next().map_or(0, char::len_utf8),
                false => more.len(),
            };
            self.parser.advance(&mut self.vt, &more.as_bytes()[..alone]);
            rest = &more[alone..];
        }
    }
}

impl Vt {
    /// How much at the beginning of a long text leaves the screen and its history before the text is over, so that it
    /// makes no difference whether it was shown.
    fn unseen(&mut self, text: &[u8]) -> usize {
        let size = self.size();
        if text.len() < MUCH || self.region != (0, size.rows - 1) {
            return 0;
        }
        // The first lines may still fill what is below the cursor.
        let lines = self.scrollback + 2 * size.rows;
        let Some(end) = memrchr_iter(b'\n', text).nth(lines) else { return 0 };
        let harmless = |byte: &u8| *byte >= 0x20 || matches!(byte, b'\t' | b'\r' | b'\n');
        if end == 0 || text[end - 1] != b'\r' || !text[..end].iter().fold(true, |all, byte| all & harmless(byte)) {
            return 0;
        }
        self.carriage_return();
        end + 1
    }

    /// Whether a character goes into a cell as it is.
    fn is_plain(&self) -> bool {
        let cursor = &self.term.grid().cursor;
        !self.insert && cursor.template.extra.is_none() && cursor.charsets[CharsetIndex::G0] == StandardCharset::Ascii
    }

    /// Shows text up to the first character that needs a closer look; returns how many bytes that was.
    fn show_plain(&mut self, text: &str) -> usize {
        if !self.is_plain() {
            return 0;
        }
        let mut at = 0;
        while let Some(byte) = text.as_bytes().get(at) {
            at += match byte {
                b'\n' => {
                    self.linefeed();
                    1
                }
                b'\r' => {
                    self.carriage_return();
                    1
                }
                _ => match self.run(&text[at..]) {
                    0 => break,
                    shown => shown,
                },
            };
        }
        at
    }

    /// Writes the characters that fit before the last cell of the line and have one cell each: either visible ASCII or
    /// the same one many times. Returns how many bytes that was.
    fn run(&mut self, text: &str) -> usize {
        let columns = self.size().cols;
        let grid = self.term.grid_mut();
        let (line, first) = (grid.cursor.point.line, grid.cursor.point.column.0);
        let room = columns - 1 - first;
        if room == 0 || grid.cursor.input_needs_wrap {
            return 0;
        }
        let bytes = text.as_bytes();
        let ascii = bytes.iter().take(room).take_while(|byte| (0x20..0x7F).contains(*byte)).count();
        let (count, width) = match ascii {
            0 => same(text, room),
            ascii => (ascii, 1),
        };
        let Some(character) = text.chars().next().filter(|_| count > 0) else { return 0 };
        let (fg, bg, flags) = (grid.cursor.template.fg, grid.cursor.template.bg, grid.cursor.template.flags);
        let cells = &mut grid[line][Column(first)..Column(first + count)];
        let mut written = 0;
        for (cell, byte) in cells.iter_mut().zip(bytes) {
            // Half of a wide character: the other half must go, too.
            if cell.flags.intersects(Flags::WIDE_CHAR | Flags::WIDE_CHAR_SPACER) {
                break;
            }
            cell.c = if ascii > 0 { char::from(*byte) } else { character };
            (cell.fg, cell.bg, cell.flags) = (fg, bg, flags);
            cell.extra = None;
            written += 1;
        }
        grid.cursor.point.column += written;
        self.printed |= written > 0;
        written * width
    }
}

/// How often a character that has one cell comes at the beginning of a text, up to a limit, and how many bytes it has.
fn same(text: &str, most: usize) -> (usize, usize) {
    let Some(character) = text.chars().next().filter(|character| character.width() == Some(1)) else { return (0, 0) };
    let width = character.len_utf8();
    let (first, bytes) = (&text.as_bytes()[..width], text.as_bytes());
    (bytes.chunks_exact(width).take(most).take_while(|next| *next == first).count(), width)
}

#[cfg(test)]
mod tests {
    use alacritty_terminal::grid::Dimensions;
    use alacritty_terminal::index::Line;
    use alacritty_terminal::vte::ansi::Processor;
    use proptest::prelude::*;

    use super::super::Immediately;
    use super::super::vt::Size;
    use super::*;

    /// Everything that can be seen, also by scrolling up.
    fn seen(vt: &Vt) -> Vec<String> {
        let grid = vt.term.grid();
        let lines =
            (grid.topmost_line().0..=grid.bottommost_line().0).map(|line| format!("{:?}", &grid[Line(line)][..]));
        lines.chain([format!("{:?} {}", grid.cursor, vt.printed)]).collect()
    }

    proptest! {
        #[test]
        fn the_fast_path_for_plain_text_gives_the_same_screen(
            parts in proptest::collection::vec(prop_oneof![
                8 => "[ -~]{0,30}",
                4 => Just("\r\n".to_owned()),
                2 => "[│─]{1,15}",
                2 => "[a-c漢🦀e\u{301}\u{200d}]{1,9}",
                1 => "[\u{7}\u{8}\t\u{b}\u{e}\u{f}\u{7f}\u{85}\n]",
                1 => prop_oneof![
                    Just("\u{1b}[31;1m"), Just("\u{1b}[0m"), Just("\u{1b}[4h"), Just("\u{1b}[4l"), Just("\u{1b}[H"),
                    Just("\u{1b}[2;4r"), Just("\u{1b}[r"), Just("\u{1b}(0"), Just("\u{1b}(B"), Just("\u{1b}[?7l"),
                    Just("\u{1b}[?7h"), Just("\u{1b}[2A"), Just("\u{1b}[K"), Just("\u{1b}[5G"), Just("\u{1b}[?1049h"),
                    Just("\u{1b}]8;id=a;http://a\u{7}"), Just("\u{1b}]8;;\u{7}"),
                ].prop_map(str::to_owned),
                2 => (1usize..1200, "[a-z]{0,25}").prop_map(|(count, line)| format!("{line}\r\n").repeat(count)),
            ], 1..40),
            scrollback in 0usize..12,
        ) {
            let whole = parts.concat();
            let mut screen = Screen::new(20, 5, scrollback);
            screen.feed(whole.as_bytes());
            let mut vt = Vt::new(Size { cols: 20, rows: 5 }, scrollback);
            Processor::<Immediately>::new().advance(&mut vt, whole.as_bytes());
            let (short, long) = (seen(&screen.vt), seen(&vt));
            let differs = short.iter().zip(&long).position(|(short, long)| short != long);
            prop_assert_eq!((short.len(), differs), (long.len(), None));
        }
    }

    #[test]
    fn lines_that_nobody_can_see_are_passed_over() {
        let mut vt = Vt::new(Size { cols: 20, rows: 5 }, 10);
        let lines: String = (0..10_000).map(|number| format!("{number}\r\n")).collect();
        assert!(vt.unseen(lines.as_bytes()) > lines.len() - 200);
        assert_eq!(
            vt.unseen(lines.replace('\r', "").as_bytes()),
            0,
            "they would begin further and further to the right"
        );
        assert_eq!(vt.unseen(format!("\u{7}{lines}").as_bytes()), 0, "the bell counts");
    }
}
