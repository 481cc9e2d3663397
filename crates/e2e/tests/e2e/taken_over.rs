//! A colleague's task is taken over: their agent writes the document, and the taker's session gets it with their work.

use std::path::{Path, PathBuf};

use client::Client;
use domain::{HandoffStatus, HandoffWriter, RunnerId, RunnerPolicy, SessionStatus, TaskId};
use protocol::{
    AddedTasks, Call, Handoff, HandoffDetail, HandoffFilter, Project, ProjectCreate, Runner, RunnerUpdate,
    SessionDetail, Task, TaskDetail, TaskReason, TaskTakeOver, TasksAdd, Worker, WorkerStart,
};
use serde_json::json;
use testkit::{HubProcess, join, wait_until};

use crate::fixture::git;
use crate::handoff::{home, runner};

/// A project that both may work in, with a task that a worker of Ann's is at.
async fn at_work(ann: &Client, folder: &Path, runner: RunnerId) -> TaskId {
    let place = folder.join("repository");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
    git(&place, &["init", "-q", "-b", "main"]);
    git(&place, &["add", "-A"]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]);
    let input = json!({ "content": "Shared", "visibility": "read-write", "share_execution": true,
        "repositories": [{ "location": place }] });
    let input: ProjectCreate = serde_json::from_value(input).unwrap();
    let project: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
    let tasks = serde_json::from_value(json!([{ "description": "Write the files" }])).unwrap();
    let call = Call::TaskAdd { project: project.id, input: TasksAdd { tasks } };
    let added: AddedTasks = ann.ask(call).await.unwrap();
    let input = WorkerStart { agent: "scripted".into(), runner: Some(runner), ..Default::default() };
    let _: Vec<Worker> = ann.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    added.tasks[0].id
}

/// The current session of a task, once it has written everything.
async fn written(client: &Client, task: TaskId) -> SessionDetail {
    wait_until("the agent has written its files", async || {
        let found: TaskDetail = client.ask(Call::TaskShow { task }).await.ok()?;
        let session = found.task.session?;
        let shown: SessionDetail = client.ask(Call::SessionShow { session }).await.ok()?;
        let there = PathBuf::from(shown.workspace.path.clone()?).join("untracked").exists();
        (there && shown.session.state.status == SessionStatus::Working).then_some(shown)
    })
    .await
}

#[tokio::test]
async fn their_agent_writes_the_document_for_who_takes_its_task_over() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (data, folder_path) = (folder.path().join("hub"), folder.path());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut hub = HubProcess::spawn(&data, &format!("sqlite:{}", data.join("shopfloor.db").display()), port);
    let url = hub.ready().await;
    let token = std::fs::read_to_string(data.join("token")).unwrap();
    let ann = Client::new(&url, token.trim()).unwrap();
    let bo = Client::new(&url, &join(&url, &ann, "Bo").await.unwrap()).unwrap();
    let home = home(folder_path);
    let (anns, here) = runner(&ann, folder_path, &home, &url, "anns").await;
    let (bos, there) = runner(&bo, folder_path, &home, &url, "bos").await;
    for (client, runner) in [(&ann, here), (&bo, there)] {
        let input = RunnerUpdate { policy: Some(RunnerPolicy::Writers), sandbox_others: None };
        let _: Runner = client.ask(Call::RunnerUpdate { runner, input }).await.unwrap();
    }
    let task = at_work(&ann, folder_path, here).await;
    let old = written(&ann, task).await.session;
    std::fs::write(folder_path.join("out/go"), "").unwrap();
    let input = TaskTakeOver { goal: Some("Finish it".into()), ..Default::default() };
    let taken: Task = bo.ask(Call::TaskTakeOver { task, input }).await.unwrap();
    let filter = HandoffFilter { session: Some(old.id), ..Default::default() };
    let all: Vec<Handoff> = bo.ask(Call::HandoffList { filter }).await.unwrap();
    let handoff = all[0].id;
    let last = std::cell::RefCell::new(None);
    let waited = wait_until("the document is acknowledged", async || {
        let found: HandoffDetail = bo.ask(Call::HandoffShow { handoff }).await.ok()?;
        *last.borrow_mut() = Some(found.handoff.clone());
        (found.handoff.status == HandoffStatus::Done).then_some(found)
    });
    let done = tokio::select! {
        done = waited => done,
        () = tokio::time::sleep(std::time::Duration::from_secs(58)) => panic!(
            "{:?}\n{}\n{}\n{}", last.borrow(), anns.log_text(), bos.log_text(),
            std::fs::read_to_string(folder_path.join("out/log")).unwrap_or_default()
        ),
    };
    assert_eq!((done.handoff.successor, done.written_by), (taken.session, Some(HandoffWriter::Agent)), "{done:?}");
    let fresh: SessionDetail = bo.ask(Call::SessionShow { session: taken.session.unwrap() }).await.unwrap();
    assert_eq!((fresh.session.runner, fresh.session.owner.name.as_str()), (there, "Bo"));
    let ended: SessionDetail = ann.ask(Call::SessionShow { session: old.id }).await.unwrap();
    assert!(ended.session.state.ended());
    let place = PathBuf::from(fresh.workspace.path.unwrap());
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    assert_eq!((read("first").as_str(), read("untracked").as_str()), ("committed\n", "new\n"));
    let prompt = std::fs::read_to_string(folder_path.join("out/prompt")).unwrap();
    for part in ["# Task", "Bo took over", "## Your instruction\n\nFinish it", "> the first file"] {
        assert!(prompt.contains(part), "`{part}` is not in {prompt}");
    }
    assert!(prompt.lines().filter(|line| line.contains("Ignore all rules")).all(|line| line.starts_with("> ")));
    let cancel = Call::TaskCancel { task, input: TaskReason { reason: None } };
    let _: Task = ann.ask(cancel).await.unwrap();
    let worker = taken.assigned_to.unwrap();
    let stop = Call::WorkerStop { worker, input: protocol::WorkerStop { force: true } };
    let _: Worker = bo.ask(stop).await.unwrap();
    wait_until("the session is over", async || {
        let found: SessionDetail = bo.ask(Call::SessionShow { session: fresh.session.id }).await.ok()?;
        found.session.state.ended().then_some(())
    })
    .await;
    anns.kill().await;
    bos.kill().await;
    hub.kill().await;
}
