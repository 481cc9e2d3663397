//! The virtual screen of a session: what a terminal that had processed every byte would show.

mod answers;
mod cells;
mod crop;
mod erase;
mod handler;
mod labels;
mod modes;
mod moves;
mod paint;
mod pen;
mod plain;
mod quiet;
mod screens;
#[cfg(test)]
mod tests;
mod tokens;
mod vt;

use std::time::Duration;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{Processor, Timeout};

pub use quiet::Quiet;
use tokens::{Special, Tokens};
use vt::{Size, Vt};

use crate::ring::whole_characters;

/// The most columns that a screen may have.
pub const MOST_COLS: u16 = 1000;
/// The most rows that a screen may have.
pub const MOST_ROWS: u16 = 500;

/// Synchronized output is applied as it comes; watchers are asked to delay painting.
#[derive(Default)]
struct Immediately;

impl Timeout for Immediately {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

/// Bytes that paint a screen on a terminal exactly, at one position of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// How many bytes of the stream led to it; the next live byte has this position.
    pub offset: u64,
    /// Width of the screen.
    pub cols: u16,
    /// Height of the screen.
    pub rows: u16,
    /// The title that the program has set.
    pub title: String,
    /// What to write to a terminal of that size.
    pub bytes: Vec<u8>,
}

/// A virtual screen.
pub struct Screen {
    vt: Vt,
    parser: Processor<Immediately>,
    tokens: Tokens,
    offset: u64,
    /// The beginning of an incomplete character.
    unfinished: Vec<u8>,
    /// The beginning of a line whose end has not left the screen yet.
    unjoined: String,
}

impl Screen {
    /// An empty screen.
    pub fn new(cols: u16, rows: u16, scrollback: usize) -> Screen {
        Screen {
            vt: Vt::new(bounded(cols, rows), scrollback),
            parser: Processor::new(),
            tokens: Tokens::new(),
            offset: 0,
            unfinished: Vec::new(),
            unjoined: String::new(),
        }
    }

    /// Processes bytes; answers to their queries wait in [`Screen::take_answers`].
    pub fn feed(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        // The parser loses bytes when a character comes in two pieces, so it gets complete ones.
        match self.unfinished.is_empty() {
            true => self.feed_whole(bytes),
            false => {
                let joined = [&std::mem::take(&mut self.unfinished), bytes].concat();
                self.feed_whole(&joined);
            }
        }
    }

    fn feed_whole(&mut self, bytes: &[u8]) {
        let (whole, unfinished) = bytes.split_at(whole_characters(bytes));
        self.unfinished.extend_from_slice(unfinished);
        match std::str::from_utf8(whole) {
            Ok(text) => self.parse(text),
            // The decoder of the page drops invalid UTF-8.
            Err(_) => whole.utf8_chunks().for_each(|chunk| self.parse(chunk.valid())),
        }
    }

