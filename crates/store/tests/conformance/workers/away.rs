//! Reports whose runner disconnects before it has checked them.

use domain::{AnswerAct, AttemptOutcome, EscalationKind, ReportId, ReportVerdict, TaskId, TaskStatus, Timestamp};
use protocol::link::{CheckTrouble, DesiredCheck, FactBody, StartFrom};
use protocol::{
    CriterionResult, Deliverables, Escalation, EscalationAnswer, TaskAdd, TaskReport, WorkConfigure, verbs,
};
use store::{Caller, GiveUpChecks, SeeRunner};

use super::{Shop, checked, plain};
use crate::execution::{Memory, about, runner};
use crate::fixture::Fixture;
use crate::tasks::{LEASE, conflict};

both!(
    a_person_is_asked_once_after_the_lease,
    a_restarted_hub_waits_for_a_full_lease,
    the_result_of_a_returning_runner_counts,
    a_refusal_by_a_returning_runner_requeues_the_task,
    a_result_after_the_answer_is_ignored,
    a_failed_check_of_a_returning_runner_is_reported,
    a_removed_runner_is_not_waited_for,
    another_runner_checks_a_named_branch,
    a_report_without_criteria_to_check_needs_no_person,
);

/// A hub that has always been running.
fn ever() -> Timestamp {
    Timestamp::from_millis(0)
}

/// A shop whose only task was reported, and whose runner disconnected before the check.
struct Left {
    shop: Shop,
    task: TaskId,
    report: ReportId,
    gone: Timestamp,
}

impl Left {
    async fn open(fixture: Fixture) -> Self {
        Self::reported(fixture, checked("Write out.txt")).await
    }

    async fn reported(fixture: Fixture, task: TaskAdd) -> Self {
        let mut shop = Shop::open(fixture).await;
        shop.start(1).await;
        let task = shop.add(vec![task]).await[0];
        shop.dispatch().await;
        shop.ends(task, "Wrote it.").await;
        let report = shop.detail(task).await.reports[0].id;
        shop.goes().await;
        let gone = shop.fixture.store.now();
        Self { shop, task, report, gone }
    }

    /// After the hub has stopped waiting for the runner.
    async fn give_up(fixture: Fixture) -> Self {
        let left = Self::open(fixture).await;
        left.shop.fixture.pass(LEASE);
        assert_eq!(left.shop.gives_up(ever()).await, [left.report]);
        left
    }

    async fn asked(&self) -> Escalation {
        self.shop.detail(self.task).await.escalations[0].clone()
    }

    async fn comes_back(&mut self, passed: bool) {
        self.shop.comes().await;
        let checks = self.shop.desired().await.1;
        assert_eq!(checks.iter().map(|check| check.report).collect::<Vec<_>>(), [self.report], "it may still report");
        self.says(passed).await;
    }

    async fn says(&mut self, passed: bool) {
        let reason = if passed { "it is there" } else { "`out.txt` does not exist" };
        let results = vec![CriterionResult { criterion: 0, passed: Some(passed), reason: reason.into() }];
        let fact = FactBody::Checked { report: self.report, results, changes: None };
        self.shop.memory.happened(&self.shop.fixture, fact).await;
    }

    async fn answer(&self, act: AnswerAct) -> verbs::EscalationAnswer {
        let input = EscalationAnswer { option: None, act: Some(act), text: None };
        verbs::EscalationAnswer { escalation: self.asked().await.id, input }
    }
}

impl Shop {
    async fn goes(&self) {
        self.fixture
            .done(&Caller::hub("link"), SeeRunner { runner: self.runner, link: "box".into(), about: None })
            .await;
    }

    async fn comes(&self) {
        let about = Some(about(8));
        self.fixture.done(&Caller::hub("link"), SeeRunner { runner: self.runner, link: "box".into(), about }).await;
    }

    /// Gives up overdue checks without a connected runner; the hub has been running since `hub`.
    async fn gives_up(&self, hub: Timestamp) -> Vec<ReportId> {
        self.fixture.done(&Caller::hub("foreman"), GiveUpChecks { connected: Vec::new(), hub }).await
    }
}

