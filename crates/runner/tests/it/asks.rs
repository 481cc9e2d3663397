//! The hub's requests.

use domain::SessionStatus;
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{DiffKind, ProblemKind};

use crate::hub::FakeHub;
use crate::support::{TestRunner, fixture, output, repository, shell, stopped};

#[tokio::test]
async fn a_text_is_typed_and_a_recording_read() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; read line; echo \"got <$line>\"; sleep 0.3; echo late; exit 0");
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let text = "do\x1b[201~ it\x03".to_owned();
    let said = hub.ask(RunnerAsk::Send { session: session.session, text, submit: true }).await;
    assert_eq!(said, Ok(RunnerAnswer::Done));
    hub.over(session.session).await;
    let log = hub.ask(RunnerAsk::Log { session: session.session, lines: 2, setup: false }).await.unwrap();
    let RunnerAnswer::Log(log) = log else { panic!("{log:?}") };
    assert_eq!((log.text.trim_end(), log.truncated), ("got <do[201~ it>\nlate", true));
    let RunnerAnswer::Recording(shown) = hub.ask(RunnerAsk::RecordingShow { session: session.session }).await.unwrap()
    else {
        panic!("not a recording")
    };
    assert!(shown.duration_ms >= 300 && shown.cols == 120, "{shown:?}");
    assert!(shown.markers.iter().any(|marker| marker.kind == "prompt"), "{:?}", shown.markers);
    let found = hub.ask(RunnerAsk::RecordingSearch { session: session.session, text: "GOT".to_owned() }).await.unwrap();
    let RunnerAnswer::Hits(found) = found else { panic!("{found:?}") };
    assert!(found.hits[0].line.contains("got <do") && !found.truncated, "{found:?}");
    // All of it, and from the middle with the screen as it was then.
    let whole = hub.ask(RunnerAsk::RecordingPart { session: session.session, from_ms: 0 }).await.unwrap();
    let RunnerAnswer::Part(whole) = whole else { panic!("{whole:?}") };
    let output: String =
        whole.events.iter().filter(|event| event.code == "o").map(|event| event.data.clone()).collect();
    assert!(output.starts_with("ready\r\n") && output.ends_with("late\r\n"), "{output:?}");
    assert_eq!(whole.next_ms, None);
    let middle = whole.events.iter().find(|event| event.data.contains("late")).unwrap().at_ms;
    let rest = hub.ask(RunnerAsk::RecordingPart { session: session.session, from_ms: middle }).await.unwrap();
    let RunnerAnswer::Part(rest) = rest else { panic!("{rest:?}") };
    assert_eq!((rest.from_ms, rest.events[0].data.as_str()), (middle, "late\r\n"));
    let after = hub.ask(RunnerAsk::Send { session: session.session, text: "x".to_owned(), submit: false }).await;
    assert_eq!(after.unwrap_err().kind, ProblemKind::Conflict);
}

#[tokio::test]
async fn a_long_recording_comes_in_consecutive_pages() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("for i in 1 2 3 4 5 6 7 8; do seq 1 20000; sleep 0.05; done");
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let (mut from, mut output, mut parts) = (Some(0), String::new(), 0);
    while let Some(from_ms) = from {
        let part = hub.ask(RunnerAsk::RecordingPart { session: session.session, from_ms }).await.unwrap();
        assert!(serde_json::to_string(&part).unwrap().len() < 2 << 20);
        let RunnerAnswer::Part(part) = part else { panic!("{part:?}") };
        output.extend(part.events.iter().filter(|event| event.code == "o").map(|event| event.data.as_str()));
        assert!(part.next_ms.is_none_or(|next| next > from_ms));
        (from, parts) = (part.next_ms, parts + 1);
    }
    let expected: String = (1..=20_000).map(|i| format!("{i}\r\n")).collect::<String>().repeat(8);
    assert!(output == expected, "{} of {} bytes in {parts} parts", output.len(), expected.len());
    assert!(parts > 1);
}

