//! How the work goes, in numbers.

use domain::{SessionStatus, TaskStatus};
use protocol::MetricsPage;
use store::StoreError;

use super::{Shop, plain};
use crate::floor::Floor;

both!(numbers_are_as_things_were, who_does_what_is_told);

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
