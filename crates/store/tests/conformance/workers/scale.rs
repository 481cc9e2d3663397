//! The number of workers follows the queue.

use domain::Timestamp;
use protocol::{WorkConfigure, WorkerFilter};

use super::{Shop, plain};
use crate::floor::Floor;

both!(deep_queues_bring_workers_and_idleness_takes_them);

async fn deep_queues_bring_workers_and_idleness_takes_them(floor: Floor) {
    let mut shop = Shop::open(floor).await;
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
    assert_eq!(shop.dispatch().await, 1, "somebody is free: no more are needed");
    assert_eq!(shop.dispatch().await, 2, "nobody is, and four wait");
    let filter = WorkerFilter { project: Some(shop.project.id) };
    let workers = shop.floor.store.workers(&shop.floor.ada, filter).await.unwrap();
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
    shop.floor.pass(59_999);
    shop.dispatch().await;
    assert_eq!(shop.floor.store.workers(&shop.floor.ada, filter).await.unwrap().len(), 3);
    shop.floor.pass(1);
    let due = shop.floor.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert!(due.projects.iter().any(|(project, at)| *project == shop.project.id && *at <= shop.floor.store.now()));
    shop.dispatch().await;
    let left = shop.floor.store.workers(&shop.floor.ada, filter).await.unwrap();
    assert_eq!(left.len(), 1, "what the scale brought, it takes");
    assert_eq!(left[0].id, first.id);
    assert!(shop.decided("scaled_down").await);
}
