//! Sessions from wish to end.

use domain::{SessionId, SessionStatus};
use protocol::SessionState;
use protocol::link::{DesiredSession, FactBody, RunnerAsk};
use protocol::terminal::TerminalFrame;
use terminal::recording::Recording;

use crate::hub::FakeHub;
use crate::support::{TestRunner, output, shell, stopped};

#[tokio::test]
async fn a_command_runs_in_its_workspace_and_its_exit_is_reported() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo hello > greeting; cat greeting; exit 3");
    hub.desire(vec![session.clone()]);
    let end = hub.over(session.session).await;
    assert_eq!((end.status, end.code, end.signal), (SessionStatus::Exited, Some(3), None), "{end:?}");
    let path = hub.workspace(&session).await;
    assert_eq!(std::fs::read_to_string(format!("{path}/greeting")).unwrap(), "hello\n");
    assert_eq!(output(&runner.session_dir(session.session)), b"hello\r\n");
    assert_eq!(states(&hub, session.session), [SessionStatus::Working, SessionStatus::Exited]);
    let recorded = hub.fact("a recording", |fact| match fact {
        FactBody::Recorded { session: of, output_bytes, disk_bytes, .. } if *of == session.session => {
            Some((*output_bytes, *disk_bytes > 0))
        }
        _ => None,
    });
    assert_eq!(recorded.await, (7, true));
}

#[tokio::test]
async fn a_repeated_wish_is_fulfilled_once() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    let session = shell(&format!("echo one >> {}", marks.display()));
    for _ in 0..5 {
        hub.desire(vec![session.clone()]);
    }
    hub.over(session.session).await;
    hub.desire(vec![session.clone()]);
    let other = shell("true");
    hub.desire(vec![session.clone(), other.clone()]);
    hub.over(other.session).await;
    assert_eq!(std::fs::read_to_string(marks).unwrap(), "one\n");
}

#[tokio::test]
async fn a_session_of_another_data_directory_is_lost_and_not_restarted() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let mark = runner.folder.path().join("mark");
    let begun = DesiredSession { begun: true, ..shell(&format!("touch '{}'", mark.display())) };
    let fresh = shell("true");
    hub.desire(vec![begun.clone(), fresh.clone()]);
    let end = hub.over(begun.session).await;
    assert_eq!(end.status, SessionStatus::Lost, "{end:?}");
    assert!(end.detail.as_deref().unwrap().contains("another data directory"), "{end:?}");
    assert_eq!(hub.over(fresh.session).await.code, Some(0));
    assert!(!mark.exists());
}

#[tokio::test]
async fn an_agent_gets_an_allowed_environment_and_its_token_is_never_shown() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    runner.set("CANARY_SECRET", "canary-5b1f");
    runner.set("OPENAI_API_KEY", "sk-canary-77aa");
    runner.spawn();
    hub.connected(1).await;
    let session = shell(
        "env | sort > environment; cat \"$SHOPFLOOR_TOKEN_FILE\" > token; stat -c %a \"$SHOPFLOOR_TOKEN_FILE\" > mode; \
         echo \"the token is $(cat token).\"; env",
    );
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let path = hub.workspace(&session).await;
    let environment = std::fs::read_to_string(format!("{path}/environment")).unwrap();
    let token = format!("agent-token-1-of-{}", session.session);
    for line in [
        format!("SHOPFLOOR_HUB={}", hub.url),
        format!("SHOPFLOOR_SESSION={}", session.session),
        format!("SHOPFLOOR_PROJECT={}", session.project),
        format!("SHOPFLOOR_ACTIVITY={}", session.activity),
        "TERM=xterm-256color".to_owned(),
    ] {
        assert!(environment.lines().any(|there| there == line), "{line} in\n{environment}");
    }
    assert!(!environment.contains("canary") && !environment.contains(&token), "{environment}");
    assert_eq!(std::fs::read_to_string(format!("{path}/token")).unwrap(), token);
    assert_eq!(std::fs::read_to_string(format!("{path}/mode")).unwrap(), "600\n");
    let shown = String::from_utf8_lossy(&output(&runner.session_dir(session.session))).into_owned();
    assert!(shown.contains("the token is •"), "{shown}");
    // Neither on the terminal nor in any file of the runner's, its log and journal included; only where the agent put it.
    runner.end().await;
    let found = find(runner.folder.path(), token.as_bytes());
    assert_eq!(found, [format!("{path}/token")], "the token was found elsewhere");
    assert_eq!(find(runner.folder.path(), b"canary-5b1f"), Vec::<String>::new());
}

