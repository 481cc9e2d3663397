//! Consecutive failures take a worker offline; a successful trial brings it back.

use domain::{TaskStatus, WorkerStatus};
use protocol::{WorkConfigure, verbs};

use super::{Shop, plain};
use crate::fixture::Fixture;

both!(a_worker_is_offline_after_three_failures_until_a_trial_succeeds, a_restart_closes_the_breaker);

async fn offline(shop: &mut Shop) {
    let settings = WorkConfigure { workers_per_task: Some(9), ..Default::default() };
    shop.configure(settings).await;
    shop.add(vec![plain("Cursed"), plain("Doomed errand"), plain("Hopeless matter")]).await;
    for _ in 0..3 {
        assert_eq!(shop.dispatch().await, 1);
        let held = shop.fixture.store.tasks(&shop.fixture.ada, &Default::default()).await.unwrap();
        let session = held.iter().find_map(|task| task.session).unwrap();
        shop.exits(session, 1).await;
    }
}

async fn a_worker_is_offline_after_three_failures_until_a_trial_succeeds(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    offline(&mut shop).await;
    let broken = shop.worker(worker.id).await;
    assert_eq!((broken.status, broken.failures, broken.failed), (WorkerStatus::Offline, 3, 3));
    let reason = broken.reason.unwrap();
    assert!(reason.contains("3 failures in a row") && reason.contains("exited with 1"), "{reason}");
    assert_eq!(broken.until, Some(shop.fixture.store.now().plus_millis(60_000)));
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.pass(59_999);
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.pass(1);
    assert_eq!(shop.dispatch().await, 1, "one trial");
    assert!(shop.decided("breaker_open").await && shop.decided("breaker_trial").await);
    let task = shop.worker(worker.id).await.task.unwrap();
    let session = shop.session(task).await;
    shop.exits(session, 1).await;
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Offline, "a failed trial opens it again");
    shop.fixture.pass(60_000);
    assert_eq!(shop.dispatch().await, 1);
    let task = shop.worker(worker.id).await.task.unwrap();
    shop.finishes(task, "It works again.").await;
    let healed = shop.worker(worker.id).await;
    assert_eq!((healed.status, healed.failures, healed.done), (WorkerStatus::Idle, 0, 1));
}

async fn a_restart_closes_the_breaker(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    offline(&mut shop).await;
    let back = shop.fixture.done(&shop.fixture.ada, verbs::WorkerRestart { worker: worker.id }).await;
    assert_eq!((back.status, back.failures), (WorkerStatus::Idle, 0));
    assert_eq!(shop.dispatch().await, 1);
    let task = shop.worker(worker.id).await.task.unwrap();
    let again = shop.fixture.done(&shop.fixture.ada, verbs::WorkerRestart { worker: worker.id }).await;
    assert_eq!((again.status, again.task), (WorkerStatus::Idle, None));
    assert_eq!(shop.task(task).await.status, TaskStatus::Ready);
}
