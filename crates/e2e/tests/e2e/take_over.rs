//! A colleague's task is taken over to another runner: all that was written goes along, and nothing is done twice.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use client::Client;
use domain::{AttemptOutcome, ReportVerdict, RunnerPolicy, SessionStatus, TaskId, TaskStatus};
use protocol::{
    AddedTasks, Call, NewRunner, Project, ProjectCreate, Report, Runner, RunnerCreate, RunnerUpdate, SessionDetail,
    Task, TaskDetail, TaskReport, TaskTakeOver, TasksAdd, Worker, WorkerStart, WorkerStop, Workspace,
};
use serde_json::json;
use testkit::{HubProcess, RunnerProcess, wait_until};

use crate::fixture::git;

/// Writes files while it runs and for a while after the request to stop, and notes the last file outside. The next agent
/// finds its files and ends.
const AGENT: &str = r#"
if [ -e first ]; then echo "went on"; sleep 600; exit 0; fi
echo committed > first; git add first; git -c user.name=a -c user.email=a@b commit -qm first
echo changed >> README.md
mkdir -p many; n=0; left=-1
trap 'left=$2' TERM HUP INT
while [ $left -ne 0 ]; do
    n=$((n+1)); echo $n > many/$n; echo $n > "$1"
    [ $left -gt 0 ] && left=$((left-1))
    sleep 0.05
done
exit 0
"#;

struct Person {
    client: Client,
    runner: RunnerProcess,
    id: domain::RunnerId,
}

struct Place {
    folder: tempfile::TempDir,
    hub: Option<HubProcess>,
    port: u16,
    url: String,
    ann: Person,
    bo: Person,
    task: TaskId,
}

impl Place {
    fn data(folder: &Path) -> (PathBuf, String) {
        let data = folder.join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        (data, database)
    }

