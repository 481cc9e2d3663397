//! Workspaces: created once, set up once, saved while in use, and nothing of others runs without approval.

use domain::{ApprovalKind, SessionStatus};
use protocol::link::{AskedFor, DesiredSession, FactBody, RunnerAnswer, RunnerAsk, Subject};
use protocol::{PortRange, ProblemKind, Sandbox};

use crate::hub::FakeHub;
use crate::support::{TestRunner, bo, fixture, git, output, repository, shell, stopped};

#[tokio::test]
async fn two_sessions_share_a_workspace_that_is_set_up_once() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut first = shell("cat file.txt setups; echo $PORT; git branch --show-current");
    let mut repository = repository(origin.path());
    repository.setup = Some("echo set up with $SHOPFLOOR_PORT_FIRST >> setups".to_owned());
    repository.ports = Some(PortRange { first: 4100, last: 4199 });
    first.workspace.repository = Some(repository);
    first.workspace.branch = "work/one".to_owned();
    let second = DesiredSession { session: domain::SessionId::generate(), ..first.clone() };
    hub.desire(vec![first.clone(), second.clone()]);
    for session in [&first, &second] {
        let end = hub.over(session.session).await;
        assert_eq!(end.code, Some(0), "{end:?}");
        let shown = String::from_utf8(output(&runner.session_dir(session.session))).unwrap().replace('\r', "");
        assert_eq!(shown, "one\nset up with 4100\n4100\nwork/one\n");
    }
    let ready = hub.facts().into_iter().filter_map(|fact| match fact.body {
        FactBody::WorkspaceReady { branch, base, ports, .. } => Some((branch, base, ports)),
        _ => None,
    });
    let expected = (Some("work/one".into()), Some("main".into()), Some(PortRange { first: 4100, last: 4109 }));
    assert_eq!(ready.collect::<Vec<_>>(), [expected]);
    // Another workspace gets other ports.
    let mut third = DesiredSession { session: domain::SessionId::generate(), ..first.clone() };
    third.workspace.workspace = domain::WorkspaceId::generate();
    hub.desire(vec![third.clone()]);
    hub.over(third.session).await;
    let shown = String::from_utf8(output(&runner.session_dir(third.session))).unwrap();
    assert!(shown.contains("4110"), "{shown}");
}

#[tokio::test]
async fn ports_of_exited_sessions_are_reassigned() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[]);
    let with = |line: &str, branch: &str| {
        let mut session = shell(line);
        let mut repository = repository(origin.path());
        repository.ports = Some(PortRange { first: 4200, last: 4209 });
        session.workspace.repository = Some(repository);
        session.workspace.branch = branch.to_owned();
        session
    };
    let (first, second) = (with("echo port $PORT", "one"), with("echo port $PORT; read line", "two"));
    hub.desire(vec![first.clone()]);
    hub.over(first.session).await;
    hub.desire_from(11, vec![second.clone()], Vec::new());
    hub.log_has(second.session, "port 4200").await;
    // The workspace that lost its ports is reported; one in use keeps them.
    hub.fact("that it has none", |fact| match fact {
        FactBody::WorkspaceReady { workspace, ports: None, .. } => {
            (*workspace == first.workspace.workspace).then_some(())
        }
        _ => None,
    })
    .await;
    let mut again = DesiredSession { session: domain::SessionId::generate(), ..first.clone() };
    hub.desire_from(12, vec![second.clone(), again.clone()], Vec::new());
    let end = hub.over(again.session).await;
    assert!(end.detail.unwrap().contains("no 10 free ports"));
    hub.desire_from(13, vec![stopped(&second)], Vec::new());
    hub.over(second.session).await;
    again.session = domain::SessionId::generate();
    hub.desire_from(14, vec![again.clone()], Vec::new());
    hub.over(again.session).await;
    let shown = String::from_utf8(output(&runner.session_dir(again.session))).unwrap();
    assert!(shown.contains("port 4200"), "{shown}");
}

