//! Every event in every state, and the invariants of random sequences.

use domain::{AttemptOutcome, SessionId, TaskStatus, Timestamp, WorkerId};
use proptest::prelude::*;

use super::*;
use crate::tasks::retry::Limits;

fn rules() -> Rules {
    Rules { now: at(1_000_000), limits: Limits { per_worker: 2, workers: 2 } }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn hold() -> Hold {
    Hold { worker: WorkerId::generate(), session: Some(SessionId::generate()), taken_at: at(5), waiting: None }
}

/// A plausible task in each state.
fn states() -> Vec<Life> {
    let fresh = Life::new(0, None, at(1));
    let held = |state| Life { state, attempt: 1, fence: 1, ..fresh.clone() };
    vec![
        Life::new(2, None, at(1)),
        fresh.clone(),
        held(State::Assigned { hold: hold(), lease_until: at(10) }),
        held(State::Running { hold: hold(), lease_until: at(10), progress: None }),
        held(State::Reported { hold: hold() }),
        held(State::Validating { hold: hold() }),
        Life { asked: true, ..held(State::Escalated) },
        held(State::Done),
        held(State::Failed),
        held(State::Cancelled),
    ]
}

fn events() -> Vec<(&'static str, Event)> {
    let (worker, session, until) = (WorkerId::generate(), SessionId::generate(), at(2_000_000));
    let why = || Why::open(Some("why".to_owned()));
    let gone = |how| Event::LetGo { how, why: why(), lost_before: 0 };
    let refuse = |still_there, stuck: Option<&str>| Event::Refuse {
        why: why(),
        stuck: stuck.map(str::to_owned),
        still_there,
        until,
    };
    vec![
        ("take", Event::Take { worker, until }),
        ("work in", Event::WorkIn { session }),
        ("start", Event::Start),
        ("renew", Event::Renew { until, progress: Some("half".to_owned()) }),
        ("wait", Event::Wait { why: Some("ann must allow it".to_owned()) }),
        ("report", Event::Report),
        ("begin check", Event::BeginCheck),
        ("move check", Event::MoveCheck),
        ("await merge", Event::AwaitMerge { why: "the merge queue".to_owned() }),
        ("accept", Event::Accept { score: Some(4), by: Some(worker) }),
        ("refuse", refuse(true, None)),
        ("refuse who left", refuse(false, None)),
        ("refuse stuck", refuse(true, Some("no progress"))),
        ("release", gone(Leaving::Released)),
        ("take over", gone(Leaving::TakenOver)),
        ("give up", gone(Leaving::Failed)),
        ("lose", gone(Leaving::Lost)),
        ("lose runner", gone(Leaving::RunnerGone)),
        ("lose session", gone(Leaving::SessionGone)),
        ("lose again", Event::LetGo { how: Leaving::Lost, why: why(), lost_before: 4 }),
        ("escalate", Event::Escalate { question: "?".to_owned(), verdict_open: false }),
        ("judge", Event::Escalate { question: "?".to_owned(), verdict_open: true }),
        ("ask", Event::Ask),
        ("judge on", Event::JudgeOn { worker, session: Some(session) }),
        ("retry", Event::Retry { reason: None, unreachable: None }),
        ("fail", Event::Fail { reason: None }),
        ("cancel", Event::Cancel { reason: None }),
        ("dependency done", Event::DependencyDone),
        ("dependencies change", Event::DependenciesChange { unreachable: Some("dead".to_owned()) }),
        ("pass", Event::Pass { unassigned: Some("no worker".to_owned()) }),
        ("reopen", Event::Reopen { reason: "more".to_owned(), waits_for: 0, unreachable: None }),
        ("reopen and wait", Event::Reopen { reason: "more".to_owned(), waits_for: 1, unreachable: None }),
        ("dependency reopened", Event::DependencyReopened),
        ("rewire", Event::Rewire { waits_for: 2, unreachable: None }),
        ("rewire to nothing", Event::Rewire { waits_for: 0, unreachable: None }),
    ]
}

/// The status after each event in each state, in the order of [`states`]: a letter is the new status, `·` means no
/// change, `!` a refusal.
const TABLE: &[(&str, &str)] = &[
    // Blocked Ready Assigned rUnning rePorted Validating Escalated Done Failed Cancelled
    ("take", "!A!!!!!!!!"),
    ("work in", "!!····!!!!"),
    ("start", "!!U···!!!!"),
    ("renew", "!!U···!!!!"),
    ("wait", "··········"),
    ("report", "!!PP!!!!!!"),
    ("begin check", "····V·····"),
    ("move check", "·····P····"),
    ("await merge", "····V·····"),
    ("accept", "!!DDDDD·!!"),
    ("refuse", "····UU····"),
    ("refuse who left", "····RR····"),
    ("refuse stuck", "····RR····"),
    ("release", "··RRRR····"),
    ("take over", "··RRRR····"),
    ("give up", "··RRRR····"),
    ("lose", "··RRRR····"),
    ("lose runner", "··RRRR····"),
    ("lose session", "··RRRR····"),
    ("lose again", "··EEEE····"),
    ("escalate", "EEEEEE·!!!"),
    ("judge", "EEEEEE·!!!"),
    ("ask", "·······!!!"),
    ("judge on", "······V···"),
    ("retry", "!!!!!!R!RR"),
    ("fail", "FFFFFFF!!!"),
    ("cancel", "CCCCCCC!C!"),
    ("dependency done", "··········"),
    ("dependencies change", "··········"),
    ("pass", "··········"),
    ("reopen", "!!!!!!!R!!"),
    ("reopen and wait", "!!!!!!!B!!"),
    ("dependency reopened", "·B········"),
    ("rewire", "·B!!!!·!!!"),
    ("rewire to nothing", "R·!!!!·!!!"),
];

fn letter(status: TaskStatus) -> char {
    match status {
        TaskStatus::Blocked => 'B',
        TaskStatus::Ready => 'R',
        TaskStatus::Assigned => 'A',
        TaskStatus::Running => 'U',
        TaskStatus::Reported => 'P',
        TaskStatus::Validating => 'V',
        TaskStatus::Escalated => 'E',
        TaskStatus::Done => 'D',
        TaskStatus::Failed => 'F',
        TaskStatus::Cancelled => 'C',
    }
}

#[test]
fn every_event_in_every_state_goes_where_the_table_says() {
    let went = |event: &Event| -> String {
        let after = |life: Life| match step(life.clone(), event.clone(), &rules()) {
            Err(_) => '!',
            Ok(step) if step.life.status() == life.status() => '·',
            Ok(step) => letter(step.life.status()),
        };
        states().into_iter().map(after).collect()
    };
    let all: Vec<(&str, String)> = events().iter().map(|(name, event)| (*name, went(event))).collect();
    let table: Vec<(&str, String)> = TABLE.iter().map(|(name, row)| (*name, (*row).to_owned())).collect();
    assert_eq!(all, table);
}

#[test]
fn a_task_that_waits_for_others_becomes_ready_with_the_last_of_them() {
    let done = |life: Life| step(life, Event::DependencyDone, &rules()).unwrap().life;
    let one_left = done(Life::new(2, Some("dead".to_owned()), at(1)));
    assert_eq!((one_left.status(), one_left.waits_for), (TaskStatus::Blocked, 1));
    let ready = done(one_left);
    assert_eq!((ready.status(), ready.ready_at, ready.reason), (TaskStatus::Ready, Some(rules().now), None));
}

#[test]
fn a_task_keeps_its_age_until_it_is_retried() {
    let went = |life: Life, event| step(life, event, &rules()).unwrap().life;
    let taken = went(Life::new(0, None, at(7)), Event::Take { worker: WorkerId::generate(), until: at(9) });
    let why = Why::default();
    let back = went(taken, Event::LetGo { how: Leaving::Released, why, lost_before: 0 });
    assert_eq!(back.ready_at, Some(at(7)));
    let failed = went(back, Event::Fail { reason: None });
    assert_eq!(went(failed, Event::Retry { reason: None, unreachable: None }).ready_at, Some(rules().now));
}

/// A model of the store's tables after the effects.
#[derive(Debug, Default)]
struct World {
    worker: Option<WorkerId>,
    attempt_open: bool,
    report_pending: bool,
    accepted: u32,
    reopened: u32,
    dependants_freed: u32,
}

impl World {
    fn perform(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::BeginAttempt { worker } => {
                    assert!(self.worker.is_none() && !self.attempt_open, "one hold at a time");
                    (self.worker, self.attempt_open) = (Some(*worker), true);
                }
                Effect::CloseAttempt { outcome, .. } => {
                    self.accepted += u32::from(*outcome == AttemptOutcome::Accepted);
                    self.attempt_open = false;
                }
                Effect::FreeWorker { worker, .. } => {
                    assert!(self.worker.is_none_or(|held| held == *worker), "only the holder is freed");
                    self.worker = None;
                }
                Effect::RefusePending { .. } => self.report_pending = false,
                Effect::FreeDependants => self.dependants_freed += 1,
                Effect::HoldDependants => self.reopened += 1,
                _ => {}
            }
        }
    }

    /// Whether the store would send the event: verdicts need a report, and only an open report is judged on.
    fn sends(&self, event: &Event) -> bool {
        match event {
            Event::JudgeOn { .. } => self.attempt_open && self.report_pending,
            Event::Accept { by, .. } => by.is_some(),
            _ => true,
        }
    }

    /// Applies the writes that the store does itself with an event.
    fn write(&mut self, before: &Life, event: &Event, after: &Life) {
        match event {
            Event::Report => self.report_pending = true,
            Event::Refuse { .. } if before.awaits_check() => self.report_pending = false,
            Event::JudgeOn { worker, .. } if before.state == State::Escalated => self.worker = Some(*worker),
            _ => {}
        }
        if after.state == State::Done {
            self.report_pending = false;
        }
    }
}

