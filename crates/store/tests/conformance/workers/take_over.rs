//! Taking a colleague's task over.

use domain::{AttemptOutcome, SessionStatus, TaskStatus, WorkerKind, WorkerStatus};
use protocol::TaskTakeOver;
use protocol::link::StartFrom;
use store::{StoreError, TakeOver};

use super::{Shop, plain};
use crate::execution::{runner, show};
use crate::floor::{Floor, id};

both!(a_task_goes_on_with_another_person_s_worker, what_is_over_is_not_taken_over);

async fn a_task_goes_on_with_another_person_s_worker(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Half done")]).await[0];
    shop.dispatch().await;
    let old = shop.session(task).await;
    shop.at(old, SessionStatus::Working).await;
    let theirs = runner(&shop.floor, &shop.floor.bo, "theirs", 4).await;
    let input = TaskTakeOver::default();
    let there = vec![shop.runner, theirs];
    let plan = shop.floor.store.plan_take_over(&shop.floor.bo, task, input.clone(), there).await.unwrap();
    assert_eq!((plan.runner, plan.agent.as_str(), plan.stays), (theirs, "codex", None));
    let bring = plan.bring.unwrap();
    let before = shop.detail(task).await;
    assert_eq!((Some(bring.workspace), bring.runner), (before.attempts[0].workspace, shop.runner));
    let alone = shop.floor.store.plan_take_over(&shop.floor.bo, task, input.clone(), vec![theirs]).await.unwrap();
    assert!(alone.bring.is_none() && alone.stays.unwrap().contains("away"));
    let command =
        TakeOver { task, input, bundle: Some("b".repeat(64)), note: None, runner: theirs, agent: "codex".into() };
    shop.floor.done(&shop.floor.bo, command).await;
    let after = shop.detail(task).await;
    assert_eq!(after.task.status, TaskStatus::Assigned);
    assert_eq!(after.attempts[0].outcome, AttemptOutcome::TakenOver);
    assert!(show(&shop.floor, &shop.floor.ada, old).await.stopping);
    let taker = shop.floor.store.worker(&shop.floor.bo, after.task.assigned_to.unwrap()).await.unwrap().worker;
    assert_eq!((taker.owner.id, taker.kind, taker.runner), (id(&shop.floor.bo), WorkerKind::Managed, Some(theirs)));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Idle);
    let desired = shop.floor.store.desired(theirs).await.unwrap().unwrap();
    let from = desired.sessions[0].workspace.from.clone();
    assert_eq!(from, Some(StartFrom::Bundle { bundle: "b".repeat(64) }));
    assert!(shop.decided("taken_over").await);
    shop.exits(old, 0).await;
    assert_eq!(shop.detail(task).await.task, after.task);
}

async fn what_is_over_is_not_taken_over(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Quick")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "done").await;
    let plan = shop.floor.store.plan_take_over(&shop.floor.ada, task, TaskTakeOver::default(), vec![shop.runner]);
    assert!(matches!(plan.await, Err(StoreError::Conflict(_))));
    let stranger = Floor::observer(shop.project.id);
    let plan = shop.floor.store.plan_take_over(&stranger, task, TaskTakeOver::default(), vec![]).await;
    assert!(matches!(plan, Err(StoreError::Forbidden(_))), "{plan:?}");
}
