//! Decides what to do about what the hub wants: no clock, no disk, no process.

use std::collections::BTreeMap;

use domain::SessionId;

/// What the hub wants of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// It should run.
    Run,
    /// It should go on: it began once, and nothing here is left of it unless it is known.
    GoOn,
    /// It should be stopped, first asking it unless `force`.
    Stop { force: bool },
}

/// What a session is at here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is prepared, runs, or was about to when the runner ended.
    Active,
    /// It is being stopped.
    Stopping { force: bool },
    /// It is over. `owed`: the hub has not acknowledged that yet.
    Ended { owed: bool },
}

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Prepare and start it, for the first and only time.
    Start(SessionId),
    /// Stop it.
    Stop { session: SessionId, force: bool },
    /// It is unknown here and should not run: tell the hub that it is over.
    Decline(SessionId),
    /// It is unknown here though it began: tell the hub that it is lost. It may still run elsewhere.
    Miss(SessionId),
    /// It is over, and the hub has forgotten that it was told.
    TellAgain(SessionId),
}

/// The hub wants something older than what was wanted before: a stale sender must not move us back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("generation {offered} is older than {seen}")]
pub(crate) struct Older {
    pub(crate) offered: u64,
    pub(crate) seen: u64,
}

/// What to do so that the wishes come true. What nobody has a wish about is left alone.
pub(crate) fn reconcile(
    seen: u64,
    generation: u64,
    wishes: &BTreeMap<SessionId, Wish>,
    known: &BTreeMap<SessionId, Phase>,
) -> Result<Vec<Action>, Older> {
    if generation < seen {
        return Err(Older { offered: generation, seen });
    }
    Ok(wishes.iter().filter_map(|(session, wish)| action(*session, *wish, known.get(session).copied())).collect())
}

fn action(session: SessionId, wish: Wish, phase: Option<Phase>) -> Option<Action> {
    match (wish, phase) {
        (Wish::Run, None) => Some(Action::Start(session)),
        (Wish::GoOn, None) => Some(Action::Miss(session)),
        (Wish::Stop { .. }, None) => Some(Action::Decline(session)),
        (Wish::Stop { force }, Some(Phase::Active)) => Some(Action::Stop { session, force }),
        (Wish::Stop { force: true }, Some(Phase::Stopping { force: false })) => {
            Some(Action::Stop { session, force: true })
        }
        (_, Some(Phase::Ended { owed: false })) => Some(Action::TellAgain(session)),
        // A stop is final: a session that is being stopped is not started again.
        (_, Some(Phase::Active | Phase::Stopping { .. } | Phase::Ended { owed: true })) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the world looks like after the action, at once or later.
    fn apply(known: &mut BTreeMap<SessionId, Phase>, action: Action) {
        match action {
            Action::Start(session) => assert_eq!(known.insert(session, Phase::Active), None, "started twice"),
            Action::Stop { session, force } => {
                let before = known.insert(session, Phase::Stopping { force });
                assert!(matches!(before, Some(Phase::Active | Phase::Stopping { force: false })), "{before:?}");
            }
            Action::Decline(session) | Action::Miss(session) => {
                assert_eq!(known.insert(session, Phase::Ended { owed: true }), None);
            }
            Action::TellAgain(session) => {
                assert_eq!(known.insert(session, Phase::Ended { owed: true }), Some(Phase::Ended { owed: false }));
            }
        }
    }

    fn wishes() -> impl Strategy<Value = Vec<Option<Wish>>> {
        let wish = prop_oneof![Just(Wish::Run), Just(Wish::GoOn), any::<bool>().prop_map(|force| Wish::Stop { force })];
        proptest::collection::vec(proptest::option::of(wish), 6)
    }

    fn phases() -> impl Strategy<Value = Vec<Option<Phase>>> {
        let phase = prop_oneof![
            Just(Phase::Active),
            any::<bool>().prop_map(|force| Phase::Stopping { force }),
            any::<bool>().prop_map(|owed| Phase::Ended { owed }),
        ];
        proptest::collection::vec(proptest::option::of(phase), 6)
    }

    fn map<T: Copy>(ids: &[SessionId], values: &[Option<T>]) -> BTreeMap<SessionId, T> {
        ids.iter().zip(values).filter_map(|(id, value)| Some((*id, (*value)?))).collect()
    }

    proptest! {
        #[test]
        fn it_converges_at_once_and_then_does_nothing(wishes in wishes(), phases in phases()) {
            let ids: Vec<_> = (0..6).map(|_| SessionId::generate()).collect();
            let (wishes, mut known) = (map(&ids, &wishes), map(&ids, &phases));
            for action in reconcile(4, 4, &wishes, &known).unwrap() {
                apply(&mut known, action);
            }
            prop_assert_eq!(reconcile(4, 4, &wishes, &known), Ok(Vec::new()));
            for (session, wish) in &wishes {
                match wish {
                    Wish::Run | Wish::GoOn => prop_assert!(known.contains_key(session)),
                    Wish::Stop { force } => {
                        let good = match known[session] {
                            Phase::Active => false,
                            Phase::Stopping { force: forced } => forced || !force,
                            Phase::Ended { owed } => owed,
                        };
                        prop_assert!(good, "{:?}", known[session]);
                    }
                }
            }
        }

        #[test]
        fn what_is_not_listed_is_left_alone(wishes in wishes(), phases in phases()) {
            let ids: Vec<_> = (0..6).map(|_| SessionId::generate()).collect();
            let (wishes, known) = (map(&ids, &wishes), map(&ids, &phases));
            for action in reconcile(0, 9, &wishes, &known).unwrap() {
                let (Action::Start(session) | Action::Stop { session, .. } | Action::Decline(session)
                    | Action::Miss(session) | Action::TellAgain(session)) = action;
                prop_assert!(wishes.contains_key(&session));
            }
        }

        #[test]
        fn whatever_the_order_of_wishes_each_session_starts_once(rounds in proptest::collection::vec(wishes(), 1..8)) {
            let ids: Vec<_> = (0..6).map(|_| SessionId::generate()).collect();
            let (mut known, mut started) = (BTreeMap::new(), BTreeMap::new());
            for (generation, wishes) in rounds.iter().enumerate() {
                for action in reconcile(generation as u64, generation as u64, &map(&ids, wishes), &known).unwrap() {
                    if let Action::Start(session) = action {
                        *started.entry(session).or_insert(0) += 1;
                    }
                    apply(&mut known, action);
                }
            }
            prop_assert!(started.values().all(|times| *times == 1));
        }

        #[test]
        fn an_older_generation_is_refused(seen in 1_u64..1000, back in 1_u64..1000, wishes in wishes()) {
            let ids: Vec<_> = (0..6).map(|_| SessionId::generate()).collect();
            let offered = seen.saturating_sub(back);
            prop_assert_eq!(reconcile(seen, offered, &map(&ids, &wishes), &BTreeMap::new()), Err(Older { offered, seen }));
        }
    }
}
