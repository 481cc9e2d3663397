//! Workers that fall silent: their runner is stopped, or the host of their session. Others go on, nothing is done twice.

use std::path::{Path, PathBuf};

use client::Client;
use domain::{AttemptOutcome, RunnerId, TaskId, TaskStatus, WorkerId, WorkerStatus};
use protocol::{
    AddedTasks, Call, NewRunner, Project, ProjectCreate, Runner, RunnerCreate, TaskDetail, TasksAdd, WorkConfigure,
    WorkEntry, WorkLogPage, WorkSettings, Worker, WorkerDetail, WorkerStart,
};
use serde_json::json;
use testkit::{HubProcess, RunnerProcess, wait_until};

/// Notes its process and which hold it works under, and works until it may end.
const AGENT: &str = r#"echo "$SHOPFLOOR_FENCE $$" >> "$1"; while [ ! -e "$2" ]; do sleep 0.05; done; echo done"#;

struct Place {
    folder: tempfile::TempDir,
    hub: HubProcess,
    url: String,
    ann: Client,
    project: domain::ProjectId,
}

impl Place {
    async fn open(settings: WorkConfigure) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = folder.path().join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        let mut hub = HubProcess::spawn(&data, &database, port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let input = ProjectCreate { content: "Silence".into(), ..Default::default() };
        let made: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
        let call = Call::WorkConfigure { project: made.id, input: settings };
        let _: WorkSettings = ann.ask(call).await.unwrap();
        Self { folder, hub, url, ann, project: made.id }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn runner(&self, name: &str) -> (RunnerProcess, RunnerId) {
        let input = RunnerCreate { name: name.into() };
        let made: NewRunner = self.ann.ask(Call::RunnerCreate { input }).await.unwrap();
        let runner = RunnerProcess::spawn(&self.path(name), &self.url, &made.secret, name);
        wait_until("the runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            runners.iter().any(|runner| runner.id == made.runner.id && runner.connected).then_some(())
        })
        .await;
        (runner, made.runner.id)
    }

    async fn worker(&self, runner: RunnerId) -> WorkerId {
        let path = |name: &str| self.path(name).display().to_string();
        let argv = ["sh", "-c", AGENT, "agent", &path("worked"), &path("go")].map(str::to_owned).to_vec();
        let input = WorkerStart { agent: "command".into(), argv, runner: Some(runner), ..Default::default() };
        let made: Vec<Worker> = self.ann.ask(Call::WorkerStart { project: self.project, input }).await.unwrap();
        made[0].id
    }

    async fn add(&self) -> TaskId {
        let tasks = serde_json::from_value(json!([{ "description": "Wait for the word" }])).unwrap();
        let call = Call::TaskAdd { project: self.project, input: TasksAdd { tasks } };
        let added: AddedTasks = self.ann.ask(call).await.unwrap();
        added.tasks[0].id
    }

    async fn detail(&self, task: TaskId) -> TaskDetail {
        self.ann.ask(Call::TaskShow { task }).await.unwrap()
    }

    async fn is(&self, worker: WorkerId) -> Worker {
        self.ann.ask::<WorkerDetail>(Call::WorkerShow { worker }).await.unwrap().worker
    }

    async fn decided(&self, what: &str) -> bool {
        let call = Call::WorkLog { project: self.project, page: WorkLogPage::default() };
        self.ann.ask::<Vec<WorkEntry>>(call).await.unwrap().iter().any(|entry| entry.what.word() == what)
    }

    /// The processes of the agents that began, by the hold that each began under.
    async fn agent(&self, fence: u64) -> u32 {
        wait_until("an agent works", async || {
            let text = std::fs::read_to_string(self.path("worked")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{fence} ")))?;
            line.parse().ok()
        })
        .await
    }

    /// The same worker lost a task and has it again.
    async fn was_restarted(&self, task: TaskId, worker: WorkerId) {
        let attempts = self.detail(task).await.attempts;
        let outcomes: Vec<_> = attempts.iter().map(|attempt| (attempt.worker, attempt.outcome)).collect();
        assert_eq!(outcomes, [(worker, AttemptOutcome::Lost), (worker, AttemptOutcome::Open)]);
        assert!(self.decided("lease_lost").await && self.decided("restarted").await);
    }

    /// Lets all agents end, and waits until the task is done: once, under this hold.
    async fn finish(self, task: TaskId, fence: u64, runners: Vec<RunnerProcess>) {
        std::fs::write(self.path("go"), "").unwrap();
        let done = wait_until("the task is done", async || {
            Some(self.detail(task).await).filter(|detail| detail.task.status == TaskStatus::Done)
        })
        .await;
        let accepted: Vec<_> =
            done.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).collect();
        assert!(accepted.len() == 1 && accepted[0].fence == fence, "{:?}", done.attempts);
        for runner in runners {
            runner.kill().await;
        }
        self.hub.kill().await;
    }
}

fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rfind(')').is_some_and(|end| !stat[end + 1..].trim_start().starts_with(['Z', 'X']))
}

fn signal(pid: u32, name: &str) {
    let done = std::process::Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(done.success(), "kill -s {name} {pid}");
}

fn host(runner: &Path, session: domain::SessionId) -> u32 {
    let path = runner.join("sessions").join(session.to_string()).join("host.pid");
    std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn another_runner_takes_a_stopped_runners_task_without_a_failure() {
    let settings = WorkConfigure { lease_seconds: Some(6), heartbeat_seconds: Some(2), ..Default::default() };
    let place = Place::open(settings).await;
    let (one, id) = place.runner("one").await;
    let first = place.worker(id).await;
    let task = place.add().await;
    place.agent(1).await;
    let (two, id) = place.runner("two").await;
    let second = place.worker(id).await;
    signal(one.pid().unwrap(), "STOP");
    place.agent(2).await;
    let detail = place.detail(task).await;
    let outcomes: Vec<_> = detail.attempts.iter().map(|attempt| (attempt.worker, attempt.outcome)).collect();
    assert_eq!(outcomes, [(first, AttemptOutcome::Lost), (second, AttemptOutcome::Open)]);
    let silent = place.is(first).await;
    assert_eq!((silent.status, silent.failures), (WorkerStatus::Lost, 0), "{:?}", silent.reason);
    assert!(!place.decided("restarted").await, "its runner is not there");
    signal(one.pid().unwrap(), "CONT");
    wait_until("the first worker is back, and what it was at is over", async || {
        let old = detail.attempts[0].sessions[0];
        let found: protocol::SessionDetail = place.ann.ask(Call::SessionShow { session: old }).await.ok()?;
        (found.session.state.ended() && place.is(first).await.status == WorkerStatus::Idle).then_some(())
    })
    .await;
    place.finish(task, 2, vec![one, two]).await;
}

#[tokio::test]
async fn a_worker_whose_host_hangs_is_restarted() {
    let settings = WorkConfigure { lease_seconds: Some(60), heartbeat_seconds: Some(1), ..Default::default() };
    let place = Place::open(settings).await;
    let (one, id) = place.runner("one").await;
    let worker = place.worker(id).await;
    let task = place.add().await;
    let agent = place.agent(1).await;
    let session = place.detail(task).await.task.session.unwrap();
    let host = host(&place.path("one"), session);
    signal(host, "STOP");
    signal(agent, "STOP");
    place.agent(2).await;
    assert!(!lives(host) && !lives(agent), "nothing of it is left");
    place.was_restarted(task, worker).await;
    place.finish(task, 2, vec![one]).await;
}

#[tokio::test]
async fn a_worker_with_a_stopped_agent_loses_its_task_and_restarts() {
    let settings = WorkConfigure { lease_seconds: Some(60), heartbeat_seconds: Some(1), ..Default::default() };
    let place = Place::open(settings).await;
    let (one, id) = place.runner("one").await;
    let worker = place.worker(id).await;
    let task = place.add().await;
    let agent = place.agent(1).await;
    signal(agent, "STOP");
    place.agent(2).await;
    assert!(!lives(agent), "nothing of it is left");
    place.was_restarted(task, worker).await;
    place.finish(task, 2, vec![one]).await;
}

#[tokio::test]
async fn a_killed_session_host_loses_its_session_and_the_task_is_retried() {
    let place = Place::open(WorkConfigure::default()).await;
    let (one, id) = place.runner("one").await;
    let worker = place.worker(id).await;
    let task = place.add().await;
    place.agent(1).await;
    let session = place.detail(task).await.task.session.unwrap();
    signal(host(&place.path("one"), session), "KILL");
    place.agent(2).await;
    assert_eq!(place.detail(task).await.attempts[0].outcome, AttemptOutcome::Lost);
    assert_eq!(place.is(worker).await.failures, 0);
    place.finish(task, 2, vec![one]).await;
}

#[tokio::test]
async fn a_silent_hub_ends_the_running_task_which_is_taken_again() {
    let settings = WorkConfigure { lease_seconds: Some(6), heartbeat_seconds: Some(2), ..Default::default() };
    let place = Place::open(settings).await;
    let (one, id) = place.runner("one").await;
    let worker = place.worker(id).await;
    let task = place.add().await;
    let agent = place.agent(1).await;
    signal(place.hub.pid().unwrap(), "STOP");
    wait_until("the agent is gone", async || (!lives(agent)).then_some(())).await;
    signal(place.hub.pid().unwrap(), "CONT");
    place.agent(2).await;
    let detail = place.detail(task).await;
    let outcomes: Vec<_> = detail.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Lost, AttemptOutcome::Open]);
    assert_eq!(place.is(worker).await.failures, 0);
    place.finish(task, 2, vec![one]).await;
}
