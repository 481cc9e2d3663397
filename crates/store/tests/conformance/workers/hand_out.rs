//! Which worker gets which task.

use std::collections::HashSet;

use domain::{Action, AssignStrategy, TaskStatus, WorkerStatus};
use protocol::{Change, SessionWorker, TaskAdd, WorkConfigure, WorkerStart};
use store::{Caller, Dispatch, EventBody};

use super::{Shop, plain};
use crate::execution::runner;
use crate::fixture::Fixture;

both!(
    each_worker_gets_one_task_with_a_session_and_each_task_one_worker,
    a_full_or_absent_runner_gets_no_task_and_the_task_says_why,
    tasks_need_able_workers_and_say_if_there_are_none,
    free_workers_steal_tasks_from_busy_ones,
    round_robin_takes_turns,
    tasks_on_files_in_use_come_later,
    tasks_that_no_worker_can_do_do_not_block_others,
);

async fn each_worker_gets_one_task_with_a_session_and_each_task_one_worker(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(3).await;
    let tasks = shop.add((0..5).map(|index| plain(&format!("Job number {index} of the day"))).collect()).await;
    let command = || Dispatch { project: shop.project.id, connected: vec![shop.runner], heard: vec![shop.runner] };
    let hub = Caller::hub("foreman");
    let both = tokio::join!(shop.fixture.done(&hub, command()), shop.fixture.done(&hub, command()));
    assert_eq!(both.0.handed + both.1.handed, 3);
    let mut holders = HashSet::new();
    for task in &tasks[..3] {
        let task = shop.task(*task).await;
        assert_eq!((task.status, task.attempt), (TaskStatus::Assigned, 1));
        let lease = task.lease.unwrap();
        assert!(holders.insert(lease.worker), "one task at a time");
        assert!(task.activity.is_some() && task.session.is_some());
    }
    assert_eq!(shop.task(tasks[3]).await.status, TaskStatus::Ready);
    let (sessions, _) = shop.desired().await;
    assert_eq!(sessions.len(), 3);
    for session in &sessions {
        let of = session.task.as_ref().unwrap();
        assert!(tasks[..3].contains(&of.task) && of.fence == 1);
        assert!(of.brief.contains("Job number"), "{}", of.brief);
        assert_eq!(session.agent, "codex");
    }
    for worker in workers {
        let worker = shop.worker(worker.id).await;
        assert_eq!(worker.status, WorkerStatus::Working);
        let session = worker.session.unwrap();
        let whose = SessionWorker { id: worker.id, name: worker.name, colour: worker.colour };
        let read = shop.fixture.store.session(&shop.fixture.ada, session, Action::SeeExecution).await.unwrap();
        assert_eq!((read.worker.as_ref(), read.task), (Some(&whose), worker.task));
        let told = shop.fixture.heard().iter().rev().find_map(|event| match &event.body {
            EventBody::Change { change: Change::Session { session: told } } if told.id == session => Some(told.clone()),
            _ => None,
        });
        assert_eq!(told, Some(read), "the event equals the stored session");
    }
    assert_eq!(shop.dispatch().await, 0);
}

async fn a_full_or_absent_runner_gets_no_task_and_the_task_says_why(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let small = runner(&shop.fixture, &shop.fixture.ada, "small", 1).await;
    let input = WorkerStart { agent: "codex".into(), count: Some(2), runner: Some(small), ..Default::default() };
    let mut command = shop.starting(input);
    command.connected = vec![small];
    shop.fixture.done(&shop.fixture.ada, command).await;
    let tasks = shop.add(vec![plain("First thing"), plain("Another matter")]).await;
    assert_eq!(shop.dispatch_with(&[]).await, 0);
    let why = shop.task(tasks[0]).await.reason.unwrap();
    assert!(why.contains("`small` is away"), "{why}");
    assert_eq!(shop.dispatch_with(&[small]).await, 1, "as many as the runner has room for");
    assert_eq!(shop.task(tasks[0]).await.reason, None);
    assert_eq!(shop.dispatch_with(&[small]).await, 0);
}

