//! Work flows forward: a dependant starts from what was accepted, and accepted work comes home as a branch.

use std::path::Path;
use std::process::Command;

use domain::{LandingState, TaskId, TaskStatus};
use protocol::{
    AddedTasks, Call, ExecutionFilter, Landing, LandingFilter, NewRunner, Project, Runner, RunnerCreate, TaskDetail,
    TasksAdd, Worker, WorkerStart, Workspace,
};
use serde_json::json;
use testkit::{RunnerProcess, wait_until};

use crate::fixture::{Fixture, git};

/// Appends the title of its task to the file that most tasks change, and commits unless the title says otherwise.
const AGENT: &str = r#"
title=$(grep -m1 '^Add ' "$SHOPFLOOR_PROMPT_FILE")
name=$(printf '%s' "$title" | tr ' ' '-')
file=calc.txt
case "$title" in *" file") file=$(printf '%s' "$title" | cut -d' ' -f2) ;; esac
printf '%s\n' "$title" >> "$file"
cp "$file" "$1/$name.part"; mv "$1/$name.part" "$1/$name"
case "$title" in
    *quietly*) ;;
    *) git add "$file"; git -c user.name=a -c user.email=a@b commit -qm "$title" ;;
esac
echo "Did: $title"
"#;

pub(crate) async fn add(fixture: &Fixture, project: &Project, tasks: serde_json::Value) -> Vec<TaskId> {
    let input = TasksAdd { tasks: serde_json::from_value(tasks).unwrap() };
    let added: AddedTasks = fixture.ann.ask(Call::TaskAdd { project: project.id, input }).await.unwrap();
    added.tasks.iter().map(|task| task.id).collect()
}

pub(crate) async fn start(fixture: &Fixture, project: &Project, count: u32) {
    let seen = fixture.folder.path().join("seen");
    std::fs::create_dir_all(&seen).unwrap();
    let argv = ["sh", "-c", AGENT, "agent", seen.to_str().unwrap()].map(str::to_owned).to_vec();
    let input = WorkerStart { agent: "command".into(), argv, count: Some(count), ..Default::default() };
    let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
}

pub(crate) async fn done(fixture: &Fixture, tasks: &[TaskId]) {
    for task in tasks {
        wait_until("the task is done, without a question", async || {
            let detail: TaskDetail = fixture.ann.ask(Call::TaskShow { task: *task }).await.ok()?;
            assert!(detail.escalations.is_empty(), "nobody is asked: {:?}", detail.escalations);
            (detail.task.status == TaskStatus::Done).then_some(())
        })
        .await;
    }
}

/// What a task's agent saw in the file when it ended.
fn seen(fixture: &Fixture, title: &str) -> Vec<String> {
    let text = std::fs::read_to_string(fixture.folder.path().join("seen").join(title.replace(' ', "-"))).unwrap();
    text.lines().map(str::to_owned).collect()
}

pub(crate) fn said(place: &Path, args: &[&str]) -> String {
    let out = Command::new("git").args(args).current_dir(place).output().unwrap();
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A repository whose file has room between the lines that tasks add.
pub(crate) fn repository(fixture: &Fixture) -> std::path::PathBuf {
    let place = fixture.repository();
    std::fs::write(place.join("calc.txt"), "start\n").unwrap();
    git(&place, &["add", "-A"]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "calc"]);
    place
}

