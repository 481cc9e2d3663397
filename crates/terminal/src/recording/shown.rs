//! The lines that people could read on a terminal, each once, for an index of many recordings.
//!
//! A line counts when it leaves the screen at the top, or when it stays for a second: what is drawn over sooner, such as
//! the seconds of a timer and half a command that somebody types, is left out.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::{Found, Happening, Recording};
use crate::screen::Screen;

/// How long a line must be on the screen.
const STEADY: Duration = Duration::from_secs(1);
/// Bytes between two collections of what has left the screen: one byte pushes out at most one line.
const PIECE: usize = 1024;

/// Lines of a part of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The lines, oldest first, each once.
    pub lines: Vec<Found>,
    /// The position where the next part begins.
    pub next: u64,
    /// Whether this part reaches the end of the recording.
    pub whole: bool,
}

impl Recording {
    /// The lines of about `most` bytes of output from this position on. Lines of the part before may be repeated.
    pub fn shown(&self, from: u64, most: u64) -> io::Result<Shown> {
        let mut play = self.play_from_offset(from)?;
        let start = play.start.clone();
        let mut screen = Screen::new(start.screen.cols, start.screen.rows, PIECE);
        screen.feed(&start.screen.bytes);
        screen.take_history();
        let until = from.max(start.screen.offset).saturating_add(most);
        let mut reader = Reader { last: (start.time, start.screen.offset), ..Reader::default() };
        let mut next = start.screen.offset;
        for moment in play.by_ref() {
            let moment = moment?;
            if moment.offset >= until {
                return Ok(Shown { lines: reader.lines, next: moment.offset, whole: false });
            }
            reader.still(moment.time, &screen);
            match &moment.happening {
                Happening::Output(bytes) => {
                    reader.last = (moment.time, moment.offset);
                    for piece in bytes.chunks(PIECE) {
                        screen.feed(piece);
                        screen.take_history().into_iter().for_each(|line| reader.add(line));
                    }
                    next = moment.offset + bytes.len() as u64;
                    reader.look(&screen);
                }
                Happening::Resize(cols, rows) => screen.resize(*cols, *rows),
                _ => {}
            }
        }
        reader.all_of(&screen);
        Ok(Shown { lines: reader.lines, next, whole: true })
    }
}

/// Collects lines.
#[derive(Default)]
struct Reader {
    lines: Vec<Found>,
    known: HashSet<String>,
    /// Time and position of the last output.
    last: (Duration, u64),
    /// What was on the screen at the last look, and when that was.
    before: HashSet<String>,
    looked: Duration,
}

impl Reader {
    /// Nothing was printed until this time.
    fn still(&mut self, time: Duration, screen: &Screen) {
        if time.saturating_sub(self.last.0) >= STEADY {
            self.all_of(screen);
        }
    }

    fn all_of(&mut self, screen: &Screen) {
        screen.lines().into_iter().for_each(|line| self.add(line));
    }

    /// Adds what is still on the screen since the last look.
    fn look(&mut self, screen: &Screen) {
        let time = self.last.0;
        if time.saturating_sub(self.looked) < STEADY {
            return;
        }
        let now = screen.lines();
        let stayed: Vec<String> = now.iter().filter(|line| self.before.contains(*line)).cloned().collect();
        stayed.into_iter().for_each(|line| self.add(line));
        (self.before, self.looked) = (now.into_iter().collect(), time);
    }

    fn add(&mut self, line: String) {
        let line = bare(&line);
        if line.chars().any(char::is_alphanumeric) && !self.known.contains(line) {
            let (time, offset) = self.last;
            self.known.insert(line.to_owned());
            self.lines.push(Found { time, offset, line: line.to_owned() });
        }
    }
}

/// A line without blanks and the lines of a box around it.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{2500}'..='\u{259f}'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::recording::Header;
    use crate::recording::cast::write_line;
    use crate::recording::segment::{self, Packer};

    /// A recording of these outputs on a terminal of 40×4, each this many milliseconds after the one before.
    fn recorded(dir: &Path, outputs: &[(u64, &str)]) -> Recording {
        let header = Header { cols: 40, rows: 4, title: String::new(), started_at: 0 };
        std::fs::write(dir.join("header.json"), serde_json::to_vec(&header).unwrap()).unwrap();
        let mut packer = Packer::new().unwrap();
        let mut file = packer.point(0, &Screen::new(40, 4, 0).snapshot()).unwrap();
        let mut lines = Vec::new();
        for (wait_ms, text) in outputs {
            write_line(&mut lines, wait_ms * 1000, &Happening::Output(text.as_bytes().to_vec()));
        }
        file.extend(packer.lines(&lines).unwrap());
        std::fs::write(segment::path(dir, 1), file).unwrap();
        Recording::open(dir).unwrap()
    }

    fn shown(outputs: &[(u64, &str)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let shown = recorded(dir.path(), outputs).shown(0, u64::MAX).unwrap();
        assert!(shown.whole);
        shown.lines.into_iter().map(|found| format!("{} {}", found.time.as_millis(), found.line)).collect()
    }

    #[test]
    fn what_scrolls_off_is_read_and_each_line_once() {
        let long = "a line that is longer than the forty columns of this terminal";
        let text = format!("one\r\none\r\n{long}\r\ntwo\r\nthree\r\nfour\r\n");
        assert_eq!(
            shown(&[(5, &text)]),
            ["5 one".to_owned(), format!("5 {long}"), "5 two".into(), "5 three".into(), "5 four".into()]
        );
    }

    #[test]
    fn what_is_drawn_over_at_once_is_left_out() {
        let timer: Vec<(u64, String)> = (0..5).map(|second| (700, format!("\r\x1b[2Kworking {second}s"))).collect();
        let mut outputs = vec![(0, "$ ma"), (200, "ke"), (300, "\r\n")];
        outputs.extend(timer.iter().map(|(wait, text)| (*wait, text.as_str())));
        assert_eq!(shown(&outputs), ["2600 $ make", "4000 working 4s"], "only the last of the timer");
    }

    #[test]
    fn a_screen_that_stays_is_read_with_the_time_when_it_was_drawn() {
        let draw = "\x1b[?1049h\x1b[2J\x1b[1;1H\u{2502} plan it \u{2502}";
        let leave = "\x1b[?1049l\x1b[2Jbye";
        assert_eq!(shown(&[(0, draw), (5000, leave)]), ["0 plan it", "5000 bye"]);
    }

    #[test]
    fn a_recording_is_read_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        let lines: Vec<String> = (0..50).map(|line| format!("line {line}\r\n")).collect();
        let outputs: Vec<(u64, &str)> = lines.iter().map(|line| (10, line.as_str())).collect();
        let recording = recorded(dir.path(), &outputs);
        let (mut from, mut parts, mut read) = (0, 0, HashSet::new());
        loop {
            let shown = recording.shown(from, 100).unwrap();
            read.extend(shown.lines.into_iter().map(|found| found.line));
            parts += 1;
            if shown.whole {
                break;
            }
            assert!(shown.next > from, "each part makes progress");
            from = shown.next;
        }
        assert_eq!((read.len(), parts), (50, 5));
        let again = recording.shown(u64::MAX, 100).unwrap();
        assert!(again.whole && again.lines.iter().all(|found| read.contains(&found.line)));
    }

    #[test]
    fn a_box_is_not_part_of_its_line() {
        assert_eq!(bare("│ > deploy it   │"), "> deploy it");
        assert_eq!(bare("╭────╮"), "");
    }
}
