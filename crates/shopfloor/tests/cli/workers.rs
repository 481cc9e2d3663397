//! Workers on a real runner, and how a project hands out its tasks.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

fn id(view: &Value) -> &str {
    view["id"].as_str().unwrap()
}

#[test]
fn settings_are_shown_and_changed() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let settings = fixture.text(&["work", "settings", "--project", "Parser"]);
    assert!(settings.contains("strategy") && settings.contains("off"), "{settings}");
    let changed = fixture.json(&[
        "work",
        "configure",
        "--project",
        "Parser",
        "--strategy",
        "least_loaded",
        "--budget",
        "12.50",
        "--lease",
        "45",
    ]);
    assert_eq!((changed["strategy"].as_str(), changed["lease_seconds"].as_u64()), (Some("least_loaded"), Some(45)));
    assert_eq!(changed["budget_micros"], 12_500_000);
    assert!(fixture.text(&["work", "settings", "--project", "Parser"]).contains("$12.50"));
    assert!(fixture.fail(2, &["work", "configure", "--project", "Parser"]).contains("nothing to change"));
    assert_eq!(fixture.text(&["worker", "list"]), "no workers; start some with `shopfloor worker start`\n");
    let said = fixture.fail(4, &["worker", "start", "--project", "Parser", "--", "true"]);
    assert!(said.contains("runner"), "{said}");
    assert!(fixture.text(&["metrics", "--project", "Parser"]).contains("tasks                 none"));
    assert!(fixture.text(&["work", "doing", "--project", "Parser"]).contains("no worker is busy"));
}

#[test]
fn workers_do_tasks_and_are_stopped_and_thawed() {
    let fixture = Fixture::at_work();
    let tasks: String = ["one", "two", "three"].iter().map(|name| format!("- [ ] Write {name}\n")).collect();
    let added = fixture.run_with_input(&["task", "add", "--project", "Parser", "--file", "-"], &tasks);
    assert_eq!(added.code, 0, "{added:?}");
    let script = "echo working on it; sleep 1";
    let started = fixture.json(&[
        "worker",
        "start",
        "--project",
        "Parser",
        "--count",
        "2",
        "--budget",
        "5",
        "--json",
        "--",
        "sh",
        "-c",
        script,
    ]);
    assert_eq!(started.as_array().unwrap().len(), 2);
    let watched = fixture.run(&["task", "watch", "--project", "Parser", "--until-done"]);
    assert_eq!(watched.code, 0, "{watched:?}");
    fixture.text(&["task", "add", "--project", "Parser", "Write another when nobody has anything to do"]);
    assert_eq!(fixture.run(&["task", "watch", "--project", "Parser", "--until-done"]).code, 0);
    let list = fixture.text(&["worker", "list", "--project", "Parser"]);
    assert!(list.contains("$0.00 of $5.00") && list.contains("command"), "{list}");
    let shown = fixture.text(&["worker", "show", id(&started[0])]);
    assert!(shown.contains("Attempts") && shown.contains("accepted"), "{shown}");
    assert!(fixture.text(&["worker", "status"]).contains("workers: 2 idle"));
    let metrics = fixture.text(&["metrics", "--project", "Parser"]);
    assert!(metrics.contains("4 done") && metrics.contains("speed-up"), "{metrics}");
    let update = ["worker", "update", id(&started[0]), "--name", "first", "--budget", "7.00"];
    let renamed = fixture.json(&[&update[..], &["--handoff-after-cost", "2.00"]].concat());
    assert_eq!(renamed["handoff_after_micros"], 2_000_000);
    assert_eq!((renamed["name"].as_str(), renamed["budget_micros"].as_u64()), (Some("first"), Some(7_000_000)));
    let frozen = fixture.json(&["stop-everything", "--project", "Parser"]);
    assert_eq!((frozen["frozen"].as_bool(), frozen["workers"].as_u64()), (Some(true), Some(2)));
    let settings = fixture.text(&["work", "settings", "--project", "Parser"]);
    assert!(settings.contains("stopped by owner"), "{settings}");
    let idle = fixture.run(&["worker", "start", "--project", "Parser", "--", "true"]);
    assert!(idle.stderr.contains("you stopped everything"), "{idle:?}");
    let idle: Vec<&str> = idle.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    fixture.text(&["worker", "remove", idle[1], "--yes"]);
    assert!(
        fixture
            .fail(2, &["worker", "start", "--project", "Parser", "--budget", "0", "--", "true"])
            .contains("no limit")
    );
    assert!(fixture.text(&["thaw", "--project", "Parser"]).contains("thawed"));
    fixture.text(&["worker", "stop", "first"]);
    wait_until("the worker is stopped", || fixture.json(&["worker", "show", "first"])["worker"]["status"] == "stopped");
    fixture.text(&["worker", "restart", "first"]);
    fixture.text(&["worker", "stop-all", "--project", "Parser", "--force"]);
    wait_until("all workers are stopped", || {
        fixture.json(&["worker", "list"]).as_array().unwrap().iter().all(|worker| worker["status"] == "stopped")
    });
    fixture.text(&["worker", "remove", "first", "--yes"]);
    assert_eq!(fixture.json(&["worker", "list"]).as_array().unwrap().len(), 1);
    assert!(fixture.json(&["worker", "log", "--project", "Parser"]).is_array());
    let log = fixture.text(&["worker", "log", "--project", "Parser"]);
    assert!(log.contains("stopped it by force") && log.contains("thawed") && log.contains("frozen"), "{log}");
    let left = fixture.json(&["worker", "list"])[0].clone();
    let name = left["name"].as_str().unwrap();
    assert!(log.contains(name) && !log.contains(id(&left)), "names, not ids: {log}");
}

