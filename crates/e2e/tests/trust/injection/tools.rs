//! Every name over MCP, at both of its doors: added as tasks, taken, told, asked and reported.

use serde_json::{Value, json};

use super::{Grounds, Tally, is_harmless};
use crate::mcp::Agent;

async fn one(agent: &mut Agent<'_>, tally: &mut Tally, tool: &str, arguments: Value) -> bool {
    let answer = agent.call(tool, arguments.clone()).await;
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().or(answer["error"]["message"].as_str()).unwrap_or_default();
    assert!(!text.is_empty(), "{tool} {arguments} says nothing: {answer}");
    let taken = answer["error"].is_null() && result["isError"] != json!(true);
    if !taken {
        assert!(is_harmless(text), "{tool} {arguments}: {text:?}");
        assert!(!text.contains("internal") && !text.contains("panick"), "{tool} {arguments}: {text}");
    }
    tally.count(tool, taken);
    taken
}

/// Agents at once; each has its share of the names.
const AT_ONCE: usize = 4;

async fn everything(on: &Grounds, agents: [Agent<'_>; AT_ONCE]) -> Tally {
    let [a, b, c, d] = agents;
    // Each in a project of its own: nobody takes what another one added.
    let project = async |name| on.fixture.project(name).await["id"].as_str().unwrap().to_owned();
    let of = [project("a").await, project("b").await, project("c").await, project("d").await];
    let (a, b, c, d) = tokio::join!(
        share(on, a, 0, &of[0]),
        share(on, b, 1, &of[1]),
        share(on, c, 2, &of[2]),
        share(on, d, 3, &of[3])
    );
    let mut sum = Tally::default();
    [a, b, c, d].into_iter().for_each(|tally| sum.merge(tally));
    sum
}

async fn share(on: &Grounds, mut agent: Agent<'_>, lane: usize, project: &str) -> Tally {
    let mut tally = Tally::default();
    for (index, name) in on.names.iter().enumerate().skip(lane).step_by(AT_ONCE) {
        let task = |field: &str, value: Value| {
            let mut task = json!({ "description": "Plain" });
            task[field] = value;
            json!({ "project": project, "tasks": [task] })
        };
        for (field, value) in [
            ("id", json!(name)),
            ("files", json!([name])),
            ("deps", json!([name])),
            ("needs", json!([name])),
            ("acceptance", json!([{ "kind": "file_exists", "path": name }])),
            ("acceptance", json!([{ "kind": "command", "argv": [name] }])),
            ("acceptance", json!([{ "kind": "only_touches", "globs": [name] }])),
        ] {
            // Nobody has that ability: only whole texts are handed out below.
            let mut arguments = task(field, value);
            if field != "needs" {
                arguments["tasks"][0]["needs"] = json!(["nobody-can"]);
            }
            one(&mut agent, &mut tally, "add_tasks", arguments).await;
        }
        one(&mut agent, &mut tally, "chat_send", json!({ "project": project, "text": name })).await;
        one(&mut agent, &mut tally, "list_tasks", json!({ "project": name, "status": name })).await;
        // No worker gets one: each remaining task needs something else.
        one(&mut agent, &mut tally, "take_task", json!({ "project": project, "worker": name, "abilities": ["none"] }))
            .await;
        let described = json!({ "project": project, "tasks": [{ "description": name, "context": name }] });
        if one(&mut agent, &mut tally, "add_tasks", described).await {
            one(&mut agent, &mut tally, "take_task", json!({ "project": project, "worker": format!("agent-{lane}") }))
                .await;
            one(&mut agent, &mut tally, "heartbeat", json!({ "progress": name })).await;
            let ask = json!({ "question": name, "options": [name], "context": name, "wait_seconds": 0 });
            one(&mut agent, &mut tally, "ask", ask).await;
            one(&mut agent, &mut tally, "activity_update", json!({ "activity": name, "append": name })).await;
            let mut done = false;
            // At the end: a failed task is assigned again, to any worker that asks.
            let last = index + AT_ONCE >= on.names.len();
            let failed = last.then_some(("failed", json!(name)));
            let fields = [("branch", json!(name)), ("commits", json!([name])), ("files", json!([name]))];
            for (field, value) in failed.into_iter().chain(fields) {
                let mut report = json!({ "summary": name, "wait_seconds": 0 });
                report[field] = value;
                done = done || one(&mut agent, &mut tally, "report", report).await;
            }
            if !done {
                one(&mut agent, &mut tally, "report", json!({ "summary": "Plain", "wait_seconds": 0 })).await;
            }
        }
    }
    tally
}

fn enough(tally: &Tally) {
    for (tool, all) in [("add_tasks", 500), ("report", 200), ("ask", 200)] {
        assert!(tally.taken(tool) > Grounds::expected(all), "{tool}: {tally:?}");
    }
}

#[tokio::test]
async fn the_tools_of_the_hub_take_hostile_names_as_texts_or_refuse_them() {
    let on = Grounds::open_share(3).await;
    let agents = ["a", "b", "c", "d"].map(|session| Agent::of_hub(&on.fixture, session));
    let tally = everything(&on, agents).await;
    enough(&tally);
    eprintln!("{tally:?}");
    on.close().await;
}

#[tokio::test]
async fn the_tools_of_the_program_take_hostile_names_as_texts_or_refuse_them() {
    let mut on = Grounds::open_share(4).await;
    on.expect("mcp.log");
    let agent = || Agent::of_program(&on.fixture, &on.project);
    let agents = [agent().await, agent().await, agent().await, agent().await];
    let tally = everything(&on, agents).await;
    enough(&tally);
    let said = std::fs::read_to_string(on.fixture.path("mcp.log")).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    on.close().await;
}
