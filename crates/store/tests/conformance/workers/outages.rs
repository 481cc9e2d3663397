//! Agents that cannot work on a runner: no attempt counts, their workers pause together, one retries, and a person is
//! asked once.

use domain::{AttemptOutcome, EscalationKind, HoldUp, SessionStatus, TaskId, TaskStatus, WorkerStatus};
use protocol::{Escalation, EscalationAnswer, WorkerFilter, verbs};
use store::{Caller, LastHeard, RenewLeases};

use super::{Shop, plain};
use crate::fixture::Fixture;

both!(
    an_outage_counts_against_no_task_and_pauses_all_workers_of_the_agent,
    one_worker_retries_with_growing_pauses_and_the_others_follow,
    a_person_is_asked_once_and_can_retry_at_once,
    a_worker_resumes_as_soon_as_its_agent_makes_progress,
    a_session_held_up_for_too_long_loses_its_task,
    an_agent_that_cannot_start_is_retried_without_asking,
    if_the_retrying_worker_is_stopped_another_retries,
    a_held_up_session_that_exits_cleanly_makes_no_report,
    removing_a_runner_ends_its_outage_and_the_notice,
);

/// The open escalations of these tasks.
async fn asked(shop: &Shop, tasks: &[TaskId]) -> Vec<Escalation> {
    let mut open = Vec::new();
    for task in tasks {
        let found = shop.detail(*task).await.escalations;
        open.extend(found.into_iter().filter(|one| one.answered_at.is_none()));
    }
    open
}

/// The runner sends a heartbeat.
async fn renew(shop: &Shop) {
    let command = RenewLeases { runners: vec![LastHeard::now(shop.runner)] };
    shop.fixture.done(&Caller::hub("foreman"), command).await;
}

async fn outcomes(shop: &Shop, task: TaskId) -> Vec<AttemptOutcome> {
    shop.detail(task).await.attempts.iter().map(|attempt| attempt.outcome).collect()
}

/// A shop after three sessions of one agent were held up and failed.
async fn out(fixture: Fixture, cause: HoldUp) -> (Shop, Vec<TaskId>) {
    let mut shop = Shop::open(fixture).await;
    shop.start(4).await;
    let tasks = shop.add(vec![plain("Mend the roof"), plain("Paint a door"), plain("Sweep the yard")]).await;
    assert_eq!(shop.dispatch().await, 3);
    for task in &tasks {
        let session = shop.session(*task).await;
        shop.at(session, SessionStatus::Working).await;
        shop.held_up(session, cause, None).await;
        shop.exits(session, 1).await;
    }
    (shop, tasks)
}

async fn an_outage_counts_against_no_task_and_pauses_all_workers_of_the_agent(fixture: Fixture) {
    let (shop, tasks) = out(fixture, HoldUp::Overloaded).await;
    for task in &tasks {
        assert_eq!(outcomes(&shop, *task).await, [AttemptOutcome::Released]);
        let task = shop.task(*task).await;
        assert_eq!(task.status, TaskStatus::Ready);
        assert!(task.reason.unwrap().contains("the provider of `codex` on `box` answers with errors"));
    }
    for worker in shop.fixture.store.workers(&shop.fixture.ada, WorkerFilter::default()).await.unwrap() {
        assert_eq!((worker.status, worker.failures, worker.failed), (WorkerStatus::Paused, 0, 0));
        assert_eq!(worker.reason.as_deref(), Some("the provider of `codex` on `box` answers with errors"));
    }
    assert_eq!(shop.dispatch().await, 0, "no worker gets a task");
    let asked = asked(&shop, &tasks).await;
    assert_eq!(asked.iter().map(|one| one.kind).collect::<Vec<_>>(), [EscalationKind::Outage], "one notice for all");
    assert_eq!(asked[0].context.screen.as_deref(), Some("the agent's own words"));
    assert_eq!(shop.log().await.iter().filter(|entry| entry.what.word() == "outage").count(), 1);
}

async fn removing_a_runner_ends_its_outage_and_the_notice(fixture: Fixture) {
    let (shop, tasks) = out(fixture, HoldUp::Overloaded).await;
    assert_eq!(asked(&shop, &tasks).await.len(), 1);
    shop.fixture.done(&shop.fixture.ada, verbs::RunnerRemove { runner: shop.runner }).await;
    assert!(asked(&shop, &tasks).await.is_empty(), "the notice is closed");
    let mut answers = Vec::new();
    for task in &tasks {
        answers.extend(shop.detail(*task).await.escalations.into_iter().filter_map(|one| one.answer));
    }
    assert_eq!(answers, ["the runner `box` was removed"]);
    assert_eq!(shop.fixture.raw().await.number("SELECT COUNT(*) FROM outages").await, 0);
}

async fn one_worker_retries_with_growing_pauses_and_the_others_follow(fixture: Fixture) {
    let (mut shop, tasks) = out(fixture, HoldUp::Network).await;
    shop.fixture.pass(14_000);
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.pass(2_000);
    assert_eq!(shop.dispatch().await, 1, "one worker retries");
    assert_eq!(shop.dispatch().await, 0, "and only one");
    let mut tried = None;
    for task in &tasks {
        tried = tried.or(shop.task(*task).await.session.map(|session| (*task, session)));
    }
    let (task, session) = tried.unwrap();
    shop.at(session, SessionStatus::Working).await;
    shop.held_up(session, HoldUp::Network, None).await;
    shop.exits(session, 1).await;
    assert_eq!(outcomes(&shop, task).await, [AttemptOutcome::Released; 2]);
    shop.fixture.pass(29_000);
    assert_eq!(shop.dispatch().await, 0, "twice as long");
    shop.fixture.pass(2_000);
    assert_eq!(shop.dispatch().await, 1);
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    assert_eq!(shop.dispatch().await, 0, "a start alone does not end the outage");
    shop.progresses(session).await;
    assert_eq!(shop.dispatch().await, 2, "its model answers: the others follow");
    assert!(asked(&shop, &tasks).await.is_empty(), "the notice is closed");
    for task in tasks {
        shop.finishes(task, &format!("Done with {task}.")).await;
        let detail = shop.detail(task).await;
        assert_eq!(detail.task.status, TaskStatus::Done);
        let counted = |outcome: &AttemptOutcome| !matches!(outcome, AttemptOutcome::Released);
        let counted: Vec<_> = outcomes(&shop, task).await.into_iter().filter(counted).collect();
        assert_eq!(counted, [AttemptOutcome::Accepted], "no attempt was wasted");
    }
}

