//! How the work goes, in numbers.

use domain::{AnswerAct, AttemptOutcome, EscalationKind, ReportVerdict, SessionStatus, TaskId, TaskStatus};
use protocol::{Criterion, EscalationAnswer, MetricsPage, TaskAdd, Usage, WorkConfigure};
use store::{AnswerEscalation, Caller, LastHeard, RenewLeases, StoreError};

use super::{Shop, checked, plain};
use crate::floor::Floor;
use crate::tasks::{expire, report, taken};

both!(numbers_are_as_things_were, a_history_is_counted_as_by_hand, who_does_what_is_told);

async fn numbers_are_as_things_were(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("Alpha"), plain("Beta is next"), plain("Gamma comes third")]).await;
    shop.floor.pass(1_000);
    assert_eq!(shop.dispatch().await, 2);
    let session = shop.session(tasks[0]).await;
    shop.costs(session, 2_500).await;
    shop.floor.pass(10_000);
    shop.finishes(tasks[0], "done").await;
    shop.finishes(tasks[1], "done").await;
    shop.floor.pass(1_000);
    shop.dispatch().await;
    shop.floor.pass(10_000);
    let session = shop.session(tasks[2]).await;
    shop.exits(session, 1).await;
    let page = MetricsPage { hours: Some(1) };
    let metrics = shop.floor.store.metrics(&shop.floor.bo, shop.project.id, page).await.unwrap();
    let done = metrics.counts.iter().find(|count| count.status == TaskStatus::Done).unwrap();
    assert_eq!(done.count, 2);
    assert_eq!(metrics.speed_up, Some(150), "30 s of work in 20 s with any");
    assert_eq!(metrics.usage.cost_micros, Some(2_500));
    assert_eq!(metrics.waiting_ms, Some((1_000 + 1_000 + 12_000) / 3));
    assert_eq!(metrics.interventions, 0);
    assert_eq!(metrics.workers.iter().map(|worker| worker.done).sum::<u32>(), 2);
    assert_eq!(metrics.workers.iter().map(|worker| worker.busy_ms).sum::<u64>(), 30_000);
    assert_eq!(metrics.series.iter().map(|point| point.done).sum::<u32>(), 2);
    assert_eq!(metrics.series.iter().map(|point| point.failed).sum::<u32>(), 1);
    assert_eq!(metrics.series.iter().map(|point| point.cost_micros).sum::<u64>(), 2_500);
    let bad = MetricsPage { hours: Some(0) };
    let error = shop.floor.store.metrics(&shop.floor.ada, shop.project.id, bad).await;
    assert!(matches!(error, Err(StoreError::Invalid { field: "hours", .. })));
}

async fn who_does_what_is_told(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![protocol::TaskAdd { files: vec!["src/a.rs".into()], ..plain("Mend a") }]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let doing = shop.floor.store.doing(&shop.floor.bo, shop.project.id).await.unwrap();
    assert_eq!(doing.len(), 1);
    assert_eq!((doing[0].who.as_str(), doing[0].what.as_str()), ("codex 1", "Mend a"));
    assert_eq!(doing[0].files, ["src/a.rs"]);
}

/// A person accepts what they were asked about.
async fn accepts(shop: &Shop, task: TaskId) {
    let asked = shop.detail(task).await.escalations.pop().expect("somebody is asked");
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Accept), text: None };
    shop.floor.done(&shop.floor.ada, AnswerEscalation { escalation: asked.id, input }).await;
}

/// In seconds: two managed workers work from 0 to 10, and people accept both results at 70, one that only they could
/// judge and one that the checks refused. At 70 somebody takes a task, is last heard from at 100, and is lost at 190; the
/// other does it until 200. Somebody outside does two more, until 220 and 240.
async fn a_history_is_counted_as_by_hand(floor: Floor) {
    let mut shop = Shop::open(floor).await;
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
    shop.floor.pass(10_000);
    shop.finishes(tasks[0], "Here it is.").await;
    shop.finishes(tasks[1], "Here it is.").await;
    shop.found(tasks[1], false, "`out.txt` is empty", None).await;
    assert_eq!(shop.detail(tasks[0]).await.escalations[0].kind, EscalationKind::Judgement);
    assert_eq!(shop.detail(tasks[1]).await.escalations[0].kind, EscalationKind::Refused);
    shop.floor.pass(60_000);
    for task in &tasks {
        accepts(&shop, *task).await;
        let detail = shop.detail(*task).await;
        assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Done, AttemptOutcome::Accepted));
        assert_eq!(detail.reports[0].verdict, ReportVerdict::Accepted);
    }
    let lost = shop.add(vec![plain("Vanish and be found")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    shop.floor.pass(30_000);
    shop.floor.done(&Caller::hub("foreman"), RenewLeases { runners: vec![LastHeard::now(shop.runner)] }).await;
    shop.floor.pass(90_000);
    assert_eq!(expire(&shop.floor).await, [lost]);
    assert_eq!(shop.dispatch().await, 1);
    shop.floor.pass(10_000);
    shop.finishes(lost, "It is there again.").await;
    shop.add(vec![plain("Count the stars"), plain("Name the planets")]).await;
    for score in [4, 3] {
        let held = taken(&shop.floor, shop.project.id, "outside").await;
        shop.floor.pass(20_000);
        let mut done = report(held.task.id, held.lease.fence, "done");
        done.input.context_score = Some(score);
        let usage = Usage { input_tokens: 100, cached_tokens: 7, output_tokens: 50, cost_micros: Some(4_000) };
        done.input.usage = Some(usage);
        shop.floor.done(&shop.floor.ada, done).await;
    }
    let page = MetricsPage { hours: Some(1) };
    let metrics = shop.floor.store.metrics(&shop.floor.ada, shop.project.id, page).await.unwrap();
    assert_eq!(
        metrics.counts.iter().map(|count| (count.status, count.count)).collect::<Vec<_>>(),
        [(TaskStatus::Done, 5)]
    );
    assert_eq!((metrics.interventions, metrics.interventions_per_task), (2, 2 * 100 / 5));
    assert_eq!(metrics.context_score, Some((400 + 300) / 2));
    let busy = 10 + 10 + 120 + 10 + 20 + 20;
    let any = 10 + 120 + 10 + 20 + 20;
    assert_eq!(metrics.speed_up, Some(busy * 100 / any));
    assert_eq!(metrics.detection_ms, Some(90_000));
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
    let mut counted = (0, 0);
    for worker in workers {
        let worker = shop.worker(worker.id).await;
        counted = (counted.0 + worker.done, counted.1 + worker.failed);
    }
    assert_eq!(counted, (3, 1), "what a person accepted is no failure of its worker");
}
