//! Reviews on the command line: the diff of a task, comments, approve and send back.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

#[test]
fn changes_are_commented_sent_back_and_approved() {
    let fixture = Fixture::at_work();
    let added = fixture.json(&["task", "add", "--project", "Parser", "Write lines", "--accept", "approved"]);
    let task = added["tasks"][0]["id"].as_str().unwrap().to_owned();
    let task = task.as_str();
    let script = "echo line >> lines.txt; echo wrote a line";
    fixture.text(&["worker", "start", "--project", "Parser", "--agent", "command", "--", "sh", "-c", script]);
    let show = || fixture.json(&["task", "show", task]);
    let asked = |count: usize| {
        wait_until("a person is asked to review", || {
            let shown = show();
            shown["task"]["status"] == "escalated" && shown["escalations"].as_array().unwrap().len() == count
        });
    };
    asked(1);
    assert_eq!(show()["escalations"][0]["kind"], "review");
    let patch = fixture.text(&["task", "diff", task]);
    assert!(patch.contains("+++ b/lines.txt") && patch.contains("+line"), "{patch}");
    assert_eq!(fixture.text(&["task", "diff", task, "--stat"]), "added lines.txt  +1 -0\n");
    let tree = fixture.json(&["task", "diff", task])["tree"].as_str().unwrap().to_owned();
    let said = fixture.fail(2, &["review", "comment", task, "README:1", "Why?"]);
    assert!(said.contains("changed: lines.txt"), "{said}");
    assert!(fixture.fail(2, &["review", "send-back", task]).contains("comment on lines"));
    let thread = fixture.json(&["review", "comment", task, "lines.txt:1", "One more, please"]);
    assert_eq!((thread["status"].as_str(), thread["quote"].as_str()), (Some("open"), Some("line")));
    let comments = fixture.text(&["review", "comments", task]);
    assert!(comments.contains("1. lines.txt:1  open") && comments.contains("One more, please"), "{comments}");
    fixture.text(&["review", "send-back", task, "Nearly there"]);
    asked(2);
    let comments = fixture.json(&["review", "comments", task]);
    assert_eq!(comments["threads"][0]["status"], "sent");
    let patch = fixture.text(&["task", "diff", task]);
    assert_eq!(patch.matches("+line\n").count(), 2, "it continued in the same workspace: {patch}");
    let stale = fixture.fail(4, &["review", "approve", task, "--tree", &tree]);
    assert!(stale.contains("changed since you looked"), "{stale}");
    fixture.text(&["review", "reply", task, "1", "Thanks"]);
    assert!(fixture.text(&["review", "resolve", task, "1"]).contains("resolved"));
    assert!(fixture.text(&["review", "approve", task]).contains("approved"));
    let shown: Value = show();
    assert_eq!(shown["task"]["status"], "done");
    assert_eq!(shown["reports"].as_array().unwrap().last().unwrap()["results"][0]["passed"], true);
    assert!(fixture.text(&["review", "comments", task]).starts_with("approved by "));
    let done = fixture.fail(4, &["review", "send-back", task, "More"]);
    assert!(done.contains("task reopen"), "{done}");
}

#[test]
fn changes_without_a_task_are_reviewed_by_workspace_branch_or_activity() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("echo line > lines.txt; echo ready; while read line; do echo got: $line; done");
    fixture.wait_for_log(&session, "ready");
    let (workspace, activity) = (session["workspace"].as_str().unwrap(), session["activity"].as_str().unwrap());
    let shown = fixture.json(&["workspace", "show", workspace]);
    let branch = shown["branch"].as_str().unwrap();
    let thread = fixture.json(&["review", "comment", branch, "lines.txt:1", "One more, please"]);
    assert_eq!((thread["status"].as_str(), thread["quote"].as_str()), (Some("open"), Some("line")));
    assert_eq!(thread["of"]["workspace"], workspace);
    let comments = fixture.text(&["review", "comments", activity]);
    assert!(comments.contains("1. lines.txt:1  open") && comments.contains("One more, please"), "{comments}");
    let approved = fixture.fail(2, &["review", "approve", branch]);
    assert!(approved.contains("only a task's report can be approved"), "{approved}");
    assert_eq!(fixture.text(&["review", "send-back", workspace, "Nearly there"]), "sent to the agent\n");
    fixture.wait_for_log(&session, "One more, please");
    assert!(fixture.text(&["review", "comments", workspace]).contains("1. lines.txt:1  sent"));
    fixture.text(&["review", "reply", branch, "1", "Thanks"]);
    assert!(fixture.text(&["review", "resolve", activity, "1"]).contains("resolved"));
}
