//! What a schedule does now: cases.

use domain::{Overlap, TickOutcome, Timestamp};

use super::super::{
    CatchUp, Decision, Ended, Facts, MAX_ROWS, Outcome, Trigger, backfill, decide, decide_event, due_at, execution_over,
};
use super::{cron, facts, hourly, time};

/// Decides at a time.
fn at(mut facts: Facts, now: &str) -> Decision {
    facts.now = time(now);
    decide(&facts)
}

/// The outcomes, as `HH:MM word: reason`.
fn shown(decision: &Decision) -> Vec<String> {
    let line = |tick: &super::super::Tick| {
        let reason = tick.outcome.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{} {}{reason}", &tick.planned_at.to_string()[11..16], tick.outcome.word())
    };
    decision.ticks.iter().map(line).collect()
}

#[test]
fn a_tick_on_time_starts_and_the_next_one_is_known() {
    let decision = at(hourly(), "2026-01-01T01:00:00Z");
    assert_eq!(shown(&decision), ["01:00 started"]);
    assert_eq!(decision.decided_to, time("2026-01-01T01:00:00Z"));
    assert_eq!(decision.due_at, Some(time("2026-01-01T02:00:00Z")));
    let early = at(hourly(), "2026-01-01T00:59:59Z");
    assert!(early.ticks.is_empty());
    assert_eq!(early.due_at, Some(time("2026-01-01T01:00:00Z")));
}

#[test]
fn the_latest_missed_tick_starts_within_an_hour() {
    assert_eq!(
        shown(&at(hourly(), "2026-01-01T03:30:00Z")),
        [
            "01:00 missed: no hub ran when it was due, and it was more than 1 hour late",
            "02:00 missed: no hub ran when it was due, and it was more than 1 hour late",
            "03:00 started",
        ]
    );
    let quarterly = facts(Trigger::Every { seconds: 900 });
    assert_eq!(
        shown(&at(quarterly.clone(), "2026-01-01T00:40:00Z")),
        ["00:15 missed: no hub ran when it was due, and only the latest missed tick runs", "00:30 started"]
    );
    assert_eq!(
        shown(&at(quarterly, "2026-01-01T00:30:59Z")),
        ["00:15 missed: no hub ran when it was due, and a later tick is on time", "00:30 started"]
    );
    let old = facts(Trigger::At { at: time("2026-01-01T01:00:00Z") });
    let decision = at(old.clone(), "2026-01-01T02:00:01Z");
    assert_eq!(decision.ticks[0].outcome.word(), TickOutcome::Missed);
    assert_eq!(decision.due_at, None);
    assert_eq!(shown(&at(old, "2026-01-01T02:00:00Z")), ["01:00 started"]);
}

#[test]
fn missed_ticks_are_left_out_or_all_made_up_for() {
    let mut facts = Facts { catch_up: CatchUp::None, ..hourly() };
    assert_eq!(
        shown(&at(facts.clone(), "2026-01-01T01:01:00Z")),
        ["01:00 missed: no hub ran when it was due, and missed ticks are left out"]
    );
    facts.catch_up = CatchUp::All { most: 2 };
    facts.overlap = Overlap::QueueAll;
    assert_eq!(
        shown(&at(facts.clone(), "2026-01-01T03:30:00Z")),
        [
            "01:00 missed: no hub ran when it was due, and only the latest 2 missed ticks run",
            "02:00 started",
            "03:00 queued"
        ]
    );
    facts.catch_up_seconds = Some(3600);
    assert_eq!(shown(&at(facts, "2026-01-01T03:30:00Z"))[2], "03:00 started");
}

#[test]
fn overlap_rules() {
    let quarterly = |overlap, open, queued: &[&str]| Facts {
        overlap,
        open,
        queued: queued.iter().map(|at| time(at)).collect(),
        queue_max: 2,
        ..hourly()
    };
    let outcome = |facts| shown(&at(facts, "2026-01-01T01:00:00Z")).remove(0);
    let earlier = ["2025-12-31T22:00:00Z", "2025-12-31T23:00:00Z"];
    assert_eq!(outcome(quarterly(Overlap::Skip, 1, &[])), "01:00 skipped: an execution of this schedule was not over");
    assert_eq!(outcome(quarterly(Overlap::QueueOne, 0, &[])), "01:00 started");
    assert_eq!(outcome(quarterly(Overlap::QueueOne, 1, &[])), "01:00 queued");
    assert_eq!(
        outcome(quarterly(Overlap::QueueOne, 1, &earlier[..1])),
        "01:00 skipped: an execution was waiting already"
    );
    assert_eq!(outcome(quarterly(Overlap::QueueAll, 1, &earlier[..1])), "01:00 queued");
    assert_eq!(outcome(quarterly(Overlap::QueueAll, 1, &earlier)), "01:00 skipped: 2 executions were waiting already");
    assert_eq!(outcome(quarterly(Overlap::Allow, 7, &[])), "01:00 started");
    let cancel = at(quarterly(Overlap::CancelRunning, 1, &[]), "2026-01-01T01:00:00Z");
    assert!(cancel.cancel_running && shown(&cancel) == ["01:00 started"]);
    assert!(!at(quarterly(Overlap::CancelRunning, 0, &[]), "2026-01-01T01:00:00Z").cancel_running);
    assert!(!at(quarterly(Overlap::CancelRunning, 1, &[]), "2026-01-01T00:30:00Z").cancel_running);
}

