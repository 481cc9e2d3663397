//! `shopfloor files`: a folder in step with the queue, whatever happens to the process.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Duration;

use domain::{AttemptOutcome, ReportVerdict, RunnerPolicy, TaskId, TaskStatus};
use protocol::{Call, Project, Runner, RunnerUpdate, Taken, TaskDetail, TaskTake};
use serde_json::json;
use testkit::wait_until;

use crate::folder::{Folder, count};
use crate::hub::Hub;
use crate::remote::{git, remote};

#[tokio::test]
async fn files_become_tasks_tasks_become_files_and_reports_are_sent() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    let mut process = folder.serve(&hub);
    wait_until("the folder says what it is", async || folder.text("README.md")).await;
    folder.put("pending/one.json", r#"{"description": "Write one"}"#);
    folder.put("pending/list.md", "- [ ] Write two\n  - id: two\n- [ ] Write three\n  - deps: two\n");
    let done = RefCell::new(HashSet::new());
    wait_until("everything is completed", async || {
        folder.work(&mut done.borrow_mut());
        (count(&folder.root.join("completed")) == 3).then_some(())
    })
    .await;
    assert_eq!(folder.names("completed"), ["list-2.json", "list-two.json", "one.json"]);
    wait_until("nothing is left", async || folder.leftovers().is_empty().then_some(())).await;
    let report = folder.text("completed/one.json").unwrap();
    assert!(report.contains("Did one.json under 1") && report.contains("accepted"), "{report}");
    hub.check_done_once().await;
    process.kill().await.unwrap();
}

#[tokio::test]
async fn an_incomplete_file_is_reported_and_taken_once_it_is_complete() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    folder.put("pending/half.json", "{\"description\": \"Write a");
    folder.put("pending/wrong.json", "{\"descriptoin\": \"Write b\"}");
    let mut process = folder.serve(&hub);
    for (name, says) in [("half", "invalid JSON"), ("wrong", "descriptoin")] {
        let text =
            wait_until("the error is reported", async || folder.text(&format!("pending/{name}.error.txt"))).await;
        assert!(text.contains(says), "{text}");
    }
    assert!(hub.tasks().await.is_empty(), "nothing was guessed");
    folder.put("pending/half.json", "{\"description\": \"Write all of it\"}");
    folder.put("pending/wrong.json", "{\"description\": \"Write b\", \"deps\": [\"half\"]}");
    wait_until("both are taken", async || (hub.tasks().await.len() == 2).then_some(())).await;
    let left = || folder.names("pending").into_iter().chain(folder.names("assigned")).collect::<Vec<_>>();
    wait_until("nothing is wrong any more", async || (left() == ["wrong.json", "half.json"]).then_some(())).await;
    // An unreadable report is reported, and read again.
    folder.put("reports/half.json", "{\"summary\": 7}");
    let text = wait_until("the error is reported", async || folder.text("reports/half.error.txt")).await;
    assert!(text.contains("expected a string") && text.contains("summary"), "{text}");
    folder.put("reports/half.json", "{\"summary\": \"Done at last\"}");
    wait_until("it is completed", async || folder.text("completed/half.json")).await;
    assert!(folder.text("reports/half.error.txt").is_none());
    process.kill().await.unwrap();
}

#[tokio::test]
async fn removed_task_files_come_back_and_foreign_files_are_reported() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    let mut process = folder.serve(&hub);
    folder.put("pending/plan.md", "- [ ] Write one\n  - id: one\n- [ ] Write two\n  - deps: one\n");
    let given = wait_until("it is given to the folder", async || folder.task("assigned/plan-one.json")).await;
    let brief = given["brief"].as_str().unwrap().to_owned();
    assert!(brief.contains("`reports/plan-one.json`") && !brief.contains("tool `report`"), "{brief}");
    let waiting = wait_until("the other waits", async || folder.task("pending/plan-2.json")).await;
    std::fs::remove_file(folder.root.join("pending/plan-2.json")).unwrap();
    let again = wait_until("it is written again", async || folder.task("pending/plan-2.json")).await;
    assert_eq!(again["shopfloor"], waiting["shopfloor"]);
    folder.put("assigned/mine.json", r#"{"description": "In the wrong place"}"#);
    let text = wait_until("the error is reported", async || folder.text("assigned/mine.error.txt")).await;
    assert!(text.contains("pending/"), "{text}");
    assert_eq!(hub.tasks().await.len(), 2, "it became no task");
    folder.put("assigned/kept.error.txt", "mine");
    std::fs::rename(folder.root.join("assigned/mine.json"), folder.root.join("pending/mine.json")).unwrap();
    let gone = async || folder.text("assigned/mine.error.txt").is_none().then_some(());
    wait_until("what was said of it is gone with it", gone).await;
    wait_until("it became a task", async || (hub.tasks().await.len() == 3).then_some(())).await;
    assert_eq!(folder.text("assigned/kept.error.txt").as_deref(), Some("mine"), "what is not ours stays");
    process.kill().await.unwrap();
}