async fn a_person_is_asked_once_after_the_lease(fixture: Fixture) {
    let left = Left::open(fixture).await;
    let (shop, store) = (&left.shop, &left.shop.fixture.store);
    let due = left.gone.plus_millis(LEASE);
    assert_eq!(store.owed_checks(ever()).await.unwrap(), [(shop.runner, due)]);
    shop.fixture.pass(LEASE - 1);
    assert_eq!(shop.gives_up(ever()).await, []);
    shop.fixture.pass(1);
    let there = GiveUpChecks { connected: vec![shop.runner], hub: ever() };
    assert_eq!(shop.fixture.done(&Caller::hub("foreman"), there).await, [], "the hub waits for a connected runner");
    assert_eq!(shop.task(left.task).await.status, TaskStatus::Reported);
    assert_eq!(shop.gives_up(ever()).await, [left.report]);
    assert_eq!(shop.gives_up(ever()).await, [], "once");
    let detail = shop.detail(left.task).await;
    assert_eq!((detail.task.status, detail.escalations.len()), (TaskStatus::Escalated, 1));
    let asked = &detail.escalations[0];
    assert_eq!((asked.kind, asked.context.runner), (EscalationKind::Uncheckable, Some(shop.runner)));
    assert!(
        asked.question.contains(&format!("the runner `box` has been away since {}", left.gone)),
        "{}",
        asked.question
    );
    assert_eq!(asked.context.text, "Wrote it.");
    assert_eq!(detail.reports[0].verdict, ReportVerdict::Pending);
    assert!(store.owed_checks(ever()).await.unwrap().is_empty());
    let accept = left.answer(AnswerAct::Accept).await;
    shop.fixture.done(&shop.fixture.ada, accept).await;
    assert_eq!(shop.task(left.task).await.status, TaskStatus::Done);
}

async fn a_restarted_hub_waits_for_a_full_lease(fixture: Fixture) {
    let left = Left::open(fixture).await;
    left.shop
        .configure(WorkConfigure { lease_seconds: Some(10), heartbeat_seconds: Some(3), ..Default::default() })
        .await;
    left.shop.fixture.pass(3_600_000);
    let hub = left.shop.fixture.store.now();
    left.shop.fixture.pass(9_999);
    assert_eq!(left.shop.gives_up(hub).await, [], "the runner had no chance to reconnect");
    left.shop.fixture.pass(1);
    assert_eq!(left.shop.gives_up(hub).await, [left.report]);
}

async fn the_result_of_a_returning_runner_counts(fixture: Fixture) {
    let mut left = Left::give_up(fixture).await;
    left.comes_back(true).await;
    let detail = left.shop.detail(left.task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Done, AttemptOutcome::Accepted));
    assert_eq!((detail.reports[0].verdict, detail.reports[0].results.len()), (ReportVerdict::Accepted, 1));
    let asked = &detail.escalations[0];
    assert_eq!((asked.act, asked.answered_by.as_ref()), (Some(AnswerAct::Accept), None), "no person answered");
    assert!(asked.answered_at.is_some() && asked.answer.as_deref().unwrap().contains("`box` came back"), "{asked:?}");
    assert_eq!(left.shop.worker(detail.attempts[0].worker).await.done, 1);
    let fixture = &left.shop.fixture;
    let refused = fixture.refused(&fixture.ada, left.answer(AnswerAct::Retry).await).await;
    assert!(conflict(&refused).contains("no answer is needed any longer: the runner `box`"), "{refused}");
}

async fn a_refusal_by_a_returning_runner_requeues_the_task(fixture: Fixture) {
    let mut left = Left::give_up(fixture).await;
    left.comes_back(false).await;
    let detail = left.shop.detail(left.task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Refused));
    assert_eq!(detail.task.reason.as_deref(), Some("`out.txt` does not exist"));
    assert_eq!((detail.escalations.len(), detail.escalations[0].act), (1, Some(AnswerAct::Retry)));
    assert_eq!(left.shop.worker(detail.attempts[0].worker).await.failed, 1);
    assert!(left.shop.desired().await.1.is_empty());
    assert_eq!(left.shop.dispatch().await, 1);
}

async fn a_result_after_the_answer_is_ignored(fixture: Fixture) {
    let mut left = Left::give_up(fixture).await;
    let retry = left.answer(AnswerAct::Retry).await;
    left.shop.fixture.done(&left.shop.fixture.ada, retry).await;
    left.shop.comes().await;
    assert!(left.shop.desired().await.1.is_empty(), "the check is no longer wanted");
    let before = left.shop.detail(left.task).await;
    left.says(true).await;
    assert_eq!(left.shop.detail(left.task).await, before);
    assert_eq!((before.task.status, before.reports[0].verdict), (TaskStatus::Ready, ReportVerdict::Refused));
}

