//! Runners that are away while they work on steps.

use domain::{ExecutionStatus, RunnerId, SessionStatus, StepStatus};
use protocol::verbs;
use serde_json::json;
use store::{Caller, TendExecution};

use super::{shown, started, status, step, tend};
use crate::execution::runner;
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    a_step_of_a_lost_runner_is_retried_on_another_and_its_late_result_is_kept,
    a_runner_that_comes_back_in_time_goes_on,
    a_lost_agent_waits_for_a_person,
    work_of_earlier_steps_waits_for_its_runner,
}

/// Moves an execution while the first runner is away.
async fn tend_without(shop: &Shop, id: domain::ExecutionId, there: Vec<RunnerId>) {
    for _ in 0..4 {
        let (connected, there, away) = (there.clone(), there.clone(), vec![shop.runner]);
        let command = TendExecution { execution: id, connected, there, away };
        shop.fixture.done(&Caller::hub("execution"), command).await;
    }
}

const RUN: &str = "name: build\nlost_after: 10m\nsteps:\n  - id: make\n    run: [make]\n    retry: {attempts: 2, first: 1s, backoff: fixed, jitter: 0}\n";

async fn a_step_of_a_lost_runner_is_retried_on_another_and_its_late_result_is_kept(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let id = started(&shop, RUN, json!({})).await.id;
    let first = shop.desired().await.0[0].session;
    let work = shop.fixture.store.executions_at_work().await.unwrap();
    assert_eq!(work.iter().map(|one| (one.runner, one.away)).collect::<Vec<_>>(), [(shop.runner, false)]);
    tend_without(&shop, id, Vec::new()).await;
    assert!(shop.fixture.store.executions_at_work().await.unwrap()[0].away);
    let waits = step(&shop, id, "make").await;
    assert_eq!(waits.status, StepStatus::Running);
    assert!(waits.reason.unwrap().contains("is away since"));
    shop.fixture.pass(9 * 60_000);
    tend_without(&shop, id, Vec::new()).await;
    assert_eq!(step(&shop, id, "make").await.status, StepStatus::Running, "it may still come back");
    shop.fixture.pass(60_000);
    tend_without(&shop, id, Vec::new()).await;
    let lost = step(&shop, id, "make").await;
    assert_eq!(lost.status, StepStatus::Retrying);
    assert!(lost.reason.unwrap().contains("has been away for 10 minutes"));
    let other = runner(&shop.fixture, &shop.fixture.ada, "spare", 2).await;
    shop.fixture.pass(1_000);
    tend_without(&shop, id, vec![other]).await;
    let second = shown(&shop, id).await.attempts[1].clone();
    assert_eq!((second.attempt, second.state.as_str()), (2, "running"), "{second:?}");
    assert!(second.session.is_some_and(|session| session != first));
    // The first runner is back: it is told to stop, and what it says comes too late.
    shop.says(first, "built by the first").await;
    assert!(!shop.desired().await.0.iter().any(|one| one.session == first && one.run));
    shop.exits(first, 0).await;
    let detail = shown(&shop, id).await;
    assert_eq!(detail.execution.status, ExecutionStatus::Running);
    let late = detail.attempts[0].late.clone().expect("the late result is kept");
    assert!(late.contains("it had finished") && late.contains("was not used"), "{late}");
    assert_eq!(detail.attempts[1].state, "running");
}

async fn a_runner_that_comes_back_in_time_goes_on(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let id = started(&shop, RUN, json!({})).await.id;
    let session = shop.desired().await.0[0].session;
    tend_without(&shop, id, Vec::new()).await;
    shop.fixture.pass(60_000);
    tend(&shop).await;
    let command = TendExecution { execution: id, connected: vec![shop.runner], there: vec![shop.runner], away: vec![] };
    shop.fixture.done(&Caller::hub("execution"), command).await;
    assert_eq!(step(&shop, id, "make").await.reason, None);
    shop.fixture.pass(20 * 60_000);
    tend(&shop).await;
    assert_eq!(step(&shop, id, "make").await.status, StepStatus::Running);
    shop.exits(session, 0).await;
    tend(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Completed);
}

async fn a_lost_agent_waits_for_a_person(fixture: Fixture) {
    let text = "name: fix\nlost_after: 1m\nsteps:\n  - id: fix\n    agent: {agent: codex, prompt: Fix it}\n    retry: {attempts: 3}\n";
    let mut shop = Shop::open(fixture).await;
    let id = started(&shop, text, json!({})).await.id;
    tend_without(&shop, id, Vec::new()).await;
    shop.fixture.pass(60_000);
    tend_without(&shop, id, Vec::new()).await;
    let detail = shown(&shop, id).await;
    assert_eq!(detail.steps[0].status, StepStatus::Interrupted);
    assert!(detail.execution.needs_person);
    assert!(!shop.desired().await.0.iter().any(|one| one.run), "it does not run again by itself");
    let input = protocol::ExecutionAt { path: "fix".into(), reason: "elsewhere".into() };
    shop.fixture.done(&shop.fixture.ada, verbs::ExecutionRetry { execution: id, input }).await;
    tend(&shop).await;
    assert_eq!(step(&shop, id, "fix").await.status, StepStatus::Running);
    let session = shown(&shop, id).await.attempts[1].session.expect("the second attempt has a session");
    shop.at(session, SessionStatus::Working).await;
}

async fn work_of_earlier_steps_waits_for_its_runner(fixture: Fixture) {
    let text = "name: two\nlost_after: 1m\nsteps:\n  - id: make\n    run: [make]\n  - id: check\n    run: [make, check]\n    retry: {attempts: 2, first: 1s}\n";
    let mut shop = Shop::open(fixture).await;
    let id = started(&shop, text, json!({})).await.id;
    let first = shop.desired().await.0[0].session;
    shop.exits(first, 0).await;
    tend(&shop).await;
    let other = runner(&shop.fixture, &shop.fixture.ada, "spare", 2).await;
    tend_without(&shop, id, vec![other]).await;
    shop.fixture.pass(60_000);
    tend_without(&shop, id, vec![other]).await;
    shop.fixture.pass(2_000);
    tend_without(&shop, id, vec![other]).await;
    let waits = step(&shop, id, "check").await;
    assert_eq!(waits.status, StepStatus::Waiting, "{waits:?}");
    assert!(waits.reason.unwrap().contains("the work of the steps before it"));
    let back = TendExecution { execution: id, connected: vec![shop.runner], there: vec![shop.runner], away: vec![] };
    shop.fixture.done(&Caller::hub("execution"), back).await;
    assert_eq!(step(&shop, id, "check").await.status, StepStatus::Running);
}
