//! A workspace in which a sandboxed process has worked keeps its sandbox: for its setup, its teardown, checks and later
//! sessions.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use domain::{ProjectId, ReportId, TaskId, WorkspaceId};
use protocol::link::{DesiredCheck, DesiredSession, DesiredWorkspace, FactBody, RunnerAnswer, RunnerAsk, StartFrom};
use protocol::{Criterion, Sandbox};
use sqlx::ConnectOptions as _;
use sqlx::sqlite::SqliteConnectOptions;

use crate::hub::FakeHub;
use crate::support::{TestRunner, fixture, output, repository, shell};

const CONTAINED: Sandbox = Sandbox { network: true, home: false };

/// A folder outside in which everything that is not sandboxed leaves a mark.
struct Marks(tempfile::TempDir);

impl Marks {
    fn new() -> Self {
        Self(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap())
    }

    /// A command that leaves a mark outside if it can, and records in the workspace that it ran.
    fn line(&self, name: &str) -> String {
        format!("touch '{}/{name}'; echo {name} >> ran; true", self.0.path().display())
    }

    fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn workspace(origin: &Path, setup: &str, teardown: Option<&str>) -> DesiredWorkspace {
    let mut wanted = repository(origin);
    wanted.setup = Some(setup.to_owned());
    wanted.teardown = teardown.map(str::to_owned);
    DesiredWorkspace {
        workspace: WorkspaceId::generate(),
        repository: Some(wanted),
        base: None,
        branch: "work".to_owned(),
        repository_by: None,
        code_by: None,
        from: None,
    }
}

fn session(workspace: &DesiredWorkspace, sandbox: Option<Sandbox>, line: &str) -> DesiredSession {
    DesiredSession { sandbox, workspace: workspace.clone(), ..shell(line) }
}

fn check(workspace: &DesiredWorkspace, sandbox: Option<Sandbox>, line: &str) -> DesiredCheck {
    DesiredCheck {
        report: ReportId::generate(),
        task: TaskId::generate(),
        project: ProjectId::generate(),
        activity: None,
        criteria: vec![Criterion::Command {
            argv: ["/bin/sh", "-c", line].map(str::to_owned).to_vec(),
            exit_code: None,
            timeout_seconds: Some(60),
        }],
        files: Vec::new(),
        workspace: workspace.clone(),
        commands_by: None,
        sandbox,
        begin_told: false,
        summary: None,
        forks: vec![],
    }
}

async fn ran(hub: &FakeHub, session: &DesiredSession) -> Vec<String> {
    let path = PathBuf::from(hub.workspace(session).await);
    std::fs::read_to_string(path.join("ran")).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Runs a session to its end.
async fn worked(hub: &FakeHub, all: &mut Vec<DesiredSession>, session: &DesiredSession) {
    all.push(session.clone());
    hub.desire(all.clone());
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
}

#[tokio::test]
async fn everything_in_a_sandboxed_workspace_runs_in_the_sandbox() {
    let (origin, marks) = (fixture(&[(".gitignore", "ran\n")]), Marks::new());
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let knock = format!("bash -c 'echo > /dev/tcp/127.0.0.1/{}'", listener.local_addr().unwrap().port());
    let teardown = format!("{}; {knock}", marks.line("teardown"));
    let place = workspace(origin.path(), &marks.line("setup"), Some(&teardown));
    let mut all = Vec::new();
    let first = session(&place, Some(CONTAINED), &marks.line("first"));
    worked(&hub, &mut all, &first).await;
    worked(&hub, &mut all, &session(&place, None, &marks.line("second"))).await;
    let checked = check(&place, None, &marks.line("check"));
    hub.want_checked(vec![checked.clone()]);
    assert_eq!(hub.checked(&checked).await.unwrap().0[0].passed, Some(true));
    runner.kill().await;
    runner.spawn();
    hub.connected(2).await;
    worked(&hub, &mut all, &session(&place, None, &marks.line("third"))).await;
    assert_eq!(ran(&hub, &first).await, ["setup", "first", "second", "check", "third"]);
    assert_eq!(hub.ask(RunnerAsk::Clean { workspace: place.workspace }).await, Ok(RunnerAnswer::Done));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_ok(), "the teardown ran: {}", runner.log());
    assert_eq!(marks.left(), Vec::<String>::new(), "everything was contained");
}

#[tokio::test]
async fn a_later_session_or_check_gets_no_wider_sandbox() {
    let (origin, hub) = (fixture(&[]), FakeHub::start().await);
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let knock = format!("if bash -c 'echo > /dev/tcp/127.0.0.1/{port}'; then exit 9; fi");
    let place = workspace(origin.path(), "true", None);
    let mut all = Vec::new();
    let closed = Some(Sandbox { network: false, home: false });
    worked(&hub, &mut all, &session(&place, closed, &knock)).await;
    let wide = Some(Sandbox { network: true, home: true });
    worked(&hub, &mut all, &session(&place, wide.clone(), &knock)).await;
    let checked = check(&place, wide, &knock);
    hub.want_checked(vec![checked.clone()]);
    let (results, _) = hub.checked(&checked).await.unwrap();
    assert_eq!(results[0].passed, Some(true), "{results:?} {}", runner.log());
}

#[tokio::test]
async fn a_workspace_without_a_sandbox_has_none() {
    let (origin, marks) = (fixture(&[]), Marks::new());
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let place = workspace(origin.path(), &marks.line("setup"), None);
    worked(&hub, &mut Vec::new(), &session(&place, None, &marks.line("first"))).await;
    let mut left = marks.left();
    left.sort();
    assert_eq!(left, ["first", "setup"]);
}

#[tokio::test]
async fn sandboxes_of_earlier_versions_are_known_from_their_sessions() {
    let (origin, marks) = (fixture(&[]), Marks::new());
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let place = workspace(origin.path(), &marks.line("setup"), None);
    let mut all = Vec::new();
    worked(&hub, &mut all, &session(&place, Some(CONTAINED), "true")).await;
    runner.end().await;
    let journal = SqliteConnectOptions::new().filename(runner.data_dir().join("journal.db"));
    let mut journal = journal.connect().await.unwrap();
    let forgotten =
        sqlx::query("UPDATE workspaces SET body = json_remove(body, '$.sandbox')").execute(&mut journal).await;
    assert_eq!(forgotten.unwrap().rows_affected(), 1);
    drop(journal);
    runner.spawn();
    hub.connected(2).await;
    worked(&hub, &mut all, &session(&place, None, &marks.line("second"))).await;
    assert_eq!(marks.left(), Vec::<String>::new());
}

#[tokio::test]
async fn work_from_a_sandbox_elsewhere_is_set_up_in_one() {
    let (origin, marks) = (fixture(&[("run.sh", "true\n")]), Marks::new());
    let (old, new) = (FakeHub::start().await, FakeHub::start().await);
    let (_first, _second) = (TestRunner::start(&old), TestRunner::start(&new));
    old.connected(1).await;
    new.connected(1).await;
    let place = workspace(origin.path(), "true", None);
    let made = session(&place, Some(CONTAINED), &format!("echo \"{}\" > run.sh", marks.line("setup")));
    worked(&old, &mut Vec::new(), &made).await;
    let Ok(RunnerAnswer::Bundle(bundle)) = old.ask(RunnerAsk::Bundle { workspace: place.workspace }).await else {
        panic!("no bundle")
    };
    let ask = RunnerAsk::BundlePart { bundle: bundle.bundle.clone(), offset: 0 };
    let Ok(RunnerAnswer::BundlePart(part)) = old.ask(ask).await else { panic!("no part") };
    assert_eq!(part.next, bundle.bytes);
    assert!(!base64::engine::general_purpose::STANDARD.decode(&part.data).unwrap().is_empty());
    let take = RunnerAsk::BundleTake { bundle: bundle.bundle.clone(), bytes: bundle.bytes, offset: 0, data: part.data };
    assert_eq!(new.ask(take).await.unwrap(), RunnerAnswer::Done);
    let mut there = workspace(origin.path(), "sh ./run.sh", None);
    there.from = Some(StartFrom::Bundle { bundle: bundle.bundle, contained: Some(CONTAINED) });
    let goes_on = session(&there, None, &marks.line("next"));
    worked(&new, &mut Vec::new(), &goes_on).await;
    assert_eq!(ran(&new, &goes_on).await, ["setup", "next"]);
    assert_eq!(marks.left(), Vec::<String>::new());
}

/// A folder of programs without bubblewrap.
fn without_bubblewrap() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    for program in ["sh", "git", "touch", "true", "bash", "env"] {
        let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file());
        std::os::unix::fs::symlink(found.unwrap(), folder.path().join(program)).unwrap();
    }
    folder
}

