//! Reads recordings for requests: as text, in pages, and by search.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use domain::Timestamp;
use protocol::link::RecordingSummary;
use protocol::{Marker, Problem, ProblemKind, RecordedEvent, RecordingHit, RecordingHits, RecordingPart, SessionLog};
use terminal::Screen;
use terminal::recording::{Happening, Moment, Recording};

use super::LARGEST;

/// How many hits to return.
const HITS: usize = 200;
/// How much of a line to return.
const LINE: usize = 500;
/// How many markers to return.
const MARKERS: usize = 2000;
/// Approximate size of a page as JSON.
const STRETCH: usize = LARGEST / 2;

/// The last lines of the terminal's output.
pub(crate) fn log(dir: &Path, lines: usize) -> Result<SessionLog, Problem> {
    let recording = open(dir)?;
    let mut tail = Tail::new(lines, LARGEST / 2);
    recording.log(&mut tail).map_err(unreadable)?;
    let truncated = tail.truncated || recording.offsets().is_ok_and(|there| there.start > 0);
    let text: Vec<String> = tail.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    Ok(SessionLog { text: text.join("\n"), truncated, setup: false })
}

/// The end of the terminal's output, at most this many bytes, and how many bytes were before it.
pub(crate) fn printed(dir: &Path, most: usize) -> Result<(String, u64), Problem> {
    let recording = open(dir)?;
    let mut tail = Tail::new(usize::MAX, most);
    recording.log(&mut tail).map_err(unreadable)?;
    let before = tail.cut + recording.offsets().map_or(0, |there| there.start);
    let text: Vec<String> = tail.lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    Ok((text.join("\n"), before))
}

/// A recording's summary and markers.
pub(super) fn show(dir: &Path) -> Result<RecordingSummary, Problem> {
    let recording = open(dir)?;
    let header = recording.header();
    let mut markers = recording.markers().map_err(unreadable)?;
    markers.drain(..markers.len().saturating_sub(MARKERS));
    Ok(RecordingSummary {
        cols: header.cols,
        rows: header.rows,
        started_at: Timestamp::from_millis(header.started_at.saturating_mul(1000)),
        duration_ms: millis(recording.duration().unwrap_or_default()),
        markers: markers
            .into_iter()
            .map(|marker| Marker { at_ms: marker.time_us / 1000, kind: marker.kind, text: shorter(&marker.text) })
            .collect(),
    })
}

/// A page that begins exactly at `from_ms`: the screen then, and the events after it.
pub(super) fn part(dir: &Path, from_ms: u64) -> Result<RecordingPart, Problem> {
    let recording = open(dir)?;
    let mut play = recording.play_from(Duration::from_millis(from_ms)).map_err(unreadable)?;
    let start = play.start.screen.clone();
    // The first point comes a moment after the beginning; the page begins later only if something came before it.
    let begins = if start.offset == 0 { from_ms } else { millis(play.start.time).max(from_ms) };
    let mut screen = Screen::new(start.cols, start.rows, 0);
    screen.feed(&start.bytes);
    let mut events: Vec<RecordedEvent> = Vec::new();
    let (mut size, mut next_ms) = (0, None);
    for moment in play.by_ref() {
        let moment = moment.map_err(unreadable)?;
        let at_ms = millis(moment.time);
        if at_ms < from_ms {
            match &moment.happening {
                Happening::Output(bytes) => screen.feed(bytes),
                Happening::Resize(cols, rows) => screen.resize(*cols, *rows),
                _ => {}
            }
            continue;
        }
        // Pages split at milliseconds, so all events of one millisecond are in one page.
        if size >= STRETCH && events.last().is_some_and(|last| last.at_ms < at_ms) {
            next_ms = Some(at_ms);
            break;
        }
        let event = event(moment, at_ms);
        size += serde_json::to_string(&event).map_or(0, |text| text.len() + 1);
        events.push(event);
    }
    let shown = screen.snapshot();
    let screen = base64::engine::general_purpose::STANDARD.encode(&shown.bytes);
    Ok(RecordingPart { screen, cols: shown.cols, rows: shown.rows, from_ms: begins, events, next_ms })
}

/// Where a text occurs in a recording.
pub(super) fn search(dir: &Path, text: &str) -> Result<RecordingHits, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::new(ProblemKind::Invalid, "give a text to search for"));
    }
    let mut found = open(dir)?.search(text, HITS + 1).map_err(unreadable)?;
    let truncated = found.len() > HITS;
    found.truncate(HITS);
    let hits = found.into_iter().map(|hit| RecordingHit { at_ms: millis(hit.time), line: shorter(&hit.line) });
    Ok(RecordingHits { hits: hits.collect(), truncated })
}

fn event(moment: Moment, at_ms: u64) -> RecordedEvent {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (code, data) = match moment.happening {
        Happening::Output(bytes) => ("o", lossy(bytes)),
        Happening::Input(bytes) => ("i", lossy(bytes)),
        Happening::Resize(cols, rows) => ("r", format!("{cols}x{rows}")),
        Happening::Marker(text) => ("m", text),
        Happening::Exit(code) => ("x", code.to_string()),
    };
    RecordedEvent { at_ms, code: code.to_owned(), data }
}

fn open(dir: &Path) -> Result<Recording, Problem> {
    Recording::open(&terminal::Files::new(dir).recording()).map_err(|_| {
        Problem::new(ProblemKind::NotFound, "this runner has no recording of that session, or no longer has it")
    })
}

fn unreadable(error: io::Error) -> Problem {
    let kind = if error.kind() == io::ErrorKind::UnexpectedEof { ProblemKind::NotFound } else { ProblemKind::Internal };
    Problem::new(kind, format!("could not read the recording: {error}"))
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

fn shorter(text: &str) -> String {
    text.chars().take(LINE).collect()
}

/// Keeps the last lines of its input.
struct Tail {
    lines: VecDeque<Vec<u8>>,
    part: Vec<u8>,
    most: usize,
    bytes: usize,
    most_bytes: usize,
    truncated: bool,
    /// How many bytes of lines were left out.
    cut: u64,
}

impl Tail {
    fn new(most: usize, most_bytes: usize) -> Self {
        Self { lines: VecDeque::new(), part: Vec::new(), most, bytes: 0, most_bytes, truncated: false, cut: 0 }
    }
}

impl Write for Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.part.extend_from_slice(piece);
            if let Some(line) = self.part.strip_suffix(b"\n") {
                self.bytes += line.len() + 3;
                self.lines.push_back(line.to_vec());
                self.part.clear();
            }
            while self.lines.len() > self.most || self.bytes > self.most_bytes {
                let length = self.lines.pop_front().map_or(0, |line| line.len());
                self.bytes = self.bytes.saturating_sub(length + 3);
                self.cut += length as u64 + 1;
                self.truncated = true;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = Tail::new(2, 1000);
        for piece in ["on", "e\ntwo\n", "thr", "ee\n"] {
            tail.write_all(piece.as_bytes()).unwrap();
        }
        assert_eq!(tail.lines, [b"two".to_vec(), b"three".to_vec()]);
        assert!(tail.truncated);
        assert_eq!(tail.cut, 4, "a line and its end");
        let mut tail = Tail::new(usize::MAX, 16);
        tail.write_all(b"a long line\nand another one\nend\n").unwrap();
        assert_eq!(tail.lines, [b"end".to_vec()]);
    }
}
