//! `shopfloor files`: files in its folders, from anybody and in any shape, are neither lost nor followed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::process::{Running, wait_until};

/// A folder beside a hub, and its user.
struct Desk {
    fixture: Fixture,
}

impl Desk {
    fn open() -> Self {
        let fixture = Fixture::up();
        fixture.text(&["project", "create", "Parser"]);
        Self { fixture }
    }

    fn serve(&self, more: &[&str]) -> Running {
        let mut command = self.fixture.command();
        command.args(["files", "--patience", "1", "--project", "Parser", "--dir"]).arg(self.path("")).args(more);
        Running::spawn(&mut command)
    }

    fn path(&self, path: &str) -> PathBuf {
        self.fixture.path("tasks").join(path)
    }

    /// Writes a file like a careful writer: under another name first.
    fn put(&self, path: &str, value: &Value) {
        let (path, part) = (self.path(path), self.fixture.path("part"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&part, value.to_string()).unwrap();
        fs::rename(part, path).unwrap();
    }

    /// A file, if it exists and is complete.
    fn file(&self, path: &str) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.path(path)).ok()?).ok()
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    fn wait_for(&self, path: &str) {
        wait_until(&format!("there is {path}"), || fs::symlink_metadata(self.path(path)).is_ok());
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The titles of all tasks, sorted.
    fn titles(&self) -> Vec<String> {
        let tasks = self.fixture.json(&["task", "list", "--project", "Parser", "--all"]);
        let title = |task: &Value| task["title"].as_str().unwrap().to_owned();
        let mut titles: Vec<String> = tasks.as_array().unwrap().iter().map(title).collect();
        titles.sort();
        titles
    }
}

#[test]
fn a_new_file_with_the_name_of_a_pending_task_is_another_task() {
    let desk = Desk::open();
    let process = desk.serve(&["--assign", "0"]);
    desk.put("pending/task.json", &json!({ "description": "First" }));
    wait_until("it is a task", || desk.file("pending/task.json").is_some_and(|file| file["shopfloor"].is_object()));
    desk.put("pending/task.json", &json!({ "description": "Second" }));
    wait_until("both are tasks", || desk.titles() == ["First", "Second"]);
    let described = |name: &str| desk.file(name).and_then(|file| Some(file["description"].as_str()?.to_owned()));
    wait_until("each has a file", || {
        described("pending/task.json").as_deref() == Some("First")
            && described("pending/task-2.json").as_deref() == Some("Second")
    });
    // In place, as a shell writes it.
    fs::write(desk.path("pending/task.json"), "{\"description\": \"Th").unwrap();
    wait_until("half a file is reported", || desk.text("pending/task.error.txt").contains("invalid JSON"));
    fs::write(desk.path("pending/task.json"), "{\"description\": \"Third\"}").unwrap();
    wait_until("it is a task", || desk.titles() == ["First", "Second", "Third"]);
    wait_until("each has a file", || desk.names("pending") == ["task-2.json", "task-3.json", "task.json"]);
    process.kill();
}

#[test]
fn files_count_as_written_by_an_agent() {
    let desk = Desk::open();
    let process = desk.serve(&["--assign", "0"]);
    desk.put(
        "pending/task.json",
        &json!({ "description": "Check it", "acceptance": [{ "kind": "command", "argv": ["touch", "canary"] }] }),
    );
    wait_until("it is a task", || desk.file("pending/task.json").is_some_and(|file| file["shopfloor"].is_object()));
    let task = desk.file("pending/task.json").unwrap()["shopfloor"]["task"].as_str().unwrap().to_owned();
    let shown = desk.fixture.json(&["task", "show", &task]);
    assert_eq!(shown["task"]["author_kind"], "agent", "the person's token, and not the person's hand: {shown}");
    process.kill();
}

