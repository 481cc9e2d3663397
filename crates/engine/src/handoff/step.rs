//! The steps of a handoff: what follows from an event, and what is to be done until it is confirmed.

use domain::{HandoffStatus, HandoffStep, SessionId};

/// A handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// How far it is.
    pub state: State,
    /// Whether a person edits the document before the handoff continues.
    pub edit: bool,
}

/// How far a handoff is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The document is being written.
    Writing,
    /// A person edits the document.
    Editing,
    /// The work is being saved.
    Saving,
    /// The saved commit is being pushed or kept.
    Publishing,
    /// The session is being stopped.
    Stopping,
    /// The session has ended; the fresh one is about to start.
    Starting,
    /// The fresh session runs and has not quoted the hash yet.
    Acknowledging {
        /// The fresh session.
        successor: SessionId,
    },
    /// A step failed.
    Failed {
        /// The step.
        at: HandoffStep,
        /// The reason.
        why: String,
    },
    /// The fresh session has the document.
    Done {
        /// The fresh session.
        successor: SessionId,
    },
    /// A person cancelled it at this step.
    Cancelled {
        /// The step.
        at: HandoffStep,
    },
}

/// An event of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The document is there.
    Written,
    /// The person has finished editing.
    Released,
    /// The work is saved.
    Saved,
    /// The saved commit is pushed or kept.
    Published,
    /// The session has ended.
    Stopped,
    /// The fresh session was started.
    Started {
        /// The fresh session.
        successor: SessionId,
    },
    /// A session quoted the hash.
    Acknowledged {
        /// The session.
        by: SessionId,
    },
    /// The fresh session ended before it quoted the hash.
    Gone {
        /// The fresh session.
        successor: SessionId,
    },
    /// A step could not be done.
    Failed {
        /// The step.
        at: HandoffStep,
        /// The reason.
        why: String,
    },
    /// A person wants the failed step tried again.
    Retry,
    /// A person wants to go on without the current step.
    Skip,
    /// A person cancels the handoff.
    Cancel,
}

/// Something to do until it is confirmed. May be done twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Ask the agent for the document, or write it from the recording.
    Write,
    /// Save the work and gather the facts.
    Save,
    /// Push the saved commit.
    Publish,
    /// Stop the session, and wait until it has ended.
    Stop,
    /// Start the fresh session.
    Start,
    /// Wait for the hash, and for the end of the fresh session.
    Wait,
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The next state.
    pub state: State,
    /// What is to be done in it.
    pub effects: Vec<Effect>,
}

impl State {
    /// The current step; the last one when it is over.
    pub fn step(&self) -> HandoffStep {
        match self {
            Self::Writing | Self::Editing => HandoffStep::Write,
            Self::Saving => HandoffStep::Save,
            Self::Publishing => HandoffStep::Publish,
            Self::Stopping => HandoffStep::Stop,
            Self::Starting => HandoffStep::Start,
            Self::Acknowledging { .. } | Self::Done { .. } => HandoffStep::Acknowledge,
            Self::Failed { at, .. } | Self::Cancelled { at } => *at,
        }
    }

    /// The status.
    pub fn status(&self) -> HandoffStatus {
        match self {
            Self::Editing => HandoffStatus::Editing,
            Self::Failed { .. } => HandoffStatus::Failed,
            Self::Done { .. } => HandoffStatus::Done,
            Self::Cancelled { .. } => HandoffStatus::Cancelled,
            _ => HandoffStatus::Running,
        }
    }
}

/// What is to be done in a state.
pub fn effect(state: &State) -> Option<Effect> {
    match state {
        State::Writing => Some(Effect::Write),
        State::Saving => Some(Effect::Save),
        State::Publishing => Some(Effect::Publish),
        State::Stopping => Some(Effect::Stop),
        State::Starting => Some(Effect::Start),
        State::Acknowledging { .. } => Some(Effect::Wait),
        State::Editing | State::Failed { .. } | State::Done { .. } | State::Cancelled { .. } => None,
    }
}

/// How often a runner tries a step that it cannot do, before a person decides.
pub const TRIES: u32 = 5;

/// What follows from a runner's try that failed for a reason which may pass; `None`: it is tried again.
pub fn tried(at: HandoffStep, tries: u32, why: &str) -> Option<Event> {
    (tries >= TRIES).then(|| Event::Failed { at, why: format!("{why} (tried {tries} times)") })
}

/// Whether a fresh session that is known already must not start yet, because its document is not sealed.
pub fn holds_back(state: &State) -> bool {
    matches!(state, State::Writing | State::Editing | State::Saving | State::Publishing)
}

/// Applies an event. An event that is late, repeated or impossible changes nothing and has no effects.
pub fn step(handoff: &Handoff, event: Event) -> Step {
    match next(handoff, event) {
        Some(state) => Step { effects: effect(&state).into_iter().collect(), state },
        None => Step { state: handoff.state.clone(), effects: Vec::new() },
    }
}

fn next(handoff: &Handoff, event: Event) -> Option<State> {
    let written = if handoff.edit { State::Editing } else { State::Saving };
    match (&handoff.state, event) {
        (State::Writing, Event::Written | Event::Skip) => Some(written),
        (State::Editing, Event::Released | Event::Skip) => Some(State::Saving),
        (State::Saving, Event::Saved | Event::Skip) => Some(State::Publishing),
        (State::Publishing, Event::Published | Event::Skip) => Some(State::Stopping),
        (State::Stopping, Event::Stopped) => Some(State::Starting),
        (State::Starting, Event::Started { successor }) => Some(State::Acknowledging { successor }),
        (State::Acknowledging { successor }, Event::Acknowledged { by }) if *successor == by => {
            Some(State::Done { successor: by })
        }
        (State::Acknowledging { successor }, Event::Gone { successor: gone }) if *successor == gone => {
            let why = "the fresh session ended before it acknowledged the document".to_owned();
            Some(State::Failed { at: HandoffStep::Acknowledge, why })
        }
        (State::Failed { at, .. }, Event::Retry) => Some(again(*at)),
        (State::Failed { at: HandoffStep::Write, .. }, Event::Skip) => Some(written),
        (State::Failed { at: HandoffStep::Save, .. }, Event::Skip) => Some(State::Publishing),
        (State::Failed { at: HandoffStep::Publish, .. }, Event::Skip) => Some(State::Stopping),
        (state, Event::Failed { at, why }) if effect(state).is_some() && state.step() == at && can_fail(at) => {
            Some(State::Failed { at, why })
        }
        (state, Event::Cancel) if !state.status().is_over() => Some(State::Cancelled { at: state.step() }),
        _ => None,
    }
}

/// A fresh session that runs fails only by ending.
fn can_fail(at: HandoffStep) -> bool {
    at != HandoffStep::Acknowledge
}

/// Where a failed step begins again. A fresh session that ended is replaced by another one.
fn again(at: HandoffStep) -> State {
    match at {
        HandoffStep::Write => State::Writing,
        HandoffStep::Save => State::Saving,
        HandoffStep::Publish => State::Publishing,
        HandoffStep::Stop => State::Stopping,
        HandoffStep::Start | HandoffStep::Acknowledge => State::Starting,
    }
}
