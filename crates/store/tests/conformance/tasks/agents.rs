//! Agents with the token of their session: they act as the session's worker.

use domain::{Actor, SessionId, TaskStatus, Visibility};
use protocol::{ActivityCreate, TaskReason, TaskTake, verbs};
use store::{Caller, StoreError};

use super::{add, answers, beat, detail, failure, report, taken, task};
use crate::execution;
use crate::fixture::{Fixture, id as user};

both! {
    an_agent_that_takes_a_task_works_on_it_in_its_session,
    another_session_of_the_same_person_cannot_write,
    an_agent_works_only_in_its_own_project,
    an_agent_cannot_make_a_persons_decisions,
    an_agent_cannot_take_tasks_of_its_persons_other_workers,
}

fn agent(fixture: &Fixture, project: domain::ProjectId, session: SessionId) -> Caller {
    let actor = Actor::Agent { user: user(&fixture.ada), project, session };
    Caller::bearer(actor, "Ada", "192.0.2.9")
}

fn anything(project: domain::ProjectId) -> verbs::TaskTake {
    verbs::TaskTake { project, input: TaskTake { task: None, worker: None, abilities: vec![], wait_seconds: None } }
}

async fn an_agent_that_takes_a_task_works_on_it_in_its_session(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&fixture, &fixture.ada, "box", 4).await;
    let spawn = execution::spawn(execution::in_project(&project, "work"), &[runner]);
    let session = fixture.done(&fixture.ada, spawn).await;
    add(&fixture, project.id, vec![task("one"), task("two")]).await;
    let me = agent(&fixture, project.id, session.id);
    let first = fixture.done(&me, anything(project.id)).await.taken.unwrap();
    let again = fixture.done(&me, anything(project.id)).await.taken.unwrap();
    assert_eq!((again.task.id, again.lease.fence), (first.task.id, first.lease.fence), "however often it asks");
    let shown = detail(&fixture, first.task.id).await;
    assert_eq!((shown.task.session, shown.task.status), (Some(session.id), TaskStatus::Running));
    assert_eq!(
        (shown.attempts[0].sessions.clone(), shown.attempts[0].workspace),
        (vec![session.id], Some(session.workspace))
    );
    fixture.done(&me, beat(first.task.id, first.lease.fence)).await;
    fixture.done(&me, report(first.task.id, first.lease.fence, "done")).await;
    let next = fixture.done(&me, anything(project.id)).await.taken.unwrap();
    assert_ne!(next.task.id, first.task.id);
}

async fn another_session_of_the_same_person_cannot_write(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&fixture, &fixture.ada, "box", 4).await;
    let spawn = || execution::spawn(execution::in_project(&project, "work"), &[runner]);
    let (one, other) = (fixture.done(&fixture.ada, spawn()).await, fixture.done(&fixture.ada, spawn()).await);
    add(&fixture, project.id, vec![task("one")]).await;
    let held = fixture.done(&agent(&fixture, project.id, one.id), anything(project.id)).await.taken.unwrap();
    let error =
        fixture.refused(&agent(&fixture, project.id, other.id), report(held.task.id, held.lease.fence, "x")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    let error = fixture.refused(&agent(&fixture, project.id, other.id), beat(held.task.id, held.lease.fence)).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
}

async fn an_agent_works_only_in_its_own_project(fixture: Fixture) {
    let (mine, other) = (super::shared(&fixture).await, super::shared(&fixture).await);
    add(&fixture, other, vec![task("one")]).await;
    let held = taken(&fixture, other, "w").await;
    let me = agent(&fixture, mine, SessionId::generate());
    for error in
        [fixture.refused(&me, anything(other)).await, fixture.refused(&me, beat(held.task.id, held.lease.fence)).await]
    {
        assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    }
}

async fn an_agent_cannot_make_a_persons_decisions(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&fixture, &fixture.ada, "box", 4).await;
    let session =
        fixture.done(&fixture.ada, execution::spawn(execution::in_project(&project, "work"), &[runner])).await;
    let me = agent(&fixture, project.id, session.id);
    add(&fixture, project.id, vec![task("one")]).await;
    let mut held = taken(&fixture, project.id, "w").await;
    // Fail until a person is asked: only the person can answer.
    while detail(&fixture, held.task.id).await.escalations.is_empty() {
        fixture.done(&fixture.ada, failure(held.task.id, held.lease.fence, "cannot")).await;
        if detail(&fixture, held.task.id).await.escalations.is_empty() {
            held = taken(&fixture, project.id, &format!("w{}", held.lease.fence)).await;
        }
    }
    let (id, asked) = (held.task.id, detail(&fixture, held.task.id).await.escalations[0].id);
    let reason = || TaskReason { reason: None };
    let input = ActivityCreate { content: "mine".into(), ..Default::default() };
    for error in [
        fixture.refused(&me, answers(asked, "accept it")).await,
        fixture.refused(&me, verbs::TaskRetry { task: id, input: reason() }).await,
        fixture.refused(&me, verbs::TaskCancel { task: id, input: reason() }).await,
        fixture.refused(&me, verbs::ActivityCreate { project: project.id, input }).await,
    ] {
        assert!(matches!(&error, StoreError::Forbidden(why) if why.contains("a person must")), "{error:?}");
    }
    assert_eq!(detail(&fixture, id).await.task.status, TaskStatus::Escalated);
    fixture.done(&fixture.ada, answers(asked, "try again")).await;
}

async fn an_agent_cannot_take_tasks_of_its_persons_other_workers(fixture: Fixture) {
    let project = execution::project(&fixture, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&fixture, &fixture.ada, "box", 4).await;
    let session =
        fixture.done(&fixture.ada, execution::spawn(execution::in_project(&project, "work"), &[runner])).await;
    add(&fixture, project.id, vec![task("one"), task("two")]).await;
    let held = taken(&fixture, project.id, "laptop").await;
    let me = agent(&fixture, project.id, session.id);
    for error in [
        fixture.refused(&me, beat(held.task.id, held.lease.fence)).await,
        fixture.refused(&me, report(held.task.id, held.lease.fence, "done")).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
    // It acts as the worker of its session, even if it gives another name.
    let input = TaskTake { task: None, worker: Some("laptop".into()), abilities: vec![], wait_seconds: None };
    let own = fixture.done(&me, verbs::TaskTake { project: project.id, input }).await.taken.unwrap();
    assert_ne!((own.task.id, own.lease.worker), (held.task.id, held.lease.worker));
    let name = detail(&fixture, own.task.id).await.attempts[0].worker_name.clone();
    assert!(name.starts_with("agent-") && !name.contains(&session.id.to_string()), "{name}");
    fixture.done(&fixture.ada, beat(held.task.id, held.lease.fence)).await;
}