#[test]
fn an_unfinished_file_is_not_overwritten_by_a_task_of_its_name() {
    let desk = Desk::open();
    let process = desk.serve(&["--assign", "0"]);
    desk.put("pending/task.json", &json!({ "description": "First" }));
    wait_until("it is a task", || desk.file("pending/task.json").is_some_and(|file| file["shopfloor"].is_object()));
    let task = desk.file("pending/task.json").unwrap()["shopfloor"]["task"].as_str().unwrap().to_owned();
    fs::write(desk.path("pending/task.json"), "{\"description\": \"Sec").unwrap();
    wait_until("half a file is reported", || desk.text("pending/task.error.txt").contains("invalid JSON"));
    desk.fixture.text(&["task", "cancel", &task]);
    desk.wait_for("failed/task.json");
    assert_eq!(desk.file("failed/task.json").unwrap()["shopfloor"]["task"], task.as_str());
    let half = desk.names("pending").into_iter().find(|name| name.ends_with(".json")).unwrap();
    assert_eq!(desk.text(&format!("pending/{half}")), "{\"description\": \"Sec");
    fs::write(desk.path(&format!("pending/{half}")), "{\"description\": \"Second\"}").unwrap();
    wait_until("it is a task", || desk.titles() == ["First", "Second"]);
    process.kill();
}

#[test]
fn files_of_the_same_name_become_one_task_each_across_kills() {
    let desk = Desk::open();
    let wanted: Vec<String> = (1..=8).map(|n| format!("Task {n}")).collect();
    let mut kills = 0_u64;
    for (at, title) in wanted.iter().enumerate() {
        let text = json!({ "description": title });
        desk.put("pending/task.json", &text);
        while desk.titles().len() <= at {
            let process = desk.serve(&["--assign", "0"]);
            // Early kills meet the start, late ones the work.
            std::thread::sleep(Duration::from_millis(20 + kills * 37 % 300));
            process.kill();
            kills += 1;
            assert!(kills < 300, "it gets nowhere: {:?}", desk.names("pending"));
        }
        let left = desk.file("pending/task.json");
        assert!(left.as_ref() != Some(&text), "what is a task is not there again: {left:?}");
    }
    assert_eq!(desk.titles(), wanted, "each was added once");
    let process = desk.serve(&["--assign", "0"]);
    wait_until("each has a file", || desk.names("pending").len() == wanted.len());
    process.kill();
}

#[test]
fn planted_links_are_not_written_through() {
    let desk = Desk::open();
    let victim = desk.fixture.path("victim");
    fs::write(&victim, "mine").unwrap();
    let process = desk.serve(&[]);
    desk.wait_for("README.md");
    for name in ["state.json", "task.json", "task.error.txt"] {
        symlink(&victim, desk.path(".shopfloor/tmp").join(name)).unwrap();
        symlink(&victim, desk.path("assigned").join(name)).unwrap();
    }
    desk.put("pending/task.json", &json!({ "description": "Write it" }));
    wait_until("it is given to the folder", || {
        desk.names("assigned")
            .iter()
            .any(|name| desk.file(&format!("assigned/{name}")).is_some_and(|file| file["brief"].is_string()))
    });
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    process.kill();
}

#[test]
fn a_linked_folder_is_refused_and_its_target_untouched() {
    let desk = Desk::open();
    let home = desk.fixture.path("somewhere");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("kept.json"), "{\"description\": \"A secret\"}").unwrap();
    for name in [".shopfloor/tmp", ".shopfloor/incoming", "pending", "completed"] {
        let path = desk.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _ = fs::remove_dir_all(&path);
        symlink(&home, &path).unwrap();
        let said = desk.fixture.fail(1, &["files", "--project", "Parser", "--dir", desk.path("").to_str().unwrap()]);
        assert!(said.contains(name) && said.contains("link"), "{said}");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    assert_eq!(desk.titles(), Vec::<String>::new());
}

