//! The number of workers follows the queue.

use domain::Timestamp;
use protocol::{WorkConfigure, WorkerFilter, WorkerStart, WorkerStop, verbs};

use super::{Shop, plain};
use crate::execution::runner;
use crate::fixture::Fixture;

both!(
    deep_queues_add_workers_and_idle_ones_are_removed,
    stopped_workers_are_not_replaced,
    a_worker_without_budget_does_not_prevent_scaling_up,
    a_colleagues_workers_are_not_multiplied,
);

impl Shop {
    /// Allows up to this many workers, one for each waiting task; four tasks wait.
    async fn scales(&self, most: u32) {
        let settings = WorkConfigure { scale_most: Some(most), scale_tasks_per_worker: Some(1), ..Default::default() };
        self.configure(settings).await;
        let words = ["Alpha", "Beta is next", "Gamma comes third", "Delta as well"];
        self.add(words.iter().map(|word| plain(word)).collect()).await;
    }

    async fn there(&self) -> usize {
        let filter = WorkerFilter { project: Some(self.project.id) };
        self.fixture.store.workers(&self.fixture.ada, filter).await.unwrap().len()
    }
}

async fn deep_queues_add_workers_and_idle_ones_are_removed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let settings = WorkConfigure {
        scale_most: Some(3),
        scale_tasks_per_worker: Some(1),
        scale_idle_seconds: Some(60),
        ..Default::default()
    };
    shop.configure(settings).await;
    let first = shop.start(1).await.remove(0);
    let words = ["Alpha", "Beta is next", "Gamma comes third", "Delta as well", "Epsilon at the end"];
    let tasks = shop.add(words.iter().map(|word| plain(word)).collect()).await;
    assert_eq!(shop.dispatch().await, 1, "a worker is free, so none is added");
    assert_eq!(shop.dispatch().await, 2, "no worker is free, and four tasks wait");
    let filter = WorkerFilter { project: Some(shop.project.id) };
    let workers = shop.fixture.store.workers(&shop.fixture.ada, filter).await.unwrap();
    assert_eq!(workers.len(), 3);
    assert_eq!(workers.iter().map(|worker| worker.colour).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(shop.decided("scaled_up").await);
    for _ in 0..2 {
        for task in &tasks {
            if shop.task(*task).await.session.is_some() {
                shop.finishes(*task, "done").await;
            }
        }
        shop.dispatch().await;
    }
    shop.fixture.pass(59_999);
    shop.dispatch().await;
    assert_eq!(shop.fixture.store.workers(&shop.fixture.ada, filter).await.unwrap().len(), 3);
    shop.fixture.pass(1);
    let due = shop.fixture.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert!(due.projects.iter().any(|(project, at)| *project == shop.project.id && *at <= shop.fixture.store.now()));
    shop.dispatch().await;
    let left = shop.fixture.store.workers(&shop.fixture.ada, filter).await.unwrap();
    assert_eq!(left.len(), 1, "scaling down removes the workers that scaling up added");
    assert_eq!(left[0].id, first.id);
    assert!(shop.decided("scaled_down").await);
}

async fn stopped_workers_are_not_replaced(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(2).await;
    shop.scales(8).await;
    let stop = verbs::WorkerStopAll { project: shop.project.id, input: WorkerStop { force: false } };
    shop.fixture.done(&shop.fixture.ada, stop).await;
    assert_eq!((shop.dispatch().await, shop.there().await), (0, 2));
}

async fn a_worker_without_budget_does_not_prevent_scaling_up(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Costly")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.costs(session, 1_000_000).await;
    shop.exits(session, 0).await;
    shop.scales(3).await;
    shop.dispatch().await;
    assert_eq!(shop.there().await, 3, "it counts as a worker, but gets no task");
}

async fn a_colleagues_workers_are_not_multiplied(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let mut command = shop.starting(input);
    command.connected = vec![theirs];
    shop.fixture.done(&shop.fixture.bo, command).await;
    shop.scales(8).await;
    assert_eq!(shop.dispatch_with(&[shop.runner, theirs]).await, 1);
    assert_eq!((shop.dispatch_with(&[shop.runner, theirs]).await, shop.there().await), (0, 1));
}
