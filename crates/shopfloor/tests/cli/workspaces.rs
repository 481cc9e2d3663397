//! Workspaces: what is in them is found, saved, restored, and not deleted.

use crate::floor::Floor;
use crate::process::wait_until;

#[test]
fn uncommitted_work_is_saved_restored_and_never_cleaned() {
    let floor = Floor::at_work();
    let session = floor.spawn("echo precious > work.txt; read line; rm work.txt; echo gone; read line");
    let (id, workspace) = (session["id"].as_str().unwrap(), session["workspace"].as_str().unwrap());
    let saves = || floor.json(&["workspace", "saves", workspace]).as_array().unwrap().clone();
    wait_until("the work is saved", || {
        floor.json(&["session", "show", id])["workspace"]["status"] == "ready" && !saves().is_empty()
    });
    let save = saves()[0]["id"].as_str().unwrap().to_owned();
    let shown = floor.json(&["workspace", "show", workspace]);
    let file = std::path::Path::new(shown["path"].as_str().unwrap()).join("work.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n");
    let branch = shown["branch"].as_str().unwrap();
    assert!(floor.text(&["workspace", "show", branch]).contains("work.txt") || !branch.is_empty());
    assert!(floor.text(&["workspace", "list"]).contains(branch));
    let diff = floor.text(&["workspace", "diff", workspace]);
    assert!(diff.contains("work.txt") && diff.contains("+precious"), "{diff}");
    assert!(floor.text(&["workspace", "diff", workspace, "--stat"]).contains("work.txt"));
    let said = floor.fail(4, &["workspace", "restore", workspace, "--save", &save]);
    assert!(said.contains("stop"), "not under the hands of who works in it: {said}");
    floor.text(&["session", "send", id, "now"]);
    wait_until("it is gone", || !file.exists());
    floor.text(&["session", "stop", id, "--force"]);
    floor.wait_for(&session, "exited");
    floor.text(&["workspace", "restore", workspace, "--save", &save]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n");
    let said = floor.fail(4, &["workspace", "clean", workspace]);
    assert!(said.contains("uncommitted") || said.contains("not committed"), "{said}");
    assert!(file.exists());
}

#[test]
fn a_workspace_without_work_is_cleaned() {
    let floor = Floor::at_work();
    let session = floor.spawn("true");
    floor.wait_for(&session, "exited");
    let workspace = session["workspace"].as_str().unwrap();
    let path = floor.json(&["workspace", "show", workspace])["path"].as_str().unwrap().to_owned();
    floor.text(&["workspace", "clean", workspace]);
    wait_until("it is gone", || floor.json(&["workspace", "show", workspace])["status"] == "cleaned");
    assert!(!std::path::Path::new(&path).exists());
    assert_eq!(floor.text(&["workspace", "list"]), "no workspaces\n");
}
