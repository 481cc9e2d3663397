//! Recordings: a session's complete output, with times, that can be played, searched and read.
//!
//! A recording is a directory. `header.json` says what it is of; `markers.jsonl` lists its markers; `00000001.zst` and
//! so on hold what happened, as lines of [asciicast v3](https://docs.asciinema.org/manual/asciicast/v3/) in zstd frames:
//! `zstdcat` shows them. Between them lie skippable frames, each with the screen at that point, so that playing can
//! begin anywhere. A frame is written whole at least each second; a torn one at the end is ignored.

mod cast;
mod lines;
mod reader;
mod segment;
mod shown;
mod text;
mod writer;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use reader::{Play, Recording};
pub use shown::Shown;
pub use text::Found;
pub use writer::Recorder;

use crate::screen::Snapshot;

/// A recording's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Width of the screen at the start.
    pub cols: u16,
    /// Height of the screen at the start.
    pub rows: u16,
    /// Its title.
    pub title: String,
    /// When it began, in seconds since 1970.
    pub started_at: i64,
}

/// A point of interest in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// How long after the beginning, in microseconds.
    pub time_us: u64,
    /// How many bytes of output there were before it.
    pub offset: u64,
    /// What kind of marker, one word.
    pub kind: String,
    /// Its text.
    pub text: String,
}

/// An event in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// The program wrote this.
    Output(Vec<u8>),
    /// The owner typed this.
    Input(Vec<u8>),
    /// The screen was resized.
    Resize(u16, u16),
    /// A marker, as players show it.
    Marker(String),
    /// The program ended with this code.
    Exit(i32),
}

/// An event and its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// How long after the beginning.
    pub time: Duration,
    /// How many bytes of output there were before it.
    pub offset: u64,
    /// What happened.
    pub happening: Happening,
}

/// A point where playing can start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// How long after the beginning.
    pub time: Duration,
    /// The screen then.
    pub screen: Snapshot,
}
