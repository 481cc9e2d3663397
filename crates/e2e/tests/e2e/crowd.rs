//! Four workers on one repository, whose tasks change the same line: everything lands, and every commit on main is green.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use domain::{AnswerAct, EscalationKind, LandingState, TaskId, TaskStatus};
use protocol::{
    AddedTasks, Call, Escalation, EscalationAnswer, EscalationFilter, Landing, LandingFilter, MergeCommand,
    MergeConfigure, MergeQueue, MergeSettings, Project, TaskDetail, TaskFilter, TaskLine, TasksAdd, Worker,
    WorkerStart,
};
use serde_json::json;
use testkit::wait_until;

use crate::fixture::{Fixture, git};

/// Adds its name to the one line of a list, or writes a file of its own. When the merge queue sends the work back, it
/// merges main and puts its name on main's list.
const AGENT: &str = r#"
set -eu
name=$(sed -n 's/^Add \([a-z]*\).*/\1/p' "$SHOPFLOOR_PROMPT_FILE" | head -n 1)
as_me() { git -c user.name=a -c user.email=a@b "$@"; }
if grep -q 'merge queue sent this work back' "$SHOPFLOOR_PROMPT_FILE"; then
    git fetch -q origin
    as_me merge -q -m "Merge main" origin/main || git checkout -q --theirs list.txt
    rm -f broken.txt
else
    [ "$name" != careless ] || echo broken > broken.txt
    # All who change the list start from the same one.
    case " $2 " in *" $name "*)
        touch "$1/$name"
        while [ "$(ls "$1" | wc -l)" -lt "$(echo $2 | wc -w)" ]; do sleep 0.05; done
    esac
fi
case " $2 " in
    *" $name "*) grep -qw "$name" list.txt || sed -i "1s/\$/ $name/" list.txt ;;
    *) echo "$name" > "$name.txt" ;;
esac
git add -A
as_me commit -q -m "Add $name" || git diff --quiet HEAD
echo "Added $name."
"#;

/// Who changes the list: one for each worker.
const LISTED: &str = "ash beech cedar oak";

/// The list has one line, with each name once, and nobody has left something broken.
const CHECK: &str =
    r#"test "$(wc -l < list.txt)" = 1 && test -z "$(tr ' ' '\n' < list.txt | sort | uniq -d)" && test ! -e broken.txt"#;

#[tokio::test]
async fn four_workers_land_everything_although_they_change_the_same_line() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let place = fixture.repository();
    std::fs::write(place.join("list.txt"), "trees:\n").unwrap();
    git(&place, &["add", "-A"]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "list"]);
    let start = said(&place, &["rev-parse", "HEAD"]);
    let project = fixture.project(&place).await;
    let id = project.id.to_string();
    let checks = vec![MergeCommand { argv: ["sh", "-c", CHECK].map(str::to_owned).to_vec(), seconds: 60 }];
    let input = MergeConfigure { checks: Some(checks), ..Default::default() };
    let _: MergeSettings = fixture.ann.ask(Call::MergeConfigure { project: project.id, input }).await.unwrap();
    let _: serde_json::Value = fixture.cli(&["landing", "configure", "--project", &id, "--mode", "automatic"]).await;
    let plan = json!([
        { "description": "Add ash", "priority": 9 },
        { "description": "Add beech", "priority": 9 },
        { "description": "Add cedar", "priority": 9 },
        { "description": "Add oak", "priority": 9 },
        { "description": "Add careless" },
        { "description": "Add fern", "deps": ["moss"] },
        { "id": "moss", "description": "Add moss" },
        { "description": "Add reed", "deps": ["moss"] },
    ]);
    let input = TasksAdd { tasks: serde_json::from_value(plan).unwrap() };
    let added: AddedTasks = fixture.ann.ask(Call::TaskAdd { project: project.id, input }).await.unwrap();
    let met = fixture.folder.path().join("met");
    std::fs::create_dir_all(&met).unwrap();
    let argv = ["sh", "-c", AGENT, "agent", met.to_str().unwrap(), LISTED].map(str::to_owned).to_vec();
    let input = WorkerStart { agent: "command".into(), argv, count: Some(4), ..Default::default() };
    let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    let mut sent_back = Vec::new();
    for task in &added.tasks {
        sent_back.extend(landed(&fixture, &project, task.id).await);
    }
    let because = |word: &str| sent_back.iter().filter(|why| why.contains(word)).count();
    assert!(because("conflicts with `main` in `list.txt`") >= 3, "{sent_back:?}");
    assert!(because("fails with it on `main`") >= 1, "{sent_back:?}");
    let list = std::fs::read_to_string(place.join("list.txt")).unwrap();
    let mut names: Vec<&str> = list.trim_end().strip_prefix("trees: ").unwrap().split(' ').collect();
    names.sort_unstable();
    assert_eq!(names.join(" "), LISTED);
    for name in ["careless", "fern", "moss", "reed"] {
        assert_eq!(std::fs::read_to_string(place.join(format!("{name}.txt"))).unwrap(), format!("{name}\n"));
    }
    assert_eq!(said(&place, &["status", "--porcelain"]), "", "the checkout followed main");
    every_commit_is_green(&fixture, &place, start.trim());
    fixture.close().await;
}

