//! Which workers are resumed after their session exited before the task was done.

use domain::{AttemptOutcome, EscalationKind, SessionStatus, TaskId, TaskStatus, Visibility, WorkerStatus};
use protocol::{FoundAgent, ProjectUpdate, TaskAsk, WorkConfigure, WorkerStart, verbs};
use store::{Caller, SeeRunner};

use super::{Shop, checked, plain};
use crate::execution::{Memory, about, runner};
use crate::fixture::Fixture;
use crate::tasks::answers;

both!(
    a_worker_without_the_right_to_write_is_not_resumed,
    no_worker_is_resumed_during_a_freeze,
    a_worker_without_budget_is_not_resumed,
    a_task_waits_for_the_answer_to_a_worker_that_exited,
    a_message_after_a_refusal_is_another_report,
);

/// A reported task whose check is pending, by a worker of Bo's on his runner.
async fn theirs(fixture: Fixture) -> (Shop, TaskId) {
    let mut shop = Shop::open(fixture).await;
    shop.runner = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    shop.memory = Memory::new(shop.runner);
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    shop.start_as(&shop.fixture.bo, input).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    (shop, task)
}

/// Checks that the task is queued again, and that no further session was started.
async fn is_let_go(shop: &Shop, task: TaskId, why: &str) {
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Released));
    let reason = detail.task.reason.unwrap();
    assert!(reason.contains(why), "{reason}");
    assert_eq!(detail.attempts[0].sessions.len(), 1);
    assert!(shop.decided("let_go").await);
}

async fn a_worker_without_the_right_to_write_is_not_resumed(fixture: Fixture) {
    let (mut shop, task) = theirs(fixture).await;
    let input = ProjectUpdate { visibility: Some(Visibility::ReadOnly), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ProjectUpdate { project: shop.project.id, input }).await;
    shop.found(task, false, "`out.txt` does not exist", None).await;
    is_let_go(&shop, task, "may no longer write in this project").await;
}

async fn no_worker_is_resumed_during_a_freeze(fixture: Fixture) {
    let (mut shop, task) = theirs(fixture).await;
    let input = protocol::Freeze { project: None };
    shop.fixture.done(&shop.fixture.bo, verbs::FloorFreeze { input }).await;
    shop.found(task, false, "`out.txt` does not exist", None).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.task.session), (TaskStatus::Ready, None));
}

async fn a_worker_without_budget_is_not_resumed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { budget_micros: Some(1_000_000), ..Default::default() }).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.ends(task, "Wrote it.").await;
    // Its cost is known only after its end.
    let session = shop.detail(task).await.attempts[0].sessions[0];
    shop.costs(session, 3_000_000).await;
    shop.found(task, false, "`out.txt` does not exist", None).await;
    is_let_go(&shop, task, "the project's budget is spent: 3.00 of 1.00 dollars").await;
    assert_eq!(shop.dispatch().await, 0);
}

async fn a_task_waits_for_the_answer_to_a_worker_that_exited(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Indent it")]).await[0];
    shop.dispatch().await;
    let fence = shop.task(task).await.lease.unwrap().fence;
    let input = TaskAsk { fence, question: "Tabs?".into(), options: vec![], context: String::new(), give_up: false };
    let asked = shop.fixture.done(&shop.fixture.ada, verbs::TaskAsk { task, input }).await;
    shop.ends(task, "I asked, and wait.").await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.task.reason.as_deref()), (TaskStatus::Escalated, Some("Tabs?")));
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Escalated);
    assert!(detail.reports.is_empty(), "its message is no report");
    let [open] = detail.escalations.as_slice() else { panic!("{:?}", detail.escalations) };
    assert_eq!((open.id, open.kind, open.answered_at), (asked.id, EscalationKind::Question, None));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Idle);
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.done(&shop.fixture.ada, answers(asked.id, "spaces")).await;
    assert_eq!(shop.dispatch().await, 1);
    let again = shop.task(task).await;
    assert!(again.context.contains("Question: Tabs?\nAnswer by Ada: spaces"), "{}", again.context);
    shop.finishes(task, "Indented.").await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
}

async fn a_message_after_a_refusal_is_another_report(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    // An agent without a headless mode.
    let mut about = about(4);
    about.agents[0] = FoundAgent { headless: false, ..about.agents[0].clone() };
    let see = SeeRunner { runner: shop.runner, link: "box".into(), about: Some(about) };
    shop.fixture.done(&Caller::hub("link"), see).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    let turn = async |shop: &mut Shop, said: &str| {
        shop.at(session, SessionStatus::Working).await;
        shop.says(session, said).await;
        shop.at(session, SessionStatus::Idle).await;
    };
    turn(&mut shop, "Wrote it.").await;
    shop.found(task, false, "`out.txt` does not exist", None).await;
    shop.at(session, SessionStatus::Idle).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Running, "its earlier message was already reported");
    turn(&mut shop, "Now it is there.").await;
    let summaries =
        |detail: protocol::TaskDetail| detail.reports.into_iter().map(|one| one.summary).collect::<Vec<_>>();
    assert_eq!(summaries(shop.detail(task).await), ["Wrote it.", "Now it is there."]);
    shop.found(task, true, "it is there", None).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
}