#[test]
fn cancel_running_starts_only_the_latest_due_tick() {
    let facts = Facts { overlap: Overlap::CancelRunning, catch_up: CatchUp::All { most: 5 }, open: 1, ..hourly() };
    let decision = at(facts, "2026-01-01T02:30:00Z");
    assert_eq!(shown(&decision), ["01:00 skipped: a later tick is due as well and replaces it", "02:00 started"]);
    assert!(decision.cancel_running);
}

#[test]
fn a_paused_schedule_skips_its_ticks_and_keeps_its_queue() {
    let queued = vec![time("2025-12-31T23:00:00Z")];
    let facts = Facts { paused: true, queued: queued.clone(), overlap: Overlap::QueueAll, ..hourly() };
    let decision = at(facts.clone(), "2026-01-01T02:00:00Z");
    assert_eq!(shown(&decision), ["01:00 skipped: the schedule was paused", "02:00 skipped: the schedule was paused"]);
    assert_eq!((decision.start_queued, decision.due_at), (None, Some(time("2026-01-01T03:00:00Z"))));
    assert_eq!(execution_over(&facts, Ended::Completed).start_queued, None);
    // After the pause, what waits goes first.
    let resumed = at(Facts { paused: false, ..facts }, "2026-01-01T01:00:00Z");
    assert_eq!(resumed.start_queued, Some(queued[0]));
    assert_eq!(shown(&resumed), ["01:00 queued"]);
}

#[test]
fn bounds_leave_out_what_lies_outside() {
    let facts = Facts {
        from: Some(time("2026-01-01T02:00:00Z")),
        until: Some(time("2026-01-01T03:00:00Z")),
        catch_up: CatchUp::None,
        ..hourly()
    };
    let first = at(facts.clone(), "2026-01-01T01:30:00Z");
    assert_eq!((first.ticks.len(), first.due_at), (0, Some(time("2026-01-01T02:00:00Z"))));
    let all = at(facts, "2026-01-01T09:00:00Z");
    let planned: Vec<Timestamp> = all.ticks.iter().map(|tick| tick.planned_at).collect();
    assert_eq!(planned, [time("2026-01-01T02:00:00Z"), time("2026-01-01T03:00:00Z")]);
    assert_eq!(all.due_at, None);
}

#[test]
fn a_clock_that_jumps_back_decides_nothing_twice() {
    let mut facts = hourly();
    facts.now = time("2026-01-01T05:00:00Z");
    let before = decide(&facts);
    facts.decided_to = before.decided_to;
    let back = at(facts.clone(), "2026-01-01T04:00:00Z");
    assert_eq!((back.ticks.len(), back.decided_to, back.due_at), (0, before.decided_to, before.due_at));
    let again = at(facts, "2026-01-01T06:00:00Z");
    assert_eq!(shown(&again), ["06:00 started"]);
}

#[test]
fn a_clock_that_jumps_400_days_writes_a_bounded_number_of_ticks() {
    for trigger in [cron("* * * * *", "Europe/Berlin"), Trigger::Every { seconds: 60 }] {
        let decision = at(facts(trigger), "2027-02-05T00:00:00Z");
        let total: u64 = decision.ticks.iter().map(|tick| tick.times).sum();
        assert_eq!((decision.ticks.len(), total), (MAX_ROWS, 400 * 1440));
        let first = &decision.ticks[0];
        assert_eq!(first.times, 400 * 1440 - 999);
        assert_eq!(first.outcome, Outcome::missed("no hub ran when they were due: 575001 ticks up to this one"));
        let started = decision.ticks.iter().filter(|tick| tick.outcome == Outcome::Start).count();
        assert_eq!((started, decision.decided_to), (1, time("2027-02-05T00:00:00Z")));
    }
    let hour = at(hourly(), "2026-01-01T01:00:05Z");
    assert_eq!(hour.ticks.len(), 1);
}

#[test]
fn a_jump_of_centuries_ends() {
    let decision = at(facts(cron("* * * * *", "Europe/Berlin")), "9990-01-01T00:00:00Z");
    assert_eq!(decision.ticks.len(), MAX_ROWS);
    assert!(decision.ticks[0].outcome.reason().unwrap().contains("more than"));
}