/// Waits until the work of a task is on main; why it was sent back before that. Accepts what conflicts with other work,
/// as the merge queue finds out.
async fn landed(fixture: &Fixture, project: &Project, task: TaskId) -> Vec<String> {
    let over = wait_until("the work has landed", async || {
        let filter = EscalationFilter { project: Some(project.id), answered: None };
        let open: Vec<Escalation> = fixture.ann.ask(Call::EscalationList { filter }).await.ok()?;
        for one in open {
            assert_eq!(one.kind, EscalationKind::SameLines, "{one:?}");
            let input = EscalationAnswer { option: None, act: Some(AnswerAct::Accept), text: None };
            let _: Escalation = fixture.ann.ask(Call::EscalationAnswer { escalation: one.id, input }).await.ok()?;
        }
        let filter = LandingFilter { task: Some(task), ..Default::default() };
        let found: Vec<Landing> = fixture.ann.ask(Call::LandingList { filter }).await.ok()?;
        let detail: TaskDetail = fixture.ann.ask(Call::TaskShow { task }).await.ok()?;
        let over = found.first()?.state == LandingState::Landed && detail.task.status == TaskStatus::Done;
        over.then(|| found.into_iter().filter_map(|landing| landing.detail).collect())
    });
    tokio::select! {
        sent_back = over => sent_back,
        () = tokio::time::sleep(Duration::from_secs(58)) => panic!("did not land: {}", standing(fixture, project).await),
    }
}

/// Where everything is, for debugging.
async fn standing(fixture: &Fixture, project: &Project) -> String {
    let filter = LandingFilter { project: Some(project.id), ..Default::default() };
    let landings: Vec<Landing> = fixture.ann.ask(Call::LandingList { filter }).await.unwrap();
    let queues: Vec<MergeQueue> = fixture.ann.ask(Call::MergeList { project: project.id }).await.unwrap();
    let filter = TaskFilter { project: Some(project.id), ..Default::default() };
    let tasks: Vec<TaskLine> = fixture.ann.ask(Call::TaskList { filter }).await.unwrap();
    format!("{landings:#?}\n{queues:#?}\n{tasks:#?}")
}

/// Runs the check on each commit of main.
fn every_commit_is_green(fixture: &Fixture, place: &Path, start: &str) {
    let copy = fixture.folder.path().join("copy");
    git(place, &["clone", "-q", ".", copy.to_str().unwrap()]);
    for commit in said(place, &["rev-list", "--first-parent", &format!("{start}..main")]).lines() {
        git(&copy, &["checkout", "-q", commit]);
        let passed = Command::new("sh").args(["-c", CHECK]).current_dir(&copy).status().unwrap().success();
        assert!(passed, "the check fails on {commit}:\n{}", said(place, &["log", "--graph", "--oneline", "main"]));
    }
}

fn said(place: &Path, args: &[&str]) -> String {
    let out = Command::new("git").args(args).current_dir(place).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}
