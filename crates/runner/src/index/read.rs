//! Reads a part of a recording: its lines, without secrets.

use std::io;
use std::path::Path;

use agents::Secrets;
use terminal::recording::Recording;

use super::rows::{Line, Progress};

/// How much output to read at once.
const PART: u64 = 4 << 20;
/// How much of a line to index, in characters.
const LINE: usize = 400;
/// The latest time that a number has room for: the year 2200.
const LATEST: u64 = 7_258_118_400_000;

/// A part of a recording.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) lines: Vec<Line>,
    /// Where the next part begins, and whether this was the last one for now.
    pub(super) next: Progress,
    /// From when the recording has output: what came before was dropped.
    pub(super) from_ms: u64,
}

/// Reads the part of the recording in a session's folder that begins at this position; `None` if there is no recording.
/// Reads files: not for an async thread.
pub(super) fn part(dir: &Path, from: u64, mut secrets: Secrets) -> io::Result<Option<Part>> {
    let found = Recording::open(&terminal::Files::new(dir).recording());
    let recording = match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let started = u64::try_from(recording.header().started_at.saturating_mul(1000)).unwrap_or(0);
    let (from_ms, shown) = match recording.begins().and_then(|begins| Ok((begins, recording.shown(from, PART)?))) {
        // Its first frame is not written yet.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    let mut lines: Vec<Line> = shown
        .lines
        .into_iter()
        .map(|found| {
            let at_ms = found.time.as_millis() as u64;
            // Recordings have no secrets, but a program can draw one in pieces.
            let text = secrets.masked_text(&found.line).chars().take(LINE).collect();
            Line { at_ms, time_ms: started.saturating_add(at_ms).min(LATEST), text }
        })
        .collect();
    lines.sort_by_key(|line| line.at_ms);
    Ok(Some(Part {
        lines,
        next: Progress { next: shown.next, done: shown.whole },
        from_ms: from_ms.as_millis() as u64,
    }))
}
