//! The merge queue on the command line: a branch of the person's repository lands on main.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

fn git(path: &Path, args: &[&str]) -> String {
    let author = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost"];
    let ended = Command::new("git").current_dir(path).args(author).args(args).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap().trim_end().to_owned()
}

/// A repository with these branches, each with one new file.
fn repository(fixture: &Fixture, branches: &[&str]) -> std::path::PathBuf {
    let path = fixture.path("calc");
    std::fs::create_dir_all(&path).unwrap();
    git(&path, &["init", "--quiet", "--initial-branch=main"]);
    git(&path, &["commit", "--quiet", "--allow-empty", "--message=start"]);
    for branch in branches {
        git(&path, &["checkout", "--quiet", "-b", branch, "main"]);
        std::fs::write(path.join(branch), "x\n").unwrap();
        git(&path, &["add", "--all"]);
        git(&path, &["commit", "--quiet", "--message", branch]);
    }
    git(&path, &["checkout", "--quiet", "main"]);
    path
}

fn states(fixture: &Fixture) -> Vec<(String, String)> {
    let history = fixture.json(&["merge", "history", "--project", "Calc"]);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    history.as_array().unwrap().iter().map(|one| (text(&one["branch"]), text(&one["state"]))).collect()
}

fn wait_for(fixture: &Fixture, branch: &str, state: &str) {
    let wanted = (branch.to_owned(), state.to_owned());
    wait_until(&format!("{branch} is {state}"), || states(fixture).contains(&wanted));
}

#[test]
fn branches_land_leave_and_wait_as_the_person_says() {
    let fixture = Fixture::at_work();
    let path = repository(&fixture, &["good", "bad", "later", "unwanted"]);
    fixture.text(&["project", "create", "Calc", "--repo", path.to_str().unwrap()]);
    fixture.text(&["merge", "configure", "--project", "Calc", "--check", "test ! -e bad"]);
    assert!(fixture.text(&["merge", "settings", "--project", "Calc"]).contains("test ! -e bad"));
    assert_eq!(fixture.json(&["merge", "add", "--project", "Calc", "good"])["branch"], "good");
    wait_for(&fixture, "good", "landed");
    assert_eq!(git(&path, &["ls-tree", "--name-only", "main"]), "good");
    assert!(path.join("good").exists(), "the checkout follows");
    // The culprit comes back with its log.
    fixture.text(&["merge", "add", "--project", "Calc", "bad"]);
    wait_for(&fixture, "bad", "ejected");
    let shown = fixture.text(&["merge", "show", "bad", "--project", "Calc"]);
    assert!(shown.contains("`test ! -e bad` fails with it on `main`"), "{shown}");
    assert_eq!(git(&path, &["ls-tree", "--name-only", "main"]), "good");
    // A paused queue moves again when it is thawed.
    let paused = fixture.text(&["merge", "pause", "--project", "Calc", "--reason", "release"]);
    assert!(paused.contains("release"), "{paused}");
    for branch in ["later", "unwanted"] {
        fixture.text(&["merge", "add", "--project", "Calc", branch]);
    }
    let listed = fixture.text(&["merge", "list", "--project", "Calc"]);
    assert!(listed.contains("later") && listed.contains("unwanted") && listed.contains("release"), "{listed}");
    fixture.text(&["merge", "remove", "unwanted", "--project", "Calc"]);
    let forecast = fixture.json(&["merge", "simulate", "--project", "Calc"]);
    assert_eq!(forecast["waiting"], 1, "{forecast}");
    fixture.text(&["merge", "thaw", "--project", "Calc"]);
    wait_for(&fixture, "later", "landed");
    wait_for(&fixture, "unwanted", "removed");
    assert_eq!(git(&path, &["ls-tree", "--name-only", "main"]), "good\nlater");
    // What is wrong is said.
    fixture.text(&["merge", "add", "--project", "Calc", "missing"]);
    wait_for(&fixture, "missing", "ejected");
    let shown = fixture.text(&["merge", "show", "missing", "--project", "Calc"]);
    assert!(shown.contains("no branch `missing`"), "{shown}");
    let wrong = fixture.fail(2, &["merge", "add", "--project", "Calc", "--", "-x"]);
    assert!(wrong.contains("branch"), "{wrong}");
    let gone = fixture.fail(4, &["merge", "remove", "good", "--project", "Calc"]);
    assert!(gone.contains("has left the queue"), "{gone}");
}

