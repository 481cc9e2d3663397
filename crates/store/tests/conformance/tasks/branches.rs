//! Reports of work on a branch: checked by a runner, in a workspace created from the branch.

use domain::{EscalationKind, ReportId, ReportVerdict, RunnerId, TaskId, TaskStatus, Visibility};
use protocol::link::{CheckTrouble, DesiredCheck, FactBody, StartFrom};
use protocol::{
    Criterion, CriterionResult, Deliverables, ExecutionFilter, GitStats, Project, TakenTask, TaskAdd, WorkerStart,
    verbs,
};
use store::{Caller, Placed, Reported};

use super::{LEASE, add_one, detail, invalid, report, shared, status, takes, task};
use crate::execution::{self, Memory, runner};
use crate::fixture::Fixture;

both! {
    a_branch_is_checked_by_a_runner_of_the_workers_owner,
    a_report_with_a_missing_branch_goes_back_to_its_worker,
    a_report_without_a_branch_goes_back_to_its_worker,
    if_a_runner_cannot_reach_the_repository_another_tries,
    if_the_checking_runner_goes_away_another_checks,
    a_person_decides_if_no_runner_can_check,
    other_peoples_runners_do_not_run_its_code_without_approval,
    an_invalid_branch_name_is_refused,
    other_work_in_the_workspace_is_not_judged,
}

/// A project with a repository, and a task with a file criterion, held by an external worker.
struct Outside {
    fixture: Fixture,
    project: Project,
    task: TaskId,
    held: TakenTask,
}

impl Outside {
    async fn open(fixture: Fixture) -> Self {
        let project = execution::project(&fixture, Visibility::ReadWrite, false).await;
        let acceptance = vec![Criterion::FileExists { path: "a.md".into() }];
        let task = add_one(&fixture, project.id, TaskAdd { acceptance, ..task("write") }).await;
        let held = fixture.done(&fixture.ada, takes(project.id, "editor")).await.taken.unwrap();
        Self { fixture, project, task, held }
    }

    fn reports(&self, branch: &str) -> verbs::TaskReport {
        let mut report = report(self.task, self.held.lease.fence, "pushed");
        let deliverables = Deliverables { branch: Some(branch.into()), ..Default::default() };
        report.input.deliverables = Some(deliverables);
        report
    }

    async fn report(&self, branch: &str) -> ReportId {
        match self.fixture.done(&self.fixture.ada, self.reports(branch)).await {
            Reported::Taken(report) => report.id,
            late => panic!("{late:?}"),
        }
    }

    async fn checks(&self, runner: RunnerId) -> Vec<DesiredCheck> {
        self.fixture.store.desired(runner).await.unwrap().unwrap().checks
    }

    async fn found(&self, memory: &mut Memory, report: ReportId, passed: bool, reason: &str) {
        let results = vec![CriterionResult { criterion: 0, passed: Some(passed), reason: reason.into() }];
        memory.happened(&self.fixture, FactBody::Checked { report, results, changes: None }).await;
    }

    async fn failed(&self, memory: &mut Memory, check: &DesiredCheck, detail: &str, cause: CheckTrouble) {
        let workspace = check.workspace.workspace;
        memory.happened(&self.fixture, FactBody::WorkspaceFailed { workspace, detail: detail.into() }).await;
        let fact = FactBody::CheckFailed { report: check.report, detail: detail.into(), cause };
        memory.happened(&self.fixture, fact).await;
    }

    async fn status(&self) -> TaskStatus {
        status(&self.fixture, self.task).await
    }
}

