//! The next queued tick after an execution ends, and the ticks of a backfill.

use domain::Timestamp;
use serde::{Deserialize, Serialize};

use super::overlap::Room;
use super::{Facts, Tick};

/// How an execution of a schedule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It completed.
    Completed,
    /// It failed, or could not be started.
    Failed,
    /// A person or the schedule cancelled it.
    Cancelled,
}

/// What follows the end of an execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Over {
    /// The queued tick that starts now, by its planned time.
    pub start_queued: Option<Timestamp>,
    /// Failed executions in a row.
    pub failures: u32,
    /// Pause the schedule with this note.
    pub pause: Option<String>,
}

/// Decides what follows the end of an execution; `facts` no longer count it as open.
pub fn execution_over(facts: &Facts, ended: Ended) -> Over {
    let failures = match ended {
        Ended::Completed => 0,
        Ended::Failed => facts.failures.saturating_add(1),
        Ended::Cancelled => facts.failures,
    };
    let enough = facts.pause_after_failures.is_some_and(|most| failures >= most.max(1));
    let pausing = ended == Ended::Failed && enough && !facts.paused;
    let pause = pausing.then(|| match failures {
        1 => "paused after a failed execution".to_owned(),
        count => format!("paused after {count} failed executions in a row"),
    });
    let (_, next) = Room::of(facts);
    Over { start_queued: next.filter(|_| !pausing), failures, pause }
}

/// The ticks of a span that a person asks for: each is started or queued, also beyond the schedule's own limits.
/// `planned`: planned times without a tick, ascending.
pub fn backfill(facts: &Facts, planned: &[Timestamp]) -> Vec<Tick> {
    let (mut room, _) = Room::of(facts);
    planned.iter().map(|at| Tick { planned_at: *at, outcome: room.give(facts), times: 1 }).collect()
}