#[test]
fn without_checks_a_person_confirms() {
    let fixture = Fixture::at_work();
    let path = repository(&fixture, &["good"]);
    fixture.text(&["project", "create", "Calc", "--repo", path.to_str().unwrap()]);
    let added = fixture.json(&["merge", "add", "--project", "Calc", "good"]);
    assert_eq!(added["state"], "needs_person");
    let listed = fixture.text(&["merge", "list", "--project", "Calc"]);
    assert!(listed.contains("no checks"), "{listed}");
    fixture.text(&["merge", "confirm", "good", "--project", "Calc"]);
    wait_for(&fixture, "good", "landed");
    assert_eq!(git(&path, &["ls-tree", "--name-only", "main"]), "good");
}

#[test]
fn landing_says_that_a_person_must_confirm() {
    let fixture = Fixture::at_work();
    let path = repository(&fixture, &[]);
    fixture.text(&["project", "create", "Calc", "--repo", path.to_str().unwrap()]);
    let added = fixture.json(&["task", "add", "--project", "Calc", "Write lines"]);
    let task = added["tasks"][0]["id"].as_str().unwrap();
    let script = "echo line > lines.txt; git add --all; \
                  git -c user.name=Ann -c user.email=ann@localhost commit --quiet --message lines; echo wrote a line";
    fixture.text(&["worker", "start", "--project", "Calc", "--agent", "command", "--", "sh", "-c", script]);
    wait_until("the task is done", || fixture.json(&["task", "show", task])["task"]["status"] == "done");
    fixture.text(&["merge", "pause", "--project", "Calc", "--reason", "release"]);
    let landed = fixture.run(&["land", task]);
    assert_eq!(landed.code, 0, "{}", landed.stderr);
    assert!(landed.stderr.contains("no checks are configured: a person must confirm"), "{}", landed.stderr);
    assert!(landed.stderr.contains("merge queue of main is paused") && landed.stderr.contains("release"));
    let (_, command) = landed.stderr.split_once("`shopfloor merge confirm ").unwrap();
    let candidate = command.split('`').next().unwrap();
    fixture.text(&["merge", "confirm", candidate]);
    fixture.text(&["merge", "thaw", "--project", "Calc"]);
    wait_until("the work is on main", || {
        let landings = fixture.json(&["landing", "list"]);
        landings[0]["state"] == "landed"
    });
    assert_eq!(git(&path, &["show", "main:lines.txt"]), "line");
}

#[test]
fn landing_names_what_it_could_mean() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc", "--key", "calc"]);
    for _ in 0..2 {
        fixture.text(&["task", "add", "--project", "Calc", "Write lines"]);
    }
    for command in [&["land", "Write lines"] as &[&str], &["review", "comments", "Write lines"]] {
        let several = fixture.fail(2, command);
        assert!(several.contains("matches 2 tasks:") && several.contains("CALC-2"), "{several}");
    }
    let none = fixture.fail(3, &["land", "feature/lines"]);
    assert!(none.contains("`shopfloor merge add BRANCH --project PROJECT`"), "{none}");
}

#[test]
fn a_task_that_requires_the_merge_is_done_once_it_is_on_main() {
    let fixture = Fixture::at_work();
    let path = repository(&fixture, &[]);
    fixture.text(&["project", "create", "Calc", "--repo", path.to_str().unwrap()]);
    fixture.text(&["merge", "configure", "--project", "Calc", "--check", "test -e lines.txt"]);
    let added = fixture.json(&["task", "add", "--project", "Calc", "Write lines", "--accept", "merged"]);
    let task = added["tasks"][0]["id"].as_str().unwrap();
    let script = "echo line > lines.txt; git add --all; \
                  git -c user.name=Ann -c user.email=ann@localhost commit --quiet --message lines; echo wrote a line";
    fixture.text(&["worker", "start", "--project", "Calc", "--agent", "command", "--", "sh", "-c", script]);
    let show = || fixture.json(&["task", "show", task]);
    wait_until("the task is done", || show()["task"]["status"] == "done");
    assert_eq!(git(&path, &["show", "main:lines.txt"]), "line");
    let report = &show()["reports"][0];
    assert_eq!(report["results"][0]["reason"], "merged into `main`", "{report}");
    // The workspace of landed work is deleted, and its changes can still be seen.
    let workspace = show()["attempts"][0]["workspace"].as_str().unwrap().to_owned();
    wait_until("the workspace is deleted", || {
        let all = fixture.json(&["workspace", "list", "--all"]);
        all.as_array().unwrap().iter().any(|one| one["id"] == workspace && one["status"] == "cleaned")
    });
    let patch = fixture.text(&["task", "diff", task]);
    assert!(patch.contains("+++ b/lines.txt") && patch.contains("+line"), "{patch}");
}