fn check(life: &Life, world: &World) {
    assert_eq!(life.worker(), world.worker, "no worker without a hold, no hold without a worker: {life:?}");
    assert_eq!(u64::from(life.attempt), life.fence);
    match &life.state {
        State::Blocked => assert!(life.waits_for > 0),
        State::Ready { .. } => assert!(life.waits_for == 0 && life.ready_at.is_some()),
        State::Assigned { .. } | State::Running { .. } => assert!(life.lease_until().is_some() && world.attempt_open),
        State::Reported { .. } | State::Validating { .. } => {
            assert!(life.lease_until().is_none() && world.attempt_open)
        }
        State::Done => assert!(!world.attempt_open && !life.asked),
        State::Escalated => assert!(life.asked && life.reason.is_some()),
        State::Failed | State::Cancelled => assert!(!world.attempt_open && !life.asked),
    }
    if !life.awaits_verdict() {
        assert!(!world.report_pending, "a report without a verdict and nobody to give one: {life:?}");
    }
    let accepted = world.reopened + u32::from(life.state == State::Done);
    assert_eq!(world.accepted, accepted, "accepted exactly once, and once more for each time it was reopened");
    assert_eq!(world.dependants_freed, world.accepted, "dependants hear of it each time");
}

proptest! {
    #[test]
    fn a_task_has_one_holder_and_is_accepted_once_per_opening(
        waits_for in 0u32..3,
        happens in proptest::collection::vec((0usize..34, any::<u8>()), 0..80),
    ) {
        let mut life = Life::new(waits_for, None, at(1));
        let mut world = World::default();
        for (index, chance) in happens {
            // Most random events do not affect a ready task, so half of them take it, work on it and report.
            let index = if chance < 128 { [0, 2, 5, 26][usize::from(chance % 4)] } else { index };
            let (name, event) = events().swap_remove(index);
            if !world.sends(&event) {
                continue;
            }
            let before = life.clone();
            // A reported failure, or work that is accepted at once, stores no pending report.
            let Ok(step) = step(before.clone(), event.clone(), &rules()) else { continue };
            world.perform(&step.effects);
            life = step.life;
            world.write(&before, &event, &life);
            check(&life, &world);
            if before.state == State::Done && !matches!(event, Event::Reopen { .. }) {
                prop_assert!(life.state == State::Done && step.effects.is_empty(), "{} after the end", name);
            }
            prop_assert!(life.fence >= before.fence);
        }
    }

    #[test]
    fn workers_that_give_up_end_with_a_person(workers in 1u32..5, per_worker in 0u32..4) {
        let rules = Rules { limits: Limits { per_worker, workers }, ..rules() };
        let mut life = Life::new(0, None, at(1));
        let mut taken = 0;
        while life.state != State::Escalated {
            let worker = WorkerId::generate();
            life = step(life, Event::Take { worker, until: at(9) }, &rules).unwrap().life;
            taken += 1;
            let mut refused = 0;
            while life.worker().is_some() {
                life = step(life, Event::Report, &rules).unwrap().life;
                let why = Why::open(Some("not met".to_owned()));
                let event = Event::Refuse { why, stuck: None, still_there: true, until: at(9) };
                life = step(life, event, &rules).unwrap().life;
                refused += 1;
                prop_assert!(refused <= per_worker + 1);
            }
            prop_assert!(life.state == State::Escalated || life.not_by.contains(&worker));
        }
        prop_assert_eq!(taken, workers);
    }
}
