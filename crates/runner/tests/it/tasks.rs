//! Sessions that work on a task: their input, their last message, and hold-ups.

use std::os::unix::fs::PermissionsExt;

use domain::{HoldUp, SessionMode, TaskId};
use protocol::link::{DesiredSession, DesiredTask, FactBody};

use crate::hub::FakeHub;
use crate::support::{TestRunner, shell};

const BRIEF: &str = "Fix the build.\n\nIt must pass `make test`; $(touch hacked)";

fn for_task(mut session: DesiredSession) -> DesiredSession {
    let (task, brief) = (TaskId::generate(), BRIEF.to_owned());
    session.task = Some(DesiredTask { task, fence: 7, brief, lease_seconds: None, progress_told: true });
    session
}

/// The facts about a session, in order: words, limits and ends.
fn told(hub: &FakeHub, wanted: &DesiredSession) -> Vec<String> {
    let word = |fact: &FactBody| match fact {
        FactBody::SessionSaid { session, text } if *session == wanted.session => Some(format!("said {text}")),
        FactBody::SessionLimited { session, retry_after_seconds, .. } if *session == wanted.session => {
            Some(format!("limited {retry_after_seconds:?}"))
        }
        FactBody::SessionProgress { session } if *session == wanted.session => Some("progress".to_owned()),
        FactBody::SessionState { session, state } if *session == wanted.session && state.ended() => {
            Some("over".to_owned())
        }
        _ => None,
    };
    hub.facts().iter().filter_map(|fact| word(&fact.body)).collect()
}

