//! Metrics of a project's work.

use domain::{AnswerAct, AttemptOutcome, EscalationKind, ReportVerdict, SessionStatus, TaskId, TaskStatus};
use protocol::{
    Criterion, EscalationAnswer, Metrics, MetricsPage, MetricsPoint, Noticed, TaskAdd, Usage, WorkConfigure, verbs,
};
use store::{Caller, LastHeard, RenewLeases, StoreError};

use super::{Shop, checked, plain};
use crate::fixture::Fixture;
use crate::tasks::{expire, report, taken};

both!(
    metrics_match_the_events,
    metrics_of_a_history_match_manual_counts,
    a_failure_is_noticed_when_its_runner_reconnects,
    metrics_of_an_empty_project_are_empty,
    the_current_work_is_listed,
);

async fn metrics_match_the_events(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("Alpha"), plain("Beta is next"), plain("Gamma comes third")]).await;
    shop.fixture.pass(1_000);
    assert_eq!(shop.dispatch().await, 2);
    let session = shop.session(tasks[0]).await;
    shop.costs(session, 2_500).await;
    shop.fixture.pass(10_000);
    shop.finishes(tasks[0], "done").await;
    shop.finishes(tasks[1], "done").await;
    shop.fixture.pass(1_000);
    shop.dispatch().await;
    shop.fixture.pass(10_000);
    let session = shop.session(tasks[2]).await;
    shop.exits(session, 1).await;
    let page = MetricsPage { hours: Some(1) };
    let metrics = shop.fixture.store.metrics(&shop.fixture.bo, shop.project.id, page).await.unwrap();
    let done = metrics.counts.iter().find(|count| count.status == TaskStatus::Done).unwrap();
    assert_eq!(done.count, 2);
    assert_eq!(metrics.speed_up, Some(200), "20 s of successful work in 10 s with any");
    assert_eq!(metrics.usage.cost_micros, Some(2_500));
    assert_eq!(metrics.waiting_ms, Some((1_000 + 1_000 + 12_000) / 3));
    assert_eq!(metrics.interventions, 0);
    assert_eq!(metrics.workers.iter().map(|worker| worker.done).sum::<u32>(), 2);
    assert_eq!(metrics.workers.iter().map(|worker| worker.busy_ms).sum::<u64>(), 30_000);
    assert_eq!(metrics.series.iter().map(|point| point.done).sum::<u32>(), 2);
    assert_eq!(metrics.series.iter().map(|point| point.failed).sum::<u32>(), 1);
    assert_eq!(metrics.series.iter().map(|point| point.cost_micros).sum::<u64>(), 2_500);
    assert_eq!((metrics.busy, metrics.peak), (30 * 100 / 3_600, 2));
    let at_once = Some(Noticed { times: 1, median_ms: 0, longest_ms: 0 });
    assert_eq!((metrics.vanished, metrics.failures), (None, at_once), "its runner reported it at once");
    let bad = MetricsPage { hours: Some(0) };
    let error = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, bad).await;
    assert!(matches!(error, Err(StoreError::Invalid { field: "hours", .. })));
}

async fn the_current_work_is_listed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![protocol::TaskAdd { files: vec!["src/a.rs".into()], ..plain("Mend a") }]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let doing = shop.fixture.store.doing(&shop.fixture.bo, shop.project.id).await.unwrap();
    assert_eq!(doing.len(), 1);
    assert_eq!((doing[0].who.as_str(), doing[0].what.as_str()), ("codex 1", "Mend a"));
    assert_eq!(doing[0].files, ["src/a.rs"]);
}

/// A person accepts the report of an open escalation.
async fn accepts(shop: &Shop, task: TaskId) {
    let asked = shop.detail(task).await.escalations.pop().expect("there is an escalation");
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Accept), text: None };
    shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation: asked.id, input }).await;
}

