//! Taking tasks: each goes to one worker, in queue order; an empty answer has a reason.

use domain::{AttemptOutcome, TaskStatus, WorkerKind};
use protocol::{TaskAdd, TaskTake, verbs};
use store::StoreError;

use super::{add, add_one, adds, detail, finish, shared, sound, status, take, taken, takes, task, why_not};
use crate::fixture::Fixture;

both! {
    two_takes_get_two_tasks,
    tasks_are_taken_by_priority_and_age,
    a_worker_has_one_task_at_a_time,
    a_worker_without_a_needed_ability_gets_the_reason,
    tasks_that_no_worker_can_do_do_not_block_others,
    a_worker_can_take_a_specific_task,
    tasks_on_files_in_use_come_later,
    released_tasks_are_taken_first,
    the_same_key_takes_once_and_an_empty_result_is_not_remembered,
    a_worker_has_one_row,
    the_brief_is_complete,
}

both_in_one_thread! {
    a_waiting_worker_takes_a_task_added_in_the_same_commit,
}

async fn two_takes_get_two_tasks(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![task("one"), task("two")]).await;
    let (first, second) = tokio::join!(taken(&fixture, project, "a"), taken(&fixture, project, "b"));
    let mut ids = [first.task.id, second.task.id];
    ids.sort();
    assert_eq!(ids, [added.tasks[0].id, added.tasks[1].id]);
    assert_eq!((first.lease.fence, first.task.status, first.task.attempt), (1, TaskStatus::Assigned, 1));
    assert_ne!(first.lease.worker, second.lease.worker);
    assert_eq!(why_not(&fixture, project, "c").await, "no task is ready in this project");
}

async fn a_waiting_worker_takes_a_task_added_in_the_same_commit(fixture: Fixture) {
    let project = shared(&fixture).await;
    let mut coming = fixture.store.coming();
    let waits = async {
        assert_eq!(coming.recv().await, Ok(project));
        fixture.store.write(&fixture.ada, None, takes(project, "a")).await.unwrap()
    };
    let adds = fixture.store.write(&fixture.ada, None, adds(project, vec![task("one"), task("two")]));
    let (took, added) = tokio::join!(waits, adds);
    let added = added.unwrap();
    assert_eq!(took.value.taken.unwrap().task.id, added.value.tasks[0].id);
    let commit = |events: &[std::sync::Arc<store::Event>]| events.iter().map(|event| event.seq).collect::<Vec<_>>();
    assert_eq!(commit(&took.events), commit(&added.events), "one commit for both");
    assert_eq!(status(&fixture, added.value.tasks[0].id).await, TaskStatus::Assigned);
    assert_eq!(status(&fixture, added.value.tasks[1].id).await, TaskStatus::Ready);
    sound(&mut fixture.raw().await, project).await;
}

async fn tasks_are_taken_by_priority_and_age(fixture: Fixture) {
    let project = shared(&fixture).await;
    let priority = |text: &str, priority| TaskAdd { priority: Some(priority), ..task(text) };
    let old = add_one(&fixture, project, priority("old and unimportant", 0)).await;
    let new = add(&fixture, project, vec![priority("usual", 5), priority("urgent", 9)]).await;
    assert_eq!(taken(&fixture, project, "a").await.task.id, new.tasks[1].id);
    fixture.pass(2 * 3_600_000);
    add_one(&fixture, project, priority("urgent too", 9)).await;
    assert_eq!(taken(&fixture, project, "b").await.task.id, new.tasks[0].id, "nothing starves");
    assert_eq!(taken(&fixture, project, "c").await.task.id, old);
}

async fn a_worker_has_one_task_at_a_time(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one"), task("two")]).await;
    let first = taken(&fixture, project, "a").await;
    let again = taken(&fixture, project, "a").await;
    assert_eq!(again.task.id, first.task.id, "it continues its task");
    assert_eq!(again.lease.fence, first.lease.fence + 1, "and an earlier process with this name loses its fence");
    let attempts = detail(&fixture, first.task.id).await.attempts;
    assert_eq!(
        attempts.iter().map(|attempt| attempt.outcome).collect::<Vec<_>>(),
        [AttemptOutcome::Released, AttemptOutcome::Open]
    );
    finish(&fixture, &again).await;
    assert_ne!(taken(&fixture, project, "a").await.task.id, first.task.id);
}

async fn a_worker_without_a_needed_ability_gets_the_reason(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, TaskAdd { needs: vec!["css".into(), "rust".into()], ..task("style it") }).await;
    let why = why_not(&fixture, project, "plain").await;
    assert_eq!(why, "the ready task needs abilities that `plain` lacks: css, rust");
    let mut able = takes(project, "able");
    able.input.abilities = vec!["rust".into(), "css".into()];
    assert_eq!(fixture.done(&fixture.ada, able).await.taken.unwrap().task.id, id);
}

async fn tasks_that_no_worker_can_do_do_not_block_others(fixture: Fixture) {
    let project = shared(&fixture).await;
    let hard = |n| TaskAdd { needs: vec!["magic".into()], ..task(&format!("Spell number {n}")) };
    add(&fixture, project, (0..150).map(hard).collect()).await;
    fixture.pass(1000);
    let easy = add_one(&fixture, project, task("Sweep the floor")).await;
    assert_eq!(taken(&fixture, project, "plain").await.task.id, easy);
    let why = why_not(&fixture, project, "second").await;
    assert_eq!(why, "all 150 ready tasks need abilities that `second` lacks: magic");
}

