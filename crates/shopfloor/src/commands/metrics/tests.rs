use domain::{ProjectId, TaskStatus, Timestamp, WorkerId};
use protocol::{MetricsPoint, TaskCount, Usage};
use unicode_width::UnicodeWidthStr;

use super::*;

fn point(index: u32, done: u32) -> MetricsPoint {
    let noticed = |ms: u64| Some(Noticed { times: 1, median_ms: ms, longest_ms: ms });
    MetricsPoint {
        at: Timestamp::from_millis(i64::from(index) * 1_800_000),
        done,
        failed: 0,
        over: done,
        interventions: 1,
        interventions_per_task: (done > 0).then_some(10 * done),
        context_scores: vec![0, 0, 0, done, 0],
        context_score: (done > 0).then_some(400),
        speed_up: (done > 0).then_some(100 * done),
        busy: 250,
        peak: done,
        vanished: noticed(91_000).filter(|_| index % 3 == 1),
        failures: None,
        tokens: 123_456_789,
        cost_micros: 123_456_789,
    }
}

fn metrics(series: Vec<MetricsPoint>) -> Metrics {
    let usage = Usage { input_tokens: 1_000, cached_tokens: 0, output_tokens: 200, cost_micros: Some(1_500_000) };
    Metrics {
        project: ProjectId::generate(),
        counts: vec![
            TaskCount { status: TaskStatus::Done, count: 30 },
            TaskCount { status: TaskStatus::Failed, count: 0 },
        ],
        interventions: 3,
        interventions_per_task: 10,
        over: 30,
        context_scores: vec![0, 1, 4, 12, 3],
        context_score: Some(385),
        speed_up: Some(271),
        busy: 45,
        peak: 4,
        detection_ms: Some(40_000),
        vanished: Some(Noticed { times: 3, median_ms: 15_300, longest_ms: 91_000 }),
        failures: Some(Noticed { times: 1, median_ms: 12, longest_ms: 12 }),
        waiting_ms: None,
        usage: usage.clone(),
        workers: vec![WorkerMetrics {
            worker: WorkerId::generate(),
            name: "codex-1".into(),
            colour: 0,
            done: 30,
            failed: 0,
            context_score: None,
            usage,
            busy_ms: 7_260_000,
        }],
        series,
    }
}

fn out(width: Option<usize>) -> Output {
    Output { json: false, color: false, width, now: Timestamp::from_millis(48 * 1_800_000) }
}

#[test]
fn metrics_are_numbers_and_plots() {
    let text = render(&metrics(vec![point(0, 0), point(1, 4), point(2, 8)]), &out(None));
    for part in [
        "tasks                 30 done\n",
        "progress              30 of 30 done, 100 %\n",
        "interventions         3, 0.10 per finished task\n",
        "context score         3.85 of 5 (1: 0, 2: 1, 3: 4, 4: 12, 5: 3)\n",
        "speed-up              2.71 × as fast as one after another\n",
        "workers at once       0.45 on average, 4 at the peak\n",
        "vanished, noticed in  15.3 s (median of 3), 1 min 31 s at most\n",
        "failed, noticed in    12 ms, once\n",
        "wait in the queue     -\n",
        "in the last hour\n",
        "done                ▄█  12 in total\n",
        "failed             -\n",
        "interventions      ███  3 in total\n",
        "per task            ▄█  0.80 at the end\n",
        "context score       ██  4.00\n",
        "speed-up            ▄█  4.00 to 8.00\n",
        "workers, average   ███  up to 2.50\n",
        "workers, peak       ▄█  up to 8\n",
        "vanished, noticed   █   up to 1 min 31 s\n",
        "failed, noticed    -\n",
        "cost               ███  $370.37 in total\n",
        "codex-1  30    0       -        1200    $1.50  2 h 1 min",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn a_day_fits_in_80_columns_and_uses_more_when_there_is_more() {
    let metrics = metrics((0..48).map(|index| point(index, index)).collect());
    for width in [None, Some(80)] {
        let text = render(&metrics, &out(width));
        let widest = text.lines().map(UnicodeWidthStr::width).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{text}");
    }
    let tokens = |width: usize| {
        let text = render(&metrics, &out(Some(width)));
        let line = text.lines().find(|line| line.starts_with("tokens ")).unwrap().to_owned();
        line.chars().filter(|one| *one == '█').count()
    };
    assert_eq!((tokens(80), tokens(120)), (24, 48));
}

#[test]
fn where_nothing_happened_it_is_said_what_to_do() {
    let still = |index: u32| MetricsPoint { interventions: 0, busy: 0, ..point(index, 0) };
    let nothing = Metrics {
        counts: Vec::new(),
        interventions: 0,
        interventions_per_task: 0,
        over: 0,
        peak: 0,
        workers: Vec::new(),
        ..metrics((0..48).map(still).collect())
    };
    let text = render(&nothing, &out(Some(80)));
    for part in ["tasks                 none\n", "interventions         -\n", "workers at once       -\n"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(text.contains("no work in the last 24 hours") && text.contains("`shopfloor task add`"), "{text}");
    assert!(!text.contains("in total"), "{text}");
}
