//! What people read of a recording: text, search results, and a file for other players.

use std::io::{self, Write};
use std::time::Duration;

use alacritty_terminal::vte::{Params, Parser, Perform};

use super::cast::write_line;
use super::{Happening, Recording};
use crate::screen::{Quiet, Screen};

/// Lines above the screen that are kept between two looks at them, and bytes that are fed between two looks: a byte can
/// push out a line at most.
const LOOK_AFTER: usize = 128;

/// A line that was searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How long after the beginning it was written.
    pub time: Duration,
    /// The position of the output that it came with.
    pub offset: u64,
    /// The line.
    pub line: String,
}

impl Recording {
    /// Writes what a person would have read: the lines without escape sequences, and the final screen.
    pub fn log(&self, out: &mut impl Write) -> io::Result<()> {
        let mut play = self.play_from(Duration::ZERO)?;
        let mut screen = Screen::new(play.start.screen.cols, play.start.screen.rows, LOOK_AFTER * 8);
        screen.feed(&play.start.screen.bytes);
        screen.take_history();
        for moment in play.by_ref() {
            match moment?.happening {
                Happening::Output(bytes) => {
                    for piece in bytes.chunks(LOOK_AFTER) {
                        screen.feed(piece);
                        for line in screen.take_history() {
                            writeln!(out, "{line}")?;
                        }
                    }
                }
                Happening::Resize(cols, rows) => screen.resize(cols, rows),
                _ => (),
            }
        }
        for line in screen.take_lines() {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Lines that contain this, whatever the case, with when they were written; at most so many.
    pub fn search(&self, query: &str, most: usize) -> io::Result<Vec<Found>> {
        let mut lines = Lines { query: query.to_lowercase(), most, ..Lines::default() };
        let mut parser = Parser::new();
        for moment in self.play_from(Duration::ZERO)? {
            let moment = moment?;
            if let Happening::Output(bytes) = moment.happening {
                (lines.time, lines.offset) = (moment.time, moment.offset);
                parser.advance(&mut lines, &bytes);
            }
            if lines.found.len() >= most {
                break;
            }
        }
        lines.end();
        Ok(lines.found)
    }

    /// Writes a single file in asciicast v3, as `asciinema` plays it; without what would make that terminal answer.
    pub fn export(&self, out: &mut impl Write) -> io::Result<()> {
        let mut play = self.play_from(Duration::ZERO)?;
        let header = self.header();
        let first = &play.start;
        let head = serde_json::json!({
            "version": 3,
            "term": { "cols": first.screen.cols, "rows": first.screen.rows, "type": "xterm-256color" },
            "timestamp": header.started_at,
            "title": header.title,
        });
        writeln!(out, "{head}")?;
        let mut last = Duration::ZERO;
        let mut line = Vec::new();
        // Whoever plays it has a terminal that would answer.
        let mut quiet = Quiet::default();
        if first.screen.offset > 0 {
            // What was before was dropped: the recording begins with the screen as it was.
            write_line(&mut line, 0, &Happening::Output(first.screen.bytes.clone()));
            last = first.time;
        }
        for moment in play.by_ref() {
            let moment = moment?;
            let happening = match moment.happening {
                // Other players know no bytes that are not UTF-8.
                Happening::Output(bytes) => {
                    let mut shown = Vec::new();
                    quiet.push(&bytes, &mut shown);
                    Happening::Output(String::from_utf8_lossy(&shown).into_owned().into_bytes())
                }
                Happening::Input(bytes) => Happening::Input(String::from_utf8_lossy(&bytes).into_owned().into_bytes()),
                other => other,
            };
            write_line(&mut line, moment.time.saturating_sub(last).as_micros() as u64, &happening);
            last = moment.time;
            out.write_all(&line)?;
            line.clear();
        }
        out.write_all(&line)
    }
}

/// Collects the text of a stream in lines, and keeps those that match.
#[derive(Default)]
struct Lines {
    query: String,
    most: usize,
    found: Vec<Found>,
    line: String,
    began: Option<(Duration, u64)>,
    time: Duration,
    offset: u64,
}

impl Lines {
    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        let (time, offset) = self.began.take().unwrap_or_default();
        let line = line.trim();
        let again = self.found.last().is_some_and(|last| last.line == line);
        if !again && self.found.len() < self.most && line.to_lowercase().contains(&self.query) && !line.is_empty() {
            self.found.push(Found { time, offset, line: line.to_owned() });
        }
    }
}

impl Perform for Lines {
    fn print(&mut self, character: char) {
        self.began.get_or_insert((self.time, self.offset));
        self.line.push(character);
        // A program that never ends its line must not fill our memory.
        if self.line.len() > 64 << 10 {
            self.end();
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' | b'\r' | 0x0B | 0x0C => self.end(),
            b'\t' => self.print(' '),
            _ => (),
        }
    }

    fn csi_dispatch(&mut self, _: &Params, intermediates: &[u8], _: bool, action: char) {
        match action {
            'A' | 'B' | 'E' | 'F' | 'H' | 'J' | 'L' | 'M' | 'S' | 'T' | 'd' | 'f' => self.end(),
            'h' | 'l' if intermediates == b"?" => self.end(),
            'C' | 'G' => self.print(' '),
            _ => (),
        }
    }
}
