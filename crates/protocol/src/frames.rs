//! The frames of the socket at `/api/ws`, one enum for each direction.

use domain::{HubId, Seq, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{Answer, Call, Change, Me, Place, PresenceEntry, Problem, ProblemKind};

/// Client → hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[ts(optional_fields)]
#[allow(clippy::large_enum_variant, reason = "there are few at a time, each on its way to or from a text")]
pub enum ToHub {
    /// The first frame, once.
    Hello {
        /// The version that the client speaks.
        protocol: u32,
        /// The database that `since` is about; another one means a full sync.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hub: Option<HubId>,
        /// The last change that the client has seen; absent: send everything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Seq>,
        /// What kind of client it is, for logs: `page`, `cli`, `runner`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    /// A verb. Gets exactly one `answer` or `error` with the same id.
    Request {
        /// Chosen by the client, unique among its open requests.
        id: u32,
        /// Makes a retry safe: the same key and verb act once and answer the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
        /// The verb.
        call: Call,
    },
    /// What the person is looking at now; never stored.
    Look {
        /// The place; absent when nothing in particular.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Place>,
        /// Whether somebody looks at the page: it is visible and in use. Then nothing is sent to other devices.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        visible: bool,
    },
    /// Shows a session's terminal on a channel; binary frames follow, see `terminal.rs`.
    Watch {
        /// Chosen by the client, unique among its open channels.
        channel: u32,
        /// The session.
        session: SessionId,
        /// Everything before this offset is already on the screen; absent: send the screen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        from: Option<u64>,
    },
    /// Ends a channel.
    Unwatch {
        /// The channel.
        channel: u32,
    },
    /// A view has this size now. The terminal gets the size of the view that types: one that only watches is ignored,
    /// except that the owner's first view of at least 80 columns sizes a fresh terminal.
    Resize {
        /// The channel whose terminal is meant.
        channel: u32,
        /// Its width.
        cols: u16,
        /// Its height.
        rows: u16,
        /// Its person types there, or asks for its size: the terminal follows this view until it leaves or another takes
        /// the size.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>")]
        take: bool,
    },
}

/// Hub → client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
#[ts(optional_fields)]
#[allow(clippy::large_enum_variant, reason = "there are few at a time, each on its way to or from a text")]
pub enum FromHub {
    /// Answers `hello`.
    Welcome {
        /// The version that both speak.
        protocol: u32,
        /// The database; send it back with the next `hello`.
        hub: HubId,
        /// Who the client is.
        me: Me,
        /// True: the changes since the client's `since` follow. False: a full `sync` follows.
        resumed: bool,
    },
    /// A part of the full state: on part 0 forget everything, then apply the changes.
    Sync {
        /// The state is as of this change; valid once the last part has arrived.
        seq: Seq,
        /// Counts from 0.
        part: u32,
        /// Whether this is the last part.
        last: bool,
        /// What exists, each as the change that would create it.
        changes: Vec<Change>,
    },
    /// One committed change. May arrive twice; applying it twice changes nothing.
    Delta(Delta),
    /// The client has everything up to here; what follows is live.
    Live {
        /// The last change.
        seq: Seq,
    },
    /// The answer to a request.
    Answer {
        /// The request's id.
        id: u32,
        /// The answer.
        answer: Answer,
    },
    /// A request was refused, or a frame could not be read.
    Error {
        /// The request's id, as far as it could be read.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u32>,
        /// The reason.
        problem: Problem,
    },
    /// Who is connected; only entries that changed. Never stored.
    Presence {
        /// True: forget all earlier entries.
        reset: bool,
        /// People; one with no connection left has `connected: false`.
        entries: Vec<PresenceEntry>,
    },
    /// A channel's status. Comes first on a channel, and whenever it changes.
    Watching {
        /// The channel.
        channel: u32,
        /// The session.
        session: SessionId,
        /// Whether the client's input reaches the terminal.
        may_type: bool,
        /// Whether the runner is connected; the channel continues when it returns.
        reachable: bool,
    },
    /// A channel ended; nothing follows on it.
    Unwatched {
        /// The channel.
        channel: u32,
        /// The reason: not found, forbidden, or too many channels.
        problem: Problem,
    },
}

/// One committed change with its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Delta {
    /// Its position; later ones are higher.
    pub seq: Seq,
    /// When it was committed.
    pub at: Timestamp,
    /// What changed.
    pub change: Change,
}

/// Why the hub closed a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseCode {
    /// The hub is stopping: reconnect.
    GoingAway,
    /// A frame broke the protocol.
    Protocol,
    /// A frame was too large.
    TooLarge,
    /// The client did not read or answer in time: reconnect and resume.
    TooSlow,
    /// The credential ended: log in again.
    Unauthenticated,
    /// Another process uses the credential of this runner.
    Taken,
    /// Too many requests.
    RateLimited,
}

impl CloseCode {
    /// The WebSocket close code.
    pub fn code(self) -> u16 {
        match self {
            Self::GoingAway => 1001,
            Self::Protocol => 1002,
            Self::TooLarge => 1009,
            Self::TooSlow => 1013,
            Self::Unauthenticated => 4401,
            Self::Taken => 4409,
            Self::RateLimited => 4429,
        }
    }
}

/// Parses a client's frame; the problem names the error, its place, and the request's id if readable.
pub fn decode_to_hub(bytes: &[u8]) -> Result<ToHub, (Option<u32>, Problem)> {
    serde_json::from_slice::<ToHub>(bytes).map_err(|error| {
        let id = serde_json::from_slice::<serde_json::Value>(bytes)
            .ok()
            .and_then(|value| value.get("id").and_then(serde_json::Value::as_u64))
            .and_then(|id| u32::try_from(id).ok());
        (id, Problem::new(ProblemKind::Invalid, format!("the frame could not be read: {error}")))
    })
}
