//! Properties: every planned time has one tick, whatever the clock and the order of calls; no text panics.

use std::collections::BTreeMap;

use domain::{Overlap, Timestamp};
use proptest::prelude::*;

use super::super::{
    CatchUp, Ended, Facts, MAX_ROWS, Outcome, Times, Trigger, between, decide, execution_over, in_words, next_times,
};
use super::{cron, facts, time};

const MINUTE: i64 = 60_000;

fn triggers() -> impl Strategy<Value = Trigger> {
    let zones = prop::sample::select(&["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"][..]);
    let crons = prop::sample::select(
        &["* * * * *", "*/15 * * * *", "0 * * * *", "30 2 * * *", "0 9 * * 1-5", "0 0 29 2 *", "0 0 L * *"][..],
    );
    prop_oneof![
        (crons, zones).prop_map(|(text, zone)| cron(text, zone)),
        (60_u32..100_000).prop_map(|seconds| Trigger::Every { seconds }),
        (0_i64..2_000_000)
            .prop_map(|minutes| Trigger::At { at: time("2026-01-01T00:00:00Z").plus_millis(minutes * MINUTE) }),
    ]
}

/// How the clock moves between two calls, in milliseconds.
fn steps() -> impl Strategy<Value = Vec<i64>> {
    let step = prop_oneof![
        4 => 0..2 * MINUTE,
        4 => 0..3 * 60 * MINUTE,
        2 => 0..60 * 24 * 60 * MINUTE,
        2 => -2 * 60 * MINUTE..0,
        1 => Just(400 * 24 * 60 * MINUTE),
        1 => Just(-400 * 24 * 60 * MINUTE),
    ];
    prop::collection::vec(step, 1..25)
}

