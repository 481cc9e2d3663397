//! A worker that nobody manages pushes a branch; a real runner fetches it from a real remote and checks it.

use std::path::Path;
use std::process::Command;

use client::Client;
use domain::{EscalationKind, ProjectId, ReportVerdict, TaskId, TaskStatus};
use protocol::{
    AddedTasks, Call, Deliverables, ExecutionFilter, Project, ProjectCreate, Report, Taken, Task, TaskDetail,
    TaskReason, TaskReport, TaskTake, TasksAdd, WorkConfigure, WorkSettings, Workspace,
};
use serde_json::{Value, json};
use testkit::wait_until;

use crate::hub::Hub;
use crate::remote::{git, remote};

/// A worker of Ann's in an editor somewhere.
struct Editor {
    ann: Client,
    project: ProjectId,
    task: TaskId,
    fence: u64,
}

impl Editor {
    async fn take(hub: &Hub, origin: &Path) -> Self {
        let acceptance = json!([
            { "kind": "file_exists", "path": "out.txt" },
            { "kind": "command", "argv": ["grep", "-q", "done", "out.txt"] },
            { "kind": "committed" },
            { "kind": "only_touches", "globs": ["out.txt"] },
        ]);
        Self::take_with(hub, origin, acceptance).await
    }

    async fn take_with(hub: &Hub, origin: &Path, acceptance: Value) -> Self {
        let ann = hub.ann.clone();
        let input = json!({ "content": "Pushed", "repositories": [{ "location": origin }] });
        let input: ProjectCreate = serde_json::from_value(input).unwrap();
        let project: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
        let tasks = json!([{ "description": "Write out.txt", "acceptance": acceptance }]);
        let input = TasksAdd { tasks: serde_json::from_value(tasks).unwrap() };
        let added: AddedTasks = ann.ask(Call::TaskAdd { project: project.id, input }).await.unwrap();
        let input = TaskTake { worker: Some("editor".into()), task: None, abilities: Vec::new(), wait_seconds: None };
        let taken: Taken = ann.ask(Call::TaskTake { project: project.id, input }).await.unwrap();
        let fence = taken.taken.unwrap().lease.fence;
        Self { ann, project: project.id, task: added.tasks[0].id, fence }
    }

    async fn detail(&self) -> TaskDetail {
        self.ann.ask(Call::TaskShow { task: self.task }).await.unwrap()
    }

    async fn send(&self, branch: &str) -> Report {
        let deliverables = Some(Deliverables { branch: Some(branch.into()), ..Default::default() });
        let input = TaskReport {
            fence: self.fence,
            summary: "Pushed it.".into(),
            deliverables,
            context_score: None,
            usage: None,
            failed: None,
        };
        self.ann.ask(Call::TaskReport { task: self.task, input }).await.unwrap()
    }

    /// Reports the branch and waits for the verdict, or until a person is asked.
    async fn report(&self, branch: &str) -> Report {
        let sent = self.send(branch).await;
        wait_until("the report has its verdict", async || {
            let detail = self.detail().await;
            let report = detail.reports.into_iter().find(|report| report.id == sent.id)?;
            let asked = detail.task.status == TaskStatus::Escalated;
            (asked || report.verdict != ReportVerdict::Pending).then_some(report)
        })
        .await
    }

    async fn workspaces(&self) -> Vec<Workspace> {
        let filter = ExecutionFilter { project: Some(self.project), ..Default::default() };
        self.ann.ask(Call::WorkspaceList { filter }).await.unwrap()
    }

    async fn nothing_is_left(&self, hub: &Hub) {
        wait_until("no workspace is left", async || self.workspaces().await.is_empty().then_some(())).await;
        let folders = std::fs::read_dir(hub.path("runner").join("workspaces")).unwrap();
        let names = folders.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        assert_eq!(left, Vec::<String>::new(), "none on the disk either");
    }
}

#[tokio::test]
async fn a_reported_branch_is_fetched_and_checked_and_its_checkout_deleted() {
    let hub = Hub::open().await;
    let (origin, clone) = remote(&hub);
    let runner = hub.runner(&[]).await;
    let editor = Editor::take(&hub, &origin).await;
    git(&clone, &["checkout", "-q", "-b", "work"]);
    let refused = editor.report("work").await;
    assert_eq!(refused.verdict, ReportVerdict::Refused, "{refused:?}\n{}", runner.log_text());
    let why = refused.reason.unwrap();
    assert!(why.starts_with(&format!("there is no branch `work` at {}", origin.display())), "{why}");
    assert!(why.ends_with("; push it, then report again"), "{why}");
    assert_eq!(editor.detail().await.task.status, TaskStatus::Running, "it still has the task");

    std::fs::write(clone.join("out.txt"), "half\n").unwrap();
    git(&clone, &["add", "-A"]);
    git(&clone, &["commit", "-q", "-m", "half"]);
    git(&clone, &["push", "-q", "origin", "work"]);
    let refused = editor.report("work").await;
    assert_eq!(refused.verdict, ReportVerdict::Refused, "{refused:?}");
    let passed: Vec<_> = refused.results.iter().map(|result| result.passed).collect();
    assert_eq!(passed, [Some(true), Some(false), Some(true), Some(true)], "{refused:?}");

    std::fs::write(clone.join("out.txt"), "done\n").unwrap();
    git(&clone, &["commit", "-q", "-a", "-m", "all"]);
    git(&clone, &["push", "-q", "origin", "work"]);
    let accepted = editor.report("work").await;
    assert_eq!(accepted.verdict, ReportVerdict::Accepted, "{accepted:?}");
    assert_eq!(editor.detail().await.task.status, TaskStatus::Done);
    editor.nothing_is_left(&hub).await;
    runner.kill().await;
}

