//! Who may do what with tasks.

use domain::Visibility;
use protocol::{TaskFilter, TaskReason, verbs};
use store::StoreError;

use super::{add_one, adds, taken, takes, task};
use crate::floor::Floor;

both! {
    what_one_may_not_see_does_not_exist,
    who_only_looks_changes_nothing,
    an_observer_looks,
}

async fn what_one_may_not_see_does_not_exist(floor: Floor) {
    let project = floor.project(Visibility::Private).await.id;
    let id = add_one(&floor, project, task("secret")).await;
    taken(&floor, project, "w").await;
    assert!(matches!(floor.store.task_detail(&floor.bo, id).await, Err(StoreError::NotFound("task"))));
    assert!(floor.store.tasks(&floor.bo, &TaskFilter::default()).await.unwrap().is_empty());
    let named = TaskFilter { project: Some(project), ..Default::default() };
    assert!(matches!(floor.store.tasks(&floor.bo, &named).await, Err(StoreError::NotFound("project"))));
    let why = || TaskReason { reason: None };
    for error in [
        floor.refused(&floor.bo, adds(project, vec![task("x")])).await,
        floor.refused(&floor.bo, takes(project, "x")).await,
        floor.refused(&floor.bo, verbs::TaskCancel { task: id, input: why() }).await,
        floor.refused(&floor.bo, verbs::TaskRetry { task: id, input: why() }).await,
        floor.refused(&floor.bo, super::beat(id, 1)).await,
        floor.refused(&floor.bo, super::report(id, 1, "x")).await,
    ] {
        assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    }
}

async fn who_only_looks_changes_nothing(floor: Floor) {
    let project = floor.project(Visibility::ReadOnly).await.id;
    let id = add_one(&floor, project, task("open")).await;
    assert_eq!(floor.store.task_detail(&floor.bo, id).await.unwrap().task.id, id);
    for error in [
        floor.refused(&floor.bo, adds(project, vec![task("x")])).await,
        floor.refused(&floor.bo, takes(project, "x")).await,
        floor.refused(&floor.bo, verbs::TaskCancel { task: id, input: TaskReason { reason: None } }).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
}

async fn an_observer_looks(floor: Floor) {
    let project = floor.project(Visibility::Private).await.id;
    let id = add_one(&floor, project, task("shown")).await;
    let observer = Floor::observer(project);
    assert_eq!(floor.store.task_detail(&observer, id).await.unwrap().task.id, id);
    assert_eq!(floor.store.tasks(&observer, &TaskFilter::default()).await.unwrap().len(), 1);
    assert!(matches!(floor.refused(&observer, takes(project, "x")).await, StoreError::Forbidden(_)));
}
