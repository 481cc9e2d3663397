//! Follow-up: a done task is reopened with words, and those who build on it wait again.

use domain::{TaskId, TaskStatus};
use protocol::{TaskReopen, verbs};

use super::{add, cancel, conflict, detail, finish, invalid, named, shared, sound, status, taken};
use crate::fixture::Fixture;

both! {
    a_done_task_is_done_again_with_more_words,
    dependants_that_nobody_has_wait_again,
    only_a_done_task_is_reopened,
}

fn reopens(task: TaskId, text: &str) -> verbs::TaskReopen {
    verbs::TaskReopen { task, input: TaskReopen { text: text.into() } }
}

async fn a_done_task_is_done_again_with_more_words(fixture: Fixture) {
    let project = shared(&fixture).await;
    let one = add(&fixture, project, vec![named("a", &[])]).await.tasks[0].id;
    let first = taken(&fixture, project, "w").await;
    finish(&fixture, &first).await;
    let open = fixture.done(&fixture.ada, reopens(one, "now also multiply")).await;
    assert_eq!((open.status, open.attempt), (TaskStatus::Ready, 1));
    assert_eq!(open.reason.as_deref(), Some("Ada reopened it: now also multiply"));
    sound(&mut fixture.raw().await, project).await;
    let again = taken(&fixture, project, "w").await;
    assert_eq!((again.task.id, again.task.attempt), (one, 2));
    assert!(again.lease.fence > first.lease.fence, "the old worker is a zombie");
    assert!(again.brief.contains("Reopened by Ada: now also multiply"), "{}", again.brief);
    assert!(again.brief.contains("This task was done and is open again"), "{}", again.brief);
    finish(&fixture, &again).await;
    let after = detail(&fixture, one).await;
    assert_eq!((after.task.status, after.attempts.len(), after.reports.len()), (TaskStatus::Done, 2, 2));
}

async fn dependants_that_nobody_has_wait_again(fixture: Fixture) {
    let project = shared(&fixture).await;
    let tasks = vec![named("a", &[]), named("b", &["a"]), named("c", &["a"]), named("d", &["a"]), named("e", &["d"])];
    let ids: Vec<TaskId> = add(&fixture, project, tasks).await.tasks.iter().map(|task| task.id).collect();
    let a = taken(&fixture, project, "w").await;
    finish(&fixture, &a).await;
    let b = taken(&fixture, project, "w").await;
    finish(&fixture, &b).await;
    let c = taken(&fixture, project, "x").await;
    assert_eq!((b.task.id, c.task.id), (ids[1], ids[2]));
    fixture.done(&fixture.ada, reopens(ids[0], "more")).await;
    let now = [status(&fixture, ids[1]).await, status(&fixture, ids[3]).await, status(&fixture, ids[4]).await];
    assert_eq!(now, [TaskStatus::Done, TaskStatus::Blocked, TaskStatus::Blocked]);
    finish(&fixture, &c).await;
    assert_eq!(status(&fixture, ids[2]).await, TaskStatus::Done, "a worker that has begun is not disturbed");
    // A task that is reopened while its dependency is open waits for it.
    fixture.done(&fixture.ada, reopens(ids[1], "more")).await;
    assert_eq!(status(&fixture, ids[1]).await, TaskStatus::Blocked);
    sound(&mut fixture.raw().await, project).await;
    let again = taken(&fixture, project, "w").await;
    assert_eq!(again.task.id, ids[0]);
    finish(&fixture, &again).await;
    for id in [ids[1], ids[3]] {
        assert_eq!(status(&fixture, id).await, TaskStatus::Ready);
    }
    sound(&mut fixture.raw().await, project).await;
}

async fn only_a_done_task_is_reopened(fixture: Fixture) {
    let project = shared(&fixture).await;
    let one = add(&fixture, project, vec![named("a", &[])]).await.tasks[0].id;
    let error = fixture.refused(&fixture.ada, reopens(one, "more")).await;
    assert!(conflict(&error).ends_with("is ready, not done: edit it instead"), "{error}");
    cancel(&fixture, one).await;
    let error = fixture.refused(&fixture.ada, reopens(one, "more")).await;
    assert!(conflict(&error).ends_with("is cancelled, not done: retry it instead"), "{error}");
    assert!(invalid(&fixture.refused(&fixture.ada, reopens(one, " ")).await).contains("`text` is empty"));
}