#[tokio::test]
async fn a_leftover_setup_is_ended_before_it_is_started_again() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let (pids, go) = (runner.folder.path().join("pids"), runner.folder.path().join("go"));
    let mut session = shell("cat file.txt");
    let mut repository = repository(origin.path());
    let (noted, waited) = (pids.display(), go.display());
    repository.setup = Some(format!("echo $$ >> '{noted}'; until [ -e '{waited}' ]; do sleep 0.05; done"));
    session.workspace.repository = Some(repository);
    hub.desire(vec![session.clone()]);
    let begun = async |times: usize| {
        testkit::wait_until("a setup begins", async || {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            (pids.len() == times).then_some(pids)
        })
        .await
    };
    begun(1).await;
    runner.kill().await;
    runner.spawn();
    let pids = begun(2).await;
    assert!(!std::path::Path::new(&format!("/proc/{}/exe", pids[0])).exists(), "both work in one tree");
    std::fs::write(&go, "").unwrap();
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
}

#[tokio::test]
async fn a_setups_output_is_readable_while_it_runs_and_after() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let go = runner.folder.path().join("go");
    let mut session = shell("echo the agent works; read x");
    let mut repository = repository(origin.path());
    let line = "printf '10 %%\\r20 %%\\n\\033[31mfetching\\033[0m\\n'; until [ -e";
    repository.setup = Some(format!("{line} '{}' ]; do sleep 0.05; done; echo fetched", go.display()));
    session.workspace.repository = Some(repository);
    hub.desire(vec![session.clone()]);
    let said = hub.fact("that the setup runs", |fact| match fact {
        FactBody::SessionState { state, .. } if state.status == SessionStatus::Starting => state.detail.clone(),
        _ => None,
    });
    assert_eq!(said.await, "the setup of its workspace runs");
    hub.log_has(session.session, "20 %\nfetching").await;
    let ask = async |setup| match hub.ask(RunnerAsk::Log { session: session.session, lines: 1, setup }).await {
        Ok(RunnerAnswer::Log(log)) => (log.text.trim_end().to_owned(), log.truncated, log.setup),
        other => panic!("{other:?}"),
    };
    assert_eq!(ask(false).await, ("fetching".to_owned(), true, true), "there is no terminal yet");
    std::fs::write(&go, "").unwrap();
    hub.log_has(session.session, "the agent works").await;
    assert_eq!(ask(false).await, ("the agent works".to_owned(), false, false));
    assert_eq!(ask(true).await, ("fetched".to_owned(), true, true));
    let without = shell("true");
    hub.desire(vec![session.clone(), without.clone()]);
    hub.over(without.session).await;
    let none = hub.ask(RunnerAsk::Log { session: without.session, lines: 1, setup: true }).await;
    assert_eq!(none.unwrap_err().kind, ProblemKind::NotFound);
}

#[tokio::test]
async fn a_failed_setup_shows_its_output() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[]);
    let mut session = shell("true");
    let mut repository = repository(origin.path());
    repository.setup = Some("echo the compiler is missing; exit 3".to_owned());
    session.workspace.repository = Some(repository);
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert!(end.detail.unwrap().contains("the compiler is missing"));
    let told = hub.fact("that it failed", |fact| match fact {
        FactBody::WorkspaceFailed { detail, .. } => Some(detail.clone()),
        _ => None,
    });
    assert!(told.await.contains("the compiler is missing"));
    hub.log_has(session.session, "the compiler is missing").await;
}

#[tokio::test]
async fn a_missing_repository_is_reported() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mut session = shell("true");
    session.workspace.repository = Some(repository(std::path::Path::new("/nowhere/at/all")));
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert_eq!(end.status, SessionStatus::Exited);
    assert!(end.detail.as_ref().unwrap().contains("/nowhere/at/all"), "{end:?}");
    // A workspace that was never created can be deleted.
    let workspace = session.workspace.workspace;
    assert_eq!(hub.ask(RunnerAsk::Clean { workspace }).await, Ok(RunnerAnswer::Done));
    let cleaned = |fact: &FactBody| matches!(fact, FactBody::WorkspaceCleaned { workspace: of } if *of == workspace);
    hub.fact("that it is put away", |fact| cleaned(fact).then_some(())).await;
    let strange = domain::WorkspaceId::generate();
    assert!(hub.ask(RunnerAsk::Clean { workspace: strange }).await.is_err());
}

