//! Tasks: handed out once, checked before they are accepted, never lost.

mod access;
mod adding;
mod agents;
mod asking;
mod attempts;
mod branches;
mod dependencies;
mod editing;
mod leases;
mod many_hubs;
mod remembered;
mod reopening;
mod reports;
mod shorts;
mod simulator;
mod taking;
mod turns;

use domain::{ProjectId, TaskId, TaskStatus, Visibility};
use protocol::{
    AddedTasks, EscalationAnswer, Taken, TakenTask, TaskAdd, TaskDetail, TaskHeartbeat, TaskReason, TaskReport,
    TaskTake, TasksAdd, verbs,
};
use store::{Caller, ExpireLeases, Reported, StoreError};

use testkit::Raw;

use crate::fixture::Fixture;

/// The default duration of a lease.
pub(crate) const LEASE: i64 = 90_000;

/// A project of Ada's with write access for others.
pub(crate) async fn shared(fixture: &Fixture) -> ProjectId {
    fixture.project(Visibility::ReadWrite).await.id
}

/// Checks that the queue contains exactly the ready tasks, and that each held task is its worker's task.
pub(crate) async fn sound(raw: &mut Raw, project: ProjectId) {
    let of = format!("t.project = '{project}'");
    let queued = "EXISTS (SELECT 1 FROM task_queue q WHERE q.project = t.project AND q.task = t.id AND \
                  q.queue_key = t.ready_at - t.priority * 600000)";
    let sql = format!("SELECT t.id FROM tasks t WHERE {of} AND (t.status = 'ready') <> {queued}");
    assert_eq!(raw.column(&sql).await, Vec::<String>::new(), "some tasks are ready or queued, but not both");
    let ready = raw.number(&format!("SELECT COUNT(*) FROM tasks t WHERE {of} AND t.status = 'ready'")).await;
    assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM task_queue t WHERE {of}")).await, ready);
    let sql = format!(
        "SELECT t.id FROM tasks t WHERE {of} AND t.lease_until IS NOT NULL AND NOT EXISTS \
         (SELECT 1 FROM workers w WHERE w.id = t.worker AND w.task = t.id AND w.removed_at IS NULL)"
    );
    assert_eq!(raw.column(&sql).await, Vec::<String>::new(), "some held tasks are not their worker's task");
}

/// A task to add.
pub(crate) fn task(description: &str) -> TaskAdd {
    TaskAdd {
        id: None,
        description: description.into(),
        context: String::new(),
        acceptance: Vec::new(),
        files: Vec::new(),
        deps: Vec::new(),
        priority: None,
        needs: Vec::new(),
        labels: Vec::new(),
        activity: None,
    }
}

/// A named task that depends on other names.
pub(crate) fn named(name: &str, deps: &[&str]) -> TaskAdd {
    let deps = deps.iter().map(|dep| (*dep).to_owned()).collect();
    TaskAdd { id: Some(name.into()), deps, ..task(&format!("Do {name}")) }
}

pub(crate) fn adds(project: ProjectId, tasks: Vec<TaskAdd>) -> verbs::TaskAdd {
    verbs::TaskAdd { project, input: TasksAdd { tasks } }
}

pub(crate) async fn add(fixture: &Fixture, project: ProjectId, tasks: Vec<TaskAdd>) -> AddedTasks {
    fixture.done(&fixture.ada, adds(project, tasks)).await
}

/// Adds one task and returns its id.
pub(crate) async fn add_one(fixture: &Fixture, project: ProjectId, new: TaskAdd) -> TaskId {
    add(fixture, project, vec![new]).await.tasks[0].id
}

pub(crate) fn takes(project: ProjectId, worker: &str) -> verbs::TaskTake {
    let input = TaskTake { task: None, worker: Some(worker.into()), abilities: Vec::new(), wait_seconds: None };
    verbs::TaskTake { project, input }
}

pub(crate) async fn take(fixture: &Fixture, project: ProjectId, worker: &str) -> Taken {
    fixture.done(&fixture.ada, takes(project, worker)).await
}

/// Takes a task; one must be ready.
pub(crate) async fn taken(fixture: &Fixture, project: ProjectId, worker: &str) -> TakenTask {
    let taken = take(fixture, project, worker).await;
    taken.taken.unwrap_or_else(|| panic!("nothing for {worker}: {:?}", taken.why_not))
}

/// Why no task was taken.
pub(crate) async fn why_not(fixture: &Fixture, project: ProjectId, worker: &str) -> String {
    let taken = take(fixture, project, worker).await;
    assert!(taken.taken.is_none(), "{taken:?}");
    taken.why_not.unwrap()
}

pub(crate) fn report(task: TaskId, fence: u64, summary: &str) -> verbs::TaskReport {
    let summary = summary.into();
    let (deliverables, context_score, usage, failed) = (None, Some(4), None, None);
    verbs::TaskReport { task, input: TaskReport { fence, summary, deliverables, context_score, usage, failed } }
}

pub(crate) fn failure(task: TaskId, fence: u64, why: &str) -> verbs::TaskReport {
    let mut report = report(task, fence, "I could not do it");
    report.input.failed = Some(why.into());
    report
}

/// Reports a held task as done.
pub(crate) async fn finish(fixture: &Fixture, held: &TakenTask) -> protocol::Report {
    match fixture.done(&fixture.ada, report(held.task.id, held.lease.fence, "done")).await {
        Reported::Taken(report) => report,
        late => panic!("{late:?}"),
    }
}

pub(crate) fn beat(task: TaskId, fence: u64) -> verbs::TaskHeartbeat {
    verbs::TaskHeartbeat { task, input: TaskHeartbeat { fence, progress: None } }
}

pub(crate) async fn expire(fixture: &Fixture) -> Vec<TaskId> {
    fixture.done(&Caller::hub("foreman"), ExpireLeases::default()).await
}

pub(crate) async fn detail(fixture: &Fixture, task: TaskId) -> TaskDetail {
    fixture.store.task_detail(&fixture.ada, task).await.unwrap()
}

pub(crate) async fn status(fixture: &Fixture, task: TaskId) -> TaskStatus {
    detail(fixture, task).await.task.status
}

pub(crate) async fn cancel(fixture: &Fixture, task: TaskId) -> protocol::Task {
    fixture
        .done(&fixture.ada, verbs::TaskCancel { task, input: TaskReason { reason: Some("not needed".into()) } })
        .await
}

pub(crate) async fn retry(fixture: &Fixture, task: TaskId) -> protocol::Task {
    fixture.done(&fixture.ada, verbs::TaskRetry { task, input: TaskReason { reason: None } }).await
}

pub(crate) fn answers(escalation: domain::EscalationId, text: &str) -> verbs::EscalationAnswer {
    verbs::EscalationAnswer { escalation, input: EscalationAnswer { option: None, act: None, text: Some(text.into()) } }
}

/// The message of a refusal of this kind.
pub(crate) fn conflict(error: &StoreError) -> &str {
    match error {
        StoreError::Conflict(why) => why,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn invalid(error: &StoreError) -> &str {
    match error {
        StoreError::Invalid { message, .. } => message,
        other => panic!("{other:?}"),
    }
}