#[test]
fn invalid_files_get_a_note_and_others_are_processed() {
    let desk = Desk::open();
    let long = "x".repeat(240);
    for folder in ["pending", "assigned", "reports", "completed", "failed"] {
        let path = |name: &str| desk.path(folder).join(name);
        fs::create_dir_all(path("")).unwrap();
        symlink("/nowhere/at/all", path("dangling.json")).unwrap();
        symlink(desk.fixture.path("data/token"), path("token.json")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo.json"), rustix::fs::Mode::RWXU).unwrap();
        fs::write(path(&format!("{long}.json")), "{\"description\": \"Too long a name\"}").unwrap();
        fs::create_dir(path("folder.json")).unwrap();
    }
    let process = desk.serve(&[]);
    desk.put("pending/plain.json", &json!({ "description": "Write it" }));
    desk.wait_for("assigned/plain.json");
    for folder in ["pending", "assigned", "reports"] {
        for (name, says) in [("dangling", "link"), ("token", "link"), ("fifo", "not a plain file")] {
            let note = format!("{folder}/{name}.error.txt");
            wait_until(&format!("{note} says so"), || desk.text(&note).contains(says));
        }
    }
    let note = |name: &String| name.starts_with("xxx") && name.ends_with(".error.txt");
    wait_until("a long name is reported", || desk.names("pending").iter().any(note));
    desk.put("reports/plain.json", &json!({ "summary": "Done" }));
    desk.wait_for("completed/plain.json");
    assert_eq!(desk.titles(), ["Write it"]);
    process.kill();
}

#[test]
fn tasks_of_others_are_shown_in_pending_and_move_when_finished() {
    let desk = Desk::open();
    desk.fixture.text(&["task", "add", "--project", "Parser", "Before it"]);
    let process = desk.serve(&["--assign", "0", "--until-done"]);
    desk.wait_for("pending/Before-it.json");
    desk.fixture.text(&["task", "add", "--project", "Parser", "While it looks"]);
    desk.wait_for("pending/While-it-looks.json");
    let file = desk.file("pending/While-it-looks.json").unwrap();
    assert_eq!((&file["description"], &file["shopfloor"]["status"]), (&json!("While it looks"), &json!("ready")));
    // Others do the one, and nobody the other.
    let taken = desk.fixture.json(&["task", "take", "--project", "Parser", "--worker", "eve"]);
    let (task, fence) = (taken["taken"]["task"]["id"].as_str().unwrap(), taken["taken"]["lease"]["fence"].to_string());
    wait_until("it says who has it", || desk.text("pending/Before-it.json").contains("\"assigned\""));
    desk.fixture.text(&["task", "report", task, "--fence", &fence, "Done"]);
    desk.wait_for("completed/Before-it.json");
    let other = file["shopfloor"]["task"].as_str().unwrap();
    desk.fixture.text(&["task", "cancel", other]);
    desk.wait_for("failed/While-it-looks.json");
    assert_eq!(process.wait(), Some(0), "nothing is left to do");
    assert_eq!(desk.names("pending"), Vec::<String>::new());
}

#[test]
fn tasks_above_the_limit_are_counted_and_follow() {
    let desk = Desk::open();
    let lines: String = (1..=5).map(|n| format!("{{\"description\": \"Task {n}\"}}\n")).collect();
    let list = desk.fixture.path("list.jsonl");
    fs::write(&list, lines).unwrap();
    desk.fixture.text(&["task", "add", "--project", "Parser", "--file", list.to_str().unwrap()]);
    let process = desk.serve(&["--assign", "0", "--show", "3"]);
    wait_until("it says how many there are", || desk.text("MORE.txt").contains("2 more"));
    wait_until("the first are shown", || desk.names("pending") == ["Task-1.json", "Task-2.json", "Task-3.json"]);
    desk.put("pending/mine.json", &json!({ "description": "Mine" }));
    wait_until("what is added here is shown in any case", || {
        desk.file("pending/mine.json").is_some_and(|file| file["shopfloor"].is_object())
    });
    for name in ["Task-1", "Task-2"] {
        let file = desk.file(&format!("pending/{name}.json")).unwrap();
        desk.fixture.text(&["task", "cancel", file["shopfloor"]["task"].as_str().unwrap()]);
    }
    wait_until("the others follow", || {
        desk.names("pending") == ["Task-3.json", "Task-4.json", "Task-5.json", "mine.json"]
    });
    wait_until("there are no more", || !desk.path("MORE.txt").exists());
    process.kill();
}

#[test]
fn lines_can_depend_on_another_file() {
    let desk = Desk::open();
    let process = desk.serve(&["--assign", "0"]);
    desk.put("pending/parser.json", &json!({ "description": "Write the parser" }));
    wait_until("it is a task", || desk.file("pending/parser.json").is_some_and(|file| file["shopfloor"].is_object()));
    let lines = "{\"id\": \"a\", \"description\": \"A\", \"deps\": [\"parser\"]}\n{\"description\": \"B\", \"deps\": [\"a\"]}\n";
    fs::write(desk.path("pending/lines.jsonl"), lines).unwrap();
    wait_until("all are tasks", || desk.titles() == ["A", "B", "Write the parser"]);
    process.kill();
}
