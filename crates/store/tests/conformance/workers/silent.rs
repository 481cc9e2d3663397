//! Agents that exit without a message: their changes are checked before the task is accepted.

use domain::{AttemptOutcome, EscalationKind, ReportVerdict, SessionStatus, TaskId, TaskStatus};
use protocol::Criterion;
use protocol::TaskAdd;
use protocol::link::{ChangedFile, Changes, CheckTrouble, FactBody};

use super::{Shop, plain};
use crate::fixture::Fixture;

both!(
    an_attempt_without_message_and_changes_fails,
    an_attempt_without_message_but_with_changes_is_done,
    a_silent_attempt_with_unknown_changes_is_escalated,
    an_attempt_without_message_and_changes_needs_no_judgement,
    a_collected_report_names_its_deliverables,
    a_collected_report_names_its_commits,
);

fn untouched() -> Changes {
    Changes { base: "b0".into(), head: "b0".into(), tree: "t0".into(), ..Changes::default() }
}

fn touched() -> Changes {
    let file = ChangedFile { path: "src/a.rs".into(), content: Some("c1".into()) };
    Changes { head: "h1".into(), tree: "t1".into(), files: vec![file], patch: "+a".into(), ..untouched() }
}

impl Shop {
    /// Hands out a task whose agent exits successfully without a message.
    async fn ends_silently(&mut self, task: TaskId) {
        assert_eq!(self.dispatch().await, 1);
        let session = self.session(task).await;
        self.at(session, SessionStatus::Working).await;
        self.exits(session, 0).await;
    }
}

async fn an_attempt_without_message_and_changes_fails(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let task = shop.add(vec![plain("Do something")]).await[0];
    shop.ends_silently(task).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported, "its changes are checked first");
    shop.looked_at(task, Some(untouched())).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Failed));
    assert_eq!(detail.reports[0].verdict, ReportVerdict::Refused);
    let reason = detail.attempts[0].reason.clone().unwrap();
    assert!(reason.contains("said nothing") && reason.contains("changed nothing"), "{reason}");
    assert_eq!(workers.len(), 2);
    shop.ends_silently(task).await;
    shop.looked_at(task, Some(untouched())).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Escalated, "two workers tried");
    let asked = &detail.escalations[0];
    assert_eq!(asked.kind, EscalationKind::GaveUp);
    assert!(asked.question.contains("changed nothing"), "it says why: {}", asked.question);
}

async fn an_attempt_without_message_but_with_changes_is_done(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Do something")]).await[0];
    shop.ends_silently(task).await;
    shop.looked_at(task, Some(touched())).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
}

async fn a_silent_attempt_with_unknown_changes_is_escalated(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    for told in [true, false] {
        let task = shop.add(vec![plain("Do something")]).await[0];
        shop.ends_silently(task).await;
        let report = shop.pending(task).await;
        let fact = match told {
            true => FactBody::Checked { report, results: Vec::new(), changes: None },
            false => FactBody::CheckFailed { report, detail: "no disk".into(), cause: CheckTrouble::Other },
        };
        shop.memory.happened(&shop.fixture, fact).await;
        let detail = shop.detail(task).await;
        assert_eq!(detail.task.status, TaskStatus::Escalated);
        assert_eq!(detail.escalations[0].kind, EscalationKind::Judgement, "{:?}", detail.escalations[0]);
    }
}

async fn an_attempt_without_message_and_changes_needs_no_judgement(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let acceptance = vec![Criterion::Text { text: "It is beautiful".into() }];
    let task = shop.add(vec![TaskAdd { acceptance, ..plain("Paint") }]).await[0];
    shop.ends_silently(task).await;
    shop.looked_at(task, Some(untouched())).await;
    let detail = shop.detail(task).await;
    assert_eq!(
        (detail.task.status, detail.escalations.len()),
        (TaskStatus::Ready, 0),
        "no person is asked without a result"
    );
}

async fn a_collected_report_names_its_deliverables(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![super::checked("Write it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.costs(session, 700).await;
    shop.finishes(task, "Wrote it.").await;
    shop.found(task, true, "it is there", Some(touched())).await;
    let detail = shop.detail(task).await;
    let report = &detail.reports[0];
    assert!(report.collected);
    assert_eq!(report.deliverables.files, ["src/a.rs"]);
    assert_eq!((&report.deliverables.commits[..], report.deliverables.more_commits), (&["h1".to_owned()][..], 0));
    assert!(report.deliverables.branch.is_some());
    assert_eq!(report.deliverables.branch, detail.attempts[0].branch);
    assert_eq!(report.usage.as_ref().and_then(|usage| usage.cost_micros), Some(700));
    assert_eq!(detail.attempts[0].usage.cost_micros, Some(700), "counted once");
}

async fn a_collected_report_names_its_commits(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    for (named, untold, first, earlier) in [(3_u32, 0, 1, 0), (102, 40, 3, 42)] {
        let task = shop.add(vec![super::checked(&format!("Write it in {named}"))]).await[0];
        shop.dispatch().await;
        shop.finishes(task, "Wrote it.").await;
        let commits = (1..=named).map(|n| format!("c{n}")).collect();
        let head = format!("c{named}");
        let changes = Changes { head, commits, more_commits: untold, tree: format!("t{named}"), ..touched() };
        shop.found(task, true, "it is there", Some(changes)).await;
        let made = shop.detail(task).await.reports.remove(0).deliverables;
        let expected: Vec<String> = (first..=named).map(|n| format!("c{n}")).collect();
        assert_eq!((made.commits, made.more_commits), (expected, earlier));
    }
}
