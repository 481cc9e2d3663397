//! Questions to a person: the answer becomes part of the task, and work continues.

use domain::{AnswerAct, EscalationKind, TaskStatus, Visibility};
use protocol::{Change, Criterion, EscalationAnswer, EscalationFilter, TaskAsk, TaskReason, verbs};
use store::{EventBody, StoreError};

use super::{
    LEASE, add_one, answers, beat, cancel, conflict, detail, failure, finish, invalid, retry, shared, status, taken,
    task,
};
use crate::fixture::Fixture;

both! {
    a_question_keeps_the_lease_and_its_answer_is_in_the_task,
    a_worker_that_gives_up_releases_the_task_until_it_is_answered,
    options_are_chosen_by_label,
    an_escalation_is_answered_once,
    cancel_and_retry_answer_open_escalations,
    the_next_worker_reads_why_the_task_was_retried,
    the_state_has_only_open_escalations,
    questions_are_settled_when_their_task_ends,
    a_judgement_names_the_criteria_to_judge,
    the_reason_for_giving_up_is_shown_and_kept,
}

fn ask(task: domain::TaskId, fence: u64, options: &[&str], give_up: bool) -> verbs::TaskAsk {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    verbs::TaskAsk { task, input: TaskAsk { fence, question: "Tabs?".into(), options, context: "x".into(), give_up } }
}

async fn a_question_keeps_the_lease_and_its_answer_is_in_the_task(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let asked = fixture.done(&fixture.ada, ask(id, held.lease.fence, &["Yes", "No"], false)).await;
    assert_eq!((asked.kind, asked.worker), (EscalationKind::Question, Some(held.lease.worker)));
    fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    let answered = fixture.done(&fixture.bo, answers(asked.id, "Spaces, four of them")).await;
    assert_eq!((answered.act, answered.answer.as_deref()), (Some(AnswerAct::Tell), Some("Spaces, four of them")));
    let shown = detail(&fixture, id).await;
    assert_eq!(shown.task.context, "Question: Tabs?\nAnswer by Bo: Spaces, four of them");
    assert_eq!(shown.task.status, TaskStatus::Running);
    finish(&fixture, &held).await;
}

async fn a_worker_that_gives_up_releases_the_task_until_it_is_answered(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let asked = fixture.done(&fixture.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(status(&fixture, id).await, TaskStatus::Escalated);
    conflict(&fixture.refused(&fixture.ada, beat(id, held.lease.fence)).await);
    fixture.pass(LEASE);
    fixture.done(&fixture.bo, answers(asked.id, "Use spaces")).await;
    let next = taken(&fixture, project, "b").await;
    assert!(next.brief.contains("Answer by Bo: Use spaces"), "{}", next.brief);
    assert_eq!(next.handover.unwrap().outcome.word(), "escalated");
}

async fn options_are_chosen_by_label(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let asked = fixture.done(&fixture.ada, ask(id, held.lease.fence, &["Yes", "No"], false)).await;
    let choose = |option: &str| verbs::EscalationAnswer {
        escalation: asked.id,
        input: EscalationAnswer { option: Some(option.into()), act: None, text: None },
    };
    let error = fixture.refused(&fixture.ada, choose("Maybe")).await;
    assert_eq!(invalid(&error), "`Maybe` is not one of: `Yes`, `No`");
    assert_eq!(fixture.done(&fixture.ada, choose("No")).await.answer.as_deref(), Some("No"));
    let silent = EscalationAnswer { option: None, act: None, text: None };
    invalid(
        &fixture
            .refused(
                &fixture.ada,
                verbs::EscalationAnswer { escalation: ask_again(&fixture, id, held.lease.fence).await, input: silent },
            )
            .await,
    );
}

async fn ask_again(fixture: &Fixture, task: domain::TaskId, fence: u64) -> domain::EscalationId {
    fixture.done(&fixture.ada, ask(task, fence, &[], false)).await.id
}

async fn an_escalation_is_answered_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let asked = ask_again(&fixture, id, held.lease.fence).await;
    fixture.done(&fixture.bo, answers(asked, "yes")).await;
    let error = fixture.refused(&fixture.ada, answers(asked, "no")).await;
    assert_eq!(conflict(&error), "Bo answered this already");
}

