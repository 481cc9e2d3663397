//! Reports whose task moved on before they were judged, and conflicts with them.

use domain::{AnswerAct, EscalationKind, ReportVerdict, SessionId, TaskId, TaskStatus};
use protocol::link::{ChangedFile, Changes, FactBody};
use protocol::{
    Criterion, CriterionResult, Escalation, EscalationAnswer, TaskAdd, TaskReason, TaskTake, TaskTakeOver, verbs,
};
use store::Placed;

use super::{FORK, Shop, checked, edit, plain, work};
use crate::fixture::Fixture;

both!(
    cancelling_a_task_refuses_its_pending_report,
    a_report_is_refused_if_a_person_fails_or_retries_its_task,
    a_take_over_refuses_a_report_without_asking_for_fixes,
    a_conflict_ends_when_the_other_output_is_withdrawn,
    a_conflict_moves_on_to_the_next_conflicting_output,
    a_judgement_is_requested_after_the_conflict_ends,
);

fn judged(description: &str) -> TaskAdd {
    TaskAdd { acceptance: vec![Criterion::Text { text: "It reads well".into() }], ..plain(description) }
}

/// A change of the same lines, with this content.
fn changes(tree: &str) -> Changes {
    let file = ChangedFile { path: "src/a.rs".into(), content: Some(tree.into()) };
    let work = vec![work(FORK, vec![edit("src/a.rs", tree, vec![(9, 12, tree.to_owned())])])];
    let (tree, patch) = (tree.into(), format!("+{tree}"));
    Changes { base: FORK.into(), tree, files: vec![file], work, patch, ..Changes::default() }
}

impl Shop {
    /// Works on all of these tasks at once; they finish in this order and change the same lines.
    async fn collide(&mut self, tasks: Vec<TaskAdd>) -> Vec<TaskId> {
        self.start(u32::try_from(tasks.len()).unwrap()).await;
        let tasks = self.add(tasks).await;
        self.dispatch().await;
        for (index, task) in tasks.iter().enumerate() {
            self.ends(*task, "Done.").await;
            let report = self.pending(*task).await;
            let criteria = self.task(*task).await.acceptance;
            let met = |(at, criterion): (usize, &Criterion)| CriterionResult {
                criterion: u32::try_from(at).unwrap(),
                passed: (!matches!(criterion, Criterion::Text { .. })).then_some(true),
                reason: "fine".into(),
            };
            let results = criteria.iter().enumerate().map(met).collect();
            let changes = Some(changes(&format!("t{index}")));
            self.memory.happened(&self.fixture, FactBody::Checked { report, results, changes }).await;
            self.fixture.pass(1_000);
        }
        tasks
    }

    async fn cancel(&self, task: TaskId) {
        let input = TaskReason { reason: Some("not needed".into()) };
        self.fixture.done(&self.fixture.ada, verbs::TaskCancel { task, input }).await;
    }

    /// The open escalations of a task.
    async fn asked(&self, task: TaskId) -> Vec<Escalation> {
        self.detail(task).await.escalations.into_iter().filter(|one| one.answered_at.is_none()).collect()
    }

    async fn verdict(&self, task: TaskId) -> (ReportVerdict, String) {
        let report = self.detail(task).await.reports.remove(0);
        (report.verdict, report.reason.unwrap_or_default())
    }
}

async fn cancelling_a_task_refuses_its_pending_report(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    let report = shop.pending(task).await;
    shop.cancel(task).await;
    let (verdict, reason) = shop.verdict(task).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(reason, "the task was cancelled before this report was judged: Ada cancelled it: not needed");
    assert!(shop.desired().await.1.is_empty(), "the check is no longer wanted");
    let late = FactBody::Checked { report, results: vec![], changes: None };
    shop.memory.happened(&shop.fixture, late).await;
    assert_eq!((shop.task(task).await.status, shop.verdict(task).await.1), (TaskStatus::Cancelled, reason));
}

async fn a_report_is_refused_if_a_person_fails_or_retries_its_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![judged("Write one"), judged("Write another")]).await;
    shop.dispatch().await;
    for task in &tasks {
        shop.finishes(*task, "Done.").await;
    }
    let escalation = shop.asked(tasks[0]).await[0].id;
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Fail), text: None };
    shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation, input }).await;
    let (verdict, reason) = shop.verdict(tasks[0]).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(reason, "the task failed before this report was judged: Ada marked it failed");
    let input = TaskReason { reason: Some("shorter".into()) };
    shop.fixture.done(&shop.fixture.ada, verbs::TaskRetry { task: tasks[1], input }).await;
    let (verdict, reason) = shop.verdict(tasks[1]).await;
    assert_eq!((verdict, reason.as_str()), (ReportVerdict::Refused, "Ada retried it: shorter"));
}

