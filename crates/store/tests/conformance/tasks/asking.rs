//! Asking a person: the answer goes into the task, and work goes on.

use domain::{AnswerAct, EscalationKind, TaskStatus, Visibility};
use protocol::{Change, Criterion, EscalationAnswer, EscalationFilter, TaskAsk, TaskReason, verbs};
use store::{EventBody, StoreError};

use super::{
    LEASE, add_one, answers, beat, cancel, conflict, detail, failure, finish, invalid, retry, shared, status, taken,
    task,
};
use crate::floor::Floor;

both! {
    a_question_keeps_the_hold_and_the_answer_is_in_the_task,
    who_gives_up_lets_go_until_there_is_an_answer,
    options_are_chosen_by_label,
    an_answer_is_given_once,
    cancel_and_retry_answer_what_was_asked,
    who_goes_on_reads_why_it_was_retried,
    only_open_ones_are_in_the_state,
    questions_end_with_their_task,
    what_is_to_be_judged_is_said,
    why_it_was_given_up_is_said_and_stays,
}

fn ask(task: domain::TaskId, fence: u64, options: &[&str], give_up: bool) -> verbs::TaskAsk {
    let options = options.iter().map(|option| (*option).to_owned()).collect();
    verbs::TaskAsk { task, input: TaskAsk { fence, question: "Tabs?".into(), options, context: "x".into(), give_up } }
}

async fn a_question_keeps_the_hold_and_the_answer_is_in_the_task(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let asked = floor.done(&floor.ada, ask(id, held.lease.fence, &["Yes", "No"], false)).await;
    assert_eq!((asked.kind, asked.worker), (EscalationKind::Question, Some(held.lease.worker)));
    floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    let answered = floor.done(&floor.bo, answers(asked.id, "Spaces, four of them")).await;
    assert_eq!((answered.act, answered.answer.as_deref()), (Some(AnswerAct::Tell), Some("Spaces, four of them")));
    let shown = detail(&floor, id).await;
    assert_eq!(shown.task.context, "Question: Tabs?\nAnswer by Bo: Spaces, four of them");
    assert_eq!(shown.task.status, TaskStatus::Running);
    finish(&floor, &held).await;
}

