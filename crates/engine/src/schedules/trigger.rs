//! What makes a schedule due, as a person writes it, and why it is refused.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::Times;

/// The shortest interval, in seconds.
pub const MIN_SECONDS: u32 = 60;

/// The events that a schedule can wait for.
pub const EVENTS: &[&str] =
    &["task_done", "task_failed", "activity_blocked", "activity_completed", "execution_ended", "push", "webhook"];

/// When a schedule is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "on", rename_all = "snake_case", deny_unknown_fields)]
pub enum Trigger {
    /// At the times of a cron expression, in a time zone.
    Cron {
        /// Five fields: minute, hour, day of month, month, day of week.
        cron: String,
        /// An IANA time zone; default: UTC.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        time_zone: Option<String>,
    },
    /// At a fixed interval, counted from the schedule's creation.
    Every {
        /// The interval in seconds, at least [`MIN_SECONDS`].
        seconds: u32,
    },
    /// Once.
    At {
        /// When.
        at: Timestamp,
    },
    /// When something happens in the project; such a schedule has no planned times.
    Event {
        /// One of [`EVENTS`].
        event: String,
        /// Which of them counts, as an expression over `event`; absent: each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matching: Option<String>,
    },
}

impl Trigger {
    /// Refuses a trigger that can never be due; `matching` is an expression, which its owner checks.
    pub fn check(&self) -> Result<(), TriggerError> {
        Times::parse(self).map(|_| ())
    }
}

/// Why a trigger is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TriggerError {
    /// Another number of fields.
    #[error(
        "cron `{text}` has {found}: write five, as `0 9 * * 1-5` (minute, hour, day of month, month, day of week){hint}"
    )]
    Fields {
        /// The expression.
        text: String,
        /// How many fields it has.
        found: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// A field that is not understood.
    #[error("{field} `{item}`: {expected}")]
    Field {
        /// The name of the field.
        field: &'static str,
        /// The part that is not understood.
        item: String,
        /// What it may be.
        expected: String,
    },
    /// No day matches.
    #[error("cron `{text}` is never due: no month of it has such a day")]
    Never {
        /// The expression.
        text: String,
    },
    /// An unknown time zone.
    #[error("`{name}` is not a known time zone{}", match near { Some(near) => format!("; did you mean `{near}`?"), None => ": use a name as Europe/Berlin".to_owned() })]
    Zone {
        /// The name.
        name: String,
        /// The most similar known name.
        near: Option<String>,
    },
    /// An interval that is too short.
    #[error("an interval of {0} s is too short: use at least {MIN_SECONDS} s")]
    Interval(u32),
    /// An unknown event.
    #[error("unknown event `{name}`{hint}; known: {}", EVENTS.join(", "))]
    Event {
        /// The name.
        name: String,
        /// A suggestion, if there is one.
        hint: String,
    },
}

/// A text as an error quotes it: short, on one line.
pub(super) fn quoted(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
