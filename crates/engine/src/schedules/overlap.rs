//! What happens to a tick that is due while an execution is not over.

use domain::{Overlap, Timestamp};

use super::{Facts, Outcome};

/// The executions of a schedule while a decision adds to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    open: usize,
    queued: usize,
    /// Whether the executions that were open before must be cancelled.
    pub(super) cancel: bool,
}

impl Room {
    /// The room that a schedule has, and the queued tick that starts now because nothing else is open.
    pub(super) fn of(facts: &Facts) -> (Self, Option<Timestamp>) {
        let room = Self { open: facts.open as usize, queued: facts.queued.len(), cancel: false };
        match facts.queued.iter().min() {
            Some(next) if facts.open == 0 && !facts.paused => {
                (Self { open: 1, queued: room.queued - 1, ..room }, Some(*next))
            }
            _ => (room, None),
        }
    }

    /// Finds a place for a tick that is due; `last`: whether no other tick is due after it.
    pub(super) fn take(&mut self, facts: &Facts, last: bool) -> Outcome {
        let busy = self.open + self.queued > 0;
        match facts.overlap {
            Overlap::Allow => self.start(),
            Overlap::CancelRunning if !last => Outcome::skip("a later tick is due as well and replaces it"),
            Overlap::CancelRunning => {
                self.cancel = self.open > 0;
                self.start()
            }
            _ if !busy => self.start(),
            Overlap::Skip => Outcome::skip("an execution of this schedule was not over"),
            Overlap::QueueOne if self.queued == 0 => self.queue(),
            Overlap::QueueOne => Outcome::skip("an execution was waiting already"),
            Overlap::QueueAll if self.queued < facts.queue_max as usize => self.queue(),
            Overlap::QueueAll => Outcome::skip(match self.queued {
                1 => "1 execution was waiting already".to_owned(),
                queued => format!("{queued} executions were waiting already"),
            }),
        }
    }

    /// Starts or queues a tick whatever the overlap rule says: a person asked for it.
    pub(super) fn give(&mut self, facts: &Facts) -> Outcome {
        match facts.overlap == Overlap::Allow || self.open + self.queued == 0 {
            true => self.start(),
            false => self.queue(),
        }
    }

    fn start(&mut self) -> Outcome {
        self.open += 1;
        Outcome::Start
    }

    fn queue(&mut self) -> Outcome {
        self.queued += 1;
        Outcome::Queue
    }
}
