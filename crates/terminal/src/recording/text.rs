//! A recording as text, and search results.

use std::io::{self, Write};
use std::time::Duration;

use alacritty_terminal::vte::Parser;

use super::lines::Lines;
use super::{Happening, Recording};
use crate::screen::Screen;

/// Scrollback between two collections, and bytes between them: one byte pushes out at most one line.
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
    /// Writes the recording as people would have read it: lines without escape sequences, and the final screen.
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

    /// Lines that contain this, ignoring case, with their times; at most this many. A redrawn line is not repeated.
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
}
