//! The example is created and removed.

use crate::fixture::Fixture;

#[test]
fn the_example_is_removed_completely() {
    let fixture = Fixture::up();
    fixture.fail(3, &["demo", "--remove"]);
    let made = fixture.json(&["demo"]);
    assert_eq!(made.as_array().unwrap().len(), 3);
    assert!(fixture.json(&["activity", "list"]).as_array().unwrap().len() >= 10);
    let chat = fixture.json(&["chat", "list", made[0]["id"].as_str().unwrap()]);
    let references = |message: &serde_json::Value| !message["references"].as_array().unwrap().is_empty();
    assert!(chat.as_array().unwrap().iter().any(references), "messages refer to activities");
    let tasks = fixture.json(&["task", "list", "--all"]);
    for status in ["done", "ready", "blocked", "escalated"] {
        assert!(tasks.as_array().unwrap().iter().any(|task| task["status"] == status), "{status}: {tasks}");
    }
    assert_eq!(fixture.json(&["escalation", "list"]).as_array().unwrap().len(), 1);
    assert!(fixture.fail(4, &["demo"]).contains("--force"), "the floor is not empty");
    let own = fixture.json(&["project", "create", "Mine"]);
    fixture.text(&["demo", "--remove"]);
    let left = fixture.json(&["project", "list"]);
    assert_eq!((left.as_array().unwrap().len(), &left[0]["id"]), (1, &own["id"]), "exactly the example is gone");
    assert_eq!(fixture.json(&["task", "list", "--all"]).as_array().unwrap().len(), 0);
    assert!(!fixture.data_dir().join("demo.json").exists());
}