/// Stretches are 75 s long, and the last one ends after 240: they begin at -60, 15, 90 and 165.
fn over_time(metrics: &Metrics, noticed: &Option<Noticed>) {
    let (before, last) = metrics.series.split_at(44);
    assert!(before.iter().all(|point| (point.peak, point.speed_up, point.interventions_per_task) == (0, None, None)));
    let of = |say: fn(&MetricsPoint) -> Option<u32>| last.iter().map(say).collect::<Vec<_>>();
    assert_eq!(of(|point| Some(point.peak)), [Some(2), Some(1), Some(1), Some(1)]);
    assert_eq!(of(|point| point.speed_up), [Some(200), None, None, Some(100)]);
    assert_eq!(of(|point| Some(point.over)), [Some(0), Some(2), Some(0), Some(3)]);
    assert_eq!(of(|point| point.interventions_per_task), [None, Some(100), Some(100), Some(40)]);
    assert_eq!(of(|point| point.context_score), [None, None, None, Some(350)]);
    assert_eq!(last[3].context_scores, [0, 0, 1, 1, 0]);
    assert_eq!(last.iter().map(|point| &point.vanished).collect::<Vec<_>>(), [&None, &None, &None, noticed]);
    // From 0 to 10 both, then from 70 on one: the second and third stretch have 20 and 75 s of work.
    assert_eq!(of(|point| Some(point.busy)), [2_000 / 75, 2_000 / 75, 100, 100].map(Some));
}

/// Two sessions fail; one is reported at once, the other when its runner reconnects, 40 s later.
async fn a_failure_is_noticed_when_its_runner_reconnects(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("Break at once"), plain("Break unheard")]).await;
    assert_eq!(shop.dispatch().await, 2);
    shop.fixture.pass(5_000);
    let sessions = (shop.session(tasks[0]).await, shop.session(tasks[1]).await);
    let broke = shop.fixture.store.now();
    shop.exits(sessions.0, 1).await;
    shop.fixture.pass(40_000);
    shop.exited(sessions.1, 1, broke).await;
    let metrics = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!(metrics.failures, Some(Noticed { times: 2, median_ms: 0, longest_ms: 40_000 }));
    assert_eq!((metrics.vanished, metrics.detection_ms), (None, None));
    assert_eq!(metrics.series[47].failures, metrics.failures);
    // A failure that the worker itself reports does not count as noticed, even if an earlier session of the task failed.
    let held = taken(&shop.fixture, shop.project.id, "outside").await;
    assert!(tasks.contains(&held.task.id));
    let mut gives_up = report(held.task.id, held.lease.fence, "no");
    gives_up.input.failed = Some("it cannot be done".into());
    shop.fixture.done(&shop.fixture.ada, gives_up).await;
    let after = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!(after.failures, metrics.failures);
}

async fn metrics_of_an_empty_project_are_empty(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let metrics = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!((metrics.interventions, metrics.over, metrics.interventions_per_task), (0, 0, 0));
    assert_eq!((metrics.speed_up, metrics.busy, metrics.peak), (None, 0, 0));
    assert_eq!((metrics.context_scores, metrics.context_score), (vec![0; 5], None));
    assert_eq!((metrics.vanished, metrics.failures, metrics.detection_ms), (None, None, None));
    assert_eq!(metrics.series.len(), 48);
    assert!(metrics.series.iter().all(|point| point.speed_up.is_none() && point.context_scores == [0; 5]));
}

