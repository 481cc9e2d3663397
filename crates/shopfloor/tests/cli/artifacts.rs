//! Artifacts from a file to a file, as a person at a terminal sees them.

use serde_json::json;

use crate::fixture::Fixture;
use crate::process::wait_until;

#[test]
fn a_file_is_put_listed_and_got_again() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    let bytes: Vec<u8> = (0..600_000_u32).map(|at| (at % 253) as u8).collect();
    let file = fixture.path("big.bin").display().to_string();
    std::fs::write(&file, &bytes).unwrap();
    let put = fixture.json(&["artifact", "put", &file, "--key", "once"]);
    assert_eq!((&put["name"], &put["size"], &put["kind"]), (&json!("big.bin"), &json!(600_000), &json!("file")));
    assert_eq!(fixture.json(&["artifact", "put", &file, "--key", "once"])["id"], put["id"], "the same key");
    assert_eq!(fixture.json(&["artifact", "put", &file])["id"], put["id"], "the same content, name and place");
    let note = fixture.run_with_input(&["artifact", "put", "-", "--name", "note.md", "--json"], "# A note\n");
    assert_eq!(note.code, 0, "{note:?}");
    let listed = fixture.json(&["artifact", "list", "--project", "Calc"]);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["note.md", "big.bin"]);
    let table = fixture.text(&["artifact", "list"]);
    assert!(table.contains("note.md") && table.contains("file"), "{table}");

    let copy = fixture.path("copy.bin").display().to_string();
    let got = fixture.json(&["artifact", "get", "big.bin", "--output", &copy]);
    assert_eq!((&got["artifact"]["id"], &got["file"]), (&put["id"], &json!(copy)));
    assert_eq!(std::fs::read(&copy).unwrap(), bytes);
    let refused = fixture.fail(4, &["artifact", "get", "note.md", "--output", &copy]);
    assert!(refused.contains("exists already") && refused.contains("--force"), "{refused}");
    assert_eq!(std::fs::read(&copy).unwrap(), bytes, "nothing was overwritten");
    fixture.text(&["artifact", "get", "note.md", "--output", &copy, "--force"]);
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "# A note\n");
    assert_eq!(fixture.text(&["artifact", "get", "note.md", "--output", "-"]), "# A note\n");
    let left: Vec<_> = std::fs::read_dir(fixture.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{left:?}");

    assert!(fixture.text(&["artifact", "show", "note.md"]).contains("text/markdown"));
    fixture.json(&["artifact", "remove", "note.md", "--yes"]);
    fixture.fail(3, &["artifact", "get", "note.md"]);
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    let settings = fixture.json(&["artifact", "configure", "--project", "Calc", "--max-mib", "1", "--days", "30"]);
    assert_eq!(settings, json!({ "days": 30, "max_mib": 1, "total_mib": 2048 }));
    assert!(fixture.text(&["artifact", "settings", "--project", "Calc"]).contains("30 days"));
    let file = fixture.path("large.bin").display().to_string();
    std::fs::write(&file, vec![0; 1024 * 1024 + 1]).unwrap();
    let refused = fixture.fail(2, &["artifact", "put", &file]);
    assert!(refused.contains("at most 1 MiB"), "{refused}");
    let small = fixture.path("small.txt").display().to_string();
    std::fs::write(&small, "x").unwrap();
    let refused = fixture.fail(2, &["artifact", "put", &small, "--name", "../../small.txt"]);
    assert!(refused.contains("it is a path"), "{refused}");
    assert!(fixture.fail(2, &["artifact", "put", "/nowhere/x"]).contains("could not read /nowhere/x"));
    let folder = fixture.path("").display().to_string();
    assert!(fixture.fail(2, &["artifact", "put", &folder]).contains("is not a file"));
    assert_eq!(fixture.json(&["artifact", "list"]), json!([]));
}

#[test]
fn an_execution_leaves_a_summary() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    let recipe = fixture.path("tell.yaml").display().to_string();
    let text = "name: tell\ndescription: Tells everybody\nsteps:\n  - id: tell\n    notify: {to: chat, text: Hello}\n";
    std::fs::write(&recipe, text).unwrap();
    fixture.json(&["recipe", "add", &recipe, "--project", "Calc"]);
    let started = fixture.json(&["recipe", "run", "tell"]);
    let id = started["id"].as_str().unwrap();
    let summary = || fixture.run(&["artifact", "get", "summary.md", "--execution", id, "--output", "-"]);
    wait_until("there is a summary", || summary().code == 0);
    let summary = summary().stdout;
    for part in
        ["# tell: completed", "## What was asked", "Tells everybody", "`tell` (notify): succeeded", "Cost: unknown"]
    {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    let listed = fixture.json(&["artifact", "list", "--execution", id]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
}