async fn a_worker_can_take_a_specific_task(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![task("one"), TaskAdd { needs: vec!["css".into()], ..task("two") }]).await;
    let certain = |at: usize, worker: &str, abilities: &[&str]| verbs::TaskTake {
        project,
        input: TaskTake {
            task: Some(added.tasks[at].id),
            worker: Some(worker.into()),
            abilities: abilities.iter().map(|ability| (*ability).to_owned()).collect(),
            wait_seconds: None,
        },
    };
    let refused = fixture.done(&fixture.ada, certain(1, "a", &[])).await;
    assert!(refused.why_not.unwrap().ends_with("needs css, which `a` lacks"));
    let two = fixture.done(&fixture.ada, certain(1, "b", &["css"])).await.taken.unwrap();
    assert_eq!(two.task.id, added.tasks[1].id);
    let gone = fixture.done(&fixture.ada, certain(1, "c", &["css"])).await;
    assert!(gone.why_not.unwrap().ends_with("is assigned"));
    let mut elsewhere = certain(0, "d", &[]);
    elsewhere.project = shared(&fixture).await;
    assert!(matches!(fixture.refused(&fixture.ada, elsewhere).await, StoreError::NotFound("task")));
}

async fn tasks_on_files_in_use_come_later(fixture: Fixture) {
    let project = shared(&fixture).await;
    let files = |text: &str, file: &str| TaskAdd { files: vec![file.into()], ..task(text) };
    let added =
        add(&fixture, project, vec![files("one", "src/a.rs"), files("two", "src/**"), files("three", "docs")]).await;
    let ids: Vec<_> = added.tasks.iter().map(|task| task.id).collect();
    let first = taken(&fixture, project, "a").await;
    assert_eq!(first.task.id, ids[0]);
    assert_eq!(taken(&fixture, project, "b").await.task.id, ids[2], "the task on the same files comes later");
    assert_eq!(taken(&fixture, project, "c").await.task.id, ids[1], "but it is handed out");
}

async fn released_tasks_are_taken_first(fixture: Fixture) {
    let project = shared(&fixture).await;
    let first = add_one(&fixture, project, task("one")).await;
    fixture.pass(1000);
    add_one(&fixture, project, task("two")).await;
    let held = taken(&fixture, project, "a").await;
    assert_eq!(held.task.id, first);
    let input = protocol::TaskRelease { fence: held.lease.fence, reason: Some("lunch".into()) };
    let back = fixture.done(&fixture.ada, verbs::TaskRelease { task: first, input }).await;
    assert_eq!((back.status, back.reason.as_deref(), back.lease), (TaskStatus::Ready, Some("lunch"), None));
    let next = taken(&fixture, project, "b").await;
    assert_eq!((next.task.id, next.lease.fence), (first, 2));
    let handover = next.handover.unwrap();
    assert_eq!((handover.worker_name.as_str(), handover.outcome), ("a", AttemptOutcome::Released));
}

async fn the_same_key_takes_once_and_an_empty_result_is_not_remembered(fixture: Fixture) {
    let project = shared(&fixture).await;
    let take = || fixture.store.write(&fixture.ada, Some("k".into()), takes(project, "a"));
    assert!(take().await.unwrap().value.taken.is_none());
    add_one(&fixture, project, task("one")).await;
    let first = take().await.unwrap().value;
    assert!(first.taken.is_some(), "an empty answer is not remembered for the key");
    assert_eq!(take().await.unwrap().value, first);
}

async fn a_worker_has_one_row(fixture: Fixture) {
    let project = shared(&fixture).await;
    add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "Anvil").await;
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM workers WHERE name = 'Anvil' AND kind = 'external'").await, 1);
    assert_eq!(WorkerKind::External.word(), "external");
    finish(&fixture, &held).await;
    assert_eq!(raw.number("SELECT done FROM workers").await, 1);
    assert_eq!(raw.number("SELECT COUNT(*) FROM workers WHERE task IS NULL AND status = 'idle'").await, 1);
    assert!(take(&fixture, project, "Anvil").await.taken.is_none());
    assert_eq!(raw.number("SELECT COUNT(*) FROM workers").await, 1);
}

async fn the_brief_is_complete(fixture: Fixture) {
    let project = shared(&fixture).await;
    let acceptance = vec![protocol::Criterion::FileExists { path: "out.md".into() }];
    let context = "The house style is in STYLE.md".into();
    let id = add_one(&fixture, project, TaskAdd { acceptance, context, ..task("Summarise\nchapter 3") }).await;
    let brief = taken(&fixture, project, "a").await.brief;
    for part in [&id.to_string()[..], "chapter 3", "STYLE.md", "`out.md` exists", "tool `report`"] {
        assert!(brief.contains(part), "{part} is missing in:\n{brief}");
    }
    assert_eq!(status(&fixture, id).await, TaskStatus::Assigned);
}
