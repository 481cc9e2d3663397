//! Everything executable that Bo can send for Ann's machine: each is asked about, and runs only when she allows it.

use reqwest::Method;
use serde_json::json;
use testkit::wait_until;

use super::scene::{SECRET, Scene};
use crate::fixture::git;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_colleagues_commands_and_files_need_approval() {
    let mut scene = Scene::open().await;
    let fixture = &scene.fixture;
    let token_file = fixture.path("hub/token");
    // Commands in acceptance, in every form.
    let touch = |name: &str| scene.canary(name).display().to_string();
    let steal = format!("cat '{}' '{}'", token_file.display(), fixture.path("home/secret.txt").display());
    let mut tasks = vec![
        scene.task(&scene.project, "plain", json!([{ "kind": "command", "argv": ["touch", touch("plain")] }])).await,
        scene
            .task(
                &scene.project,
                "shell",
                json!([{ "kind": "command", "argv": ["/bin/sh", "-c", format!("touch '{}'; {steal}", touch("shell"))] }]),
            )
            .await,
        scene
            .task(
                &scene.project,
                "late",
                json!([{ "kind": "file_exists", "path": "out.txt" },
                       { "kind": "command", "argv": ["cp", fixture.path("home/secret.txt"), touch("late")] }]),
            )
            .await,
    ];
    // The same through MCP.
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "add_tasks", "arguments": {
        "project": scene.project, "tasks": [{ "description": "mcp",
            "acceptance": [{ "kind": "command", "argv": ["touch", touch("mcp")] }] }] } } });
    let reply = fixture.as_other(&scene.bo, Method::POST, "/mcp", Some(&call)).await;
    assert!(reply.status == 200 && reply.text.contains("tsk_"), "MCP takes it: {} {}", reply.status, reply.text);
    let asked = scene.asked("command", 4).await;
    for one in &asked {
        assert_eq!((one["author"]["user"]["name"].as_str(), one["runner_name"].as_str()), (Some("bo"), Some("here")));
        assert_eq!(one["project"], scene.project.as_str());
    }
    for task in &tasks {
        let shown = scene.show(task).await;
        assert_eq!(shown["task"]["status"], "reported", "{shown}");
        assert!(shown["task"]["reason"].as_str().unwrap().contains("waits until"), "{shown}");
    }
    // A session on her runner, in her activity: as a command, as a shell, and in a workspace of hers.
    let activity = scene.show(&tasks[0]).await["task"]["activity"].as_str().unwrap().to_owned();
    let runner = fixture.get("/api/runners").await[0]["id"].as_str().unwrap().to_owned();
    for (name, agent) in [("command", "command"), ("sh", "shell")] {
        let argv = ["/bin/sh", "-c", &format!("touch '{}'", touch(name))];
        let input = json!({ "activity": activity, "runner": runner, "agent": agent, "argv": argv });
        let (status, said) = scene.bo(Method::POST, "/api/sessions", input).await;
        assert_eq!(status, 201, "{said}");
        assert_eq!(said["asked_by"]["user"]["name"], "bo");
        assert_ne!(said["owner"], said["asked_by"]["user"], "it is Ann's");
    }
    let sessions = scene.asked("session", 2).await;
    assert!(sessions.iter().all(|one| one["text"].as_str().unwrap().contains("touch")), "{sessions:?}");
    // What is hers to change: refused, whatever Bo sends.
    let worker = fixture.get("/api/workers").await[0]["id"].as_str().unwrap().to_owned();
    let approval = asked[0]["id"].as_str().unwrap();
    let session = sessions[0]["session"].as_str().unwrap();
    let workspace = sessions[0]["workspace"].as_str().unwrap();
    let evil = json!([{ "location": fixture.path("repository"), "setup": format!("touch '{}'", touch("setup")) }]);
    let command = json!({ "agent": "command", "argv": ["touch", touch("worker")], "runner": runner });
    let refused = [
        (Method::PATCH, format!("/api/projects/{}", scene.project), json!({ "repositories": evil })),
        (Method::PATCH, format!("/api/projects/{}", scene.project), json!({ "share_execution": true })),
        (Method::PATCH, format!("/api/runners/{runner}"), json!({ "policy": "writers" })),
        (Method::DELETE, format!("/api/runners/{runner}"), json!({})),
        (Method::POST, format!("/api/approvals/{approval}/answer"), json!({ "answer": "once" })),
        (Method::GET, format!("/api/approvals/{approval}"), json!(null)),
        (Method::POST, format!("/api/projects/{}/workers", scene.project), command.clone()),
        (Method::PATCH, format!("/api/workers/{worker}"), json!({ "budget_micros": 1 })),
        (Method::POST, format!("/api/sessions/{session}/send"), json!({ "text": "touch x", "submit": true })),
        (Method::POST, format!("/api/sessions/{session}/resume"), json!({})),
        (Method::GET, format!("/api/sessions/{session}/log"), json!(null)),
        (Method::GET, format!("/api/workspaces/{workspace}/diff"), json!(null)),
        (Method::POST, format!("/api/workspaces/{workspace}/restore"), json!({})),
        (Method::POST, format!("/api/workspaces/{workspace}/clean"), json!({})),
        (Method::POST, format!("/api/tasks/{}/take-over", tasks[0]), command),
    ];
    for (method, path, body) in refused {
        let (status, said) = scene.bo(method.clone(), &path, body).await;
        assert!((400..500).contains(&status), "{method} {path}: {status} {said}");
    }
    let (status, listed) = scene.bo(Method::GET, "/api/approvals", json!(null)).await;
    assert_eq!((status, listed.as_array().map(Vec::len)), (200, Some(0)));
    // A project of Bo's that names a folder of hers, which her own worker takes part in.
    let private = fixture.path("home/notes");
    fixture.repository(&private);
    std::fs::write(private.join("notes.txt"), SECRET).unwrap();
    git(&private, &["add", "-A"]);
    git(&private, &["commit", "-q", "-m", "notes"]);
    let input = json!({ "content": "Trap", "visibility": "read-write", "share_execution": true, "repositories": [{
        "location": private, "setup": format!("touch '{}'", touch("trap")),
        "teardown": format!("touch '{}'", touch("teardown")), "copy": [".env"] }] });
    let (status, trap) = scene.bo(Method::POST, "/api/projects", input).await;
    assert_eq!(status, 201, "{trap}");
    let trap = trap["id"].as_str().unwrap().to_owned();
    let criteria = json!([{ "kind": "file_matches", "path": "notes.txt", "regex": "canary" }]);
    tasks.push(scene.task(&trap, "read it", criteria).await);
    scene.worker(&trap, 1).await;
    let repository = scene.asked("repository", 1).await;
    assert_eq!(repository[0]["author"]["user"]["name"], "bo");
    assert_eq!(scene.asked("copy", 1).await[0]["text"].as_str().unwrap().lines().next(), Some(".env"));
    let stores = fixture.path("runner/repositories");
    let before = std::fs::read_dir(&stores).map_or(0, Iterator::count);
    scene.nothing_ran();
    // What is denied does not run either; what is allowed once runs once.
    for (at, one) in asked.iter().enumerate() {
        scene.answer(one, if at == 0 { "once" } else { "denied" }).await;
    }
    for one in sessions.iter().chain(&repository) {
        scene.answer(one, "denied").await;
    }
    let allowed = asked[0]["task"].as_str().unwrap();
    wait_until("the allowed command ran", async || {
        (scene.show(allowed).await["task"]["status"] == "done").then_some(())
    })
    .await;
    for one in &asked[1..] {
        let task = one["task"].as_str().unwrap();
        wait_until("a person is asked about the denied one", async || {
            (scene.show(task).await["task"]["status"] == "escalated").then_some(())
        })
        .await;
    }
    let ran: Vec<String> = ["plain", "shell", "late", "mcp", "command", "sh", "setup", "worker", "trap", "teardown"]
        .into_iter()
        .filter(|name| scene.canary(name).exists())
        .map(str::to_owned)
        .collect();
    assert_eq!(ran.len(), 1, "only what was allowed: {ran:?}");
    assert_eq!(std::fs::read_dir(&stores).map_or(0, Iterator::count), before, "her folder was not read");
    // Nothing of hers in whatever Bo can read now.
    for task in &tasks {
        scene.bo(Method::GET, &format!("/api/tasks/{task}"), json!(null)).await;
    }
    for path in ["/api/audit", "/api/escalations", "/api/sessions", "/api/workspaces", "/api/grants"] {
        scene.bo(Method::GET, path, json!(null)).await;
    }
    scene.close().await;
}