    /// A hub with two people, a runner of each, and a task that Ann's worker is at.
    async fn open(stays: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (data, database) = Self::data(folder.path());
        let mut hub = HubProcess::spawn(&data, &database, port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let bo = testkit::join(&url, &ann, "Bo").await.unwrap();
        let ann = person(ann, folder.path(), &url, "anns").await;
        let bo = person(Client::new(&url, &bo).unwrap(), folder.path(), &url, "bos").await;
        let task = at_work(&ann, folder.path(), stays).await;
        Self { folder, hub: Some(hub), port, url, ann, bo, task }
    }

    async fn detail(&self) -> TaskDetail {
        self.ann.client.ask(Call::TaskShow { task: self.task }).await.unwrap()
    }

    async fn take_over(&self) -> Task {
        let input = TaskTakeOver { runner: Some(self.bo.id), argv: self.argv().await, ..Default::default() };
        self.bo.client.ask(Call::TaskTakeOver { task: self.task, input }).await.unwrap()
    }

    /// What runs for Ann, as Bo sees it before saying that it may run for Bo.
    async fn argv(&self) -> Vec<String> {
        let session = self.detail().await.task.session.unwrap();
        self.bo.client.ask::<SessionDetail>(Call::SessionShow { session }).await.unwrap().argv
    }

    async fn restart_hub(&mut self) {
        self.hub.take().unwrap().kill().await;
        let (data, database) = Self::data(self.folder.path());
        let mut hub = HubProcess::spawn(&data, &database, self.port);
        assert_eq!(hub.ready().await, self.url);
        self.hub = Some(hub);
    }

    /// How many files Ann's agent has written; nothing while it notes that.
    fn noted(&self) -> Option<u32> {
        std::fs::read_to_string(self.folder.path().join("note")).ok()?.trim().parse().ok()
    }

    /// The workspace that Bo's agent works in, when it does.
    async fn at_bos(&self) -> PathBuf {
        wait_until("Bo's agent goes on", async || {
            let detail: TaskDetail = self.bo.client.ask(Call::TaskShow { task: self.task }).await.ok()?;
            let attempt = detail.attempts.last().filter(|attempt| attempt.number == 2)?;
            let call = Call::WorkspaceShow { workspace: attempt.workspace? };
            let workspace: Workspace = self.bo.client.ask(call).await.ok()?;
            (detail.task.status == TaskStatus::Running).then_some(())?;
            workspace.path.map(PathBuf::from)
        })
        .await
    }

    /// Everything that Ann's agent wrote before it ended is at Bo's.
    fn all_is_there(&self, path: &Path) {
        let wrote = self.noted().unwrap();
        let found: BTreeSet<u32> = std::fs::read_dir(path.join("many"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap())
            .collect();
        let missing: Vec<u32> = (1..=wrote).filter(|n| !found.contains(n)).collect();
        assert!(missing.is_empty(), "of {wrote} files these stayed behind: {missing:?}");
        assert_eq!(std::fs::read_to_string(path.join("first")).unwrap(), "committed\n");
        assert!(std::fs::read_to_string(path.join("README.md")).unwrap().ends_with("changed\n"), "not committed");
    }

    async fn close(self) {
        // Nobody takes it any more.
        let input = protocol::TaskReason { reason: None };
        let _: Task = self.ann.client.ask(Call::TaskCancel { task: self.task, input }).await.unwrap();
        let ended = async || {
            for session in self.detail().await.attempts.iter().flat_map(|attempt| attempt.sessions.clone()) {
                let call = Call::SessionShow { session };
                let found = match self.ann.client.ask::<SessionDetail>(call.clone()).await {
                    Ok(found) => found,
                    Err(_) => self.bo.client.ask(call).await.ok()?,
                };
                found.session.state.ended().then_some(())?;
            }
            Some(())
        };
        wait_until("every session is over", ended).await;
        self.ann.runner.kill().await;
        self.bo.runner.kill().await;
        self.hub.unwrap().kill().await;
    }
}

async fn person(client: Client, folder: &Path, url: &str, name: &str) -> Person {
    let made: NewRunner = client.ask(Call::RunnerCreate { input: RunnerCreate { name: name.into() } }).await.unwrap();
    let home = folder.join(format!("home-{name}"));
    std::fs::create_dir_all(&home).unwrap();
    let home = [("HOME".to_owned(), home.display().to_string())];
    let runner = RunnerProcess::spawn_with(&folder.join(name), url, &made.secret, name, &home);
    wait_until("the runner is connected", async || {
        let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.ok()?;
        runners.iter().any(|runner| runner.id == made.runner.id && runner.connected).then_some(())
    })
    .await;
    // They trust each other: what this is about is not who allows what.
    let input = RunnerUpdate { policy: Some(RunnerPolicy::Writers), sandbox_others: None };
    let _: Runner = client.ask(Call::RunnerUpdate { runner: made.runner.id, input }).await.unwrap();
    Person { client, runner, id: made.runner.id }
}

/// A project that both may work in, with a task that a worker of Ann's is at.
async fn at_work(ann: &Person, folder: &Path, stays: u32) -> TaskId {
    let place = folder.join("repository");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
    git(&place, &["init", "-q", "-b", "main"]);
    git(&place, &["add", "-A"]);
    git(&place, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]);
    let input = json!({ "content": "Shared", "visibility": "read-write", "share_execution": true,
        "repositories": [{ "location": place }] });
    let input: ProjectCreate = serde_json::from_value(input).unwrap();
    let project: Project = ann.client.ask(Call::ProjectCreate { input }).await.unwrap();
    let tasks = serde_json::from_value(json!([{ "description": "Write and write" }])).unwrap();
    let call = Call::TaskAdd { project: project.id, input: TasksAdd { tasks } };
    let added: AddedTasks = ann.client.ask(call).await.unwrap();
    let (note, stays) = (folder.join("note").display().to_string(), stays.to_string());
    let argv = ["sh", "-c", AGENT, "agent", &note, &stays].map(str::to_owned).to_vec();
    let input = WorkerStart { agent: "command".into(), argv, runner: Some(ann.id), ..Default::default() };
    let _: Vec<Worker> = ann.client.ask(Call::WorkerStart { project: project.id, input }).await.unwrap();
    added.tasks[0].id
}

#[tokio::test]
async fn a_takeover_brings_all_written_files() {
    let place = Place::open(20).await;
    wait_until("Ann's agent writes", async || place.noted().filter(|n| *n >= 5)).await;
    let before = place.detail().await;
    let (old, fence) = (before.task.session.unwrap(), before.task.lease.unwrap().fence);
    place.take_over().await;
    let again = Call::TaskTakeOver { task: place.task, input: TaskTakeOver::default() };
    let again = place.bo.client.ask::<Task>(again).await.unwrap_err();
    assert!(again.to_string().contains("has it already"), "{again}");
    let path = place.at_bos().await;
    place.all_is_there(&path);
    let found: SessionDetail = place.ann.client.ask(Call::SessionShow { session: old }).await.unwrap();
    assert_eq!(found.session.state.status, SessionStatus::Exited);
    // What Ann's agent says now comes too late.
    let input = TaskReport {
        fence,
        summary: "I was done, too.".into(),
        deliverables: None,
        context_score: None,
        usage: None,
        failed: None,
    };
    let late = place.ann.client.ask::<Report>(Call::TaskReport { task: place.task, input }).await.unwrap_err();
    assert!(late.to_string().contains("kept as late"), "{late}");
    let after = place.detail().await;
    let outcomes: Vec<_> = after.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::TakenOver, AttemptOutcome::Open]);
    assert!(after.attempts[0].reason.as_deref().unwrap().contains("Bo took it over"), "{:?}", after.attempts[0]);
    let [report] = after.reports.as_slice() else { panic!("{:?}", after.reports) };
    assert_eq!((report.verdict, report.summary.as_str()), (ReportVerdict::Late, "I was done, too."));
    assert_eq!(after.task.status, TaskStatus::Running, "and changed nothing");
    place.close().await;
}