#[tokio::test]
async fn a_chain_builds_on_accepted_work_and_its_branches_come_home() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let place = repository(&fixture);
    let project = fixture.project(&place).await;
    let plan = json!([
        { "id": "sub", "description": "Add sub" },
        { "id": "mul", "description": "Add mul quietly", "deps": ["sub"] },
        { "description": "Add div", "deps": ["mul"] },
    ]);
    let tasks = add(&fixture, &project, plan).await;
    start(&fixture, &project, 1).await;
    done(&fixture, &tasks).await;
    // Committed or not, what was accepted is where the next one starts.
    assert_eq!(seen(&fixture, "Add mul quietly"), ["start", "Add sub", "Add mul quietly"]);
    assert_eq!(seen(&fixture, "Add div"), ["start", "Add sub", "Add mul quietly", "Add div"]);

    let before = said(&place, &["rev-parse", "HEAD"]);
    std::fs::write(place.join("calc.txt"), "edited by ann\n").unwrap();
    let landings: Vec<Landing> = fixture.cli(&["land", &tasks[2].to_string(), "--push-only"]).await;
    assert_eq!(landings[0].state, LandingState::Published, "{landings:?}");
    let branch = &landings[0].branch;
    assert!(said(&place, &["branch", "--list", branch]).contains(branch.as_str()), "`git branch` shows it");
    assert_eq!(said(&place, &["show", &format!("{branch}:calc.txt")]), "start\nAdd sub\nAdd mul quietly\nAdd div\n");
    // Neither the checkout nor the index of the person was touched.
    assert_eq!(said(&place, &["rev-parse", "HEAD"]), before);
    assert_eq!(said(&place, &["status", "--porcelain"]), " M calc.txt\n");
    // Asking again changes nothing.
    let again: Vec<Landing> = fixture.cli(&["land", &tasks[2].to_string(), "--push-only"]).await;
    assert_eq!(again[0].id, landings[0].id);
    fixture.close().await;
}

/// Waits until a task's work is on the target branch.
pub(crate) async fn landed(fixture: &Fixture, task: TaskId) -> Landing {
    wait_until("the work has landed", async || {
        let filter = LandingFilter { task: Some(task), ..Default::default() };
        let found: Vec<Landing> = fixture.ann.ask(Call::LandingList { filter }).await.ok()?;
        let newest = found.into_iter().next()?;
        assert_ne!(newest.state, LandingState::Refused, "{newest:?}");
        (newest.state == LandingState::Landed).then_some(newest)
    })
    .await
}

#[tokio::test]
async fn work_that_came_with_its_dependant_has_landed_too() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let place = repository(&fixture);
    let project = fixture.project(&place).await;
    let id = project.id.to_string();
    let _: serde_json::Value =
        fixture.cli(&["merge", "configure", "--project", &id, "--check", "test -s calc.txt"]).await;
    let plan = json!([{ "id": "sub", "description": "Add sub" }, { "description": "Add mul", "deps": ["sub"] }]);
    let tasks = add(&fixture, &project, plan).await;
    start(&fixture, &project, 1).await;
    done(&fixture, &tasks).await;
    let _: Vec<Landing> = fixture.cli(&["land", &tasks[1].to_string()]).await;
    landed(&fixture, tasks[1]).await;
    let _: Vec<Landing> = fixture.cli(&["land", &tasks[0].to_string()]).await;
    landed(&fixture, tasks[0]).await;
    assert_eq!(std::fs::read_to_string(place.join("calc.txt")).unwrap(), "start\nAdd sub\nAdd mul\n");
    fixture.close().await;
}

#[tokio::test]
async fn a_diamond_lands_by_itself_and_every_commit_on_main_is_green() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let place = repository(&fixture);
    let base = said(&place, &["rev-parse", "main"]).trim().to_owned();
    let project = fixture.project(&place).await;
    check_before_landing(&fixture, &project).await;
    let plan = json!([
        { "id": "top", "description": "Add top" },
        { "id": "left", "description": "Add left file", "deps": ["top"] },
        { "id": "right", "description": "Add right file", "deps": ["top"] },
        { "description": "Add bottom", "deps": ["left", "right"] },
    ]);
    let tasks = add(&fixture, &project, plan).await;
    start(&fixture, &project, 2).await;
    done(&fixture, &tasks).await;
    let last = landed(&fixture, tasks[3]).await;
    for task in &tasks {
        landed(&fixture, *task).await;
    }
    wait_until("the workspaces of landed work are deleted", async || {
        let filter = ExecutionFilter { project: Some(project.id), ..Default::default() };
        let left: Vec<Workspace> = fixture.ann.ask(Call::WorkspaceList { filter }).await.ok()?;
        left.is_empty().then_some(())
    })
    .await;
    assert_eq!(said(&place, &["branch", "--show-current"]).trim(), "main");
    assert_eq!(said(&place, &["status", "--porcelain"]), "", "the checkout followed main");
    let now = std::fs::read_to_string(place.join("calc.txt")).unwrap();
    assert!(now.ends_with("Add bottom\n") && now.contains("Add top"), "{now}");
    for name in ["left", "right"] {
        assert_eq!(std::fs::read_to_string(place.join(name)).unwrap(), format!("Add {name} file\n"));
    }
    let contains = ["merge-base", "--is-ancestor", last.landed.as_deref().unwrap(), "main"];
    assert_eq!(said(&place, &contains), "");
    every_commit_passes(&fixture, &place, &base);
    fixture.close().await;
}

