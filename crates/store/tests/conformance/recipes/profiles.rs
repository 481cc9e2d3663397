//! Agent profiles at work: budgets, prompts, and the workers that follow them.

use domain::{ExecutionStatus, SessionStatus};
use protocol::{AgentProfileText, WorkerStart, verbs};
use serde_json::json;

use super::{shown, started, status, step, tend};
use crate::fixture::Fixture;
use crate::workers::{Shop, plain};

both! {
    a_session_of_a_step_is_stopped_before_it_exceeds_its_budget,
    a_worker_that_a_step_started_stops_at_its_budget,
    a_worker_follows_a_profile,
}

async fn profile(shop: &Shop, budget: Option<u64>) {
    let input = AgentProfileText {
        name: "fixer".into(),
        agent: "codex".into(),
        model: Some("large".into()),
        prompt: "Write plain English.".into(),
        budget_micros: budget,
        asks: true,
        ..Default::default()
    };
    shop.fixture.done(&shop.fixture.ada, verbs::ProfileSet { project: shop.project.id, input }).await;
}

async fn a_session_of_a_step_is_stopped_before_it_exceeds_its_budget(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    profile(&shop, Some(1_000_000)).await;
    let text = "name: fix\nsteps:\n  - id: fix\n    agent: {profile: fixer, agent: codex, prompt: Fix it}\n";
    let id = started(&shop, text, json!({})).await.id;
    let desired = shop.desired().await.0.remove(0);
    assert_eq!(desired.model.as_deref(), Some("large"));
    assert!(desired.asks, "it asks before it changes anything");
    let session = desired.session;
    shop.at(session, SessionStatus::Working).await;
    shop.costs(session, 400_000).await;
    assert!(shop.desired().await.0[0].run, "it may go on");
    shop.costs(session, 750_000).await;
    assert!(!shop.desired().await.0[0].run, "another step as expensive would exceed the budget");
    shop.exits(session, 143).await;
    tend(&shop).await;
    let found = shown(&shop, id).await;
    assert_eq!(found.execution.status, ExecutionStatus::Failed);
    let why = step(&shop, id, "fix").await.reason.unwrap();
    assert!(why.contains("its budget is spent: 0.75 of 1.00 dollars are spent"), "{why}");
    assert_eq!(found.execution.cost_micros, Some(750_000));
}

async fn a_worker_that_a_step_started_stops_at_its_budget(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    profile(&shop, Some(1_000_000)).await;
    let text =
        "name: fix\nsteps:\n  - id: fix\n    agent: {profile: fixer, prompt: Fix it, accept: [\"it is fixed\"]}\n";
    let id = started(&shop, text, json!({})).await.id;
    let task = shown(&shop, id).await.attempts[0].tasks[0];
    let session = shop.session(task).await;
    let desired = shop.desired().await.0.remove(0);
    assert_eq!(desired.model.as_deref(), Some("large"));
    assert!(desired.prompt.starts_with("Write plain English.\n\n"), "{}", desired.prompt);
    shop.at(session, SessionStatus::Working).await;
    shop.costs(session, 1_100_000).await;
    tend(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Failed);
    let why = step(&shop, id, "fix").await.reason.unwrap();
    assert!(why.contains("its budget is spent"), "{why}");
    assert!(shop.task(task).await.status.is_over(), "its task does not wait for another worker");
}

async fn a_worker_follows_a_profile(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    profile(&shop, Some(2_000_000)).await;
    let input = WorkerStart { profile: Some("fixer".into()), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let worker = shop.fixture.store.workers(&shop.fixture.ada, Default::default()).await.unwrap().remove(0);
    assert_eq!((worker.agent.as_str(), worker.model.as_deref()), ("codex", Some("large")));
    assert_eq!(worker.budget_micros, Some(2_000_000));
    shop.add(vec![plain("The work")]).await;
    shop.dispatch().await;
    let desired = shop.desired().await.0.remove(0);
    assert!(desired.prompt.starts_with("Write plain English.\n\n"), "{}", desired.prompt);
    assert!(desired.asks, "it asks before it changes anything");
    let unknown = WorkerStart { profile: Some("nobody".into()), ..Default::default() };
    let refused = shop.fixture.refused(&shop.fixture.ada, shop.starting(unknown)).await;
    assert!(refused.to_string().contains("no agent profile `nobody`"), "{refused}");
}
