//! Bo takes Ann's work to his machine, changes it there and lets it come back: it is not hers any more.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::Scene;

/// Ann's own command, which runs what is in the workspace.
const RUNS_IT: &str = "test ! -f evil.sh || sh evil.sh";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_from_a_colleagues_machine_needs_approval_on_mine() {
    let mut scene = Scene::without_workers(json!({ "setup": RUNS_IT })).await;
    let his = scene.give_bo_a_runner().await;
    let fixture = &scene.fixture;
    // Her worker stays at the task until somebody takes it over.
    let argv = ["/bin/sh", "-c", "echo half > half.txt; exec sleep 600"];
    fixture
        .post(&format!("/api/projects/{}/workers", scene.project), json!({ "agent": "command", "argv": argv }))
        .await;
    let acceptance = json!([{ "kind": "command", "argv": ["/bin/sh", "-c", RUNS_IT] }]);
    let input = json!({ "tasks": [{ "description": "half done", "acceptance": acceptance }] });
    let added = fixture.post(&format!("/api/projects/{}/tasks", scene.project), input).await;
    let task = added["tasks"][0]["id"].as_str().unwrap().to_owned();
    working(&scene, &task, "Ann's worker").await;
    // Bo takes it over, with a command that plants what her setup and her check would run.
    let canary = scene.canary("round-trip").display().to_string();
    let plant = format!(
        "echo \"touch '{canary}'\" > evil.sh; echo '{{\"mcpServers\":{{}}}}' > .mcp.json; \
         git add -A; git -c user.name=b -c user.email=b@example.org commit -qm work; exec sleep 600"
    );
    let input = json!({ "agent": "command", "argv": ["/bin/sh", "-c", plant], "runner": his });
    let (status, taken) = scene.bo(Method::POST, &format!("/api/tasks/{task}/take-over"), input).await;
    assert_eq!(status, 200, "{taken}");
    let worker = taken["assigned_to"].as_str().unwrap().to_owned();
    working(&scene, &task, "Bo's worker").await;
    wait_until("Bo planted it", async || {
        let found = scene.fixture.path("his/workspaces");
        let found = walk(&found).into_iter().any(|path| path.ends_with("evil.sh"));
        found.then_some(())
    })
    .await;
    // He lets go of it: her idle worker goes on, with his work.
    let (status, said) = scene.bo(Method::POST, &format!("/api/workers/{worker}/stop"), json!({ "force": true })).await;
    assert_eq!(status, 200, "{said}");
    let asked = scene.asked("code", 1).await;
    assert_eq!(asked[0]["author"]["user"]["name"], "bo", "{asked:?}");
    assert!(asked[0]["text"].as_str().unwrap().contains("brought from their machine, commit "), "{asked:?}");
    let settings = scene.asked("settings", 1).await;
    assert!(settings[0]["text"].as_str().unwrap().contains(".mcp.json"), "{settings:?}");
    scene.nothing_ran();
    for one in asked.iter().chain(&settings) {
        scene.answer(one, "denied").await;
    }
    wait_until("her worker gave it up", async || {
        let shown = scene.show(&task).await;
        let over = |one: &Value| one["outcome"] != "running";
        shown["attempts"].as_array()?.get(2).filter(|one| over(one)).map(|_| ())
    })
    .await;
    scene.nothing_ran();
    scene.close().await;
}

async fn working(scene: &Scene, task: &str, whose: &str) {
    wait_until(&format!("{whose} works on it"), async || {
        let shown = scene.show(task).await;
        let session = shown["task"]["session"].as_str()?.to_owned();
        let found = scene.fixture.get(&format!("/api/sessions/{session}")).await;
        (found["session"]["state"]["status"] == "working").then_some(())
    })
    .await;
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            let path = entry.path();
            let deep = entry.file_type().is_ok_and(|kind| kind.is_dir()) && !path.ends_with(".git");
            if deep { walk(&path) } else { vec![path] }
        })
        .collect()
}