/// The check of the merge queue: the file has the line that it began with.
const CHECK: &str = "grep -qx start calc.txt";

pub(crate) async fn check_before_landing(fixture: &Fixture, project: &Project) {
    let id = project.id.to_string();
    let _: serde_json::Value = fixture.cli(&["merge", "configure", "--project", &id, "--check", CHECK]).await;
    let _: serde_json::Value = fixture.cli(&["landing", "configure", "--project", &id, "--mode", "automatic"]).await;
}

/// Checks out every commit that came onto main after `base`, merged branches included, and runs the check there.
fn every_commit_passes(fixture: &Fixture, place: &Path, base: &str) {
    let clone = fixture.folder.path().join("audit");
    let (from, to) = (place.to_str().unwrap(), clone.to_str().unwrap());
    said(place, &["clone", "-q", "--branch", "main", from, to]);
    let commits = said(&clone, &["rev-list", &format!("{base}..HEAD")]);
    assert!(commits.lines().count() > 1, "{commits}");
    for commit in commits.lines() {
        said(&clone, &["checkout", "-q", "--detach", commit]);
        let passed = Command::new("sh").args(["-c", CHECK]).current_dir(&clone).status().unwrap().success();
        assert!(passed, "the check fails on {commit}: {}", said(&clone, &["show", "--stat", commit]));
    }
}

#[tokio::test]
async fn a_chain_across_two_runners_lands_and_every_commit_on_main_is_green() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let place = repository(&fixture);
    let base = said(&place, &["rev-parse", "main"]).trim().to_owned();
    let project = fixture.project(&place).await;
    check_before_landing(&fixture, &project).await;
    let made: NewRunner =
        fixture.ann.ask(Call::RunnerCreate { input: RunnerCreate { name: "there".into() } }).await.unwrap();
    let env = [("HOME".to_owned(), fixture.home().display().to_string())];
    let data = fixture.folder.path().join("there");
    let there = RunnerProcess::spawn_with(&data, &fixture.url, &made.secret, "there", &env);
    let runners = wait_until("both runners are connected", async || {
        let found: Vec<Runner> = fixture.ann.ask(Call::RunnerList {}).await.ok()?;
        (found.iter().filter(|runner| runner.connected).count() == 2).then_some(found)
    })
    .await;
    let plan = json!([
        { "id": "sub", "description": "Add sub", "needs": ["here"] },
        { "id": "mul", "description": "Add mul quietly", "deps": ["sub"], "needs": ["there"] },
        { "description": "Add div", "deps": ["mul"], "needs": ["here"] },
    ]);
    let tasks = add(&fixture, &project, plan).await;
    let seen_in = fixture.folder.path().join("seen");
    std::fs::create_dir_all(&seen_in).unwrap();
    for name in ["here", "there"] {
        let argv = ["sh", "-c", AGENT, "agent", seen_in.to_str().unwrap()].map(str::to_owned).to_vec();
        let runner = runners.iter().find(|runner| runner.name == name).map(|runner| runner.id);
        let abilities = vec![name.to_owned()];
        let input = WorkerStart { agent: "command".into(), argv, runner, abilities, ..Default::default() };
        let _: Vec<Worker> = fixture.ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    }
    done(&fixture, &tasks).await;
    assert_eq!(seen(&fixture, "Add mul quietly"), ["start", "Add sub", "Add mul quietly"]);
    assert_eq!(seen(&fixture, "Add div"), ["start", "Add sub", "Add mul quietly", "Add div"]);
    for task in &tasks {
        landed(&fixture, *task).await;
    }
    assert_eq!(said(&place, &["branch", "--show-current"]).trim(), "main");
    assert_eq!(said(&place, &["status", "--porcelain"]), "", "the checkout followed main");
    let now = std::fs::read_to_string(place.join("calc.txt")).unwrap();
    assert_eq!(now, "start\nAdd sub\nAdd mul quietly\nAdd div\n");
    every_commit_passes(&fixture, &place, &base);
    there.kill().await;
    fixture.close().await;
}