#[tokio::test]
async fn workspaces_are_compared_saved_restored_and_never_deleted_with_work() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\ntwo\n")]);
    let mut session = shell("echo three >> file.txt; echo new > fresh.txt; echo ready; sleep 1000");
    session.workspace.repository = Some(repository(origin.path()));
    let workspace = session.workspace.workspace;
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let RunnerAnswer::Diff(diff) = hub.ask(RunnerAsk::Diff { workspace, tree: None }).await.unwrap() else {
        panic!("no diff")
    };
    let files: Vec<_> = diff.files.iter().map(|file| (file.path.as_str(), file.change.as_str())).collect();
    assert_eq!(files, [("file.txt", "modified"), ("fresh.txt", "added")]);
    let added = diff.files[0].hunks[0].lines.iter().find(|line| line.kind == DiffKind::Added).unwrap();
    assert_eq!(added.text, "three");
    for ask in [RunnerAsk::Clean { workspace }, RunnerAsk::Restore { workspace, save: None }] {
        let refused = hub.ask(ask).await.unwrap_err();
        assert!(refused.kind == ProblemKind::Conflict && refused.detail.contains("works in it"), "{refused:?}");
    }
    hub.desire(vec![stopped(&session)]);
    let end = hub.over(session.session).await;
    assert_eq!(end.status, SessionStatus::Exited);
    let refused = hub.ask(RunnerAsk::Clean { workspace }).await.unwrap_err();
    assert!(refused.kind == ProblemKind::Conflict && refused.detail.contains("not committed"), "{refused:?}");
    let path = std::path::PathBuf::from(hub.workspace(&session).await);
    std::fs::remove_file(path.join("fresh.txt")).unwrap();
    let RunnerAnswer::Saves(saves) = hub.ask(RunnerAsk::Saves { workspace }).await.unwrap() else { panic!("no saves") };
    assert!(!saves.is_empty());
    let save = Some(saves[0].id.clone());
    assert_eq!(hub.ask(RunnerAsk::Restore { workspace, save }).await, Ok(RunnerAnswer::Done));
    assert_eq!(std::fs::read_to_string(path.join("fresh.txt")).unwrap(), "new\n");
    std::fs::remove_file(path.join("fresh.txt")).unwrap();
    std::fs::write(path.join("file.txt"), "one\ntwo\n").unwrap();
    assert_eq!(hub.ask(RunnerAsk::Clean { workspace }).await, Ok(RunnerAnswer::Done));
    assert!(!path.exists());
    hub.fact("that it was deleted", |fact| {
        matches!(fact, protocol::link::FactBody::WorkspaceCleaned { workspace: of } if *of == workspace).then_some(())
    })
    .await;
    // The deleted workspace is created again, with its branch, and is usable.
    let save = Some(saves[0].id.clone());
    assert_eq!(hub.ask(RunnerAsk::Restore { workspace, save }).await, Ok(RunnerAnswer::Done));
    assert_eq!(std::fs::read_to_string(path.join("fresh.txt")).unwrap(), "new\n");
    assert!(matches!(hub.ask(RunnerAsk::Diff { workspace, tree: None }).await, Ok(RunnerAnswer::Diff(_))));
    let mut second = shell("cat fresh.txt; git branch --show-current");
    second.workspace = session.workspace.clone();
    hub.desire(vec![second.clone()]);
    assert_eq!(hub.over(second.session).await.code, Some(0));
    let shown = String::from_utf8(output(&runner.session_dir(second.session))).unwrap();
    assert_eq!(shown, format!("new\r\n{}\r\n", session.workspace.branch));
    // Without its repository the workspace cannot be created, but nothing is lost.
    std::fs::remove_file(path.join("fresh.txt")).unwrap();
    std::fs::write(path.join("file.txt"), "one\ntwo\n").unwrap();
    assert_eq!(hub.ask(RunnerAsk::Clean { workspace }).await, Ok(RunnerAnswer::Done));
    drop(origin);
    let save = Some(saves[0].id.clone());
    let aside = hub.ask(RunnerAsk::Restore { workspace, save }).await.unwrap_err().detail;
    let (_, folder) = aside.split_once("its files are in ").unwrap_or_else(|| panic!("{aside}"));
    assert_eq!(std::fs::read_to_string(format!("{folder}/fresh.txt")).unwrap(), "new\n");
}

#[tokio::test]
async fn a_deleted_workspace_folder_is_recreated_by_a_running_runner() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let origin = fixture(&[("file.txt", "one\n")]);
    let mut session = shell("git commit -q --allow-empty -m mine; echo new > fresh.txt; echo two >> file.txt");
    session.workspace.repository = Some(repository(origin.path()));
    let workspace = session.workspace.workspace;
    hub.desire(vec![session.clone()]);
    assert_eq!(hub.over(session.session).await.code, Some(0));
    let path = std::path::PathBuf::from(hub.workspace(&session).await);
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    // Without a network, too: the shared store has everything.
    drop(origin);
    assert_eq!(hub.ask(RunnerAsk::Restore { workspace, save: None }).await, Ok(RunnerAnswer::Done));
    assert_eq!(std::fs::read_to_string(path.join("fresh.txt")).unwrap(), "new\n");
    assert_eq!(std::fs::read_to_string(path.join("file.txt")).unwrap(), "one\ntwo\n");
    let mut second = shell("git --no-pager log -1 --format=%s; git status --porcelain");
    second.workspace = session.workspace.clone();
    hub.desire(vec![second.clone()]);
    assert_eq!(hub.over(second.session).await.code, Some(0));
    let shown = String::from_utf8(output(&runner.session_dir(second.session))).unwrap();
    assert_eq!(shown, "mine\r\n M file.txt\r\n?? fresh.txt\r\n");
}

#[tokio::test]
async fn the_screen_of_a_running_session_is_a_small_text() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("printf '\\033[31mone\\033[0m\\r\\n  two'; read line");
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "two").await;
    let screen = hub.ask(RunnerAsk::Screen { session: session.session }).await.unwrap();
    let RunnerAnswer::Screen(screen) = screen else { panic!("{screen:?}") };
    assert_eq!(screen.lines, ["one", "  two"]);
    assert!(screen.cols > 0 && screen.rows > 0);
    hub.desire(vec![stopped(&session)]);
    hub.over(session.session).await;
    let over = hub.ask(RunnerAsk::Screen { session: session.session }).await;
    assert_eq!(over.map_err(|problem| problem.kind), Err(ProblemKind::Conflict));
}