#[tokio::test]
async fn an_agents_token_is_renewed_and_masked_before_it_is_written() {
    let hub = FakeHub::start().await;
    hub.tokens_live(1);
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell(
        "first=$(cat \"$SHOPFLOOR_TOKEN_FILE\"); \
         while token=$(cat \"$SHOPFLOOR_TOKEN_FILE\"); [ \"$token\" = \"$first\" ]; do sleep 0.05; done; \
         echo \"now it is $token.\"; until [ -e go ]; do sleep 0.05; done; \
         while [ \"$(cat \"$SHOPFLOOR_TOKEN_FILE\")\" = \"$(cat go)\" ]; do sleep 0.05; done; echo \"and again\"",
    );
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "now it is •").await;
    // The next runner does not know when the last one requested a token.
    runner.kill().await;
    let file = runner.session_dir(session.session).join("agent/token");
    let last = std::fs::read_to_string(&file).unwrap();
    assert!(last.starts_with("agent-token-"), "{last}");
    hub.tokens_live(3600);
    let asked = hub.tokens().len();
    runner.spawn();
    hub.connected(2).await;
    let path = hub.workspace(&session).await;
    std::fs::write(format!("{path}/go.new"), &last).unwrap();
    std::fs::rename(format!("{path}/go.new"), format!("{path}/go")).unwrap();
    hub.over(session.session).await;
    assert_eq!(hub.tokens().len(), asked + 1, "and then it was good for an hour");
    assert!(!file.exists(), "what is over has no token");
    let shown = String::from_utf8_lossy(&output(&runner.session_dir(session.session))).into_owned();
    assert!(shown.contains("and again") && !shown.contains("agent-token"), "{shown}");
}

#[tokio::test]
async fn a_stop_asks_first_and_ends_the_whole_tree() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let polite = shell("trap '' HUP; trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
    let stubborn =
        shell("trap '' TERM HUP; (trap '' TERM HUP; sleep 1000) & echo $! > child; echo ready; wait; sleep 1000");
    hub.desire(vec![polite.clone(), stubborn.clone()]);
    for session in [&polite, &stubborn] {
        hub.state(session.session, |state| state.status == SessionStatus::Working).await;
        hub.log_has(session.session, "ready").await;
    }
    hub.desire(vec![stopped(&polite), DesiredSession { force: true, ..stopped(&stubborn) }]);
    let end = hub.over(polite.session).await;
    assert_eq!((end.code, end.signal), (Some(7), None), "{end:?}");
    let end = hub.over(stubborn.session).await;
    assert_eq!((end.code, end.signal), (None, Some(9)), "{end:?}");
    let path = hub.workspace(&stubborn).await;
    let child = std::fs::read_to_string(format!("{path}/child")).unwrap();
    let child = std::path::PathBuf::from(format!("/proc/{}", child.trim()));
    testkit::wait_until("the whole tree is gone", || async { (!child.exists()).then_some(()) }).await;
}

#[tokio::test]
async fn an_unwanted_session_is_reported_as_exited() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("true");
    hub.desire(vec![stopped(&session)]);
    let end = hub.over(session.session).await;
    assert_eq!((end.status, end.code), (SessionStatus::Exited, None));
    assert!(end.detail.unwrap().contains("before it started"));
}

#[tokio::test]
async fn a_failed_start_says_why() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let check = async |session: DesiredSession, part: &str| {
        hub.desire(vec![session.clone()]);
        let end = hub.over(session.session).await;
        let detail = end.detail.clone().unwrap_or_default();
        assert!(end.status == SessionStatus::Exited && detail.contains(part), "{end:?}");
    };
    check(DesiredSession { agent: "nobody".to_owned(), ..shell("true") }, "has no agent `nobody`").await;
    check(DesiredSession { argv: Vec::new(), ..shell("true") }, "needs a command").await;
    check(DesiredSession { agent: "gemini".to_owned(), ..shell("true") }, "is not installed").await;
}

#[tokio::test]
async fn a_vanished_host_makes_its_session_lost_but_keeps_the_conversation() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; sleep 1000");
    hub.desire(vec![session.clone()]);
    hub.state(session.session, |state| state.status == SessionStatus::Working).await;
    hub.log_has(session.session, "ready").await;
    runner.kill().await;
    // As after a power cut.
    crate::support::kill_host(&runner.session_dir(session.session));
    runner.spawn();
    let end = hub.over(session.session).await;
    assert_eq!(end.status, SessionStatus::Lost, "{end:?}");
    let recording = Recording::open(&runner.session_dir(session.session).join("recording")).unwrap();
    assert!(recording.verify().is_ok());
    // Its last screen is still available.
    hub.send(&protocol::link::ToRunner::Watch { channel: 2, session: session.session, from: None });
    let shown = hub.shown("the last screen", |frames| match frames.first()? {
        TerminalFrame::Snapshot { bytes, .. } => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    assert!(shown.await.contains("ready"));
}

#[tokio::test]
async fn leftover_processes_of_a_killed_host_are_ended() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    // One of them ignores all signals that can be ignored, in its own session.
    let session = shell(
        "trap '' HUP TERM; setsid sh -c \"trap '' HUP TERM; echo \\$\\$ > stubborn.new; mv stubborn.new stubborn; \
         while :; do sleep 0.05; done\" & while [ ! -e stubborn ]; do sleep 0.05; done; echo ready; \
         while :; do sleep 0.05; done",
    );
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let other = shell("echo me too; sleep 1000");
    hub.desire(vec![session.clone(), other.clone()]);
    hub.log_has(other.session, "me too").await;
    let stubborn = std::fs::read_to_string(format!("{}/stubborn", hub.workspace(&session).await)).unwrap();
    crate::support::kill_host(&runner.session_dir(session.session));
    let end = hub.over(session.session).await;
    assert_eq!(end.status, SessionStatus::Lost, "{end:?}");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", stubborn.trim())).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "it is over when the session is: {stat}");
    hub.desire(vec![session, stopped(&other)]);
    assert_eq!(hub.over(other.session).await.status, SessionStatus::Exited, "others are left alone");
}