#[tokio::test]
async fn a_retry_deletes_the_workspace_kept_for_a_question() {
    let hub = Hub::open().await;
    let (origin, clone) = remote(&hub);
    let runner = hub.runner(&[]).await;
    let acceptance = json!([{ "kind": "committed" }, { "kind": "text", "text": "It reads well" }]);
    let editor = Editor::take_with(&hub, &origin, acceptance).await;
    git(&clone, &["checkout", "-q", "-b", "work"]);
    std::fs::write(clone.join("out.txt"), "words\n").unwrap();
    git(&clone, &["add", "-A"]);
    git(&clone, &["commit", "-q", "-m", "words"]);
    git(&clone, &["push", "-q", "origin", "work"]);
    let report = editor.report("work").await;
    assert_eq!(report.verdict, ReportVerdict::Pending, "a person is asked");
    assert_eq!(editor.workspaces().await.len(), 1, "what they are asked about is there");
    let input = TaskReason { reason: Some("try again".into()) };
    let _: Task = editor.ann.ask(Call::TaskRetry { task: editor.task, input }).await.unwrap();
    editor.nothing_is_left(&hub).await;
    runner.kill().await;
}

#[tokio::test]
async fn an_unreachable_repository_escalates_to_a_person() {
    let hub = Hub::open().await;
    let (origin, _) = remote(&hub);
    let runner = hub.runner(&[]).await;
    let editor = Editor::take(&hub, &origin).await;
    std::fs::rename(&origin, origin.with_extension("gone")).unwrap();
    let report = editor.report("work").await;
    assert_eq!(report.verdict, ReportVerdict::Pending);
    let asked = editor.detail().await.escalations.remove(0);
    assert_eq!(asked.kind, EscalationKind::Uncheckable);
    assert!(asked.context.text.contains("no repository"), "{asked:?}");
    runner.kill().await;
}

#[tokio::test]
async fn a_check_survives_the_death_of_its_runner() {
    let hub = Hub::open().await;
    let (origin, clone) = remote(&hub);
    let runner = hub.runner(&[]).await;
    // The check waits at the gate until it is opened.
    let (yard, script) = (hub.path("yard"), "touch \"$0/begun\"; exec cat \"$0/gate\"");
    let gate = yard.join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let acceptance = json!([{ "kind": "command", "argv": ["sh", "-c", script, yard] }]);
    let editor = Editor::take_with(&hub, &origin, acceptance).await;
    git(&clone, &["checkout", "-q", "-b", "work"]);
    git(&clone, &["push", "-q", "origin", "work"]);
    let sent = editor.send("work").await;
    assert_eq!(sent.verdict, ReportVerdict::Pending);
    wait_until("it is being checked", async || yard.join("begun").exists().then_some(())).await;
    let input = WorkConfigure { lease_seconds: Some(2), heartbeat_seconds: Some(1), ..Default::default() };
    let _: WorkSettings = hub.ann.ask(Call::WorkConfigure { project: editor.project, input }).await.unwrap();
    runner.kill().await;
    let asked = wait_until("a person is asked", async || editor.detail().await.escalations.pop()).await;
    assert_eq!(asked.kind, EscalationKind::Uncheckable);
    assert!(asked.question.contains("the runner `here` has been away since"), "{}", asked.question);

    // A check that still waits there continues.
    drop(std::fs::File::options().read(true).write(true).open(&gate).unwrap());
    std::fs::remove_file(&gate).unwrap();
    std::fs::write(&gate, "open").unwrap();
    let runner = hub.runner_again().await;
    let done = wait_until("its word counts", async || {
        Some(editor.detail().await).filter(|detail| detail.task.status == TaskStatus::Done)
    })
    .await;
    assert_eq!(done.reports[0].verdict, ReportVerdict::Accepted);
    let [asked] = done.escalations.as_slice() else { panic!("{:?}", done.escalations) };
    assert!(asked.answered_at.is_some() && asked.answered_by.is_none(), "nobody had to answer: {asked:?}");
    runner.kill().await;
}
