//! An escalation shows the last session's screen and changes, whatever the question.

use domain::{EscalationKind, TaskId, Visibility};
use protocol::link::{DesiredSession, FactBody, FromRunner, RunnerAnswer, RunnerAsk, ToRunner};
use protocol::{
    Call, Criterion, CriterionResult, DiffKind, DiffLine, Escalation, EscalationContext, FileDiff, Hunk, SessionLog,
    TaskAdd, TaskAsk, WorkConfigure, WorkspaceDiff,
};
use testkit::wait_until;

use super::{Shop, plain};
use crate::links::project;
use crate::support::{join, view};

fn diff() -> WorkspaceDiff {
    let line = |kind, text: &str| DiffLine { kind, text: text.into() };
    let lines = vec![line(DiffKind::Same, "fn main() {"), line(DiffKind::Removed, "old"), line(DiffKind::Added, "new")];
    let file = FileDiff {
        path: "src/main.rs".into(),
        old_path: None,
        change: "modified".into(),
        old_mode: Some("100644".into()),
        mode: Some("100644".into()),
        binary: false,
        insertions: 1,
        deletions: 1,
        hunks: vec![Hunk { old_start: 1, new_start: 1, lines, old_open: false, new_open: false }],
        exact: true,
    };
    WorkspaceDiff { files: vec![file], tree: None, truncated: false }
}

impl Shop {
    /// The runner is asked for a session's screen and changes, and has them.
    pub(crate) async fn shows(&mut self, plan: &DesiredSession, screen: &str) {
        let (session, workspace) = (plan.session, plan.workspace.workspace);
        let log = |frame: &ToRunner| matches!(frame, ToRunner::Ask { ask: RunnerAsk::Log { session: of, .. }, .. } if *of == session);
        let ToRunner::Ask { id, .. } = self.runner.told("that the screen is wanted", log).await else { unreachable!() };
        let answer = RunnerAnswer::Log(SessionLog { text: screen.into(), truncated: true, setup: false });
        self.runner.tell(&FromRunner::Told { id, answer }).await;
        let changes = |frame: &ToRunner| matches!(frame, ToRunner::Ask { ask: RunnerAsk::Diff { workspace: of, .. }, .. } if *of == workspace);
        let ToRunner::Ask { id, .. } = self.runner.told("that the changes are wanted", changes).await else {
            unreachable!()
        };
        self.runner.tell(&FromRunner::Told { id, answer: RunnerAnswer::Diff(diff()) }).await;
    }

    /// What is asked about a task, once its context is as wanted.
    pub(crate) async fn asked(&self, task: TaskId, wanted: impl Fn(&EscalationContext) -> bool) -> Escalation {
        wait_until("the escalation has its context", async || {
            let asked = self.task(task).await.escalations.pop()?;
            wanted(&asked.context).then_some(asked)
        })
        .await
    }
}

