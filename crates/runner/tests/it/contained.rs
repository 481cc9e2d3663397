//! A check's command and a session in a sandbox, with a real bubblewrap.

use std::path::Path;

use domain::{ProjectId, ReportId, TaskId};
use protocol::link::DesiredCheck;
use protocol::{Criterion, Sandbox};

use crate::hub::FakeHub;
use crate::support::{TestRunner, empty_workspace, fixture, output, repository, shell};

/// Asks a shell something that must be true inside.
fn check(sandbox: Sandbox, lines: &[String]) -> DesiredCheck {
    let command = |line: &String| Criterion::Command {
        argv: ["/bin/bash", "-c", line].map(str::to_owned).to_vec(),
        exit_code: None,
        timeout_seconds: Some(60),
    };
    DesiredCheck {
        report: ReportId::generate(),
        task: TaskId::generate(),
        project: ProjectId::generate(),
        activity: None,
        criteria: lines.iter().map(command).collect(),
        files: Vec::new(),
        workspace: empty_workspace(),
        commands_by: None,
        sandbox: Some(sandbox),
        begin_told: false,
        summary: None,
        forks: vec![],
    }
}

/// A place that is not hidden because everything there is, as below `/tmp`.
fn place() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

async fn all_true(hub: &FakeHub, check: DesiredCheck, lines: &[String]) {
    hub.want_checked(vec![check.clone()]);
    let (results, _) = hub.checked(&check).await.unwrap();
    for (line, result) in lines.iter().zip(&results) {
        assert_eq!(result.passed, Some(true), "{line}: {}", result.reason);
    }
    assert_eq!(results.len(), lines.len());
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test]
async fn check_commands_write_only_in_the_workspace_and_read_no_hidden_file() {
    let (home, elsewhere) = (place(), place());
    std::fs::write(home.path().join("secret"), "of the person").unwrap();
    std::fs::write(elsewhere.path().join("readable"), "by all").unwrap();
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    runner.set("HOME", &shown(home.path()));
    runner.spawn();
    hub.connected(1).await;
    let (home, elsewhere, data) = (shown(home.path()), shown(elsewhere.path()), shown(&runner.data_dir()));
    let both = [
        "echo it > inside && test \"$(cat inside)\" = it".to_owned(),
        format!("! touch '{elsewhere}/written'"),
        format!("! rm '{elsewhere}/readable'"),
        "grep -q root /etc/passwd".to_owned(),
        format!("test \"$(ls -A '{data}')\" = workspaces"),
        "! env | grep -q SHOPFLOOR_TOKEN".to_owned(),
    ];
    let sees = format!("test \"$(cat '{home}/secret')\" = 'of the person' && ! touch '{home}/written'");
    for (sees_home, line) in [(true, sees), (false, format!("! cat '{home}/secret'"))] {
        let lines: Vec<String> = both.iter().cloned().chain([line]).collect();
        all_true(&hub, check(Sandbox { network: false, home: sees_home }, &lines), &lines).await;
    }
    assert!(!Path::new(&elsewhere).join("written").exists() && !Path::new(&home).join("written").exists());
    assert!(Path::new(&elsewhere).join("readable").exists());
}

#[tokio::test]
async fn check_commands_use_the_network_only_if_allowed() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dial = format!("true < /dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    for (network, line) in [(true, dial.clone()), (false, format!("! ({dial})"))] {
        let lines = [line];
        all_true(&hub, check(Sandbox { network, home: false }, &lines), &lines).await;
    }
}

#[tokio::test]
async fn a_contained_agent_reads_only_its_renewed_token() {
    let hub = FakeHub::start().await;
    hub.tokens_live(1);
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mut session = shell(
        "first=$(cat \"$SHOPFLOOR_TOKEN_FILE\") && [ -n \"$first\" ] && \
         while [ \"$(cat \"$SHOPFLOOR_TOKEN_FILE\")\" = \"$first\" ]; do sleep 0.05; done; \
         ls \"$(dirname \"$SHOPFLOOR_TOKEN_FILE\")/..\" > seen; ! touch \"$SHOPFLOOR_TOKEN_FILE\"",
    );
    session.sandbox = Some(Sandbox { network: false, home: false });
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
    let path = hub.workspace(&session).await;
    assert_eq!(std::fs::read_to_string(format!("{path}/seen")).unwrap(), "agent\n");
    drop(runner);
}

#[tokio::test]
async fn a_contained_session_commits_in_the_persons_name() {
    let home = place();
    std::fs::write(home.path().join(".gitconfig"), "[user]\n\tname = Ann B\n\temail = ann@example.org\n").unwrap();
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    runner.set("HOME", &shown(home.path()));
    runner.spawn();
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let line = "echo two > file.txt; git commit -qam two; git log -1 --format='by %an, %ae'";
    let mut session = shell(line);
    session.workspace.repository = Some(repository(origin.path()));
    session.sandbox = Some(Sandbox { network: false, home: false });
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    let shown = String::from_utf8(output(&runner.session_dir(session.session))).unwrap();
    assert_eq!(end.code, Some(0), "{shown}");
    assert!(shown.contains("by Ann B, ann@example.org"), "{shown}");
}
