//! From a task to a session, from what it says to a report, from a check to the end.

use std::collections::HashSet;

use domain::{SessionStatus, TaskStatus, Visibility, WorkerStatus};
use protocol::link::{FactBody, FromRunner, RunnerAnswer, RunnerAsk, ToRunner};
use protocol::{Call, Criterion, CriterionResult, FoundAgent, PROTOCOL, TaskAdd, WorkerStart, WorkerStop};
use testkit::{Postgres, TestHub, wait_until};

use super::{Shop, exits, plain, session_of};
use crate::links::project;
use crate::support::runner::about;
use crate::support::{FakeRunner, join, view};

#[tokio::test]
async fn tasks_become_sessions_and_prose_becomes_reports() {
    let mut shop = Shop::new().await;
    let workers = shop.start(2).await;
    let words = ["Sweep the floor", "Paint the door", "Oil the hinges", "Count the nails"];
    let tasks = shop.add(words.iter().map(|word| plain(word)).collect()).await;
    let mut seen = HashSet::new();
    for task in &tasks {
        let plan = shop.session_of(*task, &[]).await;
        assert!(plan.task.as_ref().is_some_and(|of| of.brief.contains("# Task")));
        assert!(seen.insert(plan.session), "each has a session of its own");
        shop.runner.at(plan.session, SessionStatus::Working).await;
        assert_eq!(shop.task(*task).await.task.status, TaskStatus::Running);
        shop.says(plan.session, "I did it.").await;
        shop.exits(plan.session, 0).await;
        let detail = shop.task(*task).await;
        assert_eq!((detail.task.status, detail.attempts.len()), (TaskStatus::Done, 1));
        assert!(detail.reports[0].collected && detail.reports[0].summary == "I did it.");
    }
    let mut done = 0;
    for worker in workers {
        let worker = shop.worker(worker.id).await;
        assert_eq!(worker.status, WorkerStatus::Idle);
        done += worker.done;
    }
    assert_eq!(done, 4);
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_refused_report_goes_back_with_its_reasons_until_it_is_met() {
    let mut shop = Shop::new().await;
    shop.start(1).await;
    let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }];
    let task = shop.add(vec![TaskAdd { acceptance: acceptance.clone(), ..plain("Write out.txt") }]).await[0];
    let first = shop.session_of(task, &[]).await.session;
    shop.exits(first, 0).await;
    let check = shop.check_of(task).await;
    assert_eq!(check.criteria, acceptance);
    let found = |passed: bool| CriterionResult { criterion: 0, passed: Some(passed), reason: "out.txt: look".into() };
    let (report, results) = (check.report, vec![found(false)]);
    shop.runner.fact(FactBody::Checked { report, results, changes: None }).await;
    let second = shop.session_of(task, &[first]).await;
    assert!(second.prompt.contains("out.txt: look"), "{}", second.prompt);
    assert_eq!(second.workspace.workspace, check.workspace.workspace);
    shop.exits(second.session, 0).await;
    let report = shop.check_of(task).await.report;
    shop.runner.fact(FactBody::Checked { report, results: vec![found(true)], changes: None }).await;
    assert_eq!(shop.task(task).await.task.status, TaskStatus::Done);
    shop.hub.stop().await;
}