async fn a_person_is_asked_once_and_can_retry_at_once(fixture: Fixture) {
    let (mut shop, tasks) = out(fixture, HoldUp::Auth).await;
    let open = asked(&shop, &tasks).await;
    assert_eq!(open.len(), 1);
    let question = &open[0].question;
    assert!(question.contains("Log in to `codex` on `box`: `codex login`."), "{question}");
    assert_eq!(shop.task(open[0].task).await.status, TaskStatus::Ready, "the task does not wait for the answer");
    assert_eq!(shop.dispatch().await, 0);
    let input = EscalationAnswer { option: Some("Retry now".into()), ..Default::default() };
    let command = verbs::EscalationAnswer { escalation: open[0].id, input };
    let answered = shop.fixture.done(&shop.fixture.ada, command).await;
    assert!(answered.answered_by.is_some());
    assert!(shop.task(open[0].task).await.context.is_empty(), "the answer is not passed to the agent");
    assert_eq!(shop.dispatch().await, 1, "at once");
    let mut session = None;
    for task in &tasks {
        session = session.or(shop.task(*task).await.session);
    }
    shop.held_up(session.unwrap(), HoldUp::Auth, None).await;
    shop.exits(session.unwrap(), 1).await;
    assert!(asked(&shop, &tasks).await.is_empty(), "a person is not asked twice");
}

async fn a_worker_resumes_as_soon_as_its_agent_makes_progress(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Ask the model a lot")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    shop.held_up(session, HoldUp::RateLimit, None).await;
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Paused);
    shop.progresses(session).await;
    let after = shop.worker(worker.id).await;
    assert_eq!((after.status, after.reason, after.until), (WorkerStatus::Working, None, None));
    assert!(shop.decided("resumed").await);
    shop.exits(session, 1).await;
    assert_eq!(outcomes(&shop, task).await, [AttemptOutcome::Failed], "a later failure counts against the attempt");
}

async fn a_session_held_up_for_too_long_loses_its_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Try for ever")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    for _ in 0..12 {
        shop.held_up(session, HoldUp::Network, None).await;
        shop.fixture.pass(9_000);
        renew(&shop).await;
        shop.dispatch().await;
        assert_eq!(shop.task(task).await.session, Some(session), "it may still continue");
    }
    shop.fixture.pass(80_000);
    renew(&shop).await;
    assert_eq!(shop.dispatch().await, 0);
    assert_eq!(outcomes(&shop, task).await, [AttemptOutcome::Released]);
    let reason = shop.task(task).await.reason.unwrap();
    assert!(reason.contains("its session made no progress"), "{reason}");
    assert_eq!((shop.worker(worker.id).await.status, shop.worker(worker.id).await.failures), (WorkerStatus::Paused, 0));
    let (sessions, _) = shop.desired().await;
    assert!(sessions.iter().any(|plan| plan.session == session && !plan.run), "its agent is stopped");
    shop.exits(session, 143).await;
    shop.fixture.pass(15_000);
    assert_eq!(shop.dispatch().await, 1, "it is retried");
}

async fn an_agent_that_cannot_start_is_retried_without_asking(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("First start"), plain("At the same time")]).await;
    assert_eq!(shop.dispatch().await, 2);
    let session = shop.session(tasks[1]).await;
    shop.held_up(session, HoldUp::StartUp, None).await;
    shop.exits(session, 1).await;
    assert!(asked(&shop, &tasks).await.is_empty());
    shop.fixture.pass(2_000);
    assert_eq!(shop.dispatch().await, 1);
    let session = shop.session(tasks[1]).await;
    shop.progresses(session).await;
    shop.finishes(tasks[1], "Started.").await;
    assert_eq!(outcomes(&shop, tasks[1]).await, [AttemptOutcome::Released, AttemptOutcome::Accepted]);
}

async fn if_the_retrying_worker_is_stopped_another_retries(fixture: Fixture) {
    let (shop, tasks) = out(fixture, HoldUp::Overloaded).await;
    shop.fixture.pass(15_000);
    assert_eq!(shop.dispatch().await, 1);
    let mut probe = None;
    for task in &tasks {
        probe = probe.or(shop.task(*task).await.assigned_to);
    }
    let input = protocol::WorkerStop { force: true };
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerStop { worker: probe.unwrap(), input }).await;
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.pass(1_000);
    assert_eq!(shop.dispatch().await, 1, "another worker retries");
}

async fn a_held_up_session_that_exits_cleanly_makes_no_report(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Say something")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    shop.held_up(session, HoldUp::Network, None).await;
    shop.exits(session, 0).await;
    let detail = shop.detail(task).await;
    assert!(detail.reports.is_empty(), "an interrupted answer is no report");
    assert_eq!(outcomes(&shop, task).await, [AttemptOutcome::Released]);
}
