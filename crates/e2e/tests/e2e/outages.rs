//! Real agents whose model fails: no attempt is wasted, nobody is asked per task, and all tasks get done afterwards.

use domain::{AttemptOutcome, EscalationKind, TaskId, TaskStatus, WorkerStatus};
use protocol::{
    AddedTasks, Call, Escalation, EscalationAnswer, Project, TaskDetail, TasksAdd, WorkEntry, WorkLogPage, Worker,
    WorkerFilter, WorkerStart,
};
use serde_json::json;
use testkit::model::{Model, Turn};
use testkit::wait_until;

use crate::agents::open;
use crate::fixture::Fixture;

/// A fixture with one worker, and these tasks.
async fn begin(model: &Model, agent: &str, tasks: serde_json::Value) -> (Fixture, Project, Vec<TaskId>) {
    let fixture = open(model).await;
    // As on a machine whose owner uses git.
    std::fs::write(fixture.home().join(".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.com\n").unwrap();
    let project = fixture.project(&fixture.repository()).await;
    // Without one that is named, Gemini CLI asks another model which one to take.
    let model = (agent == "gemini").then(|| "gemini-2.5-pro".to_owned());
    let input = WorkerStart { agent: agent.into(), model, ..Default::default() };
    let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    let tasks = serde_json::from_value(tasks).unwrap();
    let call = Call::TaskAdd { project: project.id, input: TasksAdd { tasks } };
    let added: AddedTasks = fixture.ann.ask(call).await.unwrap();
    (fixture, project, added.tasks.iter().map(|task| task.id).collect())
}

async fn detail(fixture: &Fixture, task: TaskId) -> TaskDetail {
    fixture.ann.ask(Call::TaskShow { task }).await.unwrap()
}

async fn log(fixture: &Fixture, project: &Project) -> Vec<WorkEntry> {
    let call = Call::WorkLog { project: project.id, page: WorkLogPage::default() };
    fixture.ann.ask(call).await.unwrap()
}

/// Waits until a task is done; says what is the matter when it is not.
async fn done(fixture: &Fixture, task: TaskId) -> TaskDetail {
    let last = std::cell::RefCell::new(String::new());
    let waited = wait_until("the task is done", async || {
        let found = detail(fixture, task).await;
        *last.borrow_mut() = format!("{:?} {:?} {:?}", found.task.status, found.task.reason, found.attempts);
        (found.task.status == TaskStatus::Done).then_some(found)
    });
    tokio::select! {
        found = waited => found,
        () = tokio::time::sleep(std::time::Duration::from_secs(58)) => panic!("{}", last.borrow()),
    }
}

async fn outage(fixture: &Fixture, project: &Project) -> WorkEntry {
    wait_until("the outage is noticed", async || {
        log(fixture, project).await.into_iter().find(|entry| entry.what.word() == "outage")
    })
    .await
}

fn wasted(detail: &TaskDetail) -> Vec<AttemptOutcome> {
    let outcomes = detail.attempts.iter().map(|attempt| attempt.outcome);
    outcomes.filter(|outcome| !matches!(outcome, AttemptOutcome::Released | AttemptOutcome::Accepted)).collect()
}

fn one() -> serde_json::Value {
    json!([{ "description": "Say hello to the world" }])
}

fn two() -> serde_json::Value {
    json!([{ "description": "Say hello to the world" }, { "description": "Wave at the moon" }])
}

async fn asked(fixture: &Fixture) -> Vec<Escalation> {
    fixture.ann.ask(Call::EscalationList { filter: Default::default() }).await.unwrap()
}

/// The model refuses or breaks off until the agent gives up, and then works.
async fn survives(agent: &str, tasks: serde_json::Value, faults: Vec<Turn>, reason: &str) {
    let model = Model::start(faults).await;
    let (fixture, project, tasks) = begin(&model, agent, tasks).await;
    let entry = outage(&fixture, &project).await;
    assert!(entry.reason.contains(reason), "{}", entry.reason);
    assert_eq!(
        asked(&fixture).await.iter().map(|one| one.kind).collect::<Vec<_>>(),
        [EscalationKind::Outage],
        "one notice"
    );
    let workers: Vec<Worker> = fixture.ann.ask(Call::WorkerList { filter: WorkerFilter::default() }).await.unwrap();
    assert_eq!((workers[0].status, workers[0].failures), (WorkerStatus::Paused, 0), "{:?}", workers[0].reason);
    model.then((0..4).map(|_| Turn::say("It is done.")));
    for task in tasks {
        let found = done(&fixture, task).await;
        assert_eq!(wasted(&found), [], "{:?}", found.attempts);
    }
    assert!(asked(&fixture).await.iter().all(|one| one.answered_at.is_some()), "nobody needs to be asked any more");
    fixture.close().await;
}

fn many(turn: Turn) -> Vec<Turn> {
    // As often as the real agents ask before they give up.
    vec![turn; 8]
}

#[tokio::test]
async fn codex_that_is_not_logged_in_loses_no_attempt() {
    survives("codex", two(), vec![Turn::refuse(401, None); 3], "is not logged in").await;
}

/// A limit without a named end is tried again after a minute, or when a person says so.
#[tokio::test]
async fn a_rate_limited_codex_loses_no_attempt_and_a_person_can_retry_at_once() {
    let model = Model::start([Turn::refuse(429, None)]).await;
    let (fixture, project, tasks) = begin(&model, "codex", two()).await;
    let entry = outage(&fixture, &project).await;
    assert!(entry.reason.contains("a provider's limit blocks `codex` on `here`"), "{}", entry.reason);
    model.then((0..4).map(|_| Turn::say("It is done.")));
    let open = asked(&fixture).await.remove(0);
    let input = EscalationAnswer { option: Some("Retry now".into()), ..Default::default() };
    let call = Call::EscalationAnswer { escalation: open.id, input };
    let _: Escalation = fixture.ann.ask(call).await.unwrap();
    for task in tasks {
        let found = done(&fixture, task).await;
        assert_eq!(wasted(&found), [], "{:?}", found.attempts);
    }
    fixture.close().await;
}

#[tokio::test]
async fn codex_whose_provider_fails_loses_no_attempt() {
    survives("codex", two(), vec![Turn::refuse(500, None); 6], "answers with errors").await;
}

#[tokio::test]
async fn codex_with_broken_off_answers_loses_no_attempt() {
    survives(
        "codex",
        two(),
        vec![Turn::say("I will do it at once.").broken(); 3],
        "does not answer, or drops the connection",
    )
    .await;
}

#[tokio::test]
async fn codex_whose_answers_are_empty_loses_no_attempt() {
    survives("codex", two(), vec![Turn::empty(); 3], "does not answer, or drops the connection").await;
}

#[tokio::test]
async fn opencode_that_is_not_logged_in_loses_no_attempt() {
    survives("opencode", one(), vec![Turn::refuse(401, None)], "is not logged in").await;
}

#[tokio::test]
#[ignore = "long lane: make test-long"]
async fn opencode_whose_answers_are_empty_loses_no_attempt() {
    survives("opencode", one(), vec![Turn::empty()], "does not answer, or drops the connection").await;
}

/// The agent overcomes it itself: its worker pauses, and resumes with the next answer rather than after a minute.
async fn overcomes(agent: &str, faults: Vec<Turn>) {
    let model = Model::start(faults).await;
    model.then([Turn::run("true"), Turn::say("It is done.")]);
    let (fixture, project, tasks) = begin(&model, agent, json!([{ "description": "Say hello" }])).await;
    let found = done(&fixture, tasks[0]).await;
    assert_eq!(found.attempts.len(), 1, "{:?}", found.attempts);
    let entries = log(&fixture, &project).await;
    let what: Vec<&str> = entries.iter().map(|entry| entry.what.word()).collect();
    assert!(what.contains(&"paused") && what.contains(&"resumed") && !what.contains(&"outage"), "{what:?}");
    let resumed = entries.iter().find(|entry| entry.what.word() == "resumed").unwrap();
    assert_eq!(resumed.reason, "its agent makes progress again");
    fixture.close().await;
}

#[tokio::test]
async fn codex_that_overcomes_a_failure_resumes_at_once() {
    overcomes("codex", vec![Turn::say("I will do it at once.").broken()]).await;
}

#[tokio::test]
#[ignore = "long lane: make test-long"]
async fn opencode_that_overcomes_a_limit_resumes_at_once() {
    overcomes("opencode", vec![Turn::refuse(429, None)]).await;
}

#[tokio::test]
async fn opencode_that_overcomes_a_failure_resumes_at_once() {
    overcomes("opencode", vec![Turn::refuse(500, None)]).await;
}

/// Answers that break off again and again are noticed, though the agent says nothing of them.
#[tokio::test]
#[ignore = "long lane: make test-long"]
async fn opencode_with_repeatedly_broken_off_answers_is_paused() {
    let model = Model::start(many(Turn::say("I will do it at once.").broken())).await;
    let (fixture, project, _) = begin(&model, "opencode", json!([{ "description": "Say hello" }])).await;
    let entry = wait_until("it is noticed", async || {
        log(&fixture, &project).await.into_iter().find(|entry| entry.what.word() == "paused")
    })
    .await;
    assert!(entry.reason.contains("does not answer, or drops the connection"), "{}", entry.reason);
    fixture.close().await;
}

/// A task whose work must be committed, with default settings.
async fn commits(agent: &str) {
    let model = Model::start([
        Turn::write("greeting.txt", "hello\n"),
        Turn::run("git add -A && git commit -qm 'Greet the world' && git log --oneline"),
        Turn::say("The greeting is committed."),
    ])
    .await;
    let task = json!([{ "description": "Greet the world", "acceptance": [{ "kind": "committed" }] }]);
    let (fixture, _, tasks) = begin(&model, agent, task).await;
    let found = done(&fixture, tasks[0]).await;
    assert_eq!((found.attempts.len(), found.reports.len()), (1, 1), "at once: {:?}", found.reports);
    assert_eq!(last_commit(&fixture, &found), "Ann: Greet the world", "it did so itself");
    fixture.close().await;
}

/// The author and the first line of the last commit of a task's workspace.
fn last_commit(fixture: &Fixture, found: &TaskDetail) -> String {
    let workspace = found.attempts[0].workspace.unwrap();
    let tree = fixture.folder.path().join("runner/workspaces").join(workspace.to_string()).join("tree");
    let git = std::process::Command::new("git").args(["log", "-1", "--format=%an: %s"]).current_dir(tree).output();
    String::from_utf8_lossy(&git.unwrap().stdout).trim().to_owned()
}

#[tokio::test]
async fn codex_commits_its_work() {
    commits("codex").await;
}

#[tokio::test]
async fn opencode_commits_its_work() {
    commits("opencode").await;
}

/// An agent that does not commit at all: its work is committed for it, with its words.
#[tokio::test]
async fn work_that_codex_did_not_commit_is_committed_for_it() {
    let model = Model::start([Turn::write("greeting.txt", "hello\n"), Turn::say("The greeting is written.")]).await;
    let task = json!([{ "description": "Greet the world", "acceptance": [{ "kind": "committed" }] }]);
    let (fixture, _, tasks) = begin(&model, "codex", task).await;
    let found = done(&fixture, tasks[0]).await;
    assert_eq!((found.attempts.len(), found.reports.len()), (1, 1), "at once: {:?}", found.reports);
    assert_eq!(found.reports[0].summary, "The greeting is written.");
    assert_eq!(last_commit(&fixture, &found), "Shopfloor: The greeting is written.");
    fixture.close().await;
}
