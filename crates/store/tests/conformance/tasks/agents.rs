//! Agents with the token of their session: their worker is the session's.

use domain::{Actor, SessionId, TaskStatus, Visibility};
use protocol::TaskTake;
use store::{Caller, StoreError, TakeTask, Who};

use super::{add, beat, detail, report, taken, task};
use crate::execution;
use crate::floor::{Floor, id as user};

both! {
    an_agent_that_takes_a_task_works_on_it_in_its_session,
    another_session_of_the_same_person_writes_nothing,
    an_agent_works_in_its_own_project_only,
}

fn agent(floor: &Floor, project: domain::ProjectId, session: SessionId) -> Caller {
    let actor = Actor::Agent { user: user(&floor.ada), project, session };
    Caller { who: Who::Actor { actor, name: "Ada".into() }, origin: "192.0.2.9".into() }
}

fn anything(project: domain::ProjectId) -> TakeTask {
    TakeTask { project, input: TaskTake { task: None, worker: None, abilities: vec![], wait_seconds: None } }
}

async fn an_agent_that_takes_a_task_works_on_it_in_its_session(floor: Floor) {
    let project = execution::project(&floor, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&floor, &floor.ada, "box", 4).await;
    let spawn = execution::spawn(execution::in_project(&project, "work"), &[runner]);
    let session = floor.done(&floor.ada, spawn).await;
    add(&floor, project.id, vec![task("one"), task("two")]).await;
    let me = agent(&floor, project.id, session.id);
    let first = floor.done(&me, anything(project.id)).await.taken.unwrap();
    let again = floor.done(&me, anything(project.id)).await.taken.unwrap();
    assert_eq!((again.task.id, again.lease.fence), (first.task.id, first.lease.fence), "however often it asks");
    let shown = detail(&floor, first.task.id).await;
    assert_eq!((shown.task.session, shown.task.status), (Some(session.id), TaskStatus::Running));
    assert_eq!(
        (shown.attempts[0].sessions.clone(), shown.attempts[0].workspace),
        (vec![session.id], Some(session.workspace))
    );
    floor.done(&me, beat(first.task.id, first.lease.fence)).await;
    floor.done(&me, report(first.task.id, first.lease.fence, "done")).await;
    let next = floor.done(&me, anything(project.id)).await.taken.unwrap();
    assert_ne!(next.task.id, first.task.id);
}

async fn another_session_of_the_same_person_writes_nothing(floor: Floor) {
    let project = execution::project(&floor, Visibility::ReadWrite, true).await;
    let runner = execution::runner(&floor, &floor.ada, "box", 4).await;
    let spawn = || execution::spawn(execution::in_project(&project, "work"), &[runner]);
    let (one, other) = (floor.done(&floor.ada, spawn()).await, floor.done(&floor.ada, spawn()).await);
    add(&floor, project.id, vec![task("one")]).await;
    let held = floor.done(&agent(&floor, project.id, one.id), anything(project.id)).await.taken.unwrap();
    let error = floor.refused(&agent(&floor, project.id, other.id), report(held.task.id, held.lease.fence, "x")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    let error = floor.refused(&agent(&floor, project.id, other.id), beat(held.task.id, held.lease.fence)).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
}

async fn an_agent_works_in_its_own_project_only(floor: Floor) {
    let (mine, other) = (super::shared(&floor).await, super::shared(&floor).await);
    add(&floor, other, vec![task("one")]).await;
    let held = taken(&floor, other, "w").await;
    let me = agent(&floor, mine, SessionId::generate());
    for error in
        [floor.refused(&me, anything(other)).await, floor.refused(&me, beat(held.task.id, held.lease.fence)).await]
    {
        assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    }
}