async fn a_failed_check_of_a_returning_runner_is_reported(fixture: Fixture) {
    let mut left = Left::give_up(fixture).await;
    left.shop.comes().await;
    let detail = "the workspace is gone".to_owned();
    let fact = FactBody::CheckFailed { report: left.report, detail, cause: CheckTrouble::Other };
    left.shop.memory.happened(&left.shop.fixture, fact).await;
    let asked = left.asked().await;
    assert_eq!((asked.answered_at, asked.context.text.as_str()), (None, "the workspace is gone"));
    assert!(left.shop.desired().await.1.is_empty(), "it is not asked again");
    left.says(true).await;
    assert_eq!(left.shop.task(left.task).await.status, TaskStatus::Escalated);
}

async fn a_removed_runner_is_not_waited_for(fixture: Fixture) {
    let left = Left::open(fixture).await;
    left.shop.fixture.done(&left.shop.fixture.ada, verbs::RunnerRemove { runner: left.shop.runner }).await;
    assert_eq!(left.shop.gives_up(left.gone).await, [left.report]);
    let asked = left.asked().await;
    assert!(asked.question.contains("was removed") && asked.context.runner.is_none(), "{asked:?}");
}

async fn another_runner_checks_a_named_branch(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let other = runner(&shop.fixture, &shop.fixture.ada, "other", 4).await;
    shop.start(2).await;
    let tasks = shop.add(vec![checked("Write out.txt"), checked("Write another")]).await;
    shop.dispatch().await;
    for (task, branch) in [(tasks[0], "pushed"), (tasks[1], "--upload-pack=x")] {
        let fence = shop.task(task).await.lease.unwrap().fence;
        let deliverables = Some(Deliverables { branch: Some(branch.into()), ..Default::default() });
        let (summary, usage, failed) = ("Pushed it.".into(), None, None);
        let input = TaskReport { fence, summary, deliverables, context_score: None, usage, failed };
        shop.fixture.done(&shop.fixture.ada, verbs::TaskReport { task, input }).await;
    }
    shop.goes().await;
    shop.fixture.pass(LEASE);
    assert_eq!(shop.gives_up(ever()).await.len(), 2);
    assert!(shop.decided("check_moved").await);
    let checks = shop.fixture.store.desired(other).await.unwrap().unwrap().checks;
    let [check]: &[DesiredCheck] = checks.as_slice() else { panic!("{checks:?}") };
    assert_eq!((check.task, shop.task(tasks[0]).await.status), (tasks[0], TaskStatus::Reported));
    assert_eq!(check.workspace.from, Some(StartFrom::Branch { branch: "pushed".into() }));
    let asked = &shop.detail(tasks[1]).await.escalations[0];
    assert_eq!(asked.context.runner, Some(shop.runner), "no runner looks for an invalid branch name");
    let (report, detail) = (check.report, "branch `pushed` is not there; push it".to_owned());
    let fact = FactBody::CheckFailed { report, detail, cause: CheckTrouble::Missing };
    Memory::new(other).happened(&shop.fixture, fact).await;
    let shown = shop.detail(tasks[0]).await;
    assert_eq!(shown.reports[0].verdict, ReportVerdict::Pending, "its worker did not have to push");
    assert_eq!(shown.escalations[0].kind, EscalationKind::Uncheckable);
    assert!(shown.escalations[0].context.text.contains("is not there"), "{:?}", shown.escalations[0]);
}

async fn a_report_without_criteria_to_check_needs_no_person(fixture: Fixture) {
    let left = Left::reported(fixture, plain("Write something")).await;
    assert_eq!(left.shop.task(left.task).await.status, TaskStatus::Reported, "it is to be compared");
    left.shop.fixture.pass(LEASE);
    assert_eq!(left.shop.gives_up(ever()).await, [left.report]);
    let detail = left.shop.detail(left.task).await;
    assert_eq!((detail.task.status, detail.reports[0].verdict), (TaskStatus::Done, ReportVerdict::Accepted));
    assert_eq!(detail.escalations, []);
    assert!(left.shop.decided("not_compared").await);
}
