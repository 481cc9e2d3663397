//! Budgets stop work before they are exceeded.

use domain::{AttemptOutcome, SessionMode, SessionStatus, TaskId, TaskStatus, WorkerStatus};
use protocol::link::FactBody;
use protocol::{AgentMode, FoundAgent, TaskTake, Usage, WorkConfigure, WorkerStart, WorkerStop, WorkerUpdate, verbs};
use store::{Caller, SeeRunner};

use super::{Shop, checked, plain};
use crate::execution::{about, show};
use crate::fixture::Fixture;
use crate::tasks::report;

both!(
    a_worker_stops_before_it_exceeds_its_budget,
    a_project_without_budget_starts_no_task,
    an_unenforceable_budget_is_reported_once,
    a_report_is_judged_even_if_it_spent_the_budget,
    a_worker_that_takes_tasks_itself_keeps_to_the_budget,
    reported_costs_count_if_sessions_do_not_measure_them,
    the_costs_of_several_reports_are_added_once,
    a_cost_reported_at_the_end_does_not_discard_the_work,
    a_corrected_cost_is_counted_once,
);

async fn a_worker_stops_before_it_exceeds_its_budget(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    let worker = shop.start_as(&shop.fixture.ada, input).await.remove(0);
    let task = shop.add(vec![plain("Costly")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.costs(session, 300_000).await;
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Working);
    shop.costs(session, 800_000).await;
    let spent = shop.worker(worker.id).await;
    assert_eq!(spent.status, WorkerStatus::Spent, "another step like the last would be too much");
    assert!(spent.reason.unwrap().contains("0.80 of 1.00 dollars"));
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Released));
    assert!(show(&shop.fixture, &shop.fixture.ada, session).await.stopping);
    assert!(shop.decided("budget_spent").await);
    shop.exits(session, 0).await;
    assert_eq!(shop.dispatch().await, 0);
    let input = WorkerUpdate { budget_micros: Some(5_000_000), ..Default::default() };
    let raised = shop.fixture.done(&shop.fixture.ada, verbs::WorkerUpdate { worker: worker.id, input }).await;
    assert_eq!(raised.status, WorkerStatus::Idle);
    assert_eq!(shop.dispatch().await, 1);
}

async fn a_project_without_budget_starts_no_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { budget_micros: Some(1_000_000), ..Default::default() }).await;
    shop.start(3).await;
    let first = shop.add(vec![plain("The first one")]).await[0];
    shop.dispatch().await;
    let session = shop.session(first).await;
    shop.costs(session, 400_000).await;
    shop.finishes(first, "done").await;
    let tasks = shop.add(vec![plain("Second one"), plain("A third thing"), plain("Number four")]).await;
    assert_eq!(shop.dispatch().await, 1, "0.40 are spent, and each may cost 0.40");
    let why = shop.task(tasks[1]).await;
    assert_eq!(why.status, TaskStatus::Ready);
    let task = shop.fixture.store.tasks(&shop.fixture.ada, &Default::default()).await.unwrap();
    let session = task.iter().find_map(|task| task.session).unwrap();
    let running = async |shop: &Shop| {
        let tasks = shop.fixture.store.tasks(&shop.fixture.ada, &Default::default()).await.unwrap();
        tasks.iter().filter(|task| task.session.is_some()).count()
    };
    shop.costs(session, 310_000).await;
    assert_eq!(running(&shop).await, 1, "0.71 are spent, and that may be all of it");
    shop.costs(session, 460_000).await;
    assert_eq!(running(&shop).await, 0, "0.86 are spent, and the last step cost 0.15");
    assert!(shop.decided("budget_spent").await);
    assert_eq!(shop.dispatch().await, 0);
    let why = shop.task(tasks[1]).await.reason.unwrap();
    assert!(why.contains("the project's budget is spent"), "{why}");
}

async fn an_unenforceable_budget_is_reported_once(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Costs nobody knows what")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    for input_tokens in [1000, 2000] {
        let usage = Usage { input_tokens, cached_tokens: 0, output_tokens: 5, cost_micros: None };
        let fact = FactBody::SessionUsage { session, usage, model: None, conversation: None };
        shop.memory.happened(&shop.fixture, fact).await;
    }
    let log = shop.log().await;
    let said: Vec<&str> =
        log.iter().filter(|entry| entry.what.word() == "budget_blind").map(|entry| entry.reason.as_str()).collect();
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("its agent `codex` reports tokens and no cost"), "{said:?}");
}

async fn a_report_is_judged_even_if_it_spent_the_budget(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Costs it all")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let fence = shop.task(task).await.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, report(task, fence, "It is done.")).await;
    shop.costs(session, 2_000_000).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported);
    shop.looked_at(task, None).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    shop.add(vec![plain("One more")]).await;
    assert_eq!(shop.dispatch().await, 0, "the budget is spent");
}

fn costing(task: TaskId, fence: u64, cost_micros: u64) -> verbs::TaskReport {
    let mut told = report(task, fence, "It is done.");
    told.input.usage = Some(Usage { cost_micros: Some(cost_micros), ..Default::default() });
    told
}

