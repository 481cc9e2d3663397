//! Every verb, as Bo, about everything of Ann's, over HTTP and the socket: nothing runs, and nothing of hers comes back.

use client::Socket;
use protocol::{Call, FromHub, Spec, ToHub};
use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::{SECRET, Scene};
use crate::calls::{merge, smallest};

/// What the calls are about: ids of Ann's, and the canary of this round.
struct Target {
    ids: Value,
    argv: Value,
    line: String,
    folder: String,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_verb_runs_or_reads_anything_of_mine() {
    let mut scene = Scene::open().await;
    let command = |name: &str| json!(["/bin/sh", "-c", format!("touch '{}'", scene.canary(name).display())]);
    let known = scene.task(&scene.project, "known", json!([{ "kind": "command", "argv": command("known") }])).await;
    let [approval] = scene.asked("command", 1).await.try_into().unwrap();
    let own = scene
        .fixture
        .post(
            "/api/sessions",
            json!({ "project": scene.project, "agent": "command",
        "argv": ["/bin/sh", "-c", "cat ../../../../home/secret.txt \"$HOME/secret.txt\"; exec sleep 600"] }),
        )
        .await;
    wait_until("her own session shows her secret", async || {
        let path = format!("/api/sessions/{}/log", own["id"].as_str()?);
        scene.fixture.http(reqwest::Method::GET, &path, None).await.text.contains(SECRET).then_some(())
    })
    .await;
    let me = scene.fixture.get("/api/me").await;
    let worker = scene.fixture.get("/api/workers").await[0]["id"].clone();
    let message =
        scene.fixture.post(&format!("/api/projects/{}/messages", scene.project), json!({ "content": "hello" })).await;
    let ids = json!({ "user": me["user"]["id"], "project": scene.project, "activity": own["activity"],
        "message": message["id"], "runner": scene.hers().await, "approval": approval["id"], "session": own["id"],
        "workspace": own["workspace"], "task": known, "worker": worker });
    for (round, socket) in [("http", false), ("socket", true)] {
        let argv = command(round);
        let line = argv[2].as_str().unwrap().to_owned();
        let folder = scene.fixture.path("home").display().to_string();
        let target = Target { ids: ids.clone(), argv, line, folder };
        let mut bo = Socket::connect(&scene.fixture.url, &scene.bo).await.unwrap();
        bo.hello(None, None, "hostile").await.unwrap();
        for (number, spec) in (1..).zip(Call::SPECS) {
            let call = call(spec, &target);
            match socket {
                false => drop(scene.bo_calls(call).await),
                true => over_socket(&mut bo, number, call).await,
            }
        }
        scene.nothing_ran();
    }
    // What was taken in is asked about, and the walk was no empty one.
    wait_until("the walk left requests", async || {
        let all = scene.fixture.get("/api/approvals").await;
        (all.as_array()?.iter().filter(|one| one["author"]["user"]["name"] != "ann").count() >= 3).then_some(())
    })
    .await;
    let known = scene.fixture.get("/api/runners").await;
    assert!(known.as_array().unwrap().iter().any(|one| one["name"] == "here" && one["policy"] == "ask"), "{known}");
    assert_eq!(scene.fixture.get("/api/grants").await, json!([]));
    scene.nothing_ran();
    scene.close().await;
}

/// Sends a call and waits for what comes of it; everything that comes meanwhile is looked at.
async fn over_socket(bo: &mut Socket, number: u32, call: Value) {
    let text = call.to_string();
    let call: Call = serde_json::from_value(call).unwrap_or_else(|error| panic!("{text}: {error}"));
    bo.send(&ToHub::Request { id: number, key: None, call }).await.unwrap();
    loop {
        let frame = bo.next().await.unwrap().unwrap_or_else(|| panic!("{text}: the hub said goodbye"));
        let told = format!("{frame:?}");
        assert!(!told.contains(SECRET), "{text} told: {told}");
        if matches!(frame, FromHub::Answer { id, .. } | FromHub::Error { id: Some(id), .. } if id == number) {
            return;
        }
    }
}

/// A call of each verb that would do harm if it were taken as it is: about what is Ann's, with commands of Bo's.
fn call(spec: &Spec, on: &Target) -> Value {
    let evil = json!([{ "location": on.folder, "setup": on.line, "teardown": on.line, "copy": ["secret.txt"] }]);
    let mut call = smallest(spec, &mut |field, schema, required| match field {
        "agent" => Some(json!("command")),
        "argv" => Some(on.argv.clone()),
        "runner" => Some(on.ids["runner"].clone()),
        "repositories" => Some(evil.clone()),
        "acceptance" => Some(json!([{ "kind": "command", "argv": on.argv }])),
        "name" => required.then(|| json!("more")),
        field if required && on.ids[field].is_string() => Some(on.ids[field].clone()),
        _ if required
            && schema["type"] == "string"
            && ["enum", "pattern", "format"].iter().all(|kind| schema[*kind].is_null()) =>
        {
            Some(json!(on.line))
        }
        _ => None,
    });
    merge(&mut call, &worse(spec.name, on));
    call
}

/// What makes a call of a verb more harmful.
fn worse(verb: &str, on: &Target) -> Value {
    let input = |input: Value| json!({ "input": input });
    match verb {
        "me.rename" => input(json!({ "name": "ann2" })),
        "project.create" => input(json!({ "visibility": "read-write" })),
        "activity.update" => input(json!({ "content": on.line })),
        "activity.list" => json!({ "filter": { "project": on.ids["project"] } }),
        "runner.update" => input(json!({ "policy": "writers", "sandbox_others": false })),
        "approval.answer" => input(json!({ "answer": "author" })),
        "session.spawn" => {
            input(json!({ "activity": on.ids["activity"], "sandbox": { "home": true, "network": true } }))
        }
        "session.stop" | "worker.stop" | "worker.stop_all" => input(json!({ "force": true })),
        "recording.keep" => input(json!({ "keep": false })),
        "task.take" => input(json!({ "worker": "his" })),
        "task.turn" => input(json!({ "takes": [{ "worker": "his" }] })),
        "escalation.answer" => input(json!({ "text": "yes" })),
        "worker.update" => input(json!({ "budget_micros": 1 })),
        "work.configure" => input(json!({ "missed": 5 })),
        _ => json!({}),
    }
}
