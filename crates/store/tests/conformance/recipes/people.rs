//! What people do to executions.

use domain::{ExecutionId, ExecutionStatus, StepStatus};
use protocol::{
    ExecutionAnswer, ExecutionAt, ExecutionInputs, ExecutionOutput, ExecutionPause, ExecutionReason, ExecutionSwap,
    verbs,
};
use serde_json::{Value as Json, json};
use store::StoreError;

use super::{at, save, shown, started, status, step, tend};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    a_paused_execution_begins_nothing_until_it_is_resumed,
    pausing_now_stops_what_runs_and_resuming_begins_it_again,
    cancelling_stops_what_runs,
    a_failed_step_is_retried_or_skipped_by_a_person,
    an_output_is_corrected_until_it_is_used,
    inputs_change_until_they_are_used,
    the_rest_is_swapped_for_a_newer_version,
    rewinding_takes_over_what_came_before,
    a_question_is_answered_once_and_a_rejection_fails,
}

pub(super) fn reason(text: &str) -> ExecutionReason {
    ExecutionReason { reason: text.into() }
}

pub(super) fn at_path(path: &str) -> ExecutionAt {
    ExecutionAt { path: path.into(), reason: "a test".into() }
}

pub(super) fn answer(execution: ExecutionId, path: &str, approve: bool) -> verbs::ExecutionAnswer {
    let input = ExecutionAnswer { path: path.into(), approve, ..Default::default() };
    verbs::ExecutionAnswer { execution, input }
}

fn output(path: &str, output: Json) -> ExecutionOutput {
    ExecutionOutput { path: path.into(), output: Some(output), reason: "a test".into() }
}

const TWO: &str = "name: two\ninputs:\n  word: {type: string, default: first}\nsteps:\n  - id: one\n    run: [one]\n  - id: two\n    run: [two, \"{{ inputs.word }}\", \"{{ steps.one.output.text }}\"]\n";

async fn a_paused_execution_begins_nothing_until_it_is_resumed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let pause = verbs::ExecutionPause { execution: made.id, input: ExecutionPause::default() };
    assert_eq!(shop.fixture.done(&shop.fixture.ada, pause).await.status, ExecutionStatus::Paused);
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 0).await;
    tend(&shop).await;
    assert_eq!(at(&shop, made.id, "one").await, StepStatus::Succeeded, "what runs may end");
    assert!(shop.desired().await.0.is_empty());
    let resume = verbs::ExecutionResume { execution: made.id, input: reason("go on") };
    shop.fixture.done(&shop.fixture.ada, resume).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].step.clone().unwrap().path, "two");
}

async fn pausing_now_stops_what_runs_and_resuming_begins_it_again(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let input = ExecutionPause { now: true, reason: "look first".into() };
    shop.fixture.done(&shop.fixture.ada, verbs::ExecutionPause { execution: made.id, input }).await;
    let session = shop.desired().await.0[0].clone();
    assert!(!session.run, "it was asked to stop");
    shop.exits(session.session, 143).await;
    tend(&shop).await;
    assert_eq!(at(&shop, made.id, "one").await, StepStatus::Held);
    let resume = verbs::ExecutionResume { execution: made.id, input: reason("") };
    shop.fixture.done(&shop.fixture.ada, resume).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].step.clone().unwrap().attempt, 2);
}

async fn cancelling_stops_what_runs(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let cancel = verbs::ExecutionCancel { execution: made.id, input: reason("wrong branch") };
    assert_eq!(shop.fixture.done(&shop.fixture.ada, cancel.clone()).await.status, ExecutionStatus::Cancelled);
    assert!(!shop.desired().await.0[0].run);
    let before = shown(&shop, made.id).await.execution.revision;
    assert_eq!(shop.fixture.done(&shop.fixture.ada, cancel).await.revision, before, "twice is as once");
}

async fn a_failed_step_is_retried_or_skipped_by_a_person(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 1).await;
    tend(&shop).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Failed);
    let retry = verbs::ExecutionRetry { execution: made.id, input: at_path("one") };
    shop.fixture.done(&shop.fixture.ada, retry).await;
    tend(&shop).await;
    let again = shown(&shop, made.id).await;
    assert_eq!((again.execution.status, again.execution.ended_at), (ExecutionStatus::Running, None));
    let session = shop.desired().await.0.iter().find(|one| one.run).unwrap().session;
    shop.exits(session, 1).await;
    tend(&shop).await;
    let skip = verbs::ExecutionSkip { execution: made.id, input: output("one", json!({ "text": "by hand" })) };
    shop.fixture.done(&shop.fixture.ada, skip).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].argv, ["two", "first", "by hand"]);
}