#[tokio::test]
async fn a_command_gets_its_brief_and_its_last_lines_are_collected() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let line = "cat > from-stdin; cat \"$SHOPFLOOR_BRIEF_FILE\" > from-file; cp \"$SHOPFLOOR_TASK_FILE\" task.json; \
                env | sort > environment; echo first; echo; echo 'I have fixed it.'";
    let mut session = for_task(shell(line));
    session.mode = SessionMode::Headless;
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let path = hub.workspace(&session).await;
    let read = |name: &str| std::fs::read_to_string(format!("{path}/{name}")).unwrap();
    assert!(read("from-stdin").ends_with(BRIEF), "{}", read("from-stdin"));
    assert_eq!(read("from-file"), BRIEF);
    let task = session.task.clone().unwrap();
    assert_eq!(serde_json::from_str::<DesiredTask>(&read("task.json")).unwrap(), task);
    let environment = read("environment");
    for line in [format!("SHOPFLOOR_TASK={}", task.task), "SHOPFLOOR_FENCE=7".to_owned()] {
        assert!(environment.lines().any(|there| there == line), "{line} is not in {environment}");
    }
    let dir = runner.session_dir(session.session);
    for name in ["task.json", "brief.md"] {
        assert_eq!(std::fs::metadata(dir.join(name)).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(told(&hub, &session), ["said first\nI have fixed it.", "over"]);
    assert!(!std::path::Path::new(&format!("{path}/hacked")).exists());
}

/// An agent with structured lines that prints given words.
const HELPER: &str = r##"
name = "helper"
label = "Helper"
command = ["/bin/sh"]

[mcp]
server = { command = "{command}", args = "{args}", env = "{env}" }
variable = "${{{variable}}}"

[json.mcp]
servers = "{mcp}"

[headless]
args = ["-c", "cat > /dev/null; cp \"$0\" mcp.json; cat ../../../lines; while [ ! -e ../../../go ]; do sleep 0.05; done", "{file.mcp}"]
prompt = "stdin"
lines = true

[[event]]
when = { kind = "said" }
said = "{text}"

[[event]]
when = { kind = "error" }
fault = "{text}"

[[event]]
when = { kind = "used" }
model = "model"
input = ["in"]
output = ["out"]
count = "run"
"##;

#[tokio::test]
async fn structured_lines_count_and_a_limit_is_reported_once() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let data = runner.data_dir();
    std::fs::create_dir_all(data.join("agents")).unwrap();
    std::fs::write(data.join("agents/helper.toml"), HELPER).unwrap();
    let lines = r#"{"kind":"said","text":"I begin."}
{"kind":"error","text":"Rate limit reached, please try again in 20s."}
{"kind":"said","text":"All done."}
"#;
    std::fs::write(data.join("lines"), lines).unwrap();
    runner.spawn();
    hub.connected(1).await;
    let mut session = for_task(shell(""));
    (session.agent, session.argv, session.mode) = ("helper".to_owned(), vec![], SessionMode::Headless);
    hub.desire(vec![session.clone()]);
    hub.fact("a limit", |fact| matches!(fact, FactBody::SessionLimited { .. }).then_some(())).await;
    // The next runner reads the same lines again.
    runner.kill().await;
    runner.spawn();
    hub.connected(2).await;
    let path = hub.workspace(&session).await;
    std::fs::write(data.join("go"), "").unwrap();
    hub.over(session.session).await;
    let mut told = told(&hub, &session);
    // Whether its first words are reported separately from the limit depends on timing.
    told.retain({
        let mut first = true;
        move |word| !(std::mem::take(&mut first) && word == "progress")
    });
    assert_eq!(told, ["limited Some(20)", "progress", "said All done.", "over"]);
    let config = std::fs::read_to_string(format!("{path}/mcp.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let server = &config["servers"]["shopfloor"];
    assert_eq!(server["args"], serde_json::json!(["mcp"]));
    assert_eq!(server["env"]["SHOPFLOOR_TOKEN_FILE"], "${SHOPFLOOR_TOKEN_FILE}", "no secret is written down");
    assert_eq!(server["env"]["SHOPFLOOR_FENCE"], "${SHOPFLOOR_FENCE}");
}

#[tokio::test]
async fn tokens_cost_the_configured_prices() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let data = runner.data_dir();
    std::fs::create_dir_all(data.join("agents")).unwrap();
    std::fs::write(data.join("agents/helper.toml"), HELPER).unwrap();
    let prices = "[[price]]\nmodel = \"big\"\ninput = 2.0\noutput = 10.0\n";
    std::fs::write(data.join("prices.toml"), prices).unwrap();
    let lines = "{\"kind\":\"used\",\"model\":\"big-2\",\"in\":500000,\"out\":20000}\n";
    std::fs::write(data.join("lines"), lines).unwrap();
    std::fs::write(data.join("go"), "").unwrap();
    runner.spawn();
    hub.connected(1).await;
    let mut session = for_task(shell(""));
    (session.agent, session.argv, session.mode) = ("helper".to_owned(), vec![], SessionMode::Headless);
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let used = |fact: &FactBody| match fact {
        FactBody::SessionUsage { usage, .. } => Some(usage.clone()),
        _ => None,
    };
    let used = hub.facts().iter().filter_map(|fact| used(&fact.body)).next_back();
    assert_eq!(used.map(|used| (used.output_tokens, used.cost_micros)), Some((20_000, Some(1_200_000))));
}

#[tokio::test]
async fn a_session_without_a_task_reports_no_message() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo hello; env | grep -c SHOPFLOOR_TASK");
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    assert_eq!(told(&hub, &session), ["over"]);
}

#[tokio::test]
async fn a_hold_up_is_reported_with_its_cause_until_the_end() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let data = runner.data_dir();
    std::fs::create_dir_all(data.join("agents")).unwrap();
    let adapter = HELPER.replace("label =", "login_command = \"helper login\"\nlabel =");
    std::fs::write(data.join("agents/helper.toml"), adapter).unwrap();
    std::fs::write(data.join("lines"), "{\"kind\":\"error\",\"text\":\"401 Unauthorized\"}\n").unwrap();
    std::fs::write(data.join("go"), "").unwrap();
    runner.spawn();
    hub.connected(1).await;
    let mut session = for_task(shell(""));
    (session.agent, session.argv, session.mode) = ("helper".to_owned(), vec![], SessionMode::Headless);
    hub.desire(vec![session.clone()]);
    let over = hub.over(session.session).await;
    assert_eq!(over.detail.as_deref(), Some("401 Unauthorized"));
    let held = |fact: &FactBody| match fact {
        FactBody::SessionLimited { cause, message, login, .. } => Some((*cause, message.clone(), login.clone())),
        _ => None,
    };
    let told: Vec<_> = hub.facts().iter().filter_map(|fact| held(&fact.body)).collect();
    let expected = (Some(HoldUp::Auth), Some("401 Unauthorized".to_owned()), Some("helper login".to_owned()));
    assert_eq!(told, [expected]);
}