async fn a_worker_that_takes_tasks_itself_keeps_to_the_budget(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { budget_micros: Some(3_000_000), ..Default::default() }).await;
    let tasks = shop.add((0..4).map(|index| plain(&format!("Job number {index}"))).collect()).await;
    let input = TaskTake { task: None, worker: Some("outside".into()), abilities: vec![], wait_seconds: None };
    let take = || verbs::TaskTake { project: shop.project.id, input: input.clone() };
    let first = shop.fixture.done(&shop.fixture.ada, take()).await.taken.unwrap();
    shop.fixture.done(&shop.fixture.ada, costing(first.task.id, first.lease.fence, 2_000_000)).await;
    let refused = shop.fixture.done(&shop.fixture.ada, take()).await;
    let why = refused.why_not.unwrap();
    assert!(refused.taken.is_none() && why.contains("the project's budget is spent"), "{why}");
    shop.start(1).await;
    assert_eq!(shop.dispatch().await, 0);
    let why = shop.task(tasks[1]).await.reason.unwrap();
    assert!(why.contains("the project's budget is spent"), "{why}");
}

/// Adds an agent to the runner; `counts`: whether its sessions report their usage.
async fn knows(shop: &Shop, name: &str, counts: bool) {
    let mut about = about(8);
    let mode = AgentMode {
        mode: SessionMode::Headless,
        prompt: true,
        resumes: false,
        counts: Some(counts),
        costs: None,
        argv: None,
        asked: None,
    };
    let agent = FoundAgent { name: name.into(), modes: Some(vec![mode]), ..about.agents[0].clone() };
    about.agents.push(agent);
    let seen = SeeRunner { runner: shop.runner, link: "box".into(), about: Some(about) };
    shop.fixture.done(&Caller::hub("link"), seen).await;
}

async fn reported_costs_count_if_sessions_do_not_measure_them(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    knows(&shop, "counted", true).await;
    let input = WorkerStart { agent: "counted".into(), ..Default::default() };
    let counted = shop.start_as(&shop.fixture.ada, input).await.remove(0);
    let task = shop.add(vec![plain("Costly, as its sessions tell")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    let fence = shop.task(task).await.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, costing(task, fence, 2_000_000)).await;
    assert_eq!(shop.worker(counted.id).await.usage.cost_micros, None, "its sessions measure the cost");
    let stop = verbs::WorkerStop { worker: counted.id, input: WorkerStop { force: true } };
    shop.fixture.done(&shop.fixture.ada, stop).await;
    knows(&shop, "helper", false).await;
    let input = WorkerStart { agent: "helper".into(), budget_micros: Some(3_000_000), ..Default::default() };
    let worker = shop.start_as(&shop.fixture.ada, input).await.remove(0);
    let tasks = shop.add(vec![plain("Costly"), plain("One too many")]).await;
    assert_eq!(shop.dispatch().await, 1);
    let session = shop.session(tasks[0]).await;
    shop.at(session, SessionStatus::Working).await;
    let fence = shop.task(tasks[0]).await.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, costing(tasks[0], fence, 2_000_000)).await;
    shop.looked_at(tasks[0], None).await;
    assert_eq!(shop.worker(worker.id).await.usage.cost_micros, Some(2_000_000));
    shop.exits(session, 0).await;
    assert_eq!(shop.dispatch().await, 0);
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Spent);
}

async fn the_costs_of_several_reports_are_added_once(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    knows(&shop, "helper", false).await;
    let input = WorkerStart { agent: "helper".into(), ..Default::default() };
    let worker = shop.start_as(&shop.fixture.ada, input).await.remove(0).id;
    let task = shop.add(vec![checked("Costly")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    for micros in [2_000_000, 1_000_000] {
        let fence = shop.task(task).await.lease.unwrap().fence;
        shop.fixture.done(&shop.fixture.ada, costing(task, fence, micros)).await;
        shop.found(task, false, "not yet", None).await;
        shop.fixture.pass(1_000);
    }
    shop.exits(session, 0).await;
    shop.finishes(task, "Now it is there.").await;
    let attempt = shop.detail(task).await.attempts.remove(0);
    let costs = (attempt.usage.cost_micros, shop.worker(worker).await.usage.cost_micros);
    assert_eq!(costs, (Some(3_000_000), Some(3_000_000)), "and the collected report adds nothing");
}

async fn a_cost_reported_at_the_end_does_not_discard_the_work(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    let worker = shop.start_as(&shop.fixture.ada, input).await.remove(0);
    for done in 1..=2 {
        let task = shop.add(vec![plain(&format!("Number {done} of them"))]).await[0];
        assert_eq!(shop.dispatch().await, 1);
        let session = shop.session(task).await;
        shop.at(session, SessionStatus::Working).await;
        shop.says(session, "Done.").await;
        shop.costs(session, 400_000).await;
        shop.exits(session, 0).await;
        shop.looked_at(task, None).await;
        assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    }
    shop.add(vec![plain("One too many")]).await;
    assert_eq!((shop.dispatch().await, shop.worker(worker.id).await.status), (0, WorkerStatus::Spent));
}

async fn a_corrected_cost_is_counted_once(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Estimated")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.costs(session, 500_000).await;
    shop.costs(session, 450_000).await;
    assert_eq!(shop.worker(worker.id).await.usage.cost_micros, Some(500_000));
}
