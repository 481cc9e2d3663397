//! Real agents work off the steps of a recipe, against a scripted model.

use protocol::{Call, ExecutionDetail, ExecutionReplay, Workspace};
use serde_json::{Value, json};
use testkit::model::{Model, Turn};
use testkit::wait_until;

use crate::agents::open;

/// The second step continues in the workspace of the first; its prompt quotes the answer of the first.
const RECIPE: &str = r#"
name: greet
inputs: {who: {type: string}}
outputs: {first: steps.write.output.text, last: steps.extend.output.text}
steps:
  - id: write
    agent: {agent: codex, prompt: "Write a greeting for {{ inputs.who }}"}
    timeout: 5m
  - id: extend
    agent: {agent: codex, prompt: "Before you: {{ steps.write.output.text }} Sign it.", workspace: {of: write}}
    timeout: 5m
"#;

#[tokio::test]
async fn codex_works_off_two_steps_of_a_recipe() {
    let model = Model::start([
        Turn::write("greeting.txt", "hello\nworld\n").tokens(1000, 200, 30),
        Turn::say("The greeting is written.").tokens(1200, 1000, 10),
        Turn::write("signature.txt", "Codex\n").tokens(1000, 200, 30),
        Turn::say("The greeting is signed.").tokens(1200, 1000, 10),
    ])
    .await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let file = fixture.folder.path().join("greet.yaml");
    std::fs::write(&file, RECIPE).unwrap();
    let _: Value = fixture.cli(&["recipe", "add", file.to_str().unwrap(), "--project", &project]).await;
    let started: protocol::Execution = fixture.cli(&["recipe", "run", "greet", "--input", "who=the world"]).await;
    let execution = started.id;
    let detail: ExecutionDetail = wait_until("the execution is over", async || {
        let shown: ExecutionDetail = fixture.ann.ask(Call::ExecutionShow { execution }).await.ok()?;
        shown.execution.ended_at.is_some().then_some(shown)
    })
    .await;
    let outputs = detail.outputs.clone().unwrap_or_else(|| panic!("{detail:#?}\n{}", fixture.runner_log()));
    assert_eq!(outputs, json!({ "first": "The greeting is written.", "last": "The greeting is signed." }));
    assert_eq!(model.left(), 0, "each step was worked off once");
    let asked: Vec<String> =
        model.asked().into_iter().filter(|asked| asked.scripted).map(|asked| asked.body.to_string()).collect();
    assert!(asked[0].contains("Write a greeting for the world"), "{}", asked[0]);
    assert!(asked[2].contains("Before you: The greeting is written. Sign it."), "{}", asked[2]);
    one_workspace_has_both_files(&fixture, &detail).await;
    let replay: ExecutionReplay = fixture.ann.ask(Call::ExecutionReplay { execution }).await.unwrap();
    assert_eq!(replay.differences, Vec::<String>::new());
    fixture.close().await;
}

async fn one_workspace_has_both_files(fixture: &crate::fixture::Fixture, detail: &ExecutionDetail) {
    let workspaces: Vec<Value> = detail
        .steps
        .iter()
        .map(|step| step.output.as_ref().map(|output| output["workspace"].clone()).unwrap_or_default())
        .collect();
    assert_eq!((workspaces.len(), &workspaces[0]), (2, &workspaces[1]), "{workspaces:?}");
    let workspace = serde_json::from_value(workspaces[0].clone()).unwrap();
    let found: Workspace = fixture.ann.ask(Call::WorkspaceShow { workspace }).await.unwrap();
    let place = std::path::PathBuf::from(found.path.unwrap());
    for file in ["greeting.txt", "signature.txt"] {
        assert!(place.join(file).is_file(), "{file} is not in {}", place.display());
    }
}

const PAUSED: &str = r#"
name: paused
outputs: {last: steps.write.output.text}
steps:
  - id: write
    agent: {agent: codex, prompt: "Write a greeting"}
    timeout: 5m
"#;

#[tokio::test]
async fn codex_is_interrupted_by_a_pause_with_its_work_saved_and_resumes() {
    let model = Model::start([
        Turn::write("greeting.txt", "hello\n").tokens(1000, 200, 30),
        Turn::say("This answer never ends.").held().tokens(1200, 1000, 10),
    ])
    .await;
    let fixture = open(&model).await;
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let file = fixture.folder.path().join("paused.yaml");
    std::fs::write(&file, PAUSED).unwrap();
    let _: Value = fixture.cli(&["recipe", "add", file.to_str().unwrap(), "--project", &project]).await;
    let started: protocol::Execution = fixture.cli(&["recipe", "run", "paused"]).await;
    let (execution, id) = (started.id, started.id.to_string());
    let shown = async || fixture.ann.ask::<ExecutionDetail>(Call::ExecutionShow { execution }).await.unwrap();
    wait_until("Codex waits for its second answer", async || (model.left() == 0).then_some(())).await;
    let _: Value = fixture.cli(&["execution", "pause", &id, "--now", "--reason", "lunch"]).await;
    let paused = shown().await;
    assert_eq!(paused.execution.status, domain::ExecutionStatus::Paused);
    assert_eq!(paused.steps[0].status, domain::StepStatus::Held, "{paused:#?}");
    let first = paused.attempts[0].clone();
    let session = first.session.unwrap();
    wait_until("the agent has stopped", async || {
        let found: protocol::SessionDetail = fixture.ann.ask(Call::SessionShow { session }).await.ok()?;
        found.session.state.ended().then_some(())
    })
    .await;
    let workspace = first.workspace.unwrap();
    let saves: Vec<protocol::Save> = fixture.ann.ask(Call::WorkspaceSaves { workspace }).await.unwrap();
    assert!(!saves.is_empty(), "its work is saved");
    model.release();
    model.then([Turn::say("The greeting is there.").tokens(1200, 1000, 10)]);
    let _: Value = fixture.cli(&["execution", "resume", &id]).await;
    let over = wait_until("the execution is over", async || {
        let found = shown().await;
        found.execution.ended_at.is_some().then_some(found)
    })
    .await;
    assert_eq!(over.outputs, Some(json!({ "last": "The greeting is there." })), "{over:#?}");
    assert_eq!(over.attempts.len(), 2, "{over:#?}");
    assert_eq!(over.attempts[1].workspace, Some(workspace), "it goes on where it was interrupted");
    let found: Workspace = fixture.ann.ask(Call::WorkspaceShow { workspace }).await.unwrap();
    assert!(std::path::PathBuf::from(found.path.unwrap()).join("greeting.txt").is_file());
    fixture.close().await;
}