async fn cancel_and_retry_answer_open_escalations(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.done(&fixture.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(retry(&fixture, id).await.status, TaskStatus::Ready);
    let held = taken(&fixture, project, "a").await;
    fixture.done(&fixture.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(cancel(&fixture, id).await.status, TaskStatus::Cancelled);
    assert!(fixture.store.escalations(&fixture.ada, EscalationFilter::default()).await.unwrap().is_empty());
    let all = EscalationFilter { project: Some(project), answered: Some(true) };
    let acts: Vec<_> =
        fixture.store.escalations(&fixture.ada, all).await.unwrap().iter().map(|asked| asked.act).collect();
    assert_eq!(acts, [Some(AnswerAct::Retry), Some(AnswerAct::Cancel)]);
}

async fn the_state_has_only_open_escalations(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let first = ask_again(&fixture, id, held.lease.fence).await;
    let second = ask_again(&fixture, id, held.lease.fence).await;
    fixture.done(&fixture.ada, answers(first, "yes")).await;
    let open = async |caller| -> Vec<domain::EscalationId> {
        let (_, changes) = fixture.store.state(caller).await.unwrap();
        let asked = changes.into_iter().filter_map(|change| match change {
            Change::Escalation { escalation } => Some(escalation.id),
            _ => None,
        });
        asked.collect()
    };
    assert_eq!(open(&fixture.ada).await, [second]);
    assert!(open(&fixture.bo).await.is_empty());
    assert!(matches!(fixture.store.escalation(&fixture.bo, second).await, Err(StoreError::NotFound("escalation"))));
    let heard = fixture
        .heard()
        .iter()
        .filter(|event| matches!(&event.body, EventBody::Change { change: Change::Escalation { .. } }))
        .count();
    assert_eq!(heard, 3);
}

async fn questions_are_settled_when_their_task_ends(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let asked = ask_again(&fixture, id, held.lease.fence).await;
    finish(&fixture, &held).await;
    assert!(
        fixture.store.escalations(&fixture.ada, EscalationFilter::default()).await.unwrap().is_empty(),
        "it is done"
    );
    let shown = detail(&fixture, id).await;
    let settled = &shown.escalations[0];
    assert_eq!((settled.id, &settled.answered_by), (asked, &None));
    assert!(settled.answered_at.is_some() && settled.answer.as_deref() == Some("the task is done"), "{settled:?}");
    let late = fixture.refused(&fixture.ada, answers(asked, "yes")).await;
    assert!(conflict(&late).contains("no answer is needed any longer"), "{late}");

    let id = add_one(&fixture, project, task("two")).await;
    let held = taken(&fixture, project, "a").await;
    let question = ask_again(&fixture, id, held.lease.fence).await;
    let given_up = fixture.done(&fixture.ada, ask(id, held.lease.fence, &[], true)).await.id;
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Fail), text: None };
    fixture.done(&fixture.bo, verbs::EscalationAnswer { escalation: given_up, input }).await;
    let shown = detail(&fixture, id).await;
    let by = |id| shown.escalations.iter().find(|asked| asked.id == id).unwrap().clone();
    assert_eq!(by(given_up).answered_by.map(|by| by.name).as_deref(), Some("Bo"));
    assert_eq!((by(question).answered_by, by(question).answer.as_deref()), (None, Some("the task failed")));
}

async fn a_judgement_names_the_criteria_to_judge(fixture: Fixture) {
    let project = shared(&fixture).await;
    let mut poem = task("Write a poem");
    let text = |text: &str| Criterion::Text { text: text.into() };
    poem.acceptance = vec![text("It rhymes"), text("It is short")];
    let id = add_one(&fixture, project, poem).await;
    let held = taken(&fixture, project, "a").await;
    finish(&fixture, &held).await;
    let shown = detail(&fixture, id).await;
    let asked = &shown.escalations[0];
    assert_eq!(asked.kind, EscalationKind::Judgement);
    assert!(asked.question.contains("It rhymes") && asked.question.contains("It is short"), "{}", asked.question);
    assert!(asked.context.text.contains("done"), "what was reported: {:?}", asked.context);
}

async fn the_reason_for_giving_up_is_shown_and_kept(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    for worker in ["a", "b"] {
        let held = taken(&fixture, project, worker).await;
        fixture.done(&fixture.ada, failure(id, held.lease.fence, "there is no compiler")).await;
    }
    let asked = detail(&fixture, id).await.escalations[0].clone();
    assert_eq!(asked.question, "The task could not be done: there is no compiler. What should happen?");
    let input = EscalationAnswer { option: Some("Mark failed".into()), act: None, text: None };
    fixture.done(&fixture.bo, verbs::EscalationAnswer { escalation: asked.id, input }).await;
    let reason = detail(&fixture, id).await.task.reason.unwrap();
    assert_eq!(reason, "The task could not be done: there is no compiler. Bo marked it failed");
}

async fn the_next_worker_reads_why_the_task_was_retried(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("Draw the logo")).await;
    cancel(&fixture, id).await;
    let input = TaskReason { reason: Some("  the old one was blue, take green  ".into()) };
    fixture.done(&fixture.ada, verbs::TaskRetry { task: id, input }).await;
    let held = taken(&fixture, project, "w").await;
    assert!(held.brief.contains("Ada retried it:   the old one was blue, take green"), "{}", held.brief);
}