async fn a_take_over_refuses_a_report_without_asking_for_fixes(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    let theirs = crate::execution::runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let over = Placed {
        verb: verbs::TaskTakeOver { task, input: TaskTakeOver::default() },
        connected: vec![shop.runner, theirs],
    };
    shop.fixture.done(&shop.fixture.bo, over).await;
    let (verdict, reason) = shop.verdict(task).await;
    assert_eq!(verdict, ReportVerdict::Refused);
    assert_eq!(reason, "the task moved on before this report was judged: Bo took it over");
    let worker = shop.task(task).await.assigned_to.unwrap();
    let stop = verbs::WorkerStop { worker, input: protocol::WorkerStop { force: true } };
    shop.fixture.done(&shop.fixture.bo, stop).await;
    shop.cancel(task).await;
    shop.fixture.done(&shop.fixture.ada, verbs::TaskRetry { task, input: TaskReason { reason: None } }).await;
    let input = TaskTake { task: Some(task), worker: Some("editor".into()), abilities: vec![], wait_seconds: None };
    let taken =
        shop.fixture.done(&shop.fixture.ada, verbs::TaskTake { project: shop.project.id, input }).await.taken.unwrap();
    assert_eq!(taken.refused.as_deref(), None, "there is nothing to fix");
}

async fn a_conflict_ends_when_the_other_output_is_withdrawn(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let tasks = shop.collide(vec![judged("Reword it"), checked("Rename it"), checked("Move it")]).await;
    let first = shop.asked(tasks[1]).await.remove(0);
    assert_eq!((first.kind, first.context.other_task), (EscalationKind::SameLines, Some(tasks[0])));
    assert_eq!(shop.asked(tasks[2]).await[0].context.other_task, Some(tasks[1]), "the newest");
    shop.cancel(tasks[0]).await;
    let detail = shop.detail(tasks[1]).await;
    assert_eq!(detail.task.status, TaskStatus::Done);
    assert_eq!(detail.reports[0].verdict, ReportVerdict::Accepted);
    let settled = &detail.escalations[0];
    assert_eq!((settled.act, settled.answered_by.is_none()), (Some(AnswerAct::Accept), true));
    let why = settled.answer.as_deref().unwrap();
    assert!(why.starts_with("`Reword it`") && why.ends_with("was cancelled: its output was dropped"), "{why}");
    assert!(shop.decided("conflict_gone").await);
    assert_eq!(shop.asked(tasks[2]).await[0].context.other_task, Some(tasks[1]), "that one is accepted now");
    super::sound(&mut shop.fixture.raw().await, shop.project.id).await;
}

async fn a_conflict_moves_on_to_the_next_conflicting_output(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let tasks = shop.collide(vec![judged("Reword it"), checked("Rename it"), checked("Move it")]).await;
    let before = shop.asked(tasks[2]).await.remove(0);
    assert_eq!(before.context.other_task, Some(tasks[1]));
    shop.fixture.done(&shop.fixture.ada, verbs::TaskRetry { task: tasks[1], input: TaskReason { reason: None } }).await;
    let asked = shop.asked(tasks[2]).await.remove(0);
    assert_eq!((asked.id, asked.session, asked.context.other_task), (before.id, before.session, Some(tasks[0])));
    assert!(asked.question.contains("`Reword it`"), "{}", asked.question);
    let patches = (asked.context.diff.as_deref(), asked.context.other_diff.as_deref());
    assert_eq!(patches, (Some("+t2"), Some("+t0")));
    let task = shop.task(tasks[2]).await;
    assert_eq!((task.status, task.reason), (TaskStatus::Escalated, Some(asked.question)));
}

async fn a_judgement_is_requested_after_the_conflict_ends(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let tasks = shop.collide(vec![judged("Reword it"), judged("Rename it")]).await;
    let session: Option<SessionId> = shop.asked(tasks[1]).await[0].session;
    assert!(session.is_some());
    shop.cancel(tasks[0]).await;
    let asked = shop.asked(tasks[1]).await;
    let [asked] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((asked.kind, asked.session), (EscalationKind::Judgement, session));
    assert_eq!(shop.task(tasks[1]).await.status, TaskStatus::Escalated);
    super::sound(&mut shop.fixture.raw().await, shop.project.id).await;
}
