//! The way of work to the repository, as a pure state machine.

use domain::LandingState;

/// An event on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The branch is at the repository.
    Published {
        /// Whether it is merged, too.
        merges: bool,
    },
    /// The branch could not be published.
    NotPublished {
        /// The reason.
        why: String,
    },
    /// The merge queue brought it onto the target branch.
    Landed,
    /// The merge queue gave it back.
    Ejected {
        /// The reason.
        why: String,
    },
    /// Nobody wants it to land any more.
    Withdrawn {
        /// The reason.
        why: String,
    },
}

/// How often the merge queue sends work back to its agent before only a person can go on.
const ROUNDS: u32 = 3;

/// Whether work that the merge queue sent back goes to its agent, after this many times.
pub fn goes_back(times: u32) -> bool {
    times <= ROUNDS
}

/// What follows from an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The next state.
    pub state: LandingState,
    /// Why it was refused; absent unless it was.
    pub detail: Option<String>,
    /// Whether the branch enters the merge queue now.
    pub enqueue: bool,
}

/// Applies an event. `None` if it changes nothing: it is late, or came twice.
pub fn step(state: LandingState, event: Event) -> Option<Step> {
    use LandingState::{Landed, Published, Publishing, Queued, Refused};
    let plain = |state| Some(Step { state, detail: None, enqueue: false });
    let refused = |why| Some(Step { state: Refused, detail: Some(why), enqueue: false });
    match (state, event) {
        (Publishing, Event::Published { merges: false }) => plain(Published),
        (Publishing, Event::Published { merges: true }) => Some(Step { state: Queued, detail: None, enqueue: true }),
        (Publishing, Event::NotPublished { why }) => refused(why),
        // A branch that somebody merged by hand has landed, whatever was asked for.
        (Publishing | Published | Queued | Refused, Event::Landed) => plain(Landed),
        (Queued, Event::Ejected { why }) | (Publishing | Queued, Event::Withdrawn { why }) => refused(why),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events() -> impl Strategy<Value = Event> {
        prop_oneof![
            any::<bool>().prop_map(|merges| Event::Published { merges }),
            Just(Event::NotPublished { why: "no access".into() }),
            Just(Event::Landed),
            Just(Event::Ejected { why: "its check failed".into() }),
            Just(Event::Withdrawn { why: "its task moved on".into() }),
        ]
    }

    proptest! {
        #[test]
        fn work_enters_the_queue_once_and_stays_landed(events in proptest::collection::vec(events(), 0..20)) {
            let (mut state, mut entered) = (LandingState::Publishing, 0);
            for event in events {
                let before = state;
                let Some(next) = step(state, event) else { continue };
                prop_assert!(before != LandingState::Landed, "it had landed");
                prop_assert_eq!(next.state == LandingState::Refused, next.detail.is_some());
                prop_assert_eq!(next.enqueue, next.state == LandingState::Queued);
                entered += u32::from(next.enqueue);
                state = next.state;
            }
            prop_assert!(entered <= 1);
        }
    }

    #[test]
    fn a_repeated_answer_of_the_runner_changes_nothing() {
        let first = step(LandingState::Publishing, Event::Published { merges: true }).unwrap();
        assert_eq!(step(first.state, Event::Published { merges: true }), None);
    }
}