#[tokio::test]
async fn a_task_that_a_person_cancels_leaves_the_folder() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    let mut process = folder.serve(&hub);
    folder.put("pending/gone.json", r#"{"description": "Not wanted any more"}"#);
    wait_until("it is given to the folder", async || folder.text("assigned/gone.json")).await;
    let task = hub.tasks().await[0].id;
    let input = protocol::TaskReason { reason: Some("no time".into()) };
    hub.ann.ask::<protocol::Task>(protocol::Call::TaskCancel { task, input }).await.unwrap();
    let text = wait_until("its file is among the failed", async || folder.text("failed/gone.json")).await;
    assert!(text.contains("cancelled"), "{text}");
    assert!(folder.names("assigned").is_empty());
    process.kill().await.unwrap();
}

#[tokio::test]
async fn a_refused_report_has_a_reason_and_can_be_replaced() {
    let hub = Hub::open().await;
    let (origin, clone) = remote(&hub);
    let runner = hub.runner(&[]).await;
    // What lies in the folder counts as an agent's: its commands run because the policy of the runner says so.
    let [known] = hub.ann.ask::<Vec<Runner>>(Call::RunnerList {}).await.unwrap().try_into().unwrap();
    let input = RunnerUpdate { policy: Some(RunnerPolicy::Writers), sandbox_others: None };
    hub.ann.ask::<Runner>(Call::RunnerUpdate { runner: known.id, input }).await.unwrap();
    let input = json!({ "content": "Pushed", "repositories": [{ "location": origin }] });
    let input = serde_json::from_value(input).unwrap();
    let project: Project = hub.ann.ask(Call::ProjectCreate { input }).await.unwrap();
    let folder = Folder::of(&hub, project.id);
    let mut process = folder.serve(&hub);
    let acceptance = json!([{ "kind": "command", "argv": ["grep", "-q", "done", "out.txt"] }, { "kind": "committed" }]);
    let task = json!({ "description": "Write out.txt", "acceptance": acceptance });
    folder.put("pending/out.json", &task.to_string());
    let given = wait_until("it is given to the folder", async || folder.task("assigned/out.json")).await;
    let fence = given["shopfloor"]["hold"]["fence"].clone();
    let report = json!({ "summary": "Pushed it.", "branch": "work" }).to_string();
    let push = |text: &str| {
        std::fs::write(clone.join("out.txt"), text).unwrap();
        git(&clone, &["add", "-A"]);
        git(&clone, &["commit", "-q", "-m", text]);
        git(&clone, &["push", "-q", "origin", "work"]);
    };
    git(&clone, &["checkout", "-q", "-b", "work"]);
    push("half");
    for times in 1..=2 {
        folder.put("reports/out.json", &report);
        let refused = wait_until("its file says that it was refused", async || {
            let detail = hub.ann.ask::<TaskDetail>(Call::TaskShow { task: task_of(&given) }).await.ok()?;
            let refused = detail.reports.iter().filter(|report| report.verdict == ReportVerdict::Refused).count();
            folder.task("assigned/out.json").filter(|task| refused == times && task["refused"].is_string())
        })
        .await;
        let why = wait_until("so does a file beside the report", async || folder.text("reports/out.refused.txt")).await;
        assert!(why.contains("grep") && why.contains("write reports/out.json again"), "{why}");
        assert!(why.starts_with(refused["refused"].as_str().unwrap()), "{refused}");
        assert_eq!(refused["shopfloor"]["hold"]["fence"], fence, "it still has the task");
        assert_eq!(folder.names("reports"), ["out.refused.txt"], "what was sent is not sent again");
    }
    push("done");
    folder.put("reports/out.json", &report);
    let done = wait_until("it is completed", async || folder.task("completed/out.json")).await;
    assert_eq!(done["report"]["verdict"], "accepted", "{done}");
    wait_until("nothing is left", async || folder.leftovers().is_empty().then_some(())).await;
    process.kill().await.unwrap();
    runner.kill().await;
}

