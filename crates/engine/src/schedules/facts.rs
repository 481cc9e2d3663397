//! What is known about a schedule, and what becomes of its ticks.

use domain::{Overlap, ScheduleId, TickOutcome, Timestamp};
use serde::{Deserialize, Serialize};

use super::Trigger;

/// A tick that is later than this was missed.
pub const ON_TIME_MILLIS: i64 = 60_000;

/// One decision writes at most this many ticks; the older ones share one.
pub const MAX_ROWS: usize = 1_000;

/// Catching up starts at most this many missed ticks.
pub const MAX_CAUGHT_UP: u32 = 100;

/// What happens to ticks that were missed because no hub ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "catch_up", rename_all = "snake_case", deny_unknown_fields)]
pub enum CatchUp {
    /// They are left out.
    None,
    /// The latest of them is started, unless a later tick is on time.
    #[default]
    Latest,
    /// The latest of them are started, oldest first.
    All {
        /// How many at most, up to [`MAX_CAUGHT_UP`].
        most: u32,
    },
}

/// The facts about a schedule, as [`decide`](super::decide()) and [`execution_over`](super::execution_over) read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The schedule.
    pub schedule: ScheduleId,
    /// When it is due.
    pub trigger: Trigger,
    /// When it was created.
    pub anchor: Timestamp,
    /// Planned times up to here have their tick; at first the same as `anchor`.
    pub decided_to: Timestamp,
    /// The time.
    pub now: Timestamp,
    /// No tick before this time.
    pub from: Option<Timestamp>,
    /// No tick after this time.
    pub until: Option<Timestamp>,
    /// Whether it is paused.
    pub paused: bool,
    /// What happens to a tick while an execution is not over.
    pub overlap: Overlap,
    /// With `queue_all`: how many ticks may wait.
    pub queue_max: u32,
    /// What happens to missed ticks.
    pub catch_up: CatchUp,
    /// How old a missed tick may be, in seconds; absent: an hour for the latest, any age for all.
    pub catch_up_seconds: Option<u32>,
    /// Delays each tick by less than this many seconds.
    pub jitter_seconds: u32,
    /// Executions of the schedule that are not over.
    pub open: u32,
    /// The planned times of the ticks that wait for their turn, oldest first.
    pub queued: Vec<Timestamp>,
    /// Pauses the schedule after this many failed executions in a row.
    pub pause_after_failures: Option<u32>,
    /// Failed executions in a row; a person who resumes the schedule sets it to 0.
    pub failures: u32,
}

/// A tick to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// When it was planned.
    pub planned_at: Timestamp,
    /// What becomes of it.
    pub outcome: Outcome,
    /// How many planned times it stands for: 1, or more where the older ones share a tick, planned for the last of them.
    pub times: u64,
}

/// What becomes of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// An execution starts.
    Start,
    /// It waits for the execution before it.
    Queue,
    /// Nothing starts.
    Skip {
        /// Why.
        reason: String,
    },
    /// No hub ran when it was due, and the catch-up rule leaves it out.
    Missed {
        /// Why it is left out.
        reason: String,
    },
}

impl Outcome {
    /// The word for it.
    pub fn word(&self) -> TickOutcome {
        match self {
            Self::Start => TickOutcome::Started,
            Self::Queue => TickOutcome::Queued,
            Self::Skip { .. } => TickOutcome::Skipped,
            Self::Missed { .. } => TickOutcome::Missed,
        }
    }

    /// Why nothing starts.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Start | Self::Queue => None,
            Self::Skip { reason } | Self::Missed { reason } => Some(reason),
        }
    }

    pub(super) fn skip(reason: impl Into<String>) -> Self {
        Self::Skip { reason: reason.into() }
    }

    pub(super) fn missed(reason: impl Into<String>) -> Self {
        Self::Missed { reason: reason.into() }
    }
}
