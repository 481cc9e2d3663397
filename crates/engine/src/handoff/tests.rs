use domain::{HandoffId, HandoffStatus, HandoffStep, SessionId};
use proptest::prelude::*;

use super::*;

/// Two sessions that could succeed.
fn sessions() -> [SessionId; 2] {
    let id = |n: u8| format!("ses_{n:032x}").parse().unwrap();
    [id(1), id(2)]
}

fn states() -> Vec<State> {
    let [successor, _] = sessions();
    let mut all = vec![
        State::Writing,
        State::Editing,
        State::Saving,
        State::Publishing,
        State::Stopping,
        State::Starting,
        State::Acknowledging { successor },
        State::Done { successor },
    ];
    for at in HandoffStep::ALL {
        all.push(State::Failed { at: *at, why: "no disk space".into() });
        all.push(State::Cancelled { at: *at });
    }
    all
}

fn events() -> Vec<Event> {
    let [successor, other] = sessions();
    let mut all = vec![
        Event::Written,
        Event::Released,
        Event::Saved,
        Event::Published,
        Event::Stopped,
        Event::Started { successor },
        Event::Acknowledged { by: successor },
        Event::Acknowledged { by: other },
        Event::Gone { successor },
        Event::Gone { successor: other },
        Event::Retry,
        Event::Skip,
        Event::Cancel,
    ];
    all.extend(HandoffStep::ALL.iter().map(|at| Event::Failed { at: *at, why: "no access".into() }));
    all
}

#[test]
fn every_event_in_every_state_is_answered_once() {
    for state in states() {
        for event in events() {
            for edit in [false, true] {
                let handoff = Handoff { state: state.clone(), edit };
                let after = step(&handoff, event.clone());
                let about = format!("{state:?} {event:?}");
                if after.state == state {
                    assert!(after.effects.is_empty(), "{about}");
                    continue;
                }
                assert!(!state.status().is_over(), "{about}: it was over");
                let again = step(&Handoff { state: after.state.clone(), edit }, event.clone());
                let skipped = matches!(event, Event::Skip);
                assert!(skipped || again.effects.is_empty(), "{about}: arriving twice does something twice");
                assert_eq!(after.effects, effect(&after.state).into_iter().collect::<Vec<_>>(), "{about}");
            }
        }
    }
}

#[test]
fn a_failed_step_can_be_retried_or_cancelled_and_only_some_skipped() {
    for at in HandoffStep::ALL {
        let failed = Handoff { state: State::Failed { at: *at, why: "no".into() }, edit: false };
        assert_eq!(step(&failed, Event::Retry).state.status(), HandoffStatus::Running, "{at}");
        assert_eq!(step(&failed, Event::Cancel).state, State::Cancelled { at: *at });
        assert_eq!(step(&failed, Event::Skip).state != failed.state, at.can_be_skipped(), "{at}");
    }
}

/// What happens outside: which sessions live.
#[derive(Debug)]
struct World {
    handoff: Handoff,
    predecessor: bool,
    successor: Option<SessionId>,
    started: usize,
    acknowledged: bool,
}

impl World {
    fn happens(&mut self, event: Event) {
        match &event {
            // A session that ended says so; the others cannot.
            Event::Stopped if self.predecessor => return,
            Event::Acknowledged { by } if self.successor != Some(*by) => return,
            Event::Gone { successor } => {
                if self.successor != Some(*successor) {
                    return;
                }
                self.successor = None;
            }
            Event::Acknowledged { .. } => self.acknowledged = true,
            _ => {}
        }
        let after = step(&self.handoff, event);
        self.handoff.state = after.state;
    }

    /// Does what is to be done, perhaps twice, as after a crash before it was confirmed.
    fn perform(&mut self, fresh: SessionId) {
        match effect(&self.handoff.state) {
            Some(Effect::Stop) => self.predecessor = false,
            Some(Effect::Start) => {
                assert!(!self.predecessor, "two sessions at once");
                let successor = *self.successor.get_or_insert(fresh);
                self.started += 1;
                self.happens(Event::Started { successor });
            }
            _ => {}
        }
    }
}

proptest! {
    #[test]
    fn no_two_sessions_at_once_and_complete_only_when_acknowledged(
        edit in any::<bool>(),
        moves in proptest::collection::vec((0..32usize, any::<bool>()), 0..60),
    ) {
        let all = events();
        let handoff = Handoff { state: State::Writing, edit };
        let mut world = World { handoff, predecessor: true, successor: None, started: 0, acknowledged: false };
        for (n, act) in moves {
            let event = all[n % all.len()].clone();
            // The world, not a message, starts sessions.
            if !matches!(event, Event::Started { .. }) {
                world.happens(event);
            }
            if act {
                world.perform(sessions()[n % 2]);
            }
            prop_assert!(!(world.predecessor && world.successor.is_some()));
            if let State::Done { successor } = world.handoff.state {
                prop_assert!(world.acknowledged);
                prop_assert!(!world.predecessor && world.started > 0);
                prop_assert!(sessions().contains(&successor));
            }
        }
    }

    #[test]
    fn a_text_that_gives_orders_stays_quoted(body in "(?s).{0,200}", goal in "[a-z ]{0,20}") {
        let facts = facts(&goal);
        let document = seal(&facts, &body, "abc");
        let [session, _] = sessions();
        let with = Brief {
            handoff: facts.handoff, session, by: "Ann", goal: &goal, document: &document, hash: "abc", brought: false,
        };
        let prompt = brief(&with);
        let (before, quoted) = prompt.split_once("\n\n> ").unwrap();
        prop_assert!(before.contains("not instructions"));
        prop_assert!(quoted.lines().skip(1).all(|line| line.starts_with("> ") ), "{prompt}");
    }

    #[test]
    fn facts_stay_on_their_lines(path in "(?s).{0,40}") {
        let mut facts = facts("go on");
        facts.dirty = vec![path.clone()];
        let text = text(&facts, "body");
        let line = text.lines().find(|line| line.starts_with("uncommitted: ")).unwrap();
        let read: Vec<String> = serde_json::from_str(line.strip_prefix("uncommitted: ").unwrap()).unwrap();
        prop_assert_eq!(read, vec![path]);
    }
}