/// In seconds: two managed workers work from 0 to 10, and people accept both results at 70, one that only they could
/// judge and one that the checks refused. At 70 a worker takes a task, is last heard from at 100, and is lost at 190; the
/// other does it until 200. An external worker does two more, until 220 and 240.
async fn metrics_of_a_history_match_manual_counts(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let strict = WorkConfigure { tries_per_worker: Some(0), workers_per_task: Some(1), ..Default::default() };
    shop.configure(strict).await;
    let workers = shop.start(2).await;
    let acceptance = vec![Criterion::Text { text: "It is beautiful".into() }];
    let judged = TaskAdd { acceptance, ..plain("Paint a picture") };
    let tasks = shop.add(vec![judged, checked("Write the file")]).await;
    assert_eq!(shop.dispatch().await, 2);
    for (task, micros) in tasks.iter().zip([1_000, 2_000]) {
        let session = shop.session(*task).await;
        shop.costs(session, micros).await;
    }
    shop.fixture.pass(10_000);
    shop.finishes(tasks[0], "Here it is.").await;
    shop.finishes(tasks[1], "Here it is.").await;
    shop.found(tasks[1], false, "`out.txt` is empty", None).await;
    assert_eq!(shop.detail(tasks[0]).await.escalations[0].kind, EscalationKind::Judgement);
    assert_eq!(shop.detail(tasks[1]).await.escalations[0].kind, EscalationKind::Refused);
    shop.fixture.pass(60_000);
    for task in &tasks {
        accepts(&shop, *task).await;
        let detail = shop.detail(*task).await;
        assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Done, AttemptOutcome::Accepted));
        assert_eq!(detail.reports[0].verdict, ReportVerdict::Accepted);
    }
    let lost = shop.add(vec![plain("Vanish and be found")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    shop.fixture.pass(30_000);
    shop.fixture.done(&Caller::hub("foreman"), RenewLeases { runners: vec![LastHeard::now(shop.runner)] }).await;
    shop.fixture.pass(90_000);
    assert_eq!(expire(&shop.fixture).await, [lost]);
    assert_eq!(shop.dispatch().await, 1);
    shop.fixture.pass(10_000);
    shop.finishes(lost, "It is there again.").await;
    shop.add(vec![plain("Count the stars"), plain("Name the planets")]).await;
    for score in [4, 3] {
        let held = taken(&shop.fixture, shop.project.id, "outside").await;
        shop.fixture.pass(20_000);
        let mut done = report(held.task.id, held.lease.fence, "done");
        done.input.context_score = Some(score);
        let usage = Usage { input_tokens: 100, cached_tokens: 7, output_tokens: 50, cost_micros: Some(4_000) };
        done.input.usage = Some(usage);
        shop.fixture.done(&shop.fixture.ada, done).await;
    }
    let page = MetricsPage { hours: Some(1) };
    let metrics = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, page).await.unwrap();
    assert_eq!(
        metrics.counts.iter().map(|count| (count.status, count.count)).collect::<Vec<_>>(),
        [(TaskStatus::Done, 5)]
    );
    assert_eq!((metrics.interventions, metrics.over, metrics.interventions_per_task), (2, 5, 2 * 100 / 5));
    assert_eq!(metrics.context_score, Some((400 + 300) / 2));
    assert_eq!(metrics.context_scores, [0, 0, 1, 1, 0]);
    let busy = 10 + 10 + 120 + 10 + 20 + 20;
    let failed = 120;
    let any = 10 + 10 + 20 + 20;
    assert_eq!(metrics.speed_up, Some((busy - failed) * 100 / any));
    assert_eq!((metrics.busy, metrics.peak), (busy * 100 / 3_600, 2));
    assert_eq!(metrics.detection_ms, Some(90_000));
    let noticed = Some(Noticed { times: 1, median_ms: 90_000, longest_ms: 90_000 });
    assert_eq!((&metrics.vanished, &metrics.failures), (&noticed, &None));
    assert_eq!(metrics.waiting_ms, Some(20_000 / 5), "only the last one waited");
    let used = Usage { input_tokens: 220, cached_tokens: 14, output_tokens: 110, cost_micros: Some(11_000) };
    assert_eq!(metrics.usage, used);
    let sums = metrics.workers.iter().fold((0, 0, 0), |(done, failed, busy), worker| {
        (done + worker.done, failed + worker.failed, busy + worker.busy_ms)
    });
    assert_eq!(sums, (5, 1, u64::from(busy) * 1_000));
    let outside = metrics.workers.iter().find(|worker| worker.name == "outside").unwrap();
    assert_eq!((outside.done, outside.failed, outside.context_score), (2, 0, Some(350)));
    assert_eq!((outside.busy_ms, outside.usage.cost_micros), (40_000, Some(8_000)));
    let series = metrics.series.iter().fold((0, 0, 0, 0, 0), |sum, point| {
        let (done, failed, asked, tokens, cost) = sum;
        let asked = asked + point.interventions;
        (done + point.done, failed + point.failed, asked, tokens + point.tokens, cost + point.cost_micros)
    });
    assert_eq!(series, (5, 1, 2, 330, 11_000));
    over_time(&metrics, &noticed);
    let mut counted = (0, 0);
    for worker in workers {
        let worker = shop.worker(worker.id).await;
        counted = (counted.0 + worker.done, counted.1 + worker.failed);
    }
    assert_eq!(counted, (3, 1), "a report that a person accepted is no failure of its worker");
}
