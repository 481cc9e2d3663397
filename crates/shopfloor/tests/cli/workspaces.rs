//! Workspaces: their content is found, saved, restored, and not deleted.

use crate::fixture::Fixture;
use crate::process::wait_until;

#[test]
fn uncommitted_work_is_saved_restored_and_never_cleaned() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("echo precious > work.txt; read line; rm work.txt; echo gone; read line");
    let (id, workspace) = (session["id"].as_str().unwrap(), session["workspace"].as_str().unwrap());
    let saves = || fixture.json(&["workspace", "saves", workspace]).as_array().unwrap().clone();
    wait_until("the work is saved", || {
        fixture.json(&["session", "show", id])["workspace"]["status"] == "ready" && !saves().is_empty()
    });
    let save = saves()[0]["id"].as_str().unwrap().to_owned();
    let shown = fixture.json(&["workspace", "show", workspace]);
    let file = std::path::Path::new(shown["path"].as_str().unwrap()).join("work.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n");
    let branch = shown["branch"].as_str().unwrap();
    assert!(fixture.text(&["workspace", "show", branch]).contains("work.txt") || !branch.is_empty());
    assert!(fixture.text(&["workspace", "list"]).contains(branch));
    let diff = fixture.text(&["workspace", "diff", workspace]);
    assert!(diff.contains("work.txt") && diff.contains("+precious"), "{diff}");
    assert!(fixture.text(&["workspace", "diff", workspace, "--stat"]).contains("work.txt"));
    let said = fixture.fail(4, &["workspace", "restore", workspace, "--save", &save]);
    assert!(said.contains("stop"), "not under the hands of who works in it: {said}");
    fixture.text(&["session", "send", id, "now"]);
    wait_until("it is gone", || !file.exists());
    fixture.text(&["session", "stop", id, "--force"]);
    fixture.wait_for(&session, "exited");
    fixture.text(&["workspace", "restore", workspace, "--save", &save]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n");
    let said = fixture.fail(4, &["workspace", "clean", workspace]);
    assert!(said.contains("uncommitted") || said.contains("not committed"), "{said}");
    assert!(file.exists());
}

#[test]
fn a_workspace_without_work_is_cleaned() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("true");
    fixture.wait_for(&session, "exited");
    let workspace = session["workspace"].as_str().unwrap();
    let path = fixture.json(&["workspace", "show", workspace])["path"].as_str().unwrap().to_owned();
    fixture.text(&["workspace", "clean", workspace]);
    wait_until("it is gone", || fixture.json(&["workspace", "show", workspace])["status"] == "cleaned");
    assert!(!std::path::Path::new(&path).exists());
    assert_eq!(fixture.text(&["workspace", "list"]), "no workspaces\n");
}

#[test]
fn deleted_work_is_restored_and_changes_are_exported_as_a_patch() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("printf 'precious' > work.txt; echo more >> README; read line; rm work.txt; read line");
    let (id, workspace) = (session["id"].as_str().unwrap(), session["workspace"].as_str().unwrap());
    let saves = || fixture.json(&["workspace", "saves", workspace]).as_array().unwrap().clone();
    wait_until("the work is saved", || {
        fixture.json(&["session", "show", id])["workspace"]["status"] == "ready"
            && fixture.run(&["workspace", "diff", workspace]).stdout.contains("+more")
            && !saves().is_empty()
    });
    let file = fixture.json(&["workspace", "show", workspace])["path"].as_str().unwrap().to_owned() + "/work.txt";
    let patch = fixture.path("changes.patch");
    std::fs::write(&patch, fixture.text(&["workspace", "diff", workspace])).unwrap();
    let applied = std::process::Command::new("git")
        .args(["apply", "--index"])
        .arg(&patch)
        .current_dir(fixture.path("repository"))
        .output()
        .unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
    assert_eq!(std::fs::read_to_string(fixture.path("repository/work.txt")).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(fixture.path("repository/README")).unwrap(), "hello\nmore\n");

    let said = fixture.fail(4, &["project", "delete", "Parser", "--yes"]);
    assert!(said.contains("stop"), "{said}");
    fixture.text(&["session", "send", id, "now"]);
    wait_until("it is gone", || !std::path::Path::new(&file).exists());
    fixture.text(&["session", "stop", id, "--force"]);
    fixture.wait_for(&session, "exited");
    let ended = fixture.run(&["workspace", "restore", workspace]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("restored save "), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let oldest = saves().pop().unwrap()["id"].as_str().unwrap().to_owned();
    fixture.text(&["workspace", "restore", workspace, "--save", &oldest[..12]]);
    assert!(fixture.text(&["workspace", "saves", workspace]).contains(&oldest[..12]));
    let said = fixture.fail(4, &["project", "delete", "Parser", "--yes"]);
    assert!(said.contains(workspace) && said.contains("not committed"), "{said}");
    assert!(std::path::Path::new(&file).exists());
}

#[test]
fn a_branch_that_is_taken_is_refused() {
    let fixture = Fixture::at_work();
    let spawn = |branch: &'static str| {
        let args = ["session", "spawn", "--project", "Parser", "--branch", branch, "--json", "--", "true"];
        args.to_vec()
    };
    for (name, word) in
        [("refs/heads/x", "refs/heads/"), ("x.lock", ".lock"), ("HEAD", "HEAD"), ("shopfloor", "generated")]
    {
        let said = fixture.fail(2, &spawn(name));
        assert!(said.contains(word), "{name}: {said}");
    }
    let made = fixture.json(&spawn("dup"));
    for name in ["dup", "dup/sub"] {
        let said = fixture.fail(4, &spawn(name));
        assert!(said.contains(made["workspace"].as_str().unwrap()), "{name}: {said}");
    }
    let said = fixture.fail(2, &[&["session", "spawn", "--base", "next"][..], &spawn("next")[2..]].concat());
    assert!(said.contains("starts from"), "what is asked for contradicts itself: {said}");
    // The hub does not know the base branch: the runner finds it at the remote.
    let refused = fixture.json(&spawn("main"));
    let ended = fixture.wait_for(&refused, "exited");
    assert!(ended["state"]["detail"].as_str().unwrap().contains("choose another name"), "{ended}");
    fixture.text(&["project", "update", "Parser", "--repo", &format!("{}#main", fixture.path("repository").display())]);
    let said = fixture.fail(4, &spawn("main"));
    assert!(said.contains("starts from"), "{said}");
}
