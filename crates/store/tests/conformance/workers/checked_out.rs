//! A task's work is on the checked-out branch, which may not be the workspace's own.

use domain::{ReportVerdict, SessionStatus, TaskId};
use protocol::link::{Changes, FactBody};
use protocol::{CheckedOut, Deliverables, GitStats, TaskTake, WorkerStop, verbs};

use super::{Shop, plain};
use crate::fixture::Fixture;

both!(
    a_report_names_the_checked_out_branch,
    work_without_a_branch_names_none,
    without_a_reported_branch_the_workspaces_branch_counts,
    the_next_worker_gets_the_checked_out_branch,
);

fn on(name: &str) -> Option<CheckedOut> {
    Some(CheckedOut::Branch { name: name.into() })
}

/// The branch in a finished task's report if its runner found this checked out, and the branch of its attempt.
async fn reported(fixture: Fixture, checked_out: Option<CheckedOut>) -> (Deliverables, Option<String>, Option<String>) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Do it elsewhere")]).await[0];
    shop.dispatch().await;
    let own = shop.detail(task).await.attempts[0].branch.clone();
    assert!(own.is_some());
    shop.ends(task, "Done.").await;
    let (base, head, commits) = ("b0".into(), "c1".into(), vec!["c1".into()]);
    shop.looked_at(task, Some(Changes { base, head, commits, checked_out, ..Changes::default() })).await;
    let mut detail = shop.detail(task).await;
    assert_eq!(detail.reports[0].verdict, ReportVerdict::Accepted);
    (detail.reports.remove(0).deliverables, detail.attempts.remove(0).branch, own)
}

async fn a_report_names_the_checked_out_branch(fixture: Fixture) {
    let (made, attempt, _) = reported(fixture, on("else`\nwhere")).await;
    assert_eq!((made.branch.as_deref(), attempt.as_deref()), (Some("else  where"), Some("else  where")));
    assert_eq!(made.commits, ["c1"]);
}

async fn work_without_a_branch_names_none(fixture: Fixture) {
    let (made, attempt, _) = reported(fixture, Some(CheckedOut::Commit {})).await;
    assert_eq!((made.branch, attempt), (None, None));
}

async fn without_a_reported_branch_the_workspaces_branch_counts(fixture: Fixture) {
    let (made, attempt, own) = reported(fixture, None).await;
    assert_eq!((made.branch, attempt), (own.clone(), own));
}

/// Ada's worker is stopped half-way and another one takes the task: returns its branch and its brief.
async fn next(shop: &Shop, task: TaskId) -> (Option<String>, String) {
    let worker = shop.task(task).await.assigned_to.unwrap();
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerStop { worker, input: WorkerStop { force: true } }).await;
    let input = TaskTake { task: Some(task), worker: Some("editor".into()), abilities: vec![], wait_seconds: None };
    let taken =
        shop.fixture.done(&shop.fixture.bo, verbs::TaskTake { project: shop.project.id, input }).await.taken.unwrap();
    (taken.handover.unwrap().branch, taken.brief)
}

async fn the_next_worker_gets_the_checked_out_branch(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![plain("Do it elsewhere"), plain("Do it nowhere")]).await;
    shop.dispatch().await;
    for (task, checked_out) in tasks.iter().zip([on("elsewhere"), Some(CheckedOut::Commit {})]) {
        let session = shop.session(*task).await;
        shop.at(session, SessionStatus::Working).await;
        let workspace = shop.detail(*task).await.attempts[0].workspace.unwrap();
        let stats = Some(GitStats { checked_out, ..Default::default() });
        let fact = FactBody::WorkspaceStats { workspace, stats, disk_bytes: None, saved_at: None };
        shop.memory.happened(&shop.fixture, fact).await;
    }
    let (branch, brief) = next(&shop, tasks[0]).await;
    assert_eq!(branch.as_deref(), Some("elsewhere"));
    assert!(brief.contains("on the branch `elsewhere`"), "{brief}");
    assert_eq!(next(&shop, tasks[1]).await.0, None);
}