#[tokio::test]
async fn a_quiet_shell_is_idle_and_a_ringing_one_waits() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    runner.set("SHELL", "/bin/sh");
    runner.spawn();
    hub.connected(1).await;
    let session = DesiredSession { agent: "shell".to_owned(), argv: Vec::new(), ..shell("") };
    hub.desire(vec![session.clone()]);
    hub.state(session.session, |state| state.status == SessionStatus::Idle).await;
    let text = "printf '\\a'".to_owned();
    hub.ask(RunnerAsk::Send { session: session.session, text, submit: true }).await.unwrap();
    let waits = hub.state(session.session, |state| state.status == SessionStatus::Waiting).await;
    assert_eq!(waits.detail.as_deref(), Some("the bell rang"));
    hub.desire(vec![stopped(&session)]);
    hub.over(session.session).await;
}

#[tokio::test]
async fn a_prompt_reaches_a_command_by_its_standard_input() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let hostile = "fix $(touch pwned); `touch pwned` 'quotes' \"too\"\n--help\n";
    let session = DesiredSession {
        mode: domain::SessionMode::Headless,
        prompt: hostile.to_owned(),
        argv: vec!["/bin/cat".to_owned()],
        ..shell("")
    };
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let shown = String::from_utf8(output(&runner.session_dir(session.session))).unwrap();
    assert_eq!(shown.replace('\r', "").trim_end(), hostile.trim_end());
    let path = hub.workspace(&session).await;
    assert!(!std::path::Path::new(&path).join("pwned").exists());
}

/// The reported states of a session, in order.
pub(crate) fn states(hub: &FakeHub, session: SessionId) -> Vec<SessionStatus> {
    let of = |state: &SessionState| state.status;
    let facts = hub.facts();
    let states = facts.iter().filter_map(|fact| match &fact.body {
        FactBody::SessionState { session: there, state } if *there == session => Some(of(state)),
        _ => None,
    });
    states.collect()
}

/// The files below `folder` that hold `needle`.
fn find(folder: &std::path::Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(find(&path, needle));
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(needle.len()).any(|there| there == needle)) {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found
}

/// Counts what its conversation has used in all, as Codex does.
const CODEX: &str = r#"#!/bin/sh
case " $* " in *" exec "*) ;; *) exit ;; esac
used=$(($(cat "$HOME/used" 2>/dev/null || echo 0) + 1000))
echo $used > "$HOME/used"
echo '{"type":"thread.started","thread_id":"one-and-the-same"}'
echo "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":$used,\"cached_input_tokens\":0,\"output_tokens\":7}}"
"#;

#[tokio::test]
async fn earlier_usage_of_a_resumed_conversation_is_not_counted_again() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let home = tempfile::tempdir().unwrap();
    let program = home.path().join("codex");
    std::fs::write(&program, CODEX).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    runner.set("HOME", home.path().to_str().unwrap());
    runner.set("PATH", &format!("{}:{}", home.path().display(), std::env::var("PATH").unwrap()));
    runner.spawn();
    hub.connected(1).await;
    for conversation in [None, Some("one-and-the-same"), Some("one-and-the-same")] {
        let session = DesiredSession {
            agent: "codex".to_owned(),
            mode: domain::SessionMode::Headless,
            prompt: "Go on.".to_owned(),
            argv: Vec::new(),
            conversation: conversation.map(str::to_owned),
            ..shell("")
        };
        hub.desire(vec![session.clone()]);
        hub.over(session.session).await;
        let used = hub.fact("what it used", |fact| match fact {
            FactBody::SessionUsage { session: of, usage, .. } if *of == session.session => {
                Some(usage.input_tokens).filter(|tokens| *tokens > 0)
            }
            _ => None,
        });
        assert_eq!(used.await, 1000, "in {conversation:?}");
    }
}