async fn tasks_need_able_workers_and_say_if_there_are_none(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { strategy: Some(AssignStrategy::Capability), ..Default::default() }).await;
    let with = |abilities: &[&str]| WorkerStart {
        agent: "codex".into(),
        abilities: abilities.iter().map(|word| (*word).to_owned()).collect(),
        ..Default::default()
    };
    let all = shop.start_as(&shop.fixture.ada, with(&["rust", "css"])).await.remove(0);
    let one = shop.start_as(&shop.fixture.ada, with(&["rust"])).await.remove(0);
    let needs = |text: &str, need: &str| TaskAdd { needs: vec![need.into()], ..plain(text) };
    let tasks = shop.add(vec![needs("Write the parser", "rust"), needs("Bake a cake", "oven")]).await;
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(tasks[0]).await.assigned_to, Some(one.id), "the worker with more abilities stays free");
    let why = shop.task(tasks[1]).await.reason.unwrap();
    assert!(why.contains("`codex 1` lacks oven"), "{why}");
    assert_eq!(shop.worker(all.id).await.status, WorkerStatus::Idle);
}

async fn free_workers_steal_tasks_from_busy_ones(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { strategy: Some(AssignStrategy::Stealing), ..Default::default() }).await;
    let first = shop.start(1).await.remove(0);
    let tasks = shop.add(vec![plain("Alpha job"), plain("Beta errand"), plain("Gamma chore")]).await;
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.worker(first.id).await.queue, [], "queues are only for busy workers");
    assert_eq!(shop.dispatch().await, 0);
    let waiting = shop.worker(first.id).await.queue;
    assert_eq!(waiting, tasks[1..3], "two tasks wait for the busy worker");
    let thief = shop.start(1).await.remove(0);
    assert_eq!(shop.dispatch().await, 1);
    let stolen = shop.worker(thief.id).await.task.unwrap();
    let mut all: Vec<_> = shop.worker(first.id).await.queue;
    all.extend(shop.worker(thief.id).await.queue);
    all.push(stolen);
    all.sort();
    let mut expected = tasks[1..].to_vec();
    expected.sort();
    assert_eq!(all, expected, "no task is lost or duplicated");
}

async fn round_robin_takes_turns(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { strategy: Some(AssignStrategy::RoundRobin), ..Default::default() }).await;
    let workers = shop.start(2).await;
    let mut who = Vec::new();
    for index in 0..3 {
        let task = shop.add(vec![plain(&format!("Turn {index}"))]).await[0];
        shop.dispatch().await;
        who.push(shop.task(task).await.assigned_to.unwrap());
        shop.finishes(task, "done").await;
    }
    assert_eq!(who, [workers[0].id, workers[1].id, workers[0].id]);
}

async fn tasks_on_files_in_use_come_later(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    let on = |text: &str, file: &str| TaskAdd { files: vec![file.into()], ..plain(text) };
    let first = shop.add(vec![on("Change the lexer", "src/lexer.rs")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    let later = shop.add(vec![on("Rename tokens", "src/lexer.rs"), on("Write the manual", "docs/manual.md")]).await;
    shop.start(1).await;
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(later[1]).await.status, TaskStatus::Assigned);
    assert_eq!(shop.task(later[0]).await.status, TaskStatus::Ready);
    assert_eq!(shop.task(first).await.status, TaskStatus::Assigned);
}

async fn tasks_that_no_worker_can_do_do_not_block_others(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    let hard = |n| TaskAdd { needs: vec!["magic".into()], ..plain(&format!("Spell number {n}")) };
    shop.add((0..150).map(hard).collect()).await;
    shop.fixture.pass(1000);
    let easy = shop.add(vec![plain("Sweep the floor")]).await[0];
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(easy).await.status, TaskStatus::Assigned);
}
