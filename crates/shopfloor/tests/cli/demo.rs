//! The example is created and removed.

use crate::floor::Floor;

#[test]
fn the_example_is_removed_completely() {
    let floor = Floor::up();
    floor.fail(3, &["demo", "--remove"]);
    let made = floor.json(&["demo"]);
    assert_eq!(made.as_array().unwrap().len(), 3);
    assert!(floor.json(&["activity", "list"]).as_array().unwrap().len() >= 10);
    let chat = floor.json(&["chat", "list", made[0]["id"].as_str().unwrap()]);
    let references = |message: &serde_json::Value| !message["references"].as_array().unwrap().is_empty();
    assert!(chat.as_array().unwrap().iter().any(references), "messages refer to activities");
    let tasks = floor.json(&["task", "list", "--all"]);
    for status in ["done", "ready", "blocked", "escalated"] {
        assert!(tasks.as_array().unwrap().iter().any(|task| task["status"] == status), "{status}: {tasks}");
    }
    assert_eq!(floor.json(&["escalation", "list"]).as_array().unwrap().len(), 1);
    assert!(floor.fail(4, &["demo"]).contains("--force"), "the floor is not empty");
    let own = floor.json(&["project", "create", "Mine"]);
    floor.text(&["demo", "--remove"]);
    let left = floor.json(&["project", "list"]);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["id"]), (1, &own["id"]), "exactly the example is gone");
    assert_eq!(floor.json(&["task", "list", "--all"]).as_array().unwrap().len(), 0);
    assert!(!floor.data_dir().join("demo.json").exists());
}