#[tokio::test]
async fn without_bubblewrap_everything_sandboxed_is_refused() {
    let (origin, marks, programs) = (fixture(&[]), Marks::new(), without_bubblewrap());
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let path = programs.path().display().to_string();
    runner.set("PATH", &path);
    runner.spawn();
    hub.connected(1).await;
    let refused = |why: Option<&str>| assert!(why.is_some_and(|why| why.contains("needs bubblewrap")), "{why:?}");
    // A setup, and a session without one.
    let place = workspace(origin.path(), &marks.line("setup"), None);
    let bare = DesiredWorkspace { workspace: WorkspaceId::generate(), repository: None, ..place.clone() };
    let mut all = Vec::new();
    for place in [&place, &bare] {
        let session = session(place, Some(CONTAINED), &marks.line("session"));
        all.push(session.clone());
        hub.desire(all.clone());
        let end = hub.over(session.session).await;
        refused(end.detail.as_deref());
        assert_eq!(end.code, None);
    }
    // One that wants no sandbox, where another wanted one.
    let later = session(&bare, None, &marks.line("later"));
    all.push(later.clone());
    hub.desire(all.clone());
    refused(hub.over(later.session).await.detail.as_deref());
    let other = DesiredWorkspace { workspace: WorkspaceId::generate(), ..bare.clone() };
    let checked = check(&other, Some(CONTAINED), &marks.line("check"));
    hub.want_checked(vec![checked.clone()]);
    let (results, _) = hub.checked(&checked).await.unwrap();
    assert_eq!(results[0].passed, None, "{results:?}");
    refused(Some(&results[0].reason));
    assert_eq!(marks.left(), Vec::<String>::new(), "nothing ran instead");
}

