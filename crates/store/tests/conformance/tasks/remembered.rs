//! A hub does not use its cache after another hub has written.

use domain::{ProjectId, TaskStatus, Visibility};
use protocol::{Freeze, ProjectUpdate, verbs};

use super::{add_one, adds, beat, expire, finish, report, shared, status, take, taken, takes, task, why_not};
use crate::fixture::{Fixture, Place};

/// A fixture whose store was alone on the database for some transactions, and so has filled its cache.
async fn settled() -> (Fixture, ProjectId) {
    let fixture = Fixture::open(Place::postgres().await).await;
    let project = shared(&fixture).await;
    alone(&fixture, project).await;
    (fixture, project)
}

async fn alone(fixture: &Fixture, project: ProjectId) {
    for round in 0..12 {
        let id = add_one(fixture, project, task(&format!("Warm up {round}"))).await;
        let held = taken(fixture, project, "w").await;
        assert_eq!(held.task.id, id);
        finish(fixture, &held).await;
    }
}

#[tokio::test]
async fn a_task_that_another_hub_added_is_found() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    assert!(why_not(&fixture, project, "w").await.contains("no task is ready"));
    let added = other.write(&fixture.ada, None, adds(project, vec![task("Sweep")])).await.unwrap().value;
    assert_eq!(taken(&fixture, project, "w").await.task.id, added.tasks[0].id);
}

#[tokio::test]
async fn a_task_that_another_hub_took_is_not_taken_again() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    let first = add_one(&fixture, project, task("First")).await;
    let second = add_one(&fixture, project, task("Second")).await;
    let theirs = other.write(&fixture.ada, None, takes(project, "theirs")).await.unwrap().value.taken.unwrap();
    assert_eq!(theirs.task.id, first);
    let ours = taken(&fixture, project, "ours").await;
    assert_eq!(ours.task.id, second);
    assert!(take(&fixture, project, "late").await.taken.is_none());
    other.write(&fixture.ada, None, report(first, theirs.lease.fence, "done")).await.unwrap();
    finish(&fixture, &ours).await;
    assert_eq!((status(&fixture, first).await, status(&fixture, second).await), (TaskStatus::Done, TaskStatus::Done));
}

#[tokio::test]
async fn a_heartbeat_at_another_hub_counts_without_an_event() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    add_one(&fixture, project, task("Long")).await;
    let held = taken(&fixture, project, "w").await;
    fixture.pass(60_000);
    other.write(&fixture.ada, None, beat(held.task.id, held.lease.fence)).await.unwrap();
    // A heartbeat at this hub, which has cached the older expiry, must not restore that one.
    let lease = fixture.done(&fixture.ada, beat(held.task.id, held.lease.fence)).await;
    assert!(lease.expires_at > held.lease.expires_at);
    fixture.pass(60_000);
    assert_eq!(expire(&fixture).await, []);
    finish(&fixture, &held).await;
}

#[tokio::test]
async fn a_stop_at_another_hub_counts_here() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    add_one(&fixture, project, task("Stopped")).await;
    other.write(&fixture.ada, None, verbs::FloorFreeze { input: Freeze { project: Some(project) } }).await.unwrap();
    assert!(why_not(&fixture, project, "w").await.contains("stopped"));
}

#[tokio::test]
async fn a_right_withdrawn_at_another_hub_is_refused_here() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    for round in 0..10 {
        fixture.done(&fixture.bo, adds(project, vec![task(&format!("Bo's {round}"))])).await;
    }
    let input = ProjectUpdate { visibility: Some(Visibility::Private), ..ProjectUpdate::default() };
    other.write(&fixture.ada, None, verbs::ProjectUpdate { project, input }).await.unwrap();
    fixture.refused(&fixture.bo, adds(project, vec![task("One more")])).await;
}

#[tokio::test]
async fn two_hubs_that_take_turns_see_each_others_work_at_once() {
    let (fixture, project) = settled().await;
    let other = fixture.second_store().await;
    for round in 0..40 {
        let (one, two) = if round % 3 == 0 { (&other, &fixture.store) } else { (&fixture.store, &other) };
        let added = one.write(&fixture.ada, None, adds(project, vec![task(&format!("Turn {round}"))])).await.unwrap();
        let held = two.write(&fixture.ada, None, takes(project, "w")).await.unwrap().value.taken.unwrap();
        assert_eq!(held.task.id, added.value.tasks[0].id);
        one.write(&fixture.ada, None, report(held.task.id, held.lease.fence, "done")).await.unwrap();
        assert_eq!(status(&fixture, held.task.id).await, TaskStatus::Done);
    }
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT (SELECT COUNT(*) FROM events) - seq FROM ledger").await, 0);
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
}
