//! The model store: rows, and what one transaction writes.

use std::collections::BTreeMap;

use domain::Timestamp;

use crate::recipes::*;

/// An execution in the store.
#[derive(Clone)]
pub(super) struct Row {
    /// Before its first event.
    pub new: Execution,
    pub state: Execution,
    pub history: Vec<(Timestamp, Event)>,
    /// Grows with each takeover.
    pub fence: u64,
    /// When another hub may take over, on the monotonic clock.
    pub until: i64,
    /// Effects that are not confirmed, and work that has begun.
    pub outbox: BTreeMap<(Path, u32), Out>,
    pub timers: BTreeMap<(Option<Path>, u32, TimerKind), Timestamp>,
}

/// An effect in the store.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Out {
    pub at_most_once: bool,
    pub progress: Progress,
}

/// How far an effect is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Progress {
    /// Nobody has begun it.
    Pending,
    /// A hub is about to begin it, with this fence.
    Intended(u64),
    /// It has begun.
    Begun,
}

impl Row {
    pub(super) fn new(execution: Execution) -> Self {
        let (outbox, timers) = (BTreeMap::new(), BTreeMap::new());
        Self { new: execution.clone(), state: execution, history: Vec::new(), fence: 0, until: 0, outbox, timers }
    }

    /// One transaction: the event, the state, the effects.
    pub(super) fn write(&mut self, now: Timestamp, event: &Event, decided: Step) {
        self.history.push((now, event.clone()));
        self.state = decided.execution;
        match event {
            Event::Ended { path, attempt, .. } => drop(self.outbox.remove(&(path.clone(), *attempt))),
            Event::Due { path, attempt, timer } => drop(self.timers.remove(&(path.clone(), *attempt, *timer))),
            _ => {}
        }
        for effect in decided.effects {
            match effect {
                Effect::Begin { path, attempt, at_most_once, .. } => {
                    self.outbox.insert((path, attempt), Out { at_most_once, progress: Progress::Pending });
                }
                Effect::Stop { path, attempt } => drop(self.outbox.remove(&(path, attempt))),
                Effect::SetTimer { path, attempt, timer, at } => drop(self.timers.insert((path, attempt, timer), at)),
                Effect::DropTimer { path, attempt, timer } => drop(self.timers.remove(&(Some(path), attempt, timer))),
                Effect::DropTimers { path: None } => self.timers.clear(),
                Effect::DropTimers { path } => self.timers.retain(|timer, _| timer.0 != path),
                Effect::Over => {}
            }
        }
    }
}
