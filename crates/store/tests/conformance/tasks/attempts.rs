//! Attempts: each lease of a task is shown from its start to its end.

use domain::AttemptOutcome;
use protocol::{TakenTask, TaskRelease, Usage, verbs};

use super::{add_one, answers, detail, expire, finish, report, shared, taken, task};
use crate::fixture::Fixture;

both! {
    an_attempt_is_shown_from_start_to_end,
    an_attempt_keeps_its_outcome_reason_and_usage,
    a_question_names_the_workers_that_had_the_task,
}

/// The outcomes of a worker's attempts, newest first.
async fn outcomes(fixture: &Fixture, held: &TakenTask) -> Vec<AttemptOutcome> {
    let worker = fixture.store.worker(&fixture.ada, held.lease.worker).await.unwrap();
    worker.attempts.iter().map(|done| done.attempt.outcome).collect()
}

async fn an_attempt_is_shown_from_start_to_end(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let begun = detail(&fixture, id).await.attempts.remove(0);
    assert_eq!((begun.number, begun.worker, &*begun.worker_name), (1, held.lease.worker, "a"));
    assert_eq!((begun.outcome, begun.ended_at), (AttemptOutcome::Open, None));
    assert_eq!(outcomes(&fixture, &held).await, [AttemptOutcome::Open]);
    fixture.pass(5_000);
    let report = finish(&fixture, &held).await;
    let ended = detail(&fixture, id).await.attempts;
    let expected = protocol::Attempt { outcome: AttemptOutcome::Accepted, ended_at: Some(report.at), ..begun };
    assert_eq!(ended, [expected]);
    assert_eq!(report.at.as_millis() - ended[0].started_at.as_millis(), 5_000);
    assert_eq!(outcomes(&fixture, &held).await, [AttemptOutcome::Accepted]);
}

async fn an_attempt_keeps_its_outcome_reason_and_usage(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let input = TaskRelease { fence: held.lease.fence, reason: Some("no time".into()) };
    fixture.done(&fixture.ada, verbs::TaskRelease { task: id, input }).await;
    taken(&fixture, project, "a").await;
    fixture.pass(super::LEASE + 1);
    assert_eq!(expire(&fixture).await, [id]);
    let held = taken(&fixture, project, "b").await;
    let usage = Usage { input_tokens: 10, cached_tokens: 2, output_tokens: 5, cost_micros: Some(77) };
    let mut costly = report(id, held.lease.fence, "done");
    costly.input.usage = Some(usage.clone());
    fixture.done(&fixture.ada, costly).await;
    let attempts = detail(&fixture, id).await.attempts;
    let kept: Vec<_> =
        attempts.iter().map(|attempt| (attempt.number, &*attempt.worker_name, attempt.outcome)).collect();
    let (released, lost) = (AttemptOutcome::Released, AttemptOutcome::Lost);
    assert_eq!(kept, [(1, "a", released), (2, "a", lost), (3, "b", AttemptOutcome::Accepted)]);
    assert_eq!((attempts[0].reason.as_deref(), &attempts[2].usage), (Some("no time"), &usage));
}

async fn a_question_names_the_workers_that_had_the_task(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let (question, context) = ("Tabs?".to_owned(), String::new());
    let input = protocol::TaskAsk { fence: held.lease.fence, question, options: Vec::new(), context, give_up: false };
    let asked = fixture.done(&fixture.ada, verbs::TaskAsk { task: id, input }).await;
    let shown = fixture.store.escalation(&fixture.ada, asked.id).await.unwrap();
    let tried: Vec<_> = shown.context.attempts.iter().map(|one| (&*one.worker_name, one.outcome)).collect();
    assert_eq!(tried, [("a", AttemptOutcome::Open)]);
    fixture.done(&fixture.ada, answers(asked.id, "Spaces")).await;
    finish(&fixture, &held).await;
    let shown = fixture.store.escalation(&fixture.ada, asked.id).await.unwrap();
    assert_eq!(shown.context.attempts[0].outcome, AttemptOutcome::Accepted);
}
