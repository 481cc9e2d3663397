//! A runner is killed while it works on a step: another one does the step again.

use protocol::{Artifact, ArtifactsWanted, Call, Execution, ExecutionDetail, Project, Recipe, RecipeText};
use serde_json::{Value, json};
use testkit::wait_until;

use crate::fixture::Fixture;

/// The first attempt waits for a file, the second one does not.
const RECIPE: &str = r#"
name: durable
lost_after: 1s
inputs: {script: {type: string}, folder: {type: string}}
outputs: {said: steps.make.output.text}
steps:
  - id: make
    run: [sh, -c, "{{ inputs.script }}", step, "{{ inputs.folder }}"]
    retry: {attempts: 2, first: 1s, backoff: fixed, on: [lost]}
"#;

const SCRIPT: &str = r#"
touch "$1/began"
case $SHOPFLOOR_KEY in
*/1) until [ -e "$1/gate" ]; do sleep 0.1; done ;;
esac
echo "by attempt ${SHOPFLOOR_KEY##*/}""#;

async fn shown(at: &Fixture, execution: domain::ExecutionId) -> ExecutionDetail {
    at.ann.ask(Call::ExecutionShow { execution }).await.unwrap()
}

async fn over(at: &Fixture, execution: domain::ExecutionId) -> ExecutionDetail {
    wait_until("the execution is over", async || {
        let found = shown(at, execution).await;
        found.execution.ended_at.is_some().then_some(found)
    })
    .await
}

async fn start(at: &Fixture, project: &Project, text: &str, inputs: Value) -> domain::ExecutionId {
    let input = RecipeText { text: text.into(), format: None };
    let recipe: Recipe = at.ann.ask(Call::RecipeAdd { project: project.id, input }).await.unwrap();
    let input = protocol::ExecutionStart { inputs: serde_json::from_value(inputs).unwrap(), version: None };
    at.ann.ask::<Execution>(Call::ExecutionStart { recipe: recipe.id, input }).await.unwrap().id
}

#[tokio::test]
async fn a_step_of_a_killed_runner_is_done_by_another_and_its_late_result_is_refused() {
    let mut at = Fixture::open(&[], async |port| port).await;
    let project = at.project(&at.repository()).await;
    let folder = at.folder.path().to_owned();
    let id = start(&at, &project, RECIPE, json!({ "script": SCRIPT, "folder": folder })).await;
    wait_until("the step has begun", async || folder.join("began").exists().then_some(())).await;
    at.replace_runner("spare").await;
    let found = over(&at, id).await;
    assert_eq!(found.outputs, Some(json!({ "said": "by attempt 2" })), "{found:#?}");
    assert_eq!(found.attempts[0].state, "failed", "{found:#?}");
    assert!(found.attempts[0].reason.as_ref().is_some_and(|why| why.contains("`here` has been away")), "{found:#?}");
    std::fs::write(folder.join("gate"), "").unwrap();
    let first = at.first_runner_again();
    let found = wait_until("the late result is kept", async || {
        let found = shown(&at, id).await;
        found.attempts[0].late.is_some().then_some(found)
    })
    .await;
    assert_eq!(found.outputs, Some(json!({ "said": "by attempt 2" })), "{found:#?}");
    first.kill().await;
    at.close().await;
}

const LONG: &str = "name: long\nsteps:\n  - id: count\n    run: [seq, \"1\", \"2000\"]\n";

#[tokio::test]
async fn all_that_a_command_prints_is_kept() {
    let at = Fixture::open(&[], async |port| port).await;
    let project = at.project(&at.repository()).await;
    let id = start(&at, &project, LONG, json!({})).await;
    let found = over(&at, id).await;
    let output = found.steps[0].output.clone().unwrap();
    assert!(output["text"].as_str().unwrap().ends_with("2000"), "{output}");
    let filter = ArtifactsWanted { execution: Some(id), path: Some("count".into()), ..Default::default() };
    let kept: Vec<Artifact> = at.ann.ask(Call::ArtifactList { project: project.id, filter }).await.unwrap();
    assert_eq!(kept.iter().map(|one| json!(one.id)).collect::<Vec<_>>(), [output["artifact"].clone()]);
    let file = at.folder.path().join("output.txt");
    let artifact = kept[0].id.to_string();
    at.cli::<Value>(&["artifact", "get", &artifact, "--output", file.to_str().unwrap()]).await;
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines.first(), lines.last()), (2000, Some(&"1"), Some(&"2000")));
    at.close().await;
}