#[tokio::test]
async fn a_repository_may_be_below_the_home_of_the_runners_user() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let origin = fixture(&[("file.txt", "at home\n")]);
    runner.set("HOME", origin.path().parent().unwrap().to_str().unwrap());
    runner.spawn();
    hub.connected(1).await;
    let mut session = shell("cat file.txt");
    let name = origin.path().file_name().unwrap();
    session.workspace.repository = Some(repository(&std::path::Path::new("~").join(name)));
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
    assert_eq!(output(&runner.session_dir(session.session)), b"at home\r\n");
}

#[tokio::test]
async fn work_is_saved_soon_and_before_a_stop_and_commits_are_marked() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut session = shell(
        "trap '' HUP; echo two >> file.txt; echo ready; read line; git -c user.name=a -c user.email=a@b commit -qam two; \
         trap 'echo last > last.txt; exit 0' TERM; echo committed; while :; do sleep 0.05; done",
    );
    session.workspace.repository = Some(repository(origin.path()));
    let workspace = session.workspace.workspace;
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let stats = |right: fn(&protocol::GitStats) -> bool| {
        hub.fact("numbers", move |fact| match fact {
            FactBody::WorkspaceStats { workspace: of, stats: Some(stats), saved_at, .. } if *of == workspace => {
                (right(stats) && saved_at.is_some()).then(|| stats.clone())
            }
            _ => None,
        })
    };
    let counted = stats(|stats| stats.uncommitted).await;
    assert_eq!((counted.files, counted.insertions, counted.ahead), (1, 1, 0), "{counted:?}");
    let ask = RunnerAsk::Send { session: session.session, text: String::new(), submit: true };
    hub.ask(ask).await.unwrap();
    hub.log_has(session.session, "committed").await;
    let counted = stats(|stats| stats.ahead == 1).await;
    assert!(!counted.uncommitted && counted.unpushed == 1, "{counted:?}");
    let marked = || async {
        let recording = terminal::recording::Recording::open(&runner.session_dir(session.session).join("recording"));
        let markers = recording.ok()?.markers().ok()?;
        markers.iter().any(|marker| marker.kind == "commit").then_some(())
    };
    testkit::wait_until("the commit is marked", marked).await;
    hub.desire(vec![stopped(&session)]);
    hub.over(session.session).await;
    // What it wrote last is in a save, too.
    let counted = stats(|stats| stats.untracked == 1).await;
    assert!(counted.uncommitted, "{counted:?}");
    assert_eq!(git(origin.path(), &["branch", "--list"]), "* main", "nothing was pushed");
}

