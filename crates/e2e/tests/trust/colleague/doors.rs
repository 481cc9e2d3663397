//! The doors of agents: their own tokens, and MCP with a person's token. What comes through them is no person's.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::Scene;
use crate::mcp::Agent;

/// The token of an agent whose session `caller` starts on a runner of their own.
async fn agent_token(scene: &Scene, caller: &str, runner: &str) -> String {
    let file = scene.fixture.path(&format!("token-{runner}"));
    let line = format!("cat \"$SHOPFLOOR_TOKEN_FILE\" > '{}'; exec sleep 600", file.display());
    let argv = ["/bin/sh", "-c", &line];
    let input = json!({ "project": scene.project, "runner": runner, "agent": "command", "argv": argv });
    let made = scene.fixture.as_other(caller, Method::POST, "/api/sessions", Some(&input)).await;
    assert_eq!(made.status, 201, "{}", made.text);
    wait_until("the agent has its token", async || {
        std::fs::read_to_string(&file).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    })
    .await
}

fn with_canary(scene: &Scene, name: &str) -> Value {
    let argv = ["touch".to_owned(), scene.canary(name).display().to_string()];
    json!({ "tasks": [{ "description": name, "acceptance": [{ "kind": "command", "argv": argv }] }] })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_agents_add_need_approval_with_any_token() {
    let mut scene = Scene::open().await;
    let his = scene.give_bo_a_runner().await;
    let hers = scene.hers().await;
    let path = format!("/api/projects/{}/tasks", scene.project);
    let ann = scene.fixture.token.clone();
    let tokens = [
        ("his-agent", agent_token(&scene, &scene.bo, &his).await),
        ("her-agent", agent_token(&scene, &ann, &hers).await),
    ];
    for (name, token) in &tokens {
        let added = scene.fixture.as_other(token, Method::POST, &path, Some(&with_canary(&scene, name))).await;
        assert_eq!(added.status, 201, "{name}: {}", added.text);
    }
    // MCP with the token of a person, hers included.
    for (name, token) in [("his-mcp", &scene.bo), ("her-mcp", &ann)] {
        let mut arguments = with_canary(&scene, name);
        arguments["project"] = scene.project.as_str().into();
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "add_tasks", "arguments": arguments } });
        let reply = scene.fixture.as_other(token, Method::POST, "/mcp", Some(&call)).await;
        assert!(reply.status == 200 && reply.text.contains("tsk_"), "{name}: {} {}", reply.status, reply.text);
    }
    let mut program = Agent::of_program(&scene.fixture, &scene.project).await;
    let said = program.call("add_tasks", with_canary(&scene, "her-program")).await.to_string();
    assert!(said.contains("tsk_"), "{said}");
    scene.worker(&scene.project, 1).await;
    let asked = scene.asked("command", 5).await;
    for one in &asked {
        assert_eq!(one["author"]["by_agent"], true, "{one}");
    }
    scene.nothing_ran();
    // An agent answers nothing, neither for its person nor for anybody else.
    for (name, token) in &tokens {
        for one in &asked {
            let path = format!("/api/approvals/{}/answer", one["id"].as_str().unwrap());
            let said = scene.fixture.as_other(token, Method::POST, &path, Some(&json!({ "answer": "once" }))).await;
            assert!((400..500).contains(&said.status), "{name}: {} {}", said.status, said.text);
        }
        let input = json!({ "policy": "writers" });
        let said = scene.fixture.as_other(token, Method::PATCH, &format!("/api/runners/{hers}"), Some(&input)).await;
        assert!((400..500).contains(&said.status), "{name}: {} {}", said.status, said.text);
    }
    scene.nothing_ran();
    scene.close().await;
}