#[tokio::test]
async fn reasons_are_sent_to_a_session_that_continues() {
    let hub = TestHub::start().await;
    let olga = join(&hub, "olga").await;
    let mut runner = FakeRunner::start(&hub, &olga, "box").await;
    let agent = FoundAgent {
        name: "talker".into(),
        label: "Talker".into(),
        version: Some("1".into()),
        install: None,
        headless: false,
        modes: None,
    };
    let mut about = about(8);
    about.agents.push(agent);
    runner.again(hub.url()).await;
    runner.tell(&FromRunner::Hello { protocol: PROTOCOL, journal: runner.journal, about, name: None }).await;
    runner.told("welcome", |frame| matches!(frame, ToRunner::Welcome { .. })).await;
    let project = project(&hub, &olga, Visibility::ReadWrite, true).await;
    let input = WorkerStart { agent: "talker".into(), ..Default::default() };
    wait_until("the runner is there", async || {
        let answer = crate::support::call(&hub, &olga, &Call::WorkerStart { project, input: input.clone() }).await;
        (answer.status < 300).then_some(())
    })
    .await;
    let mut shop = Shop { hub, olga, project, runner };
    let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }];
    let task = shop.add(vec![TaskAdd { acceptance, ..plain("Write out.txt") }]).await[0];
    let session = shop.session_of(task, &[]).await.session;
    shop.runner.at(session, SessionStatus::Working).await;
    shop.says(session, "Here it is.").await;
    shop.runner.at(session, SessionStatus::Idle).await;
    let report = shop.check_of(task).await.report;
    let results = vec![CriterionResult { criterion: 0, passed: Some(false), reason: "it is empty".into() }];
    shop.runner.fact(FactBody::Checked { report, results, changes: None }).await;
    let asked = |frame: &ToRunner| {
        matches!(frame, ToRunner::Ask { ask: RunnerAsk::Send { session: to, text, submit: true }, .. }
            if *to == session && text.contains("it is empty"))
    };
    let ToRunner::Ask { id, .. } = shop.runner.told("the reasons", asked).await else { unreachable!() };
    shop.runner.tell(&FromRunner::Told { id, answer: RunnerAnswer::Done }).await;
    assert_eq!(shop.task(task).await.task.status, TaskStatus::Running);
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_worker_that_is_stopped_lets_go_at_once() {
    let mut shop = Shop::new().await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Long work")]).await[0];
    let first = shop.session_of(task, &[]).await;
    shop.runner.at(first.session, SessionStatus::Working).await;
    shop.start(1).await;
    let call = Call::WorkerStop { worker: worker.id, input: WorkerStop::default() };
    assert_eq!(view!(&shop.hub, &shop.olga, Worker, call).status, WorkerStatus::Stopping);
    wait_until("the other worker has it", async || {
        let task = shop.task(task).await.task;
        task.assigned_to.filter(|holder| *holder != worker.id)
    })
    .await;
    shop.exits(first.session, 0).await;
    let second = shop.session_of(task, &[first.session]).await;
    assert_eq!(second.workspace.workspace, first.workspace.workspace, "it goes on where the first was");
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Stopped);
    shop.hub.stop().await;
}

#[tokio::test]
async fn two_hubs_hand_a_task_out_once() {
    let database = Postgres::shared().database().await;
    let on = |options: &mut hub::Options| options.database = database.url().to_owned();
    let (one, two) = (TestHub::with(on).await, TestHub::with(on).await);
    let olga = join(&one, "olga").await;
    let mut runner = FakeRunner::start(&two, &olga, "box").await;
    let project = project(&one, &olga, Visibility::ReadWrite, true).await;
    let input = WorkerStart { agent: "codex".into(), count: Some(3), ..Default::default() };
    view!(&two, &olga, Workers, Call::WorkerStart { project, input });
    let add = |word: &str| protocol::TasksAdd { tasks: vec![plain(word)] };
    let mut tasks = Vec::new();
    for (index, hub) in [&one, &two, &one, &two, &one, &two].into_iter().enumerate() {
        let input = add(&format!("Errand {index} of several"));
        tasks.push(view!(hub, &olga, AddedTasks, Call::TaskAdd { project, input }).tasks[0].id);
    }
    for task in &tasks {
        let plan = session_of(&mut runner, *task, &[]).await;
        exits(&mut runner, plan.session, 0).await;
    }
    for task in tasks {
        let detail = view!(&one, &olga, TaskDetail, Call::TaskShow { task });
        assert_eq!((detail.task.status, detail.attempts.len()), (TaskStatus::Done, 1));
    }
    one.stop().await;
    two.stop().await;
}
