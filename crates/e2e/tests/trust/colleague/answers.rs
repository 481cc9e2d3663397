//! Ann answers on the command line, with and without `--json`.

use serde_json::{Value, json};
use testkit::wait_until;

use super::scene::Scene;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_read_and_answered_on_the_command_line() {
    let mut scene = Scene::open().await;
    let hidden = format!("touch '{}' # \u{200B}", scene.canary("cli").display());
    let command = json!([{ "kind": "command", "argv": ["/bin/sh", "-c", hidden] }]);
    let mut tasks = Vec::new();
    for title in ["first", "second", "third"] {
        tasks.push(scene.task(&scene.project, title, command.clone()).await);
    }
    scene.asked("command", 3).await;
    let fixture = &scene.fixture;
    let list: Vec<Value> = serde_json::from_str(&fixture.text(&["approval", "list", "--json"]).await).unwrap();
    assert_eq!(list.len(), 3, "{list:?}");
    let of = |task: &str| list.iter().find(|one| one["task"] == task).unwrap()["id"].as_str().unwrap().to_owned();
    let table = fixture.text(&["approval", "list"]).await;
    assert!(table.contains("needs you") && table.contains("bo"), "{table}");
    let shown = fixture.text(&["approval", "show", &of(&tasks[0])]).await;
    for words in
        ["written by", "bo", "<U+200B>", "it can do everything that you can on", "An approval covers this text only"]
    {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    scene.nothing_ran();
    let denied = fixture.text(&["approval", "deny", &of(&tasks[0]), "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&denied).unwrap()["answer"], "denied");
    wait_until("a person is asked about the denied one", async || {
        (scene.show(&tasks[0]).await["task"]["status"] == "escalated").then_some(())
    })
    .await;
    scene.nothing_ran();
    // Without more words it is for this once.
    let once = fixture.text(&["approval", "allow", &of(&tasks[1]), "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&once).unwrap()["answer"], "once");
    done(&scene, &tasks[1]).await;
    assert!(scene.canary("cli").exists());
    let open: Vec<Value> = serde_json::from_str(&fixture.text(&["approval", "list", "--json"]).await).unwrap();
    assert_eq!(open.len(), 1, "the same text is asked about again: {open:?}");
    let said = fixture.text(&["approval", "allow", &of(&tasks[2]), "--text"]).await;
    assert!(said.contains("not for the files that it runs"), "{said}");
    done(&scene, &tasks[2]).await;
    let fourth = scene.task(&scene.project, "fourth", command.clone()).await;
    done(&scene, &fourth).await;
    let grants: Vec<Value> = serde_json::from_str(&fixture.text(&["approval", "grants", "--json"]).await).unwrap();
    let [grant] = grants.as_slice() else { panic!("{grants:?}") };
    let refused = fixture.cli(&["approval", "revoke", grant["id"].as_str().unwrap()], "").await;
    assert_eq!(refused.code, Some(2));
    assert!(refused.said().contains("this would revoke your grant for `"), "{}", refused.said());
    fixture.text(&["approval", "revoke", grant["id"].as_str().unwrap(), "--yes"]).await;
    let fifth = scene.task(&scene.project, "fifth", command).await;
    assert_eq!(scene.asked("command", 1).await[0]["task"], fifth.as_str());
    scene.close().await;
}

async fn done(scene: &Scene, task: &str) {
    wait_until("the allowed command ran", async || (scene.show(task).await["task"]["status"] == "done").then_some(()))
        .await;
}