#[tokio::test]
async fn a_task_without_a_report_is_released_for_other_workers() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    let mut process = folder.serve_with(&hub, &["--give-back", "1"]);
    for name in ["left", "busy"] {
        folder.put(&format!("pending/{name}.json"), &json!({ "description": format!("Write {name}") }).to_string());
        wait_until("it is given to the folder", async || folder.text(&format!("assigned/{name}.json"))).await;
    }
    folder.age("assigned/left.json", Duration::from_secs(90));
    wait_until("it is given back", async || folder.text("pending/left.json")).await;
    assert_eq!(folder.names("assigned"), ["busy.json"]);
    let line = hub.tasks().await.into_iter().find(|task| task.title == "Write left").unwrap();
    let attempt = hub.show(&line).await.attempts.remove(0);
    assert_eq!(attempt.outcome, AttemptOutcome::Released);
    assert_eq!(attempt.reason.as_deref(), Some("no report for 1 minute"));
    // The folder does not take back what it has just given back: others come first.
    let input = TaskTake { worker: Some("eve".into()), task: None, abilities: Vec::new(), wait_seconds: None };
    let taken: Taken = hub.ann.ask(Call::TaskTake { project: hub.project.id, input }).await.unwrap();
    assert_eq!(taken.taken.map(|taken| taken.task.id), Some(line.id));
    // A late report is not taken for another's work.
    folder.put("reports/left.json", r#"{"summary": "Late"}"#);
    let why = wait_until("the error is reported", async || folder.text("reports/left.error.txt")).await;
    assert!(why.contains("was returned"), "{why}");
    folder.put("reports/busy.json", r#"{"summary": "Done"}"#);
    wait_until("the other one goes on", async || folder.text("completed/busy.json")).await;
    process.kill().await.unwrap();
}

/// Killed again and again, the folder loses nothing, adds nothing twice and reports nothing twice.
#[tokio::test]
async fn nothing_is_lost_or_doubled_by_kill_9_at_any_point() {
    let hub = Hub::open().await;
    let folder = Folder::new(&hub);
    let lines: String = (1..=6).map(|n| format!("{{\"id\": \"l{n}\", \"description\": \"Line {n}\"}}\n")).collect();
    folder.put("pending/lines.jsonl", &lines);
    folder.put(
        "pending/chain.json",
        r#"[{"id":"a","description":"A"},{"id":"b","description":"B","deps":["a"]},{"description":"C","deps":["b"]}]"#,
    );
    for n in 1..=3 {
        folder.put(&format!("pending/single-{n}.json"), &format!("{{\"description\": \"Single {n}\"}}"));
    }
    let mut random = Lcg(0x5eed);
    let (mut done, mut kills) = (HashSet::new(), 0);
    while count(&folder.root.join("completed")) < 12 {
        let mut process = folder.serve(&hub);
        // Early kills meet the start, late ones the work.
        let pause = Duration::from_millis(random.below(if kills % 3 == 0 { 60 } else { 250 }));
        let until = tokio::time::Instant::now() + pause;
        while tokio::time::Instant::now() < until {
            folder.work(&mut done);
            tokio::time::sleep(Duration::from_millis(7)).await;
        }
        process.kill().await.unwrap();
        kills += 1;
        assert!(kills < 300, "it gets nowhere: {:?}\n{}", folder.leftovers(), hub.log());
    }
    let mut process = folder.serve(&hub);
    wait_until("nothing is left", async || folder.leftovers().is_empty().then_some(())).await;
    process.kill().await.unwrap();
    let tasks = hub.tasks().await;
    assert_eq!(tasks.len(), 12, "each was added once");
    assert!(tasks.iter().all(|task| task.status == TaskStatus::Done));
    assert_eq!(count(&folder.root.join("completed")), 12);
    hub.check_done_once().await;
}

/// Which task a file is about.
fn task_of(paper: &serde_json::Value) -> TaskId {
    paper["shopfloor"]["task"].as_str().unwrap().parse().unwrap()
}

/// Numbers that look random and are the same each time.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