#[tokio::test]
async fn a_hub_killed_during_a_transfer_loses_nothing() {
    let mut place = Place::open(100).await;
    wait_until("Ann's agent writes", async || place.noted().filter(|n| *n >= 5)).await;
    place.take_over().await;
    place.restart_hub().await;
    let noted = wait_until("what is written is noted", async || place.noted()).await;
    wait_until("it writes on: the hub was killed before it ended", async || place.noted().filter(|n| *n > noted)).await;
    let path = place.at_bos().await;
    place.all_is_there(&path);
    assert_eq!(place.detail().await.attempts.len(), 2);
    place.close().await;
}

#[tokio::test]
async fn the_next_worker_continues_with_the_written_work() {
    let place = Place::open(20).await;
    wait_until("Ann's agent writes", async || place.noted().filter(|n| *n >= 5)).await;
    let before = place.detail().await.task;
    let agent = ["sh", "-c", AGENT, "agent", "/dev/null", "0"].map(str::to_owned).to_vec();
    let input = WorkerStart { agent: "command".into(), argv: agent, runner: Some(place.bo.id), ..Default::default() };
    let _: Vec<Worker> = place.bo.client.ask(Call::WorkerStart { project: before.project, input }).await.unwrap();
    let stop = Call::WorkerStop { worker: before.assigned_to.unwrap(), input: WorkerStop { force: false } };
    let _: Worker = place.ann.client.ask(stop).await.unwrap();
    let path = place.at_bos().await;
    place.all_is_there(&path);
    assert_eq!(place.detail().await.attempts[0].outcome, AttemptOutcome::Released);
    place.close().await;
}

#[tokio::test]
async fn taking_over_from_an_offline_runner_says_that_it_is_offline() {
    let place = Place::open(0).await;
    wait_until("Ann's agent writes", async || place.noted().filter(|n| *n >= 5)).await;
    let argv = place.argv().await;
    let Place { folder, hub, port, url, ann, bo, task } = place;
    let Person { client, runner, id } = ann;
    runner.kill().await;
    wait_until("Ann's runner is away", async || {
        let runners: Vec<Runner> = bo.client.ask(Call::RunnerList {}).await.ok()?;
        runners.iter().any(|runner| runner.id == id && !runner.connected).then_some(())
    })
    .await;
    let input = TaskTakeOver { runner: Some(bo.id), argv, ..Default::default() };
    let _: Task = bo.client.ask(Call::TaskTakeOver { task, input }).await.unwrap();
    // It comes back, so that its session is stopped as it should have been.
    let secret = std::fs::read_to_string(folder.path().join("anns/runner-token")).unwrap();
    let runner = RunnerProcess::spawn(&folder.path().join("anns"), &url, &secret, "anns");
    let place = Place { folder, hub, port, url, ann: Person { client, runner, id }, bo, task };
    let path = place.at_bos().await;
    assert!(path.join("README.md").exists());
    let reason = place.detail().await.attempts[0].reason.clone().unwrap();
    assert!(reason.contains("away"), "{reason}");
    place.close().await;
}
