//! What a hub remembers between transactions is never taken for true when another hub has written.

use std::collections::VecDeque;

use domain::{ProjectId, TaskId, TaskStatus, Visibility};
use protocol::{Freeze, ProjectUpdate, TakenTask, TaskAdd, TaskTake, TaskTurn, Turned, TurnedIn};
use store::{Command, Committed, FreezeFloor, StoreError, TurnTasks, UpdateProject};
use testkit::wait_until;

use super::{add_one, adds, beat, expire, finish, report, shared, sound, status, take, taken, takes, task, why_not};
use crate::floor::{Floor, Place};

/// A floor whose store has had the database to itself for so long that it decides from what it remembers.
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
    other.write(&floor.ada, None, FreezeFloor { input: Freeze { project: Some(project) } }).await.unwrap();
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
    other.write(&floor.ada, None, UpdateProject { project, input }).await.unwrap();
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

/// How many connections to this database are so, by what `pg_stat_activity` says.
async fn connections(floor: &Floor, so: &str) -> i64 {
    let sql = format!("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND {so}");
    floor.raw().await.number(&sql).await
}

/// Hands back what is held, and takes the next for these workers.
fn turn(project: ProjectId, held: &[TakenTask], workers: &[String]) -> TurnTasks {
    let reported = |held: &TakenTask| TurnedIn {
        task: held.task.id,
        report: report(held.task.id, held.lease.fence, "done").input,
    };
    let taking = |worker: &String| TaskTake { worker: Some(worker.clone()), ..TaskTake::default() };
    let input = TaskTurn { reports: held.iter().map(reported).collect(), takes: workers.iter().map(taking).collect() };
    TurnTasks { project, input }
}

fn all_taken(turned: Turned) -> Vec<TakenTask> {
    turned.taken.into_iter().map(|taken| taken.taken.expect("there are enough")).collect()
}

/// What becomes of a command.
type Coming<C> = tokio::task::JoinHandle<Result<Committed<<C as Command>::Output>, StoreError>>;

fn begin<C: Command + 'static>(floor: &Floor, command: C) -> Coming<C> {
    let (store, caller) = (floor.store.clone(), floor.ada.clone());
    tokio::spawn(async move { store.write(&caller, None, command).await })
}

/// Begins a command whose transaction somebody else holds up.
async fn on_its_way<C: Command + 'static>(floor: &Floor, command: C) -> Coming<C> {
    let coming = begin(floor, command);
    wait_until("a transaction is on its way", || async {
        (connections(floor, "wait_event_type = 'Lock'").await > 0).then_some(())
    })
    .await;
    coming
}

/// Begins a command that reads on in the queue meanwhile.
async fn reading_on<C: Command + 'static>(floor: &Floor, command: C) -> Coming<C> {
    let coming = begin(floor, command);
    wait_until("the queue is read beside it", || async {
        let one = connections(floor, "wait_event_type = 'Lock'").await > 0;
        let other = connections(floor, "state = 'idle' AND query LIKE '%JOIN task_queue%'").await > 0;
        (one && other).then_some(())
    })
    .await;
    coming
}

#[tokio::test]
async fn what_comes_into_a_part_of_the_queue_that_was_read_ahead_is_not_passed_over() {
    let (floor, project) = settled().await;
    let urgent = |name: String, priority| TaskAdd { priority: Some(priority), ..task(&name) };
    let mut queue: VecDeque<TaskId> = VecDeque::new();
    for (group, count) in [150, 450].into_iter().enumerate() {
        let new = (0..count).map(|n| urgent(format!("Number {n} of {group}"), 3)).collect();
        queue.extend(floor.done(&floor.ada, adds(project, new)).await.tasks.iter().map(|task| task.id));
        floor.pass(20 * 60_000);
    }
    let second = queue[150];
    // A fresh store knows only the head of the queue.
    let floor = floor.reopened().await;
    for round in 0..12 {
        let held = taken(&floor, project, ["one", "two"][round % 2]).await;
        assert_eq!(Some(held.task.id), queue.pop_front());
        finish(&floor, &held).await;
    }
    let mut elsewhere = floor.raw().await;
    elsewhere.run("BEGIN").await;
    elsewhere.run("SELECT writes FROM ledger FOR UPDATE").await;
    let one = on_its_way(&floor, takes(project, "one")).await;
    let two = reading_on(&floor, takes(project, "two")).await;
    elsewhere.run("COMMIT").await;
    let mut held = Vec::new();
    for coming in [one, two] {
        held.push(coming.await.unwrap().unwrap().value.taken.unwrap());
        assert_eq!(held.last().map(|held| held.task.id), queue.pop_front());
    }
    // It stands between the two groups, in what was read before it was there.
    let between = add_one(&floor, project, urgent("Between".into(), 6)).await;
    queue.insert(queue.iter().position(|id| *id == second).unwrap(), between);
    // One by one: many together would be refused if one of them were passed over, and read again.
    for _ in 0..200 {
        held = all_taken(floor.done(&floor.ada, turn(project, &held[..1], &["one".to_owned()])).await);
        assert_eq!(Some(held[0].task.id), queue.pop_front());
    }
    sound(&mut floor.raw().await, project).await;
}

#[tokio::test]
async fn the_queue_is_read_on_while_a_transaction_is_on_its_way_and_without_what_that_takes() {
    let (floor, project) = settled().await;
    let added = floor.done(&floor.ada, adds(project, (0..900).map(|n| task(&format!("Number {n}"))).collect())).await;
    // A fresh store knows only the head of the queue.
    let floor = floor.reopened().await;
    let workers: Vec<String> = (0..300).map(|n| format!("w{n}")).collect();
    let mut held = all_taken(floor.done(&floor.ada, turn(project, &[], &workers)).await);
    let mut queue: VecDeque<TaskId> = added.tasks.iter().map(|task| task.id).skip(held.len()).collect();
    for _ in 0..12 {
        let next = all_taken(floor.done(&floor.ada, turn(project, &held[..1], &workers[..1])).await);
        assert_eq!(Some(next[0].task.id), queue.pop_front());
        held[0] = next[0].clone();
    }
    let far = queue.remove(100).unwrap();
    let mut elsewhere = floor.raw().await;
    elsewhere.run("BEGIN").await;
    elsewhere.run("SELECT writes FROM ledger FOR UPDATE").await;
    let mut certain = turn(project, &held[..1], &workers[..1]);
    certain.input.takes[0].task = Some(far);
    let first = on_its_way(&floor, certain).await;
    let others = reading_on(&floor, turn(project, &held[1..], &workers[1..])).await;
    elsewhere.run("COMMIT").await;
    assert_eq!(all_taken(first.await.unwrap().unwrap().value)[0].task.id, far);
    let others = all_taken(others.await.unwrap().unwrap().value);
    let ids: Vec<TaskId> = others.iter().map(|held| held.task.id).collect();
    assert_eq!(ids, queue.into_iter().take(workers.len() - 1).collect::<Vec<_>>());
    sound(&mut floor.raw().await, project).await;
}