async fn a_branch_is_checked_by_a_runner_of_the_workers_owner(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    runner(&out.fixture, &out.fixture.bo, "aside", 4).await;
    let box_ = runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let mut memory = Memory::new(box_);
    let first = out.report("theirs").await;
    assert_eq!(out.status().await, TaskStatus::Reported);
    let checks = out.checks(box_).await;
    let [check] = checks.as_slice() else { panic!("{checks:?}") };
    assert_eq!((check.report, check.task, check.workspace.code_by.clone()), (first, out.task, None));
    assert_eq!(check.workspace.from, Some(StartFrom::Branch { branch: "theirs".into() }));
    assert_eq!(check.workspace.base.as_deref(), Some("main"));
    assert!(check.workspace.repository.is_some() && check.workspace.branch != "theirs");
    assert!(out.fixture.store.checked_workspaces(box_).await.unwrap().is_empty(), "it is needed");
    out.found(&mut memory, first, false, "`a.md` does not exist").await;
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.task.attempt), (TaskStatus::Running, 1), "back to its worker");
    assert_eq!(shown.reports[0].reason.as_deref(), Some("`a.md` does not exist"));
    assert_eq!(out.fixture.store.checked_workspaces(box_).await.unwrap(), [check.workspace.workspace]);
    let second = out.report("theirs").await;
    let again = out.checks(box_).await.remove(0);
    assert_ne!(again.workspace.workspace, check.workspace.workspace, "created from the branch as it is now");
    out.found(&mut memory, second, true, "it is there").await;
    assert_eq!(out.status().await, TaskStatus::Done);
    let left = out.fixture.store.checked_workspaces(box_).await.unwrap();
    assert_eq!(left.len(), 2);
    let hub = Caller::hub("tidy");
    let swept = store::SweptCheck { workspace: left[0], kept: Some("one file is not committed".into()) };
    out.fixture.done(&hub, swept).await;
    let stats = Some(GitStats { unpushed: 1, ..Default::default() });
    let counted = FactBody::WorkspaceStats { workspace: left[1], stats, disk_bytes: Some(9), saved_at: None };
    memory.happened(&out.fixture, counted).await;
    out.fixture.done(&hub, store::SweptCheck { workspace: left[1], kept: None }).await;
    let ended = ExecutionFilter { ended: Some(true), ..Default::default() };
    let all = out.fixture.store.workspaces(&out.fixture.ada, ended).await.unwrap();
    let gone = all.iter().find(|one| one.id == left[1]).unwrap();
    assert_eq!((gone.stats.as_ref(), gone.disk_bytes), (None, Some(0)), "a deleted folder has no commits to push");
    assert!(out.fixture.store.checked_workspaces(box_).await.unwrap().is_empty());
    let there = out.fixture.store.workspaces(&out.fixture.ada, Default::default()).await.unwrap();
    let [kept] = there.as_slice() else { panic!("{there:?}") };
    assert!(kept.id == left[0] && kept.detail.as_deref().unwrap().contains("not committed"), "{kept:?}");
}

async fn a_report_with_a_missing_branch_goes_back_to_its_worker(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    let box_ = runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let mut memory = Memory::new(box_);
    out.report("theirs").await;
    let check = out.checks(box_).await.remove(0);
    out.failed(&mut memory, &check, "branch `theirs` is not at /srv/parser; push it", CheckTrouble::Missing).await;
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.task.lease.is_some()), (TaskStatus::Running, true));
    assert_eq!(shown.reports[0].verdict, ReportVerdict::Refused);
    assert_eq!(shown.reports[0].reason.as_deref(), Some("branch `theirs` is not at /srv/parser; push it"));
    assert!(shown.escalations.is_empty());
    let next = out.report("theirs").await;
    assert_eq!(out.checks(box_).await[0].report, next, "pushed, and reported again");
}

async fn a_report_without_a_branch_goes_back_to_its_worker(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    let box_ = runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let silent = report(out.task, out.held.lease.fence, "done");
    let Reported::Taken(refused) = out.fixture.done(&out.fixture.ada, silent).await else { panic!("it is in time") };
    assert_eq!(refused.verdict, ReportVerdict::Refused);
    assert!(refused.reason.unwrap().contains("push the branch"));
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.task.attempt), (TaskStatus::Running, 1), "back to its worker");
    assert_eq!(shown.reports[0].verdict, ReportVerdict::Refused);
    assert!(shown.escalations.is_empty());
    let next = out.report("theirs").await;
    assert_eq!(out.checks(box_).await[0].report, next, "pushed, and reported again");
}

async fn if_a_runner_cannot_reach_the_repository_another_tries(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    let one = runner(&out.fixture, &out.fixture.ada, "one", 4).await;
    let two = runner(&out.fixture, &out.fixture.ada, "two", 4).await;
    let id = out.report("theirs").await;
    let check = out.checks(one).await.remove(0);
    out.failed(&mut Memory::new(one), &check, "no route to host", CheckTrouble::Unreachable).await;
    assert!(out.checks(one).await.is_empty());
    let again = out.checks(two).await.remove(0);
    assert_eq!((again.report, again.workspace.from.clone()), (id, check.workspace.from.clone()));
    assert_eq!(out.status().await, TaskStatus::Reported);
    assert_eq!(out.fixture.store.checked_workspaces(one).await.unwrap(), [check.workspace.workspace]);
    out.failed(&mut Memory::new(two), &again, "no way in", CheckTrouble::Unreachable).await;
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.escalations[0].kind), (TaskStatus::Escalated, EscalationKind::Uncheckable));
    assert!(shown.escalations[0].context.text.contains("no way in"), "{:?}", shown.escalations[0]);
}

