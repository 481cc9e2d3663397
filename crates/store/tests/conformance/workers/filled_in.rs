//! Missing parts of a report are filled in from the runner's findings.

use domain::{Actor, SessionId, TaskId};
use protocol::link::{ChangedFile, Changes};
use protocol::{CheckedOut, Deliverables, TaskReport, TaskTake, verbs};
use store::Caller;

use super::{Shop, plain};
use crate::execution::{in_project, spawn};
use crate::fixture::{Fixture, id};

both!(
    missing_deliverables_are_filled_in,
    given_deliverables_are_kept,
    work_of_an_earlier_task_in_the_workspace_is_not_named_again,
    a_report_that_gives_up_names_its_branch,
);

/// A runner's findings: these files and commits.
fn changes(files: &[(&str, &str)], commits: &[&str]) -> Changes {
    let file = |(path, content): &(&str, &str)| ChangedFile { path: (*path).into(), content: Some((*content).into()) };
    Changes {
        base: "b0".into(),
        head: commits.last().copied().unwrap_or("b0").into(),
        checked_out: Some(CheckedOut::Branch { name: "elsewhere".into() }),
        commits: commits.iter().map(|commit| (*commit).to_owned()).collect(),
        tree: format!("{files:?}"),
        files: files.iter().map(file).collect(),
        ..Changes::default()
    }
}

fn said(fence: u64, deliverables: Option<Deliverables>, failed: Option<&str>) -> TaskReport {
    let (summary, failed) = ("I did it.".into(), failed.map(str::to_owned));
    TaskReport { fence, summary, deliverables, context_score: None, usage: None, failed }
}

/// A task's session reports these deliverables; its runner finds those changes.
async fn reported(shop: &mut Shop, task: TaskId, given: Option<Deliverables>, found: Changes) -> Deliverables {
    let fence = shop.task(task).await.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, verbs::TaskReport { task, input: said(fence, given, None) }).await;
    shop.looked_at(task, Some(found)).await;
    shop.detail(task).await.reports.remove(0).deliverables
}

async fn handed_out(fixture: Fixture) -> (Shop, TaskId) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Write it")]).await[0];
    shop.dispatch().await;
    (shop, task)
}

async fn missing_deliverables_are_filled_in(fixture: Fixture) {
    let (mut shop, task) = handed_out(fixture).await;
    let made = reported(&mut shop, task, None, changes(&[("a.md", "1"), ("b.md", "1")], &["c1", "c2"])).await;
    assert_eq!(
        (made.files, made.commits),
        (vec!["a.md".to_owned(), "b.md".into()], vec!["c1".to_owned(), "c2".into()])
    );
    assert_eq!(made.branch.as_deref(), Some("elsewhere"));
    let detail = shop.detail(task).await;
    assert!(!detail.reports[0].collected && detail.attempts[0].branch.as_deref() == Some("elsewhere"));
}

async fn given_deliverables_are_kept(fixture: Fixture) {
    let (mut shop, task) = handed_out(fixture).await;
    let given = Deliverables { files: vec!["b.md".into()], branch: Some("pushed".into()), ..Deliverables::default() };
    let made = reported(&mut shop, task, Some(given.clone()), changes(&[("a.md", "1"), ("b.md", "1")], &["c1"])).await;
    assert_eq!(made, Deliverables { commits: vec!["c1".into()], ..given });
}

pub(super) fn agent(shop: &Shop, session: SessionId) -> Caller {
    let actor = Actor::Agent { user: id(&shop.fixture.ada), project: shop.project.id, session };
    Caller::bearer(actor, "Ada", "192.0.2.9")
}

async fn work_of_an_earlier_task_in_the_workspace_is_not_named_again(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let session = shop.fixture.done(&shop.fixture.ada, spawn(in_project(&shop.project, "work"), &[shop.runner])).await;
    let me = agent(&shop, session.id);
    shop.add(vec![plain("Write one"), plain("Write another")]).await;
    let all: [(&[_], &[_]); 2] = [(&[("a.md", "1")], &["c1"]), (&[("a.md", "1"), ("b.md", "1")], &["c1", "c2"])];
    let mut made = Vec::new();
    for (files, commits) in all {
        let input = TaskTake { task: None, worker: None, abilities: vec![], wait_seconds: None };
        let taken = shop.fixture.done(&me, verbs::TaskTake { project: shop.project.id, input }).await.taken.unwrap();
        let task = taken.task.id;
        shop.fixture.done(&me, verbs::TaskReport { task, input: said(taken.lease.fence, None, None) }).await;
        shop.looked_at(task, Some(changes(files, commits))).await;
        let deliverables = shop.detail(task).await.reports.remove(0).deliverables;
        made.push((deliverables.files, deliverables.commits));
        shop.fixture.pass(1_000);
    }
    let one = |file: &str, commit: &str| (vec![file.to_owned()], vec![commit.to_owned()]);
    assert_eq!(made, [one("a.md", "c1"), one("b.md", "c2")]);
}

async fn a_report_that_gives_up_names_its_branch(fixture: Fixture) {
    let (shop, task) = handed_out(fixture).await;
    let own = shop.detail(task).await.attempts[0].branch.clone();
    let fence = shop.task(task).await.lease.unwrap().fence;
    shop.fixture
        .done(&shop.fixture.ada, verbs::TaskReport { task, input: said(fence, None, Some("no compiler")) })
        .await;
    let made = shop.detail(task).await.reports.remove(0).deliverables;
    assert!(own.is_some() && made.branch == own, "{made:?}");
}