fn rules() -> impl Strategy<Value = Facts> {
    let overlap = prop::sample::select(
        &[Overlap::Skip, Overlap::QueueOne, Overlap::QueueAll, Overlap::CancelRunning, Overlap::Allow][..],
    );
    let catch_up =
        prop_oneof![Just(CatchUp::None), Just(CatchUp::Latest), (0_u32..200).prop_map(|most| CatchUp::All { most }),];
    let seconds = prop::option::of(0_u32..200_000);
    let bound = || {
        prop::option::weighted(
            0.2,
            (0_i64..600_000).prop_map(|minutes| time("2026-01-01T00:00:00Z").plus_millis(minutes * MINUTE)),
        )
    };
    (triggers(), overlap, catch_up, seconds, prop_oneof![Just(0_u32), 1_u32..100_000], 0_u32..20, bound(), bound())
        .prop_map(|(trigger, overlap, catch_up, catch_up_seconds, jitter_seconds, queue_max, from, until)| Facts {
            overlap,
            catch_up,
            catch_up_seconds,
            jitter_seconds,
            queue_max,
            from,
            until,
            pause_after_failures: Some(3),
            ..facts(trigger)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_planned_time_has_one_tick(mut facts in rules(), steps in steps(), ends in prop::collection::vec(0_u8..6, 25)) {
        let mut ticks: BTreeMap<Timestamp, u64> = BTreeMap::new();
        let mut highest = facts.now;
        for (step, end) in steps.into_iter().zip(ends) {
            facts.now = facts.now.plus_millis(step);
            highest = highest.max(facts.now);
            let decision = decide(&facts);
            prop_assert_eq!(&decision, &decide(&facts));
            prop_assert!(decision.ticks.len() <= MAX_ROWS);
            prop_assert!(decision.decided_to >= facts.decided_to);
            prop_assert!(decision.due_at.is_none_or(|due| due > decision.decided_to));
            // Nothing is decided again at once, so a loop that waits for `due_at` sleeps.
            prop_assert!(decision.due_at.is_none_or(|due| due > facts.now));
            for tick in &decision.ticks {
                prop_assert!(tick.planned_at > facts.decided_to && tick.planned_at <= facts.now);
                prop_assert!(ticks.last_key_value().is_none_or(|(last, _)| *last < tick.planned_at));
                prop_assert!(ticks.insert(tick.planned_at, tick.times).is_none());
                match tick.outcome {
                    Outcome::Start => facts.open += 1,
                    Outcome::Queue => facts.queued.push(tick.planned_at),
                    _ => prop_assert!(!tick.outcome.reason().unwrap().is_empty()),
                }
            }
            if let Some(next) = decision.start_queued {
                prop_assert_eq!(facts.queued.remove(0), next);
                facts.open += 1;
            }
            if decision.cancel_running {
                facts.open = 1;
            }
            facts.decided_to = decision.decided_to;
            match facts.overlap {
                Overlap::Allow => prop_assert!(facts.queued.is_empty()),
                Overlap::QueueAll => prop_assert!(facts.open <= 1 && facts.queued.len() <= facts.queue_max as usize),
                _ => prop_assert!(facts.open <= 1 && facts.queued.len() <= 1),
            }
            if end < 3 && facts.open > 0 {
                facts.open -= 1;
                let over = execution_over(&facts, [Ended::Completed, Ended::Failed, Ended::Cancelled][usize::from(end)]);
                facts.failures = over.failures;
                facts.paused |= over.pause.is_some();
                if let Some(next) = over.start_queued {
                    prop_assert_eq!(facts.queued.remove(0), next);
                    facts.open += 1;
                }
                // What waits has something before it, or a person who paused the schedule.
                prop_assert!(facts.queued.is_empty() || facts.open > 0 || facts.paused);
            }
            if end == 3 {
                facts.paused = !facts.paused;
                facts.failures = 0;
            }
        }
        // Each planned time up to the last decision is in exactly one of the ticks.
        let from = facts.from.unwrap_or(facts.anchor).max(facts.anchor.plus_millis(1));
        let mut spans = 0;
        let mut start = from;
        for (planned, times) in &ticks {
            let most = usize::try_from(*times).unwrap() + 1;
            let planned_times = between(&facts.trigger, facts.anchor, start, *planned, most);
            prop_assert_eq!(planned_times.len() as u64, *times);
            prop_assert_eq!(planned_times.last(), Some(planned));
            start = planned.plus_millis(1);
            spans += 1;
        }
        prop_assert_eq!(spans, ticks.len());
        // At most the last one is still to come, by its delay.
        let end = facts.until.map_or(highest, |until| until.min(highest));
        prop_assert!(between(&facts.trigger, facts.anchor, start, end, 3).len() <= 1);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}", zone in prop::option::of("\\PC{0,20}")) {
        let trigger = Trigger::Cron { cron: text, time_zone: zone };
        let _ = trigger.check().map_err(|error| error.to_string());
        let _ = in_words(&trigger);
        let from = time("2026-01-01T00:00:00Z");
        let _ = next_times(&trigger, from, from, 3);
    }

    #[test]
    fn what_looks_like_cron_is_refused_or_due(text in looks_like_cron()) {
        let trigger = cron(&text, "Europe/Berlin");
        let from = time("2026-01-01T00:00:00Z");
        match Times::parse(&trigger) {
            Ok(times) => prop_assert!(times.next_after(from, from).is_some(), "{}", text),
            // Whatever the checks of the fields let through, the parser knows.
            Err(error) => prop_assert!(!error.to_string().contains("not supported"), "{}: {}", text, error),
        }
        let _ = in_words(&trigger);
    }
}

/// Five fields of items that are mostly in range.
fn looks_like_cron() -> impl Strategy<Value = String> {
    let field = |least: u16, most: u16, special: &'static [&'static str]| {
        let number = move || least..=most;
        let item = prop_oneof![
            3 => Just("*".to_owned()),
            3 => number().prop_map(|number| number.to_string()),
            2 => (number(), number()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
            1 => (number(), number(), 1_u16..70).prop_map(|(a, b, step)| format!("{a}-{b}/{step}")),
            1 => (1_u16..40).prop_map(|step| format!("*/{step}")),
            2 => prop::sample::select(special).prop_map(str::to_owned),
        ];
        prop::collection::vec(item, 1..4).prop_map(|items| items.join(","))
    };
    let days = &["L", "LW", "1W", "31W", "30", "31"][..];
    let months = &["FEB", "jun", "APR-SEP", "2", "JUL"][..];
    let weekdays = &["MON", "7", "7L", "FRIL", "SUN#5", "7#1", "5-7", "FRI-SUN", "SUN-TUE", "L"][..];
    (field(0, 59, &["0"]), field(0, 23, &["9"]), field(1, 31, days), field(1, 12, months), field(0, 7, weekdays))
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}