#[test]
fn an_agent_that_does_nothing_has_done_no_task() {
    let fixture = Fixture::at_work();
    let added = fixture.json(&["task", "add", "--project", "Parser", "Do something"]);
    let task = id(&added["tasks"][0]).to_owned();
    fixture.text(&["worker", "start", "--project", "Parser", "--agent", "command", "--", "true"]);
    let show = || fixture.json(&["task", "show", &task]);
    wait_until("a person is asked", || show()["task"]["status"] == "escalated");
    let shown = show();
    let question = shown["escalations"][0]["question"].as_str().unwrap();
    assert!(question.contains("said nothing and changed nothing"), "{shown}");
    let script = "echo more > file.txt";
    fixture.text(&["worker", "start", "--project", "Parser", "--agent", "command", "--", "sh", "-c", script]);
    let other = fixture.json(&["task", "add", "--project", "Parser", "Change something"]);
    let other = id(&other["tasks"][0]).to_owned();
    wait_until("what was changed without a word counts", || {
        fixture.json(&["task", "show", &other])["task"]["status"] == "done"
    });
    let report = fixture.json(&["task", "show", &other])["reports"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(report["deliverables"]["files"][0], "file.txt", "{report}");
    assert!(report["deliverables"]["branch"].is_string(), "{report}");
}

#[test]
fn work_is_checked_and_a_person_judges_the_rest() {
    let fixture = Fixture::at_work();
    let list = "\
- [ ] Make a file
  - accept: file_exists: out.txt
  - accept: command: test -s out.txt
  - accept: committed
- [ ] Make nothing
  - accept: file_exists: nothing.txt
";
    let added = fixture.run_with_input(&["task", "add", "--project", "Parser", "--file", "-", "--json"], list);
    let added: Value = serde_json::from_str(&added.stdout).unwrap();
    let (good, bad) = (id(&added["tasks"][0]), id(&added["tasks"][1]));
    let script = "echo hello > out.txt; git add -A; git -c user.name=w -c user.email=w@x commit -qm work; echo done";
    fixture.text(&["worker", "start", "--project", "Parser", "--", "sh", "-c", script]);
    let show = |task: &str| fixture.json(&["task", "show", task]);
    wait_until("the good one is done", || show(good)["task"]["status"] == "done");
    let shown = fixture.text(&["task", "show", good]);
    assert!(shown.matches("✓ met").count() == 3 && shown.contains("from the agent's last message"), "{shown}");
    wait_until("the bad one needs a person", || show(bad)["task"]["status"] == "escalated");
    let shown = fixture.text(&["task", "show", bad]);
    assert!(shown.contains("✗ not met") && shown.contains("nothing.txt") && shown.contains("needs you"), "{shown}");
    let asked = show(bad)["escalations"][0].clone();
    assert!(fixture.text(&["escalation", "show", id(&asked)]).contains("Options"), "{asked}");
    fixture.text(&["escalation", "answer", id(&asked), "--act", "accept", "it is fine as it is"]);
    assert_eq!(show(bad)["task"]["status"], "done");
    let metrics = fixture.json(&["metrics", "--project", "Parser"]);
    assert_eq!(metrics["interventions"], 1, "{metrics}");
}

#[test]
fn a_take_over_shows_the_command_first() {
    let fixture = Fixture::at_work();
    fixture.text(&["project", "update", "Parser", "--visibility", "read-write", "--share-execution", "true"]);
    fixture.text(&["task", "add", "--project", "Parser", "Write the lexer"]);
    fixture.text(&["worker", "start", "--project", "Parser", "--", "sh", "-c", "sleep 600"]);
    let show = || fixture.json(&["task", "show", "Write the lexer"])["task"].clone();
    wait_until("it is worked on", || show()["status"] == "running");
    let own = fixture.fail(4, &["task", "take-over", "Write the lexer"]);
    assert!(own.contains("a worker of yours, has it already") && own.contains("another runner or agent"), "{own}");
    let link = fixture.json(&["invite", "create", "Bo"])["link"].as_str().unwrap().to_owned();
    let bo = fixture.join(link.rsplit_once('#').unwrap().1, "Bo");
    let take = |more: &[&str]| {
        let mut args = vec!["task", "take-over", "Write the lexer", "--token", &bo];
        args.extend(more);
        fixture.run(&args)
    };
    let shown = take(&[]);
    assert_eq!((shown.code, shown.stdout.as_str()), (2, ""), "{shown:?}");
    assert!(shown.stderr.contains("would run this command, which owner chose:\n  sh -c 'sleep 600'"), "{shown:?}");
    assert!(shown.stderr.contains("--yes") && shown.stderr.contains("-- PROGRAM"), "{shown:?}");
    let said = take(&["--yes"]);
    assert!(said.code == 4 && said.stderr.contains("runner"), "it may run, and Bo has no runner: {said:?}");
    fixture.text(&["project", "update", "Parser", "--share-execution", "false"]);
    let hidden = take(&["--yes"]);
    assert!(hidden.code == 4 || hidden.code == 2, "{hidden:?}");
    assert!(!hidden.stderr.contains("sleep 600"), "what may not be seen is not shown: {hidden:?}");
    assert_eq!(show()["attempt"], 1, "nothing was taken over");
    let worker = fixture.json(&["worker", "list"])[0].clone();
    let removed = fixture.json(&["worker", "remove", id(&worker), "--yes"]);
    assert_eq!(removed["removed"], worker["id"], "a program gets the id, too");
}
