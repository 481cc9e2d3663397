//! Every verb, as Bo, about everything of Ann's, over HTTP and the socket: nothing runs, and nothing of hers comes back.

use client::Socket;
use domain::{EscalationId, GrantId, InviteId, LoginId, ObserverId, TokenId};
use protocol::{Call, FromHub, ToHub};
use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::{SECRET, Scene};

/// What the calls are about: ids of Ann's, and the canary of this round.
struct Target {
    ids: Value,
    argv: Value,
    line: String,
    folder: String,
}

impl Target {
    fn id(&self, name: &str) -> &str {
        self.ids[name].as_str().unwrap_or_else(|| panic!("there is no {name}: {}", self.ids))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_verb_runs_or_reads_anything_of_mine() {
    let mut scene = Scene::open().await;
    let command = |name: &str| json!(["/bin/sh", "-c", format!("touch '{}'", scene.canary(name).display())]);
    let known = scene.task(&scene.project, "known", json!([{ "kind": "command", "argv": command("known") }])).await;
    let [approval] = scene.asked("command", 1).await.try_into().unwrap();
    let own = scene
        .floor
        .post(
            "/api/sessions",
            json!({ "project": scene.project, "agent": "command",
        "argv": ["/bin/sh", "-c", "cat ../../../../home/secret.txt \"$HOME/secret.txt\"; exec sleep 600"] }),
        )
        .await;
    wait_until("her own session shows her secret", async || {
        let path = format!("/api/sessions/{}/log", own["id"].as_str()?);
        scene.floor.http(reqwest::Method::GET, &path, None).await.text.contains(SECRET).then_some(())
    })
    .await;
    let me = scene.floor.get("/api/me").await;
    let worker = scene.floor.get("/api/workers").await[0]["id"].clone();
    let message =
        scene.floor.post(&format!("/api/projects/{}/messages", scene.project), json!({ "content": "hello" })).await;
    let ids = json!({ "user": me["user"]["id"], "project": scene.project, "activity": own["activity"],
        "message": message["id"], "runner": scene.hers().await, "approval": approval["id"], "session": own["id"],
        "workspace": own["workspace"], "task": known, "worker": worker });
    for (round, socket) in [("http", false), ("socket", true)] {
        let argv = command(round);
        let line = argv[2].as_str().unwrap().to_owned();
        let folder = scene.floor.path("home").display().to_string();
        let target = Target { ids: ids.clone(), argv, line, folder };
        let mut bo = Socket::connect(&scene.floor.url, &scene.bo).await.unwrap();
        bo.hello(None, None, "hostile").await.unwrap();
        for (number, verb) in (1..).zip(Call::VERBS) {
            let call = call(verb, &target);
            match socket {
                false => drop(scene.bo_calls(call).await),
                true => over_socket(&mut bo, number, call).await,
            }
        }
        scene.nothing_ran();
    }
    // What was taken in is asked about, and the walk was no empty one.
    wait_until("the walk left requests", async || {
        let all = scene.floor.get("/api/approvals").await;
        (all.as_array()?.iter().filter(|one| one["author"]["user"]["name"] != "ann").count() >= 3).then_some(())
    })
    .await;
    let known = scene.floor.get("/api/runners").await;
    assert!(known.as_array().unwrap().iter().any(|one| one["name"] == "here" && one["policy"] == "ask"), "{known}");
    assert_eq!(scene.floor.get("/api/grants").await, json!([]));
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

/// A call of each verb that would do harm if it were taken as it is.
fn call(verb: &str, on: &Target) -> Value {
    let id = |name: &str| on.id(name);
    let evil = json!([{ "location": on.folder, "setup": on.line, "teardown": on.line, "copy": ["secret.txt"] }]);
    let command = json!({ "agent": "command", "argv": on.argv, "runner": id("runner") });
    let text = json!({ "content": format!("{verb}: {}", on.line) });
    let fence = json!({ "fence": 1 });
    let with = |mut base: Value, more: Value| {
        base.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        base
    };
    let body = match verb {
        "me.rename" => json!({ "input": { "name": "ann2" } }),
        "user.show" | "user.disable" | "user.enable" => json!({ "user": id("user") }),
        "project.create" => json!({ "input": { "content": "trap", "visibility": "read-write", "repositories": evil } }),
        "project.update" => json!({ "project": id("project"), "input": { "repositories": evil } }),
        "project.show" | "project.delete" | "project.versions" | "observer.list" => json!({ "project": id("project") }),
        "project.diff" => json!({ "project": id("project"), "range": {} }),
        "activity.list" => json!({ "filter": { "project": id("project") } }),
        "activity.create" => json!({ "project": id("project"), "input": text }),
        "activity.update" => json!({ "activity": id("activity"), "input": text }),
        "activity.show" | "activity.versions" => json!({ "activity": id("activity") }),
        "activity.diff" => json!({ "activity": id("activity"), "range": {} }),
        "chat.history" => json!({ "project": id("project"), "page": {} }),
        "chat.send" => json!({ "project": id("project"), "input": text }),
        "chat.edit" => json!({ "message": id("message"), "input": text }),
        "chat.delete" => json!({ "message": id("message") }),
        "chat.read" => json!({ "project": id("project"), "input": { "number": 1 } }),
        "token.create" | "invite.create" => json!({ "input": { "name": "more" } }),
        "token.revoke" => json!({ "token": TokenId::generate() }),
        "login.revoke" => json!({ "login": LoginId::generate() }),
        "invite.revoke" => json!({ "invite": InviteId::generate() }),
        "observer.create" => json!({ "project": id("project"), "input": { "name": "o" } }),
        "observer.revoke" => json!({ "observer": ObserverId::generate() }),
        "runner.create" => json!({ "input": { "name": "other" } }),
        "runner.update" => json!({ "runner": id("runner"), "input": { "policy": "writers", "sandbox_others": false } }),
        "runner.remove" => json!({ "runner": id("runner") }),
        "approval.list" | "session.list" | "workspace.list" | "recording.list" | "task.list" | "task.export"
        | "escalation.list" | "worker.list" => json!({ "filter": {} }),
        "approval.show" => json!({ "approval": id("approval") }),
        "approval.answer" => json!({ "approval": id("approval"), "input": { "answer": "author" } }),
        "grant.revoke" => json!({ "grant": GrantId::generate() }),
        "session.spawn" => {
            let sandbox = json!({ "home": true, "network": true });
            json!({ "input": with(command, json!({ "activity": id("activity"), "sandbox": sandbox })) })
        }
        "session.stop" => json!({ "session": id("session"), "input": { "force": true } }),
        "session.send" => json!({ "session": id("session"), "input": { "text": on.line, "submit": true } }),
        "session.log" => json!({ "session": id("session"), "page": {} }),
        "session.show" | "session.resume" | "recording.show" => json!({ "session": id("session") }),
        "recording.part" => json!({ "session": id("session"), "range": {} }),
        "recording.search" => json!({ "session": id("session"), "query": { "text": "canary" } }),
        "recording.keep" => json!({ "session": id("session"), "input": { "keep": false } }),
        "workspace.restore" => json!({ "workspace": id("workspace"), "input": {} }),
        "workspace.show" | "workspace.diff" | "workspace.saves" | "workspace.clean" => {
            json!({ "workspace": id("workspace") })
        }
        "task.add" => {
            let acceptance = json!([{ "kind": "command", "argv": on.argv }]);
            json!({ "project": id("project"), "input": { "tasks": [{ "description": on.line, "acceptance": acceptance }] } })
        }
        "task.take" => json!({ "project": id("project"), "input": { "worker": "his" } }),
        "task.turn" => json!({ "project": id("project"), "input": { "reports": [], "takes": [{ "worker": "his" }] } }),
        "task.show" => json!({ "task": id("task") }),
        "task.cancel" | "task.retry" => json!({ "task": id("task"), "input": {} }),
        "task.heartbeat" | "task.release" => json!({ "task": id("task"), "input": fence }),
        "task.report" => json!({ "task": id("task"), "input": with(fence, json!({ "summary": "done" })) }),
        "task.ask" => json!({ "task": id("task"), "input": with(fence, json!({ "question": "Run it?" })) }),
        "task.take_over" => json!({ "task": id("task"), "input": command }),
        "escalation.show" => json!({ "escalation": EscalationId::generate() }),
        "escalation.answer" => json!({ "escalation": EscalationId::generate(), "input": { "text": "yes" } }),
        "worker.start" => json!({ "project": id("project"), "input": command }),
        "worker.update" => json!({ "worker": id("worker"), "input": { "budget_micros": 1 } }),
        "worker.stop" => json!({ "worker": id("worker"), "input": { "force": true } }),
        "worker.show" | "worker.restart" | "worker.remove" => json!({ "worker": id("worker") }),
        "worker.stop_all" => json!({ "project": id("project"), "input": { "force": true } }),
        "work.log" | "work.metrics" => json!({ "project": id("project"), "page": {} }),
        "work.settings" | "work.doing" => json!({ "project": id("project") }),
        "work.configure" => json!({ "project": id("project"), "input": { "missed": 5 } }),
        "floor.freeze" | "floor.thaw" => json!({ "input": {} }),
        "audit.list" => json!({ "page": {} }),
        "me" | "user.list" | "project.list" | "chat.unread" | "token.list" | "login.list" | "login.link"
        | "login.revoke_all" | "invite.list" | "runner.list" | "grant.list" | "presence.list" => json!({}),
        other => panic!("nobody has thought of what a hostile colleague does with {other}"),
    };
    with(body, json!({ "verb": verb }))
}