#[tokio::test]
async fn a_teardown_that_cannot_be_sandboxed_does_not_run() {
    let (origin, marks, programs) = (fixture(&[]), Marks::new(), without_bubblewrap());
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let place = workspace(origin.path(), "true", Some(&marks.line("teardown")));
    let first = session(&place, Some(CONTAINED), "true");
    worked(&hub, &mut Vec::new(), &first).await;
    runner.end().await;
    runner.set("PATH", &programs.path().display().to_string());
    runner.spawn();
    hub.connected(2).await;
    assert_eq!(hub.ask(RunnerAsk::Clean { workspace: place.workspace }).await, Ok(RunnerAnswer::Done));
    let gone =
        |fact: &FactBody| matches!(fact, FactBody::WorkspaceCleaned { workspace } if *workspace == place.workspace);
    hub.fact("that the workspace is deleted", |fact| gone(fact).then_some(())).await;
    assert!(runner.log().contains("needs bubblewrap"), "{}", runner.log());
    assert_eq!(marks.left(), Vec::<String>::new());
}

#[tokio::test]
async fn a_contained_session_sees_objects_of_its_own_repository_only() {
    let (own, other) = (fixture(&[("file.txt", "mine\n")]), fixture(&[("file.txt", "theirs\n")]));
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mut all = Vec::new();
    worked(&hub, &mut all, &session(&workspace(other.path(), "true", None), None, "true")).await;
    let look = "git --no-pager show HEAD:file.txt; ls \"$(dirname \"$(dirname \"$(cat .git/objects/info/alternates)\")\")\" | wc -l; \
                echo x >> \"$(cat .git/objects/info/alternates)\"/info/packs; git fsck --full 2>&1 | tail -1; true";
    let looks = session(&workspace(own.path(), "true", None), Some(CONTAINED), look);
    worked(&hub, &mut all, &looks).await;
    assert_eq!(std::fs::read_dir(runner.data_dir().join("repositories")).unwrap().count(), 2);
    let shown = String::from_utf8(output(&runner.session_dir(looks.session))).unwrap();
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    assert_eq!(lines[..2], ["mine", "1"], "{shown}");
    assert!(shown.contains("Read-only file system"), "{shown}");
}
