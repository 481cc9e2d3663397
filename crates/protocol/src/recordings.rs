//! Recordings of sessions.

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::Session;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! recordings {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* recordings {
        changes {
        }
        answers {
            RecordingDetail(RecordingDetail),
            RecordingPart(crate::RecordingPart),
            RecordingHits(RecordingHits),
        }
        verbs {
            /// The recordings that the caller may see: the sessions that have one.
            RecordingList "recording.list" GET "/api/recordings"
                { query filter: ExecutionFilter } -> 200 Vec<Session>, Anyone;
            /// One recording, without its content.
            RecordingShow "recording.show" GET "/api/recordings/{session}"
                { path session: SessionId } -> 200 RecordingDetail, LookOnRunner;
            /// A part of a recording, from the runner.
            RecordingPart "recording.part" GET "/api/recordings/{session}/part"
                { path session: SessionId, query range: RecordingRange } -> 200 crate::RecordingPart, LookOnRunner;
            /// Where a text is in a recording.
            RecordingSearch "recording.search" GET "/api/recordings/{session}/search"
                { path session: SessionId, query query: RecordingQuery } -> 200 RecordingHits, LookOnRunner;
            /// Marks one of the caller's recordings as worth preserving, or not.
            RecordingKeep "recording.keep" PATCH "/api/recordings/{session}"
                { path session: SessionId, body input: crate::RecordingKeep } -> 200 Session, Drive;
        }
    } } };
}

pub(crate) use recordings;

inputs! {
    /// Whether a recording is never deleted.
    RecordingKeep {
        /// True: keep it.
        keep: bool,
    }
}

queries! {
    /// Which part of a recording to show.
    #[derive(Copy)]
    RecordingRange {
        /// From when, in milliseconds from the start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        from_ms: Option<u64>,
    }

    /// What to look for in a recording.
    RecordingQuery {
        /// The text, ignoring case.
        text: String,
    }
}

views! {
    /// The flight recorder's take of a session.
    Recording {
        /// How many bytes the terminal has shown.
        #[ts(type = "number")]
        output_bytes: u64,
        /// What it takes on the runner's disk.
        #[ts(type = "number")]
        disk_bytes: u64,
        /// How long it is.
        #[ts(type = "number")]
        duration_ms: u64,
        /// Whether it is never deleted.
        keep: bool,
    }

    /// A moment in a recording that is worth finding.
    Marker {
        /// When, from the start.
        #[ts(type = "number")]
        at_ms: u64,
        /// What kind: `prompt`, `state`, `commit`, `gap`, …
        kind: String,
        /// The text.
        text: String,
    }

    /// A recording, without its content.
    RecordingDetail {
        /// The session.
        session: Session,
        /// Its size at the start.
        cols: u16,
        /// Its size at the start.
        rows: u16,
        /// When it began.
        started_at: Timestamp,
        /// How long it is.
        #[ts(type = "number")]
        duration_ms: u64,
        /// What is worth finding.
        markers: Vec<Marker>,
    }

    /// A part of a recording.
    RecordingPart {
        /// The terminal's state at the start of the part, as bytes for an empty terminal, in base64.
        screen: String,
        /// Its size then.
        cols: u16,
        /// Its size then.
        rows: u16,
        /// When the part starts, from the start of the recording.
        #[ts(type = "number")]
        from_ms: u64,
        /// What happened, in order.
        events: Vec<RecordedEvent>,
        /// Where the next part starts; absent at the end.
        #[ts(type = "number | null")]
        next_ms: Option<u64>,
    }

    /// One event of a recording.
    RecordedEvent {
        /// When, from the start of the recording.
        #[ts(type = "number")]
        at_ms: u64,
        /// asciicast's letter: `o` output, `i` input, `r` resize, `m` marker, `x` exit.
        code: String,
        /// What asciicast holds for it.
        data: String,
    }

    /// Where a text was found in a recording.
    RecordingHit {
        /// When it was on the screen first, from the start.
        #[ts(type = "number")]
        at_ms: u64,
        /// The line that it is in.
        line: String,
    }

    /// Where a text was found in a recording, from its beginning.
    RecordingHits {
        /// The first of the lines that it is in.
        hits: Vec<RecordingHit>,
        /// Whether there are more than these.
        #[serde(default)]
        truncated: bool,
    }
}
