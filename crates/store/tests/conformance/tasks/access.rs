//! Who may do what with tasks.

use domain::Visibility;
use protocol::{TaskFilter, TaskReason, verbs};
use store::StoreError;

use super::{add_one, adds, taken, takes, task};
use crate::fixture::Fixture;

both! {
    tasks_of_an_invisible_project_are_not_found,
    readers_cannot_change_tasks,
    an_observer_can_read_tasks,
}

async fn tasks_of_an_invisible_project_are_not_found(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let id = add_one(&fixture, project, task("secret")).await;
    taken(&fixture, project, "w").await;
    assert!(matches!(fixture.store.task_detail(&fixture.bo, id).await, Err(StoreError::NotFound("task"))));
    assert!(fixture.store.tasks(&fixture.bo, &TaskFilter::default()).await.unwrap().is_empty());
    let named = TaskFilter { project: Some(project), ..Default::default() };
    assert!(matches!(fixture.store.tasks(&fixture.bo, &named).await, Err(StoreError::NotFound("project"))));
    let why = || TaskReason { reason: None };
    for error in [
        fixture.refused(&fixture.bo, adds(project, vec![task("x")])).await,
        fixture.refused(&fixture.bo, takes(project, "x")).await,
        fixture.refused(&fixture.bo, verbs::TaskCancel { task: id, input: why() }).await,
        fixture.refused(&fixture.bo, verbs::TaskRetry { task: id, input: why() }).await,
        fixture.refused(&fixture.bo, super::beat(id, 1)).await,
        fixture.refused(&fixture.bo, super::report(id, 1, "x")).await,
    ] {
        assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    }
}

async fn readers_cannot_change_tasks(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadOnly).await.id;
    let id = add_one(&fixture, project, task("open")).await;
    assert_eq!(fixture.store.task_detail(&fixture.bo, id).await.unwrap().task.id, id);
    for error in [
        fixture.refused(&fixture.bo, adds(project, vec![task("x")])).await,
        fixture.refused(&fixture.bo, takes(project, "x")).await,
        fixture.refused(&fixture.bo, verbs::TaskCancel { task: id, input: TaskReason { reason: None } }).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
}

async fn an_observer_can_read_tasks(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let id = add_one(&fixture, project, task("shown")).await;
    let observer = Fixture::observer(project);
    assert_eq!(fixture.store.task_detail(&observer, id).await.unwrap().task.id, id);
    assert_eq!(fixture.store.tasks(&observer, &TaskFilter::default()).await.unwrap().len(), 1);
    assert!(matches!(fixture.refused(&observer, takes(project, "x")).await, StoreError::Forbidden(_)));
}