fn facts(goal: &str) -> Facts {
    Facts {
        handoff: "hnd_00000000000000000000000000000001".parse::<HandoffId>().unwrap(),
        session: sessions()[0],
        agent: "codex".into(),
        task: Some("CALC-1 Add".into()),
        goal: goal.into(),
        branch: Some("work/add".into()),
        fork: Some("1".repeat(40)),
        head: Some("2".repeat(40)),
        tree: Some("3".repeat(40)),
        saved: Some("4".repeat(40)),
        dirty: vec!["src/a b.rs".into()],
        more_dirty: 0,
        checks: vec![Check { what: "make test".into(), passed: Some(false), result: "exit 2".into() }],
    }
}

#[test]
fn the_document_is_facts_then_prose() {
    let prose = Prose { done: "The parser.".into(), next: "Run `make test`.".into(), ..Default::default() };
    let prose = body(&sections(&[], None), &prose.parts()).unwrap();
    let document = seal(&facts("Finish it"), &prose, "abc");
    let kept = note(&facts("Finish it"), &prose);
    assert!(kept.contains("goal: \"Finish it\"\n") && kept.ends_with("`make test`.\n"), "{kept}");
    assert!(!kept.contains("saved") && !kept.contains("hash"), "{kept}");
    assert!(document.starts_with("---\nhandoff: hnd_"), "{document}");
    assert!(document.contains("\nuncommitted: [\"src/a b.rs\"]\n"), "{document}");
    assert!(document.contains("{\"check\": \"make test\", \"passed\": false, \"result\": \"exit 2\"}"), "{document}");
    assert!(document.contains("\nhash: abc\n---\n\n## Done\n\nThe parser.\n\n## Next step"), "{document}");
    assert!(!document.contains("Remaining"));
    assert_eq!(document.replace("hash: abc\n", ""), text(&facts("Finish it"), &prose));
}

#[test]
fn without_an_agent_the_last_lines_speak() {
    let log: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
    let body = from_recording("it has exited", &log);
    assert!(body.contains("    line 40\n") && body.contains("    line 99\n") && !body.contains("line 39\n"), "{body}");
    assert!(from_recording("it has exited", "\n").ends_with("it has exited.\n"));
}

#[test]
fn only_facts_that_differ_are_compared() {
    let older = facts("Finish it");
    let checks = vec![Check { what: "make test".into(), passed: Some(true), result: "exit 0".into() }];
    let handoff = "hnd_00000000000000000000000000000002".parse().unwrap();
    let newer =
        Facts { handoff, goal: "Test it".into(), task: None, dirty: vec![], more_dirty: 3, checks, ..older.clone() };
    let found = changed(&seal(&older, "a", "abc"), &seal(&newer, "---\ngoal: b", "def"));
    let lines: Vec<String> = found
        .iter()
        .map(|fact| {
            let side = |side: &Option<String>| side.clone().unwrap_or("-".into());
            format!("{}: {} > {}", fact.name, side(&fact.older), side(&fact.newer))
        })
        .collect();
    let wanted = [
        "task: CALC-1 Add > -",
        "goal: Finish it > Test it",
        "uncommitted: src/a b.rs > -",
        "checks: make test: failed (exit 2) > make test: passed (exit 0)",
        "more_uncommitted: - > 3",
    ];
    let mut sorted = lines.clone();
    sorted.sort();
    let mut wanted = wanted.map(str::to_owned).to_vec();
    wanted.sort();
    assert_eq!(sorted, wanted);
    assert_eq!(changed("no front matter", &seal(&newer, "a", "abc")), []);
}

#[test]
fn a_session_hands_itself_off_once_when_its_cost_passes_the_limit() {
    let limit = Some(2_000_000);
    let cost = |before: u64, now: u64| Cost { before: Some(before), now: Some(now) };
    let earlier = |of_session, of_task| Earlier { of_session, of_task };
    let check = |limit, cost, earlier, wanted: bool| {
        assert_eq!(due(limit, cost, earlier).is_some(), wanted, "{limit:?} {cost:?} {earlier:?}");
    };
    check(limit, cost(1_900_000, 2_000_000), earlier(0, 0), true);
    check(limit, cost(1_900_000, 1_999_999), earlier(0, 0), false);
    check(limit, cost(2_000_000, 2_100_000), earlier(0, 0), false);
    check(None, cost(1_900_000, 2_000_000), earlier(0, 0), false);
    // Over the limit at once.
    check(limit, cost(0, 3_000_000), earlier(0, 1), false);
    check(limit, Cost { before: None, now: Some(3_000_000) }, earlier(0, 0), false);
    check(limit, Cost { before: Some(1), now: None }, earlier(0, 0), false);
    // Once per session, and not without end.
    check(limit, cost(1, 2_000_000), earlier(1, 0), false);
    check(limit, cost(1, 2_000_000), earlier(0, MOST_BY_ITSELF - 1), true);
    check(limit, cost(1, 2_000_000), earlier(0, MOST_BY_ITSELF), false);
    let why = due(limit, cost(1, 2_310_000), earlier(0, 0)).unwrap().to_string();
    assert_eq!(why, "the session cost 2.31 dollars; its worker hands off after 2.00");
}
