//! Workers that are not heard from.

use domain::{AttemptOutcome, SessionStatus, TaskStatus, Timestamp, WorkerStatus};
use protocol::WorkConfigure;
use store::{Caller, ExpireLeases, GraceLeases, RenewLeases};

use super::{Shop, plain};
use crate::execution::runner;
use crate::floor::Floor;

both!(
    a_linked_runner_keeps_its_leases_and_a_lost_one_loses_them,
    missed_heartbeats_end_a_hold_before_its_lease,
    a_hub_that_was_away_gives_everybody_a_chance,
);

fn hub() -> Caller {
    Caller::hub("foreman")
}

async fn a_linked_runner_keeps_its_leases_and_a_lost_one_loses_them(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Patient work")]).await[0];
    shop.dispatch().await;
    let old = shop.session(task).await;
    shop.at(old, SessionStatus::Working).await;
    assert_eq!(shop.floor.store.work_due(&[shop.runner], Timestamp::from_millis(0)).await.unwrap().renew, Some(30));
    for _ in 0..5 {
        shop.floor.pass(60_000);
        assert_eq!(shop.floor.done(&hub(), RenewLeases { runners: vec![(shop.runner, 0)] }).await, 1);
        assert_eq!(shop.floor.done(&hub(), ExpireLeases {}).await, []);
    }
    let late = RenewLeases { runners: vec![(shop.runner, 5_000)] };
    shop.floor.done(&hub(), late).await;
    let lease = shop.task(task).await.lease.unwrap().expires_at;
    assert_eq!(lease, shop.floor.store.now().plus_millis(90_000), "a late sign shortens nothing");
    let other = runner(&shop.floor, &shop.floor.ada, "other", 4).await;
    assert_eq!(shop.floor.done(&hub(), RenewLeases { runners: vec![(other, 0)] }).await, 0);
    shop.floor.pass(89_999);
    assert_eq!(shop.floor.done(&hub(), ExpireLeases {}).await, []);
    shop.floor.pass(1);
    let due = shop.floor.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert!(due.lease.is_some_and(|lease| lease <= shop.floor.store.now()));
    assert_eq!(shop.floor.done(&hub(), ExpireLeases {}).await, [task]);
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Lost));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Lost);
    assert!(shop.decided("lease_lost").await);
    let (sessions, _) = shop.desired().await;
    let plan = sessions.iter().find(|plan| plan.session == old).unwrap();
    assert!(!plan.run, "whoever comes back finds that it is to stop");
    assert_eq!(shop.dispatch_with(&[]).await, 0);
    assert_eq!(shop.dispatch().await, 1, "its runner is back");
    assert!(shop.decided("restarted").await);
    let detail = shop.detail(task).await;
    assert_eq!(detail.attempts.len(), 2);
    let metrics = shop.floor.store.metrics(&shop.floor.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!(metrics.detection_ms, Some(90_000));
}

async fn missed_heartbeats_end_a_hold_before_its_lease(floor: Floor) {
    let shop = Shop::open(floor).await;
    let settings =
        WorkConfigure { lease_seconds: Some(600), heartbeat_seconds: Some(10), missed: Some(3), ..Default::default() };
    shop.configure(settings).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Silent work")]).await[0];
    shop.dispatch().await;
    shop.floor.pass(29_999);
    shop.dispatch_with(&[]).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Assigned);
    let due = shop.floor.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert_eq!(due.projects, [(shop.project.id, shop.floor.store.now().plus_millis(1))]);
    shop.floor.pass(1);
    shop.dispatch_with(&[]).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Lost));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Lost);
}

async fn a_hub_that_was_away_gives_everybody_a_chance(floor: Floor) {
    let shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Steady work")]).await[0];
    shop.dispatch().await;
    shop.floor.pass(3_600_000);
    shop.floor.done(&hub(), GraceLeases { seconds: 10 }).await;
    assert_eq!(shop.floor.done(&hub(), ExpireLeases {}).await, []);
    shop.dispatch().await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Assigned);
    shop.floor.pass(10_000);
    assert_eq!(shop.floor.done(&hub(), ExpireLeases {}).await, [task]);
}