async fn who_gives_up_lets_go_until_there_is_an_answer(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let asked = floor.done(&floor.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(status(&floor, id).await, TaskStatus::Escalated);
    conflict(&floor.refused(&floor.ada, beat(id, held.lease.fence)).await);
    floor.pass(LEASE);
    floor.done(&floor.bo, answers(asked.id, "Use spaces")).await;
    let next = taken(&floor, project, "b").await;
    assert!(next.brief.contains("Answer by Bo: Use spaces"), "{}", next.brief);
    assert_eq!(next.handover.unwrap().outcome.word(), "escalated");
}

async fn options_are_chosen_by_label(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let asked = floor.done(&floor.ada, ask(id, held.lease.fence, &["Yes", "No"], false)).await;
    let choose = |option: &str| verbs::EscalationAnswer {
        escalation: asked.id,
        input: EscalationAnswer { option: Some(option.into()), act: None, text: None },
    };
    let error = floor.refused(&floor.ada, choose("Maybe")).await;
    assert_eq!(invalid(&error), "`Maybe` is not one of: `Yes`, `No`");
    assert_eq!(floor.done(&floor.ada, choose("No")).await.answer.as_deref(), Some("No"));
    let silent = EscalationAnswer { option: None, act: None, text: None };
    invalid(
        &floor
            .refused(
                &floor.ada,
                verbs::EscalationAnswer { escalation: ask_again(&floor, id, held.lease.fence).await, input: silent },
            )
            .await,
    );
}

async fn ask_again(floor: &Floor, task: domain::TaskId, fence: u64) -> domain::EscalationId {
    floor.done(&floor.ada, ask(task, fence, &[], false)).await.id
}

async fn an_answer_is_given_once(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let asked = ask_again(&floor, id, held.lease.fence).await;
    floor.done(&floor.bo, answers(asked, "yes")).await;
    let error = floor.refused(&floor.ada, answers(asked, "no")).await;
    assert_eq!(conflict(&error), "Bo answered this already");
}

async fn cancel_and_retry_answer_what_was_asked(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    floor.done(&floor.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(retry(&floor, id).await.status, TaskStatus::Ready);
    let held = taken(&floor, project, "a").await;
    floor.done(&floor.ada, ask(id, held.lease.fence, &[], true)).await;
    assert_eq!(cancel(&floor, id).await.status, TaskStatus::Cancelled);
    assert!(floor.store.escalations(&floor.ada, EscalationFilter::default()).await.unwrap().is_empty());
    let all = EscalationFilter { project: Some(project), answered: Some(true) };
    let acts: Vec<_> = floor.store.escalations(&floor.ada, all).await.unwrap().iter().map(|asked| asked.act).collect();
    assert_eq!(acts, [Some(AnswerAct::Retry), Some(AnswerAct::Cancel)]);
}

async fn only_open_ones_are_in_the_state(floor: Floor) {
    let project = floor.project(Visibility::Private).await.id;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let first = ask_again(&floor, id, held.lease.fence).await;
    let second = ask_again(&floor, id, held.lease.fence).await;
    floor.done(&floor.ada, answers(first, "yes")).await;
    let open = async |caller| -> Vec<domain::EscalationId> {
        let (_, changes) = floor.store.state(caller).await.unwrap();
        let asked = changes.into_iter().filter_map(|change| match change {
            Change::Escalation { escalation } => Some(escalation.id),
            _ => None,
        });
        asked.collect()
    };
    assert_eq!(open(&floor.ada).await, [second]);
    assert!(open(&floor.bo).await.is_empty());
    assert!(matches!(floor.store.escalation(&floor.bo, second).await, Err(StoreError::NotFound("escalation"))));
    let heard = floor
        .heard()
        .iter()
        .filter(|event| matches!(&event.body, EventBody::Change { change: Change::Escalation { .. } }))
        .count();
    assert_eq!(heard, 3);
}

async fn questions_end_with_their_task(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    let asked = ask_again(&floor, id, held.lease.fence).await;
    finish(&floor, &held).await;
    assert!(floor.store.escalations(&floor.ada, EscalationFilter::default()).await.unwrap().is_empty(), "it is done");
    let shown = detail(&floor, id).await;
    let settled = &shown.escalations[0];
    assert_eq!((settled.id, &settled.answered_by), (asked, &None));
    assert!(settled.answered_at.is_some() && settled.answer.as_deref() == Some("the task is done"), "{settled:?}");
    let late = floor.refused(&floor.ada, answers(asked, "yes")).await;
    assert!(conflict(&late).contains("no answer is needed any longer"), "{late}");

    let id = add_one(&floor, project, task("two")).await;
    let held = taken(&floor, project, "a").await;
    let question = ask_again(&floor, id, held.lease.fence).await;
    let given_up = floor.done(&floor.ada, ask(id, held.lease.fence, &[], true)).await.id;
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Fail), text: None };
    floor.done(&floor.bo, verbs::EscalationAnswer { escalation: given_up, input }).await;
    let shown = detail(&floor, id).await;
    let by = |id| shown.escalations.iter().find(|asked| asked.id == id).unwrap().clone();
    assert_eq!(by(given_up).answered_by.map(|by| by.name).as_deref(), Some("Bo"));
    assert_eq!((by(question).answered_by, by(question).answer.as_deref()), (None, Some("the task failed")));
}

async fn what_is_to_be_judged_is_said(floor: Floor) {
    let project = shared(&floor).await;
    let mut poem = task("Write a poem");
    let text = |text: &str| Criterion::Text { text: text.into() };
    poem.acceptance = vec![text("It rhymes"), text("It is short")];
    let id = add_one(&floor, project, poem).await;
    let held = taken(&floor, project, "a").await;
    finish(&floor, &held).await;
    let shown = detail(&floor, id).await;
    let asked = &shown.escalations[0];
    assert_eq!(asked.kind, EscalationKind::Judgement);
    assert!(asked.question.contains("It rhymes") && asked.question.contains("It is short"), "{}", asked.question);
    assert!(asked.context.text.contains("done"), "what was reported: {:?}", asked.context);
}

async fn why_it_was_given_up_is_said_and_stays(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    for worker in ["a", "b"] {
        let held = taken(&floor, project, worker).await;
        floor.done(&floor.ada, failure(id, held.lease.fence, "there is no compiler")).await;
    }
    let asked = detail(&floor, id).await.escalations[0].clone();
    assert_eq!(asked.question, "The task could not be done: there is no compiler. What should happen?");
    let input = EscalationAnswer { option: Some("Mark failed".into()), act: None, text: None };
    floor.done(&floor.bo, verbs::EscalationAnswer { escalation: asked.id, input }).await;
    let reason = detail(&floor, id).await.task.reason.unwrap();
    assert_eq!(reason, "The task could not be done: there is no compiler. Bo let it fail");
}

async fn who_goes_on_reads_why_it_was_retried(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("Draw the logo")).await;
    cancel(&floor, id).await;
    let input = TaskReason { reason: Some("  the old one was blue, take green  ".into()) };
    floor.done(&floor.ada, verbs::TaskRetry { task: id, input }).await;
    let held = taken(&floor, project, "w").await;
    assert!(held.brief.contains("Ada retried it:   the old one was blue, take green"), "{}", held.brief);
}
