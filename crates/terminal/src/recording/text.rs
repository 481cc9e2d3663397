//! What people read of a recording: text, search results, and a file for other players.

use std::io::{self, Write};
use std::time::Duration;

use alacritty_terminal::vte::Parser;

use super::cast::write_line;
use super::lines::Lines;
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

    /// Lines that contain this, whatever the case, with when they were written; at most so many. A line that is only
    /// drawn again is not told again.
    pub fn search(&self, query: &str, most: usize) -> io::Result<Vec<Found>> {
        let play = self.play_from(Duration::ZERO)?;
        let mut lines = Lines::new(query, most, play.start.screen.rows);
        let mut parser = Parser::new();
        for moment in play {
            let moment = moment?;
            match moment.happening {
                Happening::Output(bytes) => {
                    lines.at(moment.time, moment.offset);
                    parser.advance(&mut lines, &bytes);
                }
                Happening::Resize(_, rows) => lines.resize(rows),
                _ => (),
            }
            if lines.full() {
                break;
            }
        }
        Ok(lines.finish())
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