async fn an_output_is_corrected_until_it_is_used(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let pause = verbs::ExecutionPause { execution: made.id, input: ExecutionPause::default() };
    shop.fixture.done(&shop.fixture.ada, pause).await;
    let session = shop.desired().await.0[0].session;
    shop.says(session, "wrong").await;
    shop.exits(session, 0).await;
    tend(&shop).await;
    let correct = || verbs::ExecutionCorrect { execution: made.id, input: output("one", json!({ "text": "right" })) };
    shop.fixture.done(&shop.fixture.ada, correct()).await;
    let resume = verbs::ExecutionResume { execution: made.id, input: reason("") };
    shop.fixture.done(&shop.fixture.ada, resume).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].argv, ["two", "first", "right"]);
    let refused = shop.fixture.refused(&shop.fixture.ada, correct()).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
}

async fn inputs_change_until_they_are_used(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let change = |word: &str| {
        let inputs = [("word".to_owned(), json!(word))].into();
        verbs::ExecutionInputs { execution: made.id, input: ExecutionInputs { inputs, reason: String::new() } }
    };
    shop.fixture.done(&shop.fixture.ada, change("second")).await;
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 0).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].argv[1], "second");
    let refused = shop.fixture.refused(&shop.fixture.ada, change("third")).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
    let again = shop.fixture.store.execution_replay(&shop.fixture.ada, made.id).await.unwrap();
    assert_eq!(again.differences, Vec::<String>::new());
}

async fn the_rest_is_swapped_for_a_newer_version(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    save(&shop, &TWO.replace("run: [two,", "run: [three,")).await;
    let swap = verbs::ExecutionSwap { execution: made.id, input: ExecutionSwap::default() };
    assert_eq!(shop.fixture.done(&shop.fixture.ada, swap).await.number, 2);
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 0).await;
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].argv[0], "three");
    save(&shop, "name: two\nsteps:\n  - id: other\n    run: [other]\n").await;
    let swap = verbs::ExecutionSwap { execution: made.id, input: ExecutionSwap::default() };
    let refused = shop.fixture.refused(&shop.fixture.ada, swap).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
    assert_eq!(shown(&shop, made.id).await.execution.number, 2);
}

async fn rewinding_takes_over_what_came_before(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let made = started(&shop, TWO, json!({})).await;
    let session = shop.desired().await.0[0].session;
    shop.says(session, "kept").await;
    shop.exits(session, 0).await;
    tend(&shop).await;
    let session = shop.desired().await.0[0].session;
    shop.exits(session, 1).await;
    tend(&shop).await;
    let rewind = verbs::ExecutionRewind { execution: made.id, input: at_path("two") };
    let again = shop.fixture.done(&shop.fixture.ada, rewind).await;
    assert_eq!((again.parent, again.id == made.id), (Some(made.id), false));
    tend(&shop).await;
    assert_eq!(shop.desired().await.0[0].argv, ["two", "first", "kept"]);
    assert_eq!(step(&shop, again.id, "one").await.output.unwrap()["text"], "kept");
}

async fn a_question_is_answered_once_and_a_rejection_fails(fixture: Fixture) {
    let text = "name: ask\nsteps:\n  - id: ask\n    approve: {question: \"Land it?\", not_starter: true}\n";
    let shop = Shop::open(fixture).await;
    let made = started(&shop, text, json!({})).await;
    assert_eq!(step(&shop, made.id, "ask").await.question.unwrap().question, "Land it?");
    let refused = shop.fixture.refused(&shop.fixture.ada, answer(made.id, "ask", true)).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "Ada started it: {refused}");
    shop.fixture.done(&shop.fixture.bo, answer(made.id, "ask", false)).await;
    assert_eq!(status(&shop, made.id).await, ExecutionStatus::Failed);
    let refused = shop.fixture.refused(&shop.fixture.bo, answer(made.id, "ask", true)).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
}