#[tokio::test]
async fn a_project_of_others_reads_and_runs_nothing_without_approval() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[(".claude/settings.json", "{\"hooks\": {}}"), ("file.txt", "one\n")]);
    let mark = runner.folder.path().join("ran");
    let mut session = shell("echo ran");
    let mut repository = repository(origin.path());
    repository.setup = Some(format!("touch {}", mark.display()));
    session.workspace.repository = Some(repository);
    session.workspace.repository_by = Some(bo());
    let subject = Subject::Session(session.session);
    hub.desire(vec![session.clone()]);
    let waits = hub.state(session.session, |state| state.status == SessionStatus::Waiting).await;
    assert!(waits.detail.unwrap().contains("must allow repository"), "it says what it waits for");
    let before = hub.wishes(subject, ApprovalKind::Repository).await;
    let made = |of: &str| {
        let entries = std::fs::read_dir(runner.data_dir().join(of)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let workspace = session.workspace.workspace.to_string();
    assert!(!made("workspaces").contains(&workspace), "nothing was made: {:?}", made("workspaces"));
    assert!(
        !made("repositories").iter().any(|name| name.ends_with(".git")),
        "nothing was read: {:?}",
        made("repositories")
    );
    hub.answer(subject, &before, true);
    let wishes = hub.wishes(subject, ApprovalKind::Settings).await;
    let kinds: Vec<ApprovalKind> = wishes.iter().map(|wish| wish.kind).collect();
    assert_eq!(kinds, [ApprovalKind::Setup, ApprovalKind::Settings]);
    assert!(wishes[1].text.starts_with(".claude/settings.json") && wishes[1].text.contains("hooks"), "{wishes:?}");
    assert!(!mark.exists());
    hub.answer(subject, &wishes, true);
    let end = hub.over(session.session).await;
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(mark.exists());
    // What is not allowed does not start, and says why.
    let mut other = DesiredSession { session: domain::SessionId::generate(), ..session.clone() };
    other.workspace.workspace = domain::WorkspaceId::generate();
    let subject = Subject::Session(other.session);
    hub.desire(vec![other.clone()]);
    let wishes = hub.wishes(subject, ApprovalKind::Repository).await;
    hub.answer(subject, &wishes, false);
    let end = hub.over(other.session).await;
    assert!(end.detail.unwrap().contains("did not allow repository"), "it says why");
}

#[tokio::test]
async fn a_session_requested_by_others_waits_across_a_restart() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mark = runner.folder.path().join("ran");
    let mut session = shell(&format!("touch {}", mark.display()));
    session.asked_by = Some(bo());
    let subject = Subject::Session(session.session);
    hub.desire(vec![session.clone()]);
    let wishes = hub.wishes(subject, ApprovalKind::Session).await;
    assert!(wishes[0].text.contains("bo asks to run") && wishes[0].text.contains("touch"), "{wishes:?}");
    assert!(wishes[0].text.starts_with("agent: command, model: default, interactive\nrepository: none"), "{wishes:?}");
    runner.kill().await;
    runner.spawn();
    hub.connected(2).await;
    assert!(!mark.exists());
    hub.answer(subject, &wishes, true);
    assert_eq!(hub.over(session.session).await.code, Some(0));
    assert!(mark.exists());
}

#[tokio::test]
async fn a_request_for_a_session_names_where_it_would_work() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let texts = async |change: &dyn Fn(&mut DesiredSession)| {
        let mut session = shell("true");
        session.workspace.repository = Some(repository(origin.path()));
        session.asked_by = Some(bo());
        change(&mut session);
        hub.desire(vec![session.clone()]);
        hub.wishes(Subject::Session(session.session), ApprovalKind::Session).await.remove(0)
    };
    let plain = texts(&|_| {}).await;
    assert!(plain.text.contains(&*origin.path().to_string_lossy()), "{plain:?}");
    assert_eq!(texts(&|_| {}).await.sha256, plain.sha256, "the same request is the same text");
    let based = texts(&|session| session.workspace.base = Some("bo/evil".into())).await;
    assert!(based.text.contains("base: bo/evil"), "{based:?}");
    let there = texts(&|session| {
        let workspace = Some(session.workspace.workspace);
        session.asked_for = Some(AskedFor { branch: Some("bo/own".into()), workspace });
    })
    .await;
    assert!(there.text.contains("branch: bo/own") && there.text.contains("workspace: wsp_"), "{there:?}");
    let hashes: std::collections::BTreeSet<_> = [&plain, &based, &there].map(|wish| &wish.sha256).into();
    assert_eq!(hashes.len(), 3, "a permission for one is none for another");
    let sandbox = Some(Sandbox { network: true, home: true });
    let contained = texts(&|session| session.sandbox = sandbox.clone()).await;
    assert_eq!(contained.sandbox, sandbox, "the runner says which sandbox it would use");
}