async fn if_the_checking_runner_goes_away_another_checks(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    let one = runner(&out.fixture, &out.fixture.ada, "one", 4).await;
    let two = runner(&out.fixture, &out.fixture.ada, "two", 4).await;
    let report = out.report("theirs").await;
    let first = out.checks(one).await.remove(0);
    let hub = Caller::hub("foreman");
    out.fixture.done(&hub, store::SeeRunner { runner: one, link: "one".into(), about: None }).await;
    out.fixture.pass(LEASE);
    let give_up = store::GiveUpChecks { connected: vec![two], hub: out.held.task.created_at };
    assert_eq!(out.fixture.done(&hub, give_up).await, [report]);
    assert!(out.checks(one).await.is_empty());
    let again = out.checks(two).await.remove(0);
    assert_eq!((again.report, again.workspace.from.clone()), (report, first.workspace.from.clone()));
    assert_eq!(out.fixture.store.checked_workspaces(one).await.unwrap(), [first.workspace.workspace]);
    out.found(&mut Memory::new(one), report, false, "too late").await;
    assert_eq!(out.status().await, TaskStatus::Reported, "only the other runner may report now");
    out.found(&mut Memory::new(two), report, true, "it is there").await;
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.escalations.len()), (TaskStatus::Done, 0));
}

async fn a_person_decides_if_no_runner_can_check(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    // The project may not use Bo's runner.
    runner(&out.fixture, &out.fixture.bo, "aside", 4).await;
    out.report("theirs").await;
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.escalations[0].kind), (TaskStatus::Escalated, EscalationKind::Uncheckable));
    assert!(shown.escalations[0].question.contains("no runner"), "{}", shown.escalations[0].question);
    let project = shared(&out.fixture).await;
    runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let acceptance = vec![Criterion::FileExists { path: "a.md".into() }];
    let task = add_one(&out.fixture, project, TaskAdd { acceptance, ..task("write") }).await;
    let held = out.fixture.done(&out.fixture.ada, takes(project, "other")).await.taken.unwrap();
    let mut report = report(task, held.lease.fence, "pushed");
    report.input.deliverables = Some(Deliverables { branch: Some("theirs".into()), ..Default::default() });
    out.fixture.done(&out.fixture.ada, report).await;
    let shown = detail(&out.fixture, task).await;
    assert_eq!(shown.escalations[0].kind, EscalationKind::Uncheckable);
    assert!(shown.escalations[0].question.contains("no repository"), "{}", shown.escalations[0].question);
}

async fn other_peoples_runners_do_not_run_its_code_without_approval(fixture: Fixture) {
    let mut out = Outside::open(fixture).await;
    let release = protocol::TaskRelease { fence: out.held.lease.fence, reason: None };
    out.fixture.done(&out.fixture.ada, verbs::TaskRelease { task: out.task, input: release }).await;
    out.held = out.fixture.done(&out.fixture.bo, takes(out.project.id, "bo")).await.taken.unwrap();
    let box_ = runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let start = Placed { verb: verbs::WorkerStart { project: out.project.id, input }, connected: vec![box_] };
    out.fixture.done(&out.fixture.ada, start).await;
    out.fixture.done(&out.fixture.bo, out.reports("theirs")).await;
    let checks = out.checks(box_).await;
    assert_eq!(checks.len(), 1, "Ada uses this runner for the project's work");
    let by = checks[0].workspace.code_by.as_ref().map(|by| by.user.id);
    assert_eq!(by, Some(out.fixture.bo.person().unwrap().id), "but Bo's code does not run without approval");
}

async fn an_invalid_branch_name_is_refused(fixture: Fixture) {
    let out = Outside::open(fixture).await;
    runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    for name in ["--upload-pack=x", "a b", "$(id)", "x..y"] {
        let refused = out.fixture.refused(&out.fixture.ada, out.reports(name)).await;
        assert!(invalid(&refused).contains("branch"), "{refused}");
    }
    let shown = detail(&out.fixture, out.task).await;
    assert_eq!((shown.task.status, shown.reports.len()), (TaskStatus::Assigned, 0));
}

async fn other_work_in_the_workspace_is_not_judged(fixture: Fixture) {
    let mut out = Outside::open(fixture).await;
    let release = protocol::TaskRelease { fence: out.held.lease.fence, reason: None };
    out.fixture.done(&out.fixture.ada, verbs::TaskRelease { task: out.task, input: release }).await;
    let box_ = runner(&out.fixture, &out.fixture.ada, "box", 4).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let start = Placed { verb: verbs::WorkerStart { project: out.project.id, input }, connected: vec![box_] };
    let worker = out.fixture.done(&out.fixture.ada, start).await.remove(0);
    let dispatch = store::Dispatch { project: out.project.id, connected: vec![box_], heard: vec![box_] };
    out.fixture.done(&Caller::hub("foreman"), dispatch).await;
    let before = detail(&out.fixture, out.task).await.attempts[1].workspace.unwrap();
    let stop = verbs::WorkerStop { worker: worker.id, input: protocol::WorkerStop { force: true } };
    out.fixture.done(&out.fixture.ada, stop).await;
    out.held = out.fixture.done(&out.fixture.ada, takes(out.project.id, "editor")).await.taken.unwrap();
    out.report("theirs").await;
    let check = out.checks(box_).await.remove(0);
    assert_ne!(check.workspace.workspace, before);
    assert_eq!(check.workspace.from, Some(StartFrom::Branch { branch: "theirs".into() }));
}