#[test]
fn jitter_is_the_same_for_the_same_tick_and_shorter_than_the_distance() {
    let facts = Facts { jitter_seconds: 86_400, ..hourly() };
    let planned = time("2026-01-01T01:00:00Z");
    let due = due_at(facts.schedule, 86_400, planned, Some(planned.plus_millis(3_600_000)));
    assert!(due > planned && due < planned.plus_millis(3_600_000));
    let early = Facts { now: due.plus_millis(-1), ..facts.clone() };
    assert_eq!((decide(&early).ticks.len(), decide(&early).due_at), (0, Some(due)));
    let decision = decide(&Facts { now: due, ..facts.clone() });
    assert_eq!(shown(&decision), ["01:00 started"]);
    // A late tick is late by its due time.
    let late = decide(&Facts { now: due.plus_millis(59_999), catch_up: CatchUp::None, ..facts });
    assert_eq!(shown(&late)[0], "01:00 started");
}

#[test]
fn three_hubs_decide_the_same() {
    let facts = Facts {
        jitter_seconds: 300,
        now: time("2026-03-29T03:00:00Z"),
        ..facts(cron("*/15 * * * *", "Europe/Berlin"))
    };
    let stored = serde_json::to_string(&facts).unwrap();
    let decisions: Vec<Decision> = (0..3)
        .map(|_| {
            std::thread::spawn({
                let stored = stored.clone();
                move || decide(&serde_json::from_str(&stored).unwrap())
            })
        })
        .map(|hub| hub.join().unwrap())
        .collect();
    assert!(decisions.iter().all(|decision| *decision == decisions[0]) && !decisions[0].ticks.is_empty());
}

#[test]
fn failures_in_a_row_pause_the_schedule() {
    let queued = vec![time("2026-01-01T02:00:00Z"), time("2026-01-01T01:00:00Z")];
    let facts = Facts { failures: 1, pause_after_failures: Some(3), queued, ..hourly() };
    let second = execution_over(&facts, Ended::Failed);
    assert_eq!((second.failures, second.pause, second.start_queued), (2, None, Some(time("2026-01-01T01:00:00Z"))));
    let third = execution_over(&Facts { failures: 2, ..facts.clone() }, Ended::Failed);
    assert_eq!(third.pause.as_deref(), Some("paused after 3 failed executions in a row"));
    assert_eq!((third.failures, third.start_queued), (3, None));
    assert_eq!(execution_over(&facts, Ended::Cancelled).failures, 1);
    assert_eq!(execution_over(&facts, Ended::Completed).failures, 0);
    assert_eq!(execution_over(&Facts { open: 1, ..facts }, Ended::Completed).start_queued, None);
}

#[test]
fn a_trigger_that_is_no_longer_understood_pauses_the_schedule() {
    let facts = facts(cron("0 9 * * *", "Europe/Atlantis"));
    let decision = at(facts.clone(), "2026-01-02T00:00:00Z");
    assert!(decision.pause.unwrap().contains("`Europe/Atlantis` is not a known time zone"));
    assert_eq!((decision.ticks.len(), decision.due_at), (0, None));
    assert_eq!(decide(&Facts { paused: true, ..facts }).pause, None);
}

#[test]
fn events_are_ticks_of_their_own() {
    let event = Trigger::Event { event: "push".into(), matching: None };
    let mut facts = Facts { overlap: Overlap::QueueOne, ..facts(event) };
    assert_eq!(decide(&facts).due_at, None);
    facts.now = time("2026-01-01T01:00:00Z");
    let first = decide_event(&facts);
    assert_eq!(shown(&first), ["01:00 started"]);
    facts.decided_to = first.decided_to;
    facts.open = 1;
    let second = decide_event(&facts);
    assert_eq!(shown(&second), ["01:00 queued"]);
    assert_eq!(second.decided_to, first.decided_to.plus_millis(1));
    let outside = decide_event(&Facts { until: Some(time("2026-01-01T00:30:00Z")), ..facts.clone() });
    assert!(outside.ticks.is_empty() && outside.decided_to == facts.decided_to);
    assert_eq!(shown(&decide_event(&Facts { paused: true, ..facts })), ["01:00 skipped: the schedule was paused"]);
}

#[test]
fn a_backfill_starts_one_and_queues_the_others() {
    let planned = [time("2025-12-01T00:00:00Z"), time("2025-12-02T00:00:00Z"), time("2025-12-03T00:00:00Z")];
    let words = |facts: &Facts| backfill(facts, &planned).iter().map(|tick| tick.outcome.word()).collect::<Vec<_>>();
    assert_eq!(words(&hourly()), [TickOutcome::Started, TickOutcome::Queued, TickOutcome::Queued]);
    assert_eq!(words(&Facts { open: 1, ..hourly() }), [TickOutcome::Queued; 3]);
    assert_eq!(words(&Facts { overlap: Overlap::Allow, ..hourly() }), [TickOutcome::Started; 3]);
}
