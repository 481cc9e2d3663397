//! Decides how to reach the desired state: no clock, no disk, no process.

use std::collections::BTreeMap;

use domain::SessionId;

/// The hub's wish for one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// It should run.
    Run,
    /// It should continue: it was started once, and is lost unless it is known here.
    GoOn,
    /// It should be stopped; without `force`, gently.
    Stop { force: bool },
}

/// A session's phase here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is being prepared, is running, or was about to when the runner stopped.
    Active,
    /// It is being stopped.
    Stopping { force: bool },
    /// It has exited. `owed`: the hub has not acknowledged that yet.
    Ended { owed: bool },
}

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Prepare and start it, once and for all.
    Start(SessionId),
    /// Stop it.
    Stop { session: SessionId, force: bool },
    /// It is unknown here and should not run: report that it has exited.
    Decline(SessionId),
    /// It is unknown here although it was started: report that it is lost. It may still run elsewhere.
    Miss(SessionId),
    /// It has exited, and the hub has forgotten the report.
    TellAgain(SessionId),
}

/// The desired state is older than the applied one: a stale sender must not move us back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("generation {offered} is older than {seen}")]
pub(crate) struct Older {
    pub(crate) offered: u64,
    pub(crate) seen: u64,
}

/// The actions that fulfil the wishes. Sessions without a wish are left alone.
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
        // A stop is final: the session is not started again.
        (_, Some(Phase::Active | Phase::Stopping { .. } | Phase::Ended { owed: true })) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The state after the action, at once or later.
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
        fn sessions_without_a_wish_are_left_alone(wishes in wishes(), phases in phases()) {
            let ids: Vec<_> = (0..6).map(|_| SessionId::generate()).collect();
            let (wishes, known) = (map(&ids, &wishes), map(&ids, &phases));
            for action in reconcile(0, 9, &wishes, &known).unwrap() {
                let (Action::Start(session) | Action::Stop { session, .. } | Action::Decline(session)
                    | Action::Miss(session) | Action::TellAgain(session)) = action;
                prop_assert!(wishes.contains_key(&session));
            }
        }

        #[test]
        fn each_session_starts_once_in_any_order_of_wishes(rounds in proptest::collection::vec(wishes(), 1..8)) {
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
