//! Real agents, offline, against a scripted model: from the command line to a branch with one changed file.

use domain::{SessionStatus, WorkspaceStatus};
use protocol::{
    Activity, Call, LogPage, Session, SessionDetail, SessionLog, SessionQuestion, Workspace, WorkspaceDiff,
};
use testkit::model::{Model, Turn};
use testkit::wait_until;

use crate::fixture::Fixture;

fn script() -> [Turn; 2] {
    [
        Turn::write("greeting.txt", "hello\nworld\n").tokens(1000, 200, 30),
        Turn::say("The greeting is written.").tokens(1200, 1000, 10),
    ]
}

pub(crate) async fn open(model: &Model) -> Fixture {
    // Connections out of the machine fail.
    let nobody = [("HTTP_PROXY", "http://127.0.0.1:9"), ("HTTPS_PROXY", "http://127.0.0.1:9")];
    let env = nobody.into_iter().chain([("NO_PROXY", "127.0.0.1,localhost")]).chain(Model::variables());
    let env: Vec<_> = env.map(|(name, value)| (name, value.to_owned())).chain(model.addresses()).collect();
    let fixture = Fixture::open(&env, async |port| port).await;
    model.write_home(&fixture.home());
    fixture
}

/// What is true of a session whose agent used what the script says.
fn check_usage(ended: &SessionDetail) {
    let Session { usage, .. } = &ended.session;
    assert_eq!((usage.input_tokens, usage.cached_tokens, usage.output_tokens), (2200, 1200, 40));
}

/// What is true of a session whose agent wrote one file.
async fn check_work(fixture: &Fixture, ended: &SessionDetail) {
    let workspace: Workspace = wait_until("the changed file is counted", async || {
        let found: Workspace = fixture.ann.ask(Call::WorkspaceShow { workspace: ended.workspace.id }).await.ok()?;
        found.stats.as_ref().is_some_and(|stats| stats.files == 1).then_some(found)
    })
    .await;
    assert_eq!(workspace.status, WorkspaceStatus::Ready);
    let stats = workspace.stats.unwrap();
    assert_eq!((stats.insertions, stats.deletions), (2, 0), "{stats:?}");
    let branch = workspace.branch.unwrap();
    let activity: Activity = fixture.ann.ask(Call::ActivityShow { activity: ended.session.activity }).await.unwrap();
    let targets: Vec<&str> = activity.links.iter().map(|link| link.target.as_str()).collect();
    let (session, workspace) = (ended.session.id.to_string(), ended.workspace.id);
    assert!(targets.contains(&branch.as_str()) && targets.contains(&session.as_str()), "{targets:?}");
    let diff: WorkspaceDiff = fixture.ann.ask(Call::WorkspaceDiff { workspace }).await.unwrap();
    assert_eq!(diff.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["greeting.txt"]);
}

async fn log(fixture: &Fixture, session: &Session) -> String {
    let call = Call::SessionLog { session: session.id, page: LogPage::default() };
    // There is none before it begins.
    fixture.ann.ask::<SessionLog>(call).await.map(|log| log.text).unwrap_or_default()
}

async fn headless(agent: &str) {
    let model = Model::start(script()).await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let prompt = "Write a greeting; $(touch hacked)\n--then stop";
    let session: Session = fixture
        .cli(&["session", "spawn", "--project", &project, "--agent", agent, "--headless", "--prompt", prompt])
        .await;
    let ended = fixture.until(session.id, "the agent ended", |session| session.state.ended()).await;
    let shown = log(&fixture, &session).await;
    assert_eq!((ended.session.state.status, ended.session.state.code), (SessionStatus::Exited, Some(0)), "{shown}");
    assert!(shown.contains("The greeting is written."), "{shown}");
    assert!(ended.session.resumable, "its conversation is known");
    check_usage(&ended);
    check_work(&fixture, &ended).await;
    fixture.close().await;
}

#[tokio::test]
async fn codex_works_from_a_prompt_alone() {
    headless("codex").await;
}

#[tokio::test]
async fn opencode_works_from_a_prompt_alone() {
    headless("opencode").await;
}

/// An ended agent answers a question, and writes nothing, whatever its model says.
#[tokio::test]
async fn codex_is_asked_after_its_end_and_only_reads() {
    let model = Model::start(script()).await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let spawn = ["session", "spawn", "--project", &project, "--agent", "codex", "--headless", "--prompt", "Write"];
    let session: Session = fixture.cli(&spawn).await;
    let id = session.id.to_string();
    let ended = fixture.until(session.id, "the agent ended", |session| session.state.ended()).await;
    let ended = match ended.session.resumable {
        true => ended,
        false => fixture.until(session.id, "its conversation is known", |session| session.resumable).await,
    };
    model.then([Turn::write("hacked.txt", "x\n").tokens(9, 0, 9), Turn::say("Because you asked.").tokens(9, 0, 9)]);
    let asked: SessionQuestion = fixture.cli(&["session", "ask", &id, "Why a greeting?"]).await;
    assert_eq!(asked.answer.as_deref(), Some("Because you asked."), "{asked:?}");
    assert!(model.asked().iter().any(|one| format!("{one:?}").contains("Why a greeting?")));
    let path = std::path::PathBuf::from(ended.workspace.path.unwrap());
    assert!(path.join("greeting.txt").exists() && !path.join("hacked.txt").exists());
    let all: Vec<SessionQuestion> = fixture.cli(&["session", "questions", &id]).await;
    assert_eq!(all, [asked]);
    fixture.close().await;
}

/// An agent that is prompted in its terminal, works, becomes idle, and is stopped.
async fn interactive(agent: &str, output_tokens: u64) -> (Fixture, SessionDetail) {
    let model = Model::start(script()).await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let session: Session = fixture
        .cli(&["session", "spawn", "--project", &project, "--agent", agent, "--prompt", "Write a greeting"])
        .await;
    let said = async || log(&fixture, &session).await.contains("The greeting is written.");
    wait_until("it says that it is done", async || said().await.then_some(())).await;
    fixture
        .until(session.id, "it is idle after its work", |session| {
            session.state.status == SessionStatus::Idle && session.usage.output_tokens == output_tokens
        })
        .await;
    assert_eq!(model.left(), 0, "all was asked");
    let stopping: Session = fixture.cli(&["session", "stop", &session.id.to_string()]).await;
    assert!(stopping.stopping || stopping.state.ended());
    let ended = fixture.until(session.id, "it was stopped", |session| session.state.ended()).await;
    assert_eq!(ended.session.state.status, SessionStatus::Exited);
    (fixture, ended)
}

#[tokio::test]
async fn interactive_codex_works_on_a_prompt_then_idles_until_stopped() {
    let (fixture, ended) = interactive("codex", 40).await;
    check_usage(&ended);
    check_work(&fixture, &ended).await;
    fixture.close().await;
}

#[tokio::test]
async fn interactive_opencode_works_on_a_prompt_then_idles_until_stopped() {
    // What it used it tells only where it prints structured lines.
    let (fixture, ended) = interactive("opencode", 0).await;
    check_work(&fixture, &ended).await;
    fixture.close().await;
}