#[tokio::test]
async fn questions_about_work_come_with_its_last_screen_and_changes() {
    let mut shop = Shop::new().await;
    let strict = WorkConfigure { tries_per_worker: Some(0), workers_per_task: Some(1), ..Default::default() };
    shop.configure(strict).await;
    shop.start(1).await;
    let judged =
        TaskAdd { acceptance: vec![Criterion::Text { text: "It is fine".into() }], ..plain("Paint a picture") };
    let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }];
    let refused = TaskAdd { acceptance, ..plain("Write the file out.txt") };
    for (task, kind) in [(judged, EscalationKind::Judgement), (refused, EscalationKind::Refused)] {
        let task = shop.add(vec![task]).await[0];
        let plan = shop.session_of(task, &[]).await;
        shop.exits(plan.session, 0).await;
        if kind == EscalationKind::Refused {
            let report = shop.check_of(task).await.report;
            let results = vec![CriterionResult { criterion: 0, passed: Some(false), reason: "it is empty".into() }];
            shop.runner.fact(FactBody::Checked { report, results, changes: None }).await;
        }
        let before = shop.task(task).await.escalations.pop().expect("it is there at once");
        assert_eq!((before.kind, before.session), (kind, Some(plan.session)));
        shop.shows(&plan, "$ make\r\nall \u{1b}[32mgreen").await;
        let asked = shop.asked(task, |context| context.diff.is_some()).await;
        let context = asked.context;
        assert_eq!(context.screen.as_deref(), Some("$ make\nall [32mgreen"));
        let patch = context.diff.expect("the changes");
        assert!(patch.starts_with("diff --git a/src/main.rs b/src/main.rs\n@@"), "{patch}");
        assert!(patch.contains("\n fn main() {\n-old\n+new\n"), "{patch}");
        assert_eq!((asked.question, context.missing), (before.question, None));
    }
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_terminal_reports_its_offline_runner_and_resumes() {
    let mut shop = Shop::new().await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Ask a lot")]).await[0];
    let plan = shop.session_of(task, &[]).await;
    shop.runner.at(plan.session, domain::SessionStatus::Working).await;
    let fence = shop.task(task).await.task.lease.expect("it is held").fence;
    shop.runner.stream.close(None).await.ok();
    wait_until("the runner is away", async || {
        let runners = view!(&shop.hub, &shop.olga, Runners, Call::RunnerList {});
        (!runners[0].connected).then_some(())
    })
    .await;
    let input = TaskAsk { fence, question: "Tabs?".into(), options: vec![], context: "x".into(), give_up: false };
    let asked = view!(&shop.hub, &shop.olga, Escalation, Call::TaskAsk { task, input });
    assert_eq!(asked.question, "Tabs?");
    let told = shop.asked(task, |context| context.missing.is_some()).await.context;
    let missing = told.missing.expect("why");
    assert!(missing.contains("`box`") && missing.contains("away"), "{missing}");
    assert_eq!((told.text.as_str(), told.screen), ("x", None));
    shop.runner.again(shop.hub.url()).await;
    shop.runner.hello(8).await;
    shop.shows(&plan, "Tabs or spaces?").await;
    let shown = shop.asked(task, |context| context.diff.is_some()).await.context;
    assert_eq!((shown.screen.as_deref(), shown.missing), (Some("Tabs or spaces?"), None));
    shop.hub.stop().await;
}

#[tokio::test]
async fn the_screen_and_changes_of_a_session_need_access_to_it() {
    let mut shop = Shop::new().await;
    shop.project = project(&shop.hub, &shop.olga, Visibility::ReadWrite, false).await;
    shop.start(1).await;
    let bo = join(&shop.hub, "bo").await;
    let task = shop
        .add(vec![TaskAdd { acceptance: vec![Criterion::Text { text: "Fine".into() }], ..plain("Paint") }])
        .await[0];
    let plan = shop.session_of(task, &[]).await;
    shop.exits(plan.session, 0).await;
    shop.shows(&plan, "password: hunter2").await;
    shop.asked(task, |context| context.diff.is_some()).await;
    let theirs = view!(&shop.hub, &bo, TaskDetail, Call::TaskShow { task }).escalations.pop().expect("they see it");
    assert_eq!((theirs.context.screen, theirs.context.diff), (None, None));
    let list = view!(&shop.hub, &bo, Escalations, Call::EscalationList { filter: Default::default() });
    assert!(list.iter().all(|one| one.context.screen.is_none() && one.context.diff.is_none()));
    let one = view!(&shop.hub, &bo, Escalation, Call::EscalationShow { escalation: theirs.id });
    assert_eq!((one.context.screen, one.context.diff), (None, None));
    let input = protocol::EscalationAnswer { option: None, act: Some(domain::AnswerAct::Accept), text: None };
    let answered = view!(&shop.hub, &bo, Escalation, Call::EscalationAnswer { escalation: theirs.id, input });
    assert_eq!((answered.context.screen, answered.context.diff), (None, None));
    shop.hub.stop().await;
}
