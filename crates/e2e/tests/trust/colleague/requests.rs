//! Requests for sessions in every form, and work that Bo pushed: base, sandbox, repeated texts, other policies.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::{SECRET, Scene};

/// Ann's own command, which runs what is in the workspace.
const RUNS_IT: &str = "test ! -f evil.sh || sh evil.sh";

/// What Bo asks for on Ann's runner.
fn ask(scene: &(String, String), line: &str, more: Value) -> Value {
    let (activity, runner) = scene;
    let mut input =
        json!({ "activity": activity, "runner": runner, "agent": "command", "argv": ["/bin/sh", "-c", line] });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_colleagues_branch_is_shown_and_needs_approval_to_run() {
    let mut scene = Scene::without_workers(json!({ "setup": RUNS_IT })).await;
    scene.pushed("bo/evil", "base");
    let place = (scene.activity().await, scene.hers().await);
    let (status, said) = scene.bo(Method::POST, "/api/sessions", ask(&place, "true", json!({}))).await;
    assert_eq!(status, 201, "{said}");
    let [plain] = scene.asked("session", 1).await.try_into().unwrap();
    scene.answer(&plain, "text").await;
    // The text that she allowed for good is repeated with a base: that is another text.
    let based = ask(&place, "true", json!({ "base": "bo/evil" }));
    let (status, said) = scene.bo(Method::POST, "/api/sessions", based).await;
    assert_eq!(status, 201, "{said}");
    let [again] = scene.asked("session", 1).await.try_into().unwrap();
    let text = again["text"].as_str().unwrap();
    assert!(text.starts_with("agent: command") && text.contains("base: bo/evil"), "{text}");
    // She allows it without a second look: what is on the branch is still asked about.
    scene.answer(&again, "once").await;
    let [code] = scene.asked("code", 1).await.try_into().unwrap();
    assert!(code["text"].as_str().unwrap().contains("branch `bo/evil`"), "{code}");
    let [settings] = scene.asked("settings", 1).await.try_into().unwrap();
    assert!(settings["text"].as_str().unwrap().contains("evil.sh"), "{settings}");
    scene.nothing_ran();
    for one in [&code, &settings] {
        scene.answer(one, "denied").await;
    }
    scene.fixture.ended(&json!({ "id": said["id"] })).await;
    scene.nothing_ran();
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_policy_but_writers_lets_a_colleague_reach_my_files() {
    let mut scene = Scene::without_workers(json!({})).await;
    let place = (scene.activity().await, scene.hers().await);
    let secret = scene.fixture.path("home/secret.txt").display().to_string();
    for (policy, sandbox) in [
        ("ask", json!(null)),
        ("project-owner", json!(null)),
        ("project-owner", json!({ "home": true, "network": true })),
        ("sandbox-only", json!(null)),
        ("sandbox-only", json!({ "home": true, "network": true })),
        ("sandbox-only", json!({ "home": false, "network": true })),
    ] {
        let path = format!("/api/runners/{}", place.1);
        let set = scene.fixture.http(Method::PATCH, &path, Some(&json!({ "policy": policy }))).await;
        assert_eq!(set.status, 200, "{}", set.text);
        let line = format!("cat '{secret}'; cp '{secret}' '{}'; true", scene.canary(policy).display());
        let more = if sandbox.is_null() { json!({}) } else { json!({ "sandbox": sandbox }) };
        let (status, said) = scene.bo(Method::POST, "/api/sessions", ask(&place, &line, more)).await;
        assert_eq!(status, 201, "{said}");
        if policy == "sandbox-only" {
            // It runs, in a sandbox that hides her home; or not at all where there is no bubblewrap.
            let ended = scene.fixture.ended(&said).await;
            let path = format!("/api/sessions/{}/log", said["id"].as_str().unwrap());
            let log = scene.fixture.http(Method::GET, &path, None).await.text;
            assert!(!log.contains(SECRET), "{policy} {sandbox}: {log} {ended}");
        } else {
            let [one] = scene.asked("session", 1).await.try_into().unwrap();
            scene.answer(&one, "denied").await;
            scene.fixture.ended(&said).await;
        }
        scene.nothing_ran();
    }
    scene.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_colleagues_pushed_work_needs_approval_to_be_checked_here() {
    let mut scene = Scene::without_workers(json!({})).await;
    scene.pushed("bo/report", "report");
    let acceptance = json!([{ "kind": "command", "argv": ["/bin/sh", "-c", RUNS_IT] }]);
    let input = json!({ "tasks": [{ "description": "anybody may do it", "acceptance": acceptance }] });
    let added = scene.fixture.post(&format!("/api/projects/{}/tasks", scene.project), input).await;
    let task = added["tasks"][0]["id"].as_str().unwrap().to_owned();
    let take =
        json!({ "verb": "task.take", "project": scene.project, "input": { "task": task, "worker": "bo's own" } });
    let taken = scene.bo_calls(take).await.unwrap();
    let fence = taken["taken"]["lease"]["fence"].as_u64().unwrap_or_else(|| panic!("{taken}"));
    // A runner with workers in the project looks at what others push.
    scene.worker(&scene.project, 1).await;
    let report = json!({ "fence": fence, "summary": "done", "deliverables": { "branch": "bo/report" } });
    scene.bo_calls(json!({ "verb": "task.report", "task": task, "input": report })).await.unwrap();
    let [code] = scene.asked("code", 1).await.try_into().unwrap();
    assert!(code["text"].as_str().unwrap().contains("pushed to branch `bo/report`"), "{code}");
    scene.nothing_ran();
    scene.answer(&code, "denied").await;
    wait_until("the report is judged", async || {
        let shown = scene.show(&task).await;
        (shown["task"]["status"] != "reported" && shown["task"]["status"] != "validating").then_some(())
    })
    .await;
    scene.nothing_ran();
    scene.close().await;
}
