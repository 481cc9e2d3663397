//! What a hub remembers between transactions is never taken for true when another hub has written.

use domain::{ProjectId, TaskStatus, Visibility};
use protocol::{Freeze, ProjectUpdate, verbs};

use super::{add_one, adds, beat, expire, finish, report, shared, status, take, taken, takes, task, why_not};
use crate::floor::{Floor, Place};

/// A floor whose store has had the database to itself for some transactions, and so remembers what it read.
async fn settled() -> (Floor, ProjectId) {
    let floor = Floor::open(Place::postgres().await).await;
    let project = shared(&floor).await;
    alone(&floor, project).await;
    (floor, project)
}

async fn alone(floor: &Floor, project: ProjectId) {
    for round in 0..12 {
        let id = add_one(floor, project, task(&format!("Warm up {round}"))).await;
        let held = taken(floor, project, "w").await;
        assert_eq!(held.task.id, id);
        finish(floor, &held).await;
    }
}

#[tokio::test]
async fn what_another_hub_added_is_found_where_nothing_was() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    assert!(why_not(&floor, project, "w").await.contains("no task is ready"));
    let added = other.write(&floor.ada, None, adds(project, vec![task("Sweep")])).await.unwrap().value;
    assert_eq!(taken(&floor, project, "w").await.task.id, added.tasks[0].id);
}

#[tokio::test]
async fn what_another_hub_took_is_not_taken_again() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    let first = add_one(&floor, project, task("First")).await;
    let second = add_one(&floor, project, task("Second")).await;
    let theirs = other.write(&floor.ada, None, takes(project, "theirs")).await.unwrap().value.taken.unwrap();
    assert_eq!(theirs.task.id, first);
    let ours = taken(&floor, project, "ours").await;
    assert_eq!(ours.task.id, second);
    assert!(take(&floor, project, "late").await.taken.is_none());
    other.write(&floor.ada, None, report(first, theirs.lease.fence, "done")).await.unwrap();
    finish(&floor, &ours).await;
    assert_eq!((status(&floor, first).await, status(&floor, second).await), (TaskStatus::Done, TaskStatus::Done));
}

#[tokio::test]
async fn a_sign_of_life_at_another_hub_counts_though_nobody_is_told() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    add_one(&floor, project, task("Long")).await;
    let held = taken(&floor, project, "w").await;
    floor.pass(60_000);
    other.write(&floor.ada, None, beat(held.task.id, held.lease.fence)).await.unwrap();
    // The same at this hub, which remembers the older end of the lease, must not bring it back.
    let lease = floor.done(&floor.ada, beat(held.task.id, held.lease.fence)).await;
    assert!(lease.expires_at > held.lease.expires_at);
    floor.pass(60_000);
    assert_eq!(expire(&floor).await, []);
    finish(&floor, &held).await;
}

#[tokio::test]
async fn what_somebody_stopped_at_another_hub_is_stopped_here() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    add_one(&floor, project, task("Stopped")).await;
    other.write(&floor.ada, None, verbs::FloorFreeze { input: Freeze { project: Some(project) } }).await.unwrap();
    assert!(why_not(&floor, project, "w").await.contains("stopped"));
}

#[tokio::test]
async fn who_lost_the_right_to_write_at_another_hub_is_refused_here() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    for round in 0..10 {
        floor.done(&floor.bo, adds(project, vec![task(&format!("Bo's {round}"))])).await;
    }
    let input = ProjectUpdate { visibility: Some(Visibility::Private), ..ProjectUpdate::default() };
    other.write(&floor.ada, None, verbs::ProjectUpdate { project, input }).await.unwrap();
    floor.refused(&floor.bo, adds(project, vec![task("One more")])).await;
}

#[tokio::test]
async fn two_hubs_that_take_turns_see_each_others_work_at_once() {
    let (floor, project) = settled().await;
    let other = floor.second_store().await;
    for round in 0..40 {
        let (one, two) = if round % 3 == 0 { (&other, &floor.store) } else { (&floor.store, &other) };
        let added = one.write(&floor.ada, None, adds(project, vec![task(&format!("Turn {round}"))])).await.unwrap();
        let held = two.write(&floor.ada, None, takes(project, "w")).await.unwrap().value.taken.unwrap();
        assert_eq!(held.task.id, added.value.tasks[0].id);
        one.write(&floor.ada, None, report(held.task.id, held.lease.fence, "done")).await.unwrap();
        assert_eq!(status(&floor, held.task.id).await, TaskStatus::Done);
    }
    let mut raw = floor.raw().await;
    assert_eq!(raw.number("SELECT (SELECT COUNT(*) FROM events) - seq FROM ledger").await, 0);
    assert!(floor.store.verify_audit().await.unwrap().is_ok());
}