#[tokio::test]
async fn work_of_others_is_asked_about_before_an_own_command_runs_it() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mark = runner.folder.path().join("ran");
    let origin = fixture(&[("evil.sh", &format!("touch {}\n", mark.display()))]);
    let mut session = shell("sh evil.sh");
    session.workspace.repository = Some(repository(origin.path()));
    session.workspace.code_by = Some(bo());
    let subject = Subject::Session(session.session);
    hub.desire(vec![session.clone()]);
    let wishes = hub.wishes(subject, ApprovalKind::Code).await;
    assert!(wishes[0].text.contains("the work of bo") && wishes[0].text.contains("commit "), "{wishes:?}");
    assert!(!mark.exists());
    hub.answer(subject, &wishes, true);
    assert_eq!(hub.over(session.session).await.code, Some(0));
    assert!(mark.exists());
}

#[tokio::test]
async fn the_quota_deletes_only_clean_workspaces_and_old_recordings() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut clean = shell("echo clean");
    let mut dirty = shell("echo dirty; echo two >> file.txt");
    let mut busy = shell("echo busy; sleep 1000");
    for session in [&mut clean, &mut dirty, &mut busy] {
        session.workspace.repository = Some(repository(origin.path()));
    }
    hub.desire(vec![clean.clone(), dirty.clone(), busy.clone()]);
    hub.over(clean.session).await;
    hub.over(dirty.session).await;
    hub.log_has(busy.session, "busy").await;
    let other = shell("true");
    hub.desire_from(11, vec![busy.clone(), other.clone()], vec![dirty.session]);
    hub.over(other.session).await;
    runner.end().await;
    // Nothing is small enough for this.
    runner.set("TEST_DISK_QUOTA", "1");
    runner.set("TEST_RECORDINGS_LIMIT", "1");
    runner.spawn();
    let gone = clean.workspace.workspace;
    hub.fact("that a workspace was deleted", |fact| {
        matches!(fact, FactBody::WorkspaceCleaned { workspace } if *workspace == gone).then_some(())
    })
    .await;
    let recording = |session: &DesiredSession| runner.session_dir(session.session).join("recording").exists();
    testkit::wait_until("an old recording is gone", || async { (!recording(&clean)).then_some(()) }).await;
    assert!(recording(&dirty), "it was marked to be kept");
    assert!(recording(&busy), "it is being written");
    for session in [&dirty, &busy] {
        assert!(std::path::Path::new(&hub.workspace(session).await).join("file.txt").exists());
    }
    hub.desire_from(20, vec![stopped(&busy)], Vec::new());
    hub.over(busy.session).await;
}

#[tokio::test]
async fn growth_above_the_quota_is_noticed() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    runner.set("TEST_DISK_QUOTA", &(24 << 20).to_string());
    runner.spawn();
    hub.connected(1).await;
    let origin = fixture(&[(".gitignore", "built\n")]);
    let mut old = shell("echo old");
    // Where nobody listens: nothing but the disk itself tells.
    let mut grows =
        shell("mkdir built; echo ready; read line; head -c 48M /dev/zero > built/out; echo grown; sleep 1000");
    for session in [&mut old, &mut grows] {
        session.workspace.repository = Some(repository(origin.path()));
    }
    hub.desire(vec![old.clone(), grows.clone()]);
    hub.over(old.session).await;
    hub.log_has(grows.session, "ready").await;
    hub.ask(RunnerAsk::Send { session: grows.session, text: String::new(), submit: true }).await.unwrap();
    hub.log_has(grows.session, "grown").await;
    let measured = |fact: &FactBody| match fact {
        FactBody::WorkspaceStats { workspace, disk_bytes: Some(bytes), .. }
            if *workspace == grows.workspace.workspace =>
        {
            (*bytes > 48 << 20).then_some(())
        }
        _ => None,
    };
    hub.fact("what it takes now", measured).await;
    let gone = old.workspace.workspace;
    hub.fact("that another made room", |fact| {
        matches!(fact, FactBody::WorkspaceCleaned { workspace } if *workspace == gone).then_some(())
    })
    .await;
    assert!(std::path::Path::new(&hub.workspace(&grows).await).join("built/out").exists(), "somebody works there");
    hub.desire(vec![stopped(&grows)]);
    hub.over(grows.session).await;
}