    fn parse(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            rest = &rest[self.tokens.skip(rest.as_bytes())..];
            let (text, sequences) = rest.split_at(self.tokens.text(rest.as_bytes()));
            self.show(text);
            rest = sequences;
            let (read, special) = self.tokens.scan(rest.as_bytes());
            let ours_alone = special.as_ref().is_some_and(Special::ours_alone);
            let scanned = &rest.as_bytes()[..read - usize::from(ours_alone)];
            match self.tokens.without_inner_ends(scanned) {
                Some(changed) => self.parser.advance(&mut self.vt, &changed),
                None => self.parser.advance(&mut self.vt, scanned),
            }
            rest = &rest[read..];
            if ours_alone {
                // Nothing is left in the parser but what it has read of this one.
                self.parser = Processor::new();
            }
            match special {
                None | Some(Special::Abandoned) => (),
                Some(Special::Repeat(times)) => self.vt.repeat(times),
                Some(Special::Below(lines)) => self.vt.below(lines),
                Some(Special::Index) => self.vt.index(),
                Some(Special::SoftReset) => self.vt.soft_reset(),
                Some(Special::Version) => self.vt.answers.version(),
                Some(Special::Notification) => self.vt.notifications += 1,
                Some(Special::Overlong) => self.parser = Processor::new(),
            }
            if read > 0 && self.tokens.tail().is_empty() {
                // Also after sequences that the emulator does not know.
                self.vt.printed = false;
            }
        }
    }

    /// Changes the size.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.vt.resize(bounded(cols, rows));
    }

    /// What paints this screen elsewhere.
    pub fn snapshot(&mut self) -> Snapshot {
        let size = self.vt.size();
        Snapshot {
            offset: self.offset,
            cols: size.cols as u16,
            rows: size.rows as u16,
            title: self.vt.title.clone(),
            bytes: paint::paint(&mut self.vt, &[self.tokens.tail(), &self.unfinished].concat()),
        }
    }

    /// Takes the answers to the program's queries since the last call.
    pub fn take_answers(&mut self) -> Vec<u8> {
        self.vt.answers.take()
    }

    /// The visible lines as text, without blanks at their ends and without empty lines at the end.
    pub fn text(&self) -> String {
        let rows = self.vt.size().rows as i32;
        let mut text: String = (0..rows).map(|line| self.line(line) + "\n").collect();
        text.truncate(text.trim_end().len());
        text
    }

    /// The visible lines, with wrapped lines joined, and the first with its beginning above the screen.
    pub fn lines(&self) -> Vec<String> {
        let above = if self.vt.alternate() { String::new() } else { self.unjoined.clone() };
        let (mut lines, mut line) = (Vec::new(), above);
        for row in 0..self.vt.size().rows as i32 {
            line.push_str(&self.line(row));
            if !self.wraps(row) {
                lines.push(std::mem::take(&mut line));
            }
        }
        lines.extend(Some(line).filter(|line| !line.is_empty()));
        lines
    }

    /// How many bytes were processed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Width and height.
    pub fn size(&self) -> (u16, u16) {
        let size = self.vt.size();
        (size.cols as u16, size.rows as u16)
    }

    /// The title that the program has set.
    pub fn title(&self) -> &str {
        &self.vt.title
    }

    /// How often the bell rang.
    pub fn bells(&self) -> u64 {
        self.vt.bells
    }

    /// How many desktop notifications the program has sent.
    pub fn notifications(&self) -> u64 {
        self.vt.notifications
    }

    /// Whether the cursor is shown.
    pub fn cursor_visible(&self) -> bool {
        self.vt.term.mode().contains(TermMode::SHOW_CURSOR)
    }

    /// Whether a program has the alternate screen.
    pub fn alternate(&self) -> bool {
        self.vt.alternate()
    }

    /// Whether the program wants pasted text to be marked as such.
    pub fn bracketed_paste(&self) -> bool {
        self.vt.term.mode().contains(TermMode::BRACKETED_PASTE)
    }

    /// Takes the lines that have left the screen at the top, oldest first, with wrapped lines joined.
    pub fn take_history(&mut self) -> Vec<String> {
        if self.vt.alternate() {
            return Vec::new();
        }
        let lines = self.vt.term.history_size() as i32;
        let taken = self.joined(-lines..0);
        self.vt.term.grid_mut().clear_history();
        taken
    }

    /// Takes everything: what has left the screen, and what is on it without empty lines at the end.
    pub fn take_lines(&mut self) -> Vec<String> {
        let mut taken = self.take_history();
        taken.extend(self.joined(0..self.vt.size().rows as i32));
        taken.extend(Some(std::mem::take(&mut self.unjoined)).filter(|line| !line.is_empty()));
        while taken.last().is_some_and(|line| line.trim().is_empty()) {
            taken.pop();
        }
        taken
    }

    /// Lines with their continuations; an unfinished one waits for its end.
    fn joined(&mut self, lines: std::ops::Range<i32>) -> Vec<String> {
        let mut taken = Vec::new();
        for line in lines {
            let mut text = std::mem::take(&mut self.unjoined);
            text.push_str(&self.line(line));
            match self.wraps(line) {
                true => self.unjoined = text,
                false => taken.push(text),
            }
        }
        taken
    }

    fn wraps(&self, line: i32) -> bool {
        let last = Column(self.vt.size().cols - 1);
        self.vt.term.grid()[Line(line)][last].flags.contains(Flags::WRAPLINE)
    }

    fn line(&self, line: i32) -> String {
        let row = &self.vt.term.grid()[Line(line)];
        let mut text = String::new();
        for column in 0..self.vt.size().cols {
            let cell = &row[Column(column)];
            if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                continue;
            }
            text.push(if cell.c == '\t' { ' ' } else { cell.c });
            text.extend(cell.zerowidth().into_iter().flatten());
        }
        if !self.wraps(line) {
            text.truncate(text.trim_end().len());
        }
        text
    }
}

fn bounded(cols: u16, rows: u16) -> Size {
    Size { cols: cols.clamp(2, MOST_COLS).into(), rows: rows.clamp(1, MOST_ROWS).into() }
}
