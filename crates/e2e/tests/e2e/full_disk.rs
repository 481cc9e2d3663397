//! The disk of a runner is full for a while: it says so, others take its tasks, and all goes on when there is room.

use std::path::{Path, PathBuf};

use client::Client;
use domain::{AttemptOutcome, RunnerId, SessionId, SessionStatus, TaskId, TaskStatus};
use protocol::{
    AddedTasks, Call, NewRunner, Project, ProjectCreate, Runner, RunnerCreate, Session, SessionDetail, TaskDetail,
    TasksAdd, WorkConfigure, WorkSettings, Worker, WorkerStart,
};
use serde_json::json;
use testkit::disk::{Filler, mount_tiny, run_with_own_mounts};
use testkit::{HubProcess, RunnerProcess, shopfloor, wait_until};

/// Notes which hold it works under, and prints until it may end.
const AGENT: &str =
    r#"echo "$SHOPFLOOR_FENCE" >> "$1"; while [ ! -e "$2" ]; do echo at it; sleep 0.1; done; echo done"#;

struct Place {
    folder: tempfile::TempDir,
    hub: HubProcess,
    url: String,
    token: String,
    ann: Client,
    project: domain::ProjectId,
}

impl Place {
    async fn open(settings: WorkConfigure) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tiny")).unwrap();
        mount_tiny(&folder.path().join("tiny"), 24 << 20);
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let data = folder.path().join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        let mut hub = HubProcess::spawn(&data, &database, port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let input = ProjectCreate { content: "Room".into(), ..Default::default() };
        let made: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
        let call = Call::WorkConfigure { project: made.id, input: settings };
        let _: WorkSettings = ann.ask(call).await.unwrap();
        Self { folder, hub, url, token, ann, project: made.id }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn runner(&self, name: &str, data_dir: &Path) -> (RunnerProcess, RunnerId) {
        let input = RunnerCreate { name: name.into() };
        let made: NewRunner = self.ann.ask(Call::RunnerCreate { input }).await.unwrap();
        let runner = RunnerProcess::spawn(data_dir, &self.url, &made.secret, name);
        self.until_trouble(made.runner.id, None).await;
        (runner, made.runner.id)
    }

    /// Waits until a runner is connected, with this trouble or without any.
    async fn until_trouble(&self, runner: RunnerId, trouble: Option<&str>) {
        wait_until("the runner says whether it can work", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            let found = runners.iter().find(|found| found.id == runner)?;
            (found.connected && found.trouble.as_deref() == trouble).then_some(())
        })
        .await;
    }

    async fn worker(&self, runner: RunnerId) -> domain::WorkerId {
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

    async fn spawn(&self) -> Result<Session, String> {
        let project = self.project.to_string();
        let args = ["session", "spawn", "--project", &project, "--agent", "shell", "--json"];
        let text = shopfloor(&self.url, &self.token, &args).await.map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// Whether an agent has begun with this fence.
    fn worked(&self, fence: &str) -> bool {
        let text = std::fs::read_to_string(self.path("worked")).unwrap_or_default();
        text.lines().any(|line| line == fence)
    }

    async fn until_worked(&self, fence: &str) {
        wait_until("an agent works", async || self.worked(fence).then_some(())).await;
    }

    async fn until_done(&self, task: TaskId) -> TaskDetail {
        std::fs::write(self.path("go"), "").unwrap();
        wait_until("the task is done", async || {
            let detail: TaskDetail = self.ann.ask(Call::TaskShow { task }).await.ok()?;
            (detail.task.status == TaskStatus::Done).then_some(detail)
        })
        .await
    }

    async fn until_session(&self, session: SessionId, is: impl Fn(SessionStatus) -> bool) {
        wait_until("the session is as it should be", async || {
            let found: SessionDetail = self.ann.ask(Call::SessionShow { session }).await.ok()?;
            is(found.session.state.status).then_some(())
        })
        .await;
    }

    /// Whether `doctor` finds all in order, and what it says.
    async fn doctor(&self) -> (bool, String) {
        let mut command = tokio::process::Command::new(testkit::binary());
        command.arg("doctor").env("SHOPFLOOR_HUB", &self.url).env("SHOPFLOOR_TOKEN", &self.token);
        let output = command.env("SHOPFLOOR_DATA_DIR", self.path("doctor")).output().await.unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    async fn close(self, runners: Vec<RunnerProcess>) {
        for runner in runners {
            runner.kill().await;
        }
        self.hub.kill().await;
    }
}

#[test]
fn work_resumes_when_a_full_disk_has_room_again() {
    run_with_own_mounts("full_disk::full_and_freed");
}

#[test]
fn a_runner_on_a_full_disk_loses_its_task_to_another() {
    run_with_own_mounts("full_disk::full_for_long");
}

#[tokio::test]
#[ignore = "run in a mount namespace by a test above"]
async fn full_and_freed() {
    let settings = WorkConfigure { lease_seconds: Some(120), ..Default::default() };
    let place = Place::open(settings).await;
    let tiny = place.path("tiny");
    let (runner, id) = place.runner("tiny", &tiny.join("runner")).await;
    place.worker(id).await;
    let shell = place.spawn().await.unwrap().id;
    place.until_session(shell, |status| matches!(status, SessionStatus::Working | SessionStatus::Idle)).await;
    let task = place.add().await;
    place.until_worked("1").await;
    let mut filler = Filler::fill(&tiny);
    // Both end while nothing can be written.
    std::fs::write(place.path("go"), "").unwrap();
    let stop = ["session", "stop", &shell.to_string()].map(str::to_owned);
    shopfloor(&place.url, &place.token, &stop.each_ref().map(String::as_str)).await.unwrap();
    filler.take_all();
    place.until_trouble(id, Some("its disk is full")).await;
    let refused = place.spawn().await.unwrap_err();
    assert!(refused.contains("`tiny` cannot work now: its disk is full"), "{refused}");
    let health = Client::anonymous(&place.url).unwrap().health().await.unwrap();
    assert_eq!((health.status.as_str(), health.runners_in_trouble), ("degraded", Some(1)));
    let doctor = place.doctor().await;
    assert!(!doctor.0 && doctor.1.contains("cannot work: its disk is full"), "{doctor:?}");
    let listed = shopfloor(&place.url, &place.token, &["runner", "list"]).await.unwrap();
    assert!(listed.contains("cannot work: its disk is full"), "{listed}");
    drop(filler);
    place.until_trouble(id, None).await;
    let doctor = place.doctor().await;
    assert!(doctor.0 && !doctor.1.contains("cannot work"), "{doctor:?}");
    let done = place.until_done(task).await;
    assert_eq!(done.attempts.len(), 1, "{:?}", done.attempts);
    place.until_session(shell, |status| status == SessionStatus::Exited).await;
    let fresh = place.spawn().await.unwrap().id;
    place.until_session(fresh, |status| matches!(status, SessionStatus::Working | SessionStatus::Idle)).await;
    let _ = shopfloor(&place.url, &place.token, &["session", "stop", "--force", &fresh.to_string()]).await;
    place.until_session(fresh, |status| status == SessionStatus::Exited).await;
    assert!(!runner.log_text().contains("transaction depth"), "{}", runner.log_text());
    place.close(vec![runner]).await;
}

#[tokio::test]
#[ignore = "run in a mount namespace by a test above"]
async fn full_for_long() {
    let settings = WorkConfigure { lease_seconds: Some(6), heartbeat_seconds: Some(2), ..Default::default() };
    let place = Place::open(settings).await;
    let tiny = place.path("tiny");
    let (one, id) = place.runner("tiny", &tiny.join("runner")).await;
    let first = place.worker(id).await;
    let task = place.add().await;
    place.until_worked("1").await;
    let (two, other) = place.runner("roomy", &place.path("roomy")).await;
    let second = place.worker(other).await;
    let mut filler = Filler::fill(&tiny);
    place.until_trouble(id, Some("its disk is full")).await;
    wait_until("the other worker has the task", || {
        // What the runner itself frees, such as a finished log, would let it go on.
        filler.take_all();
        std::future::ready(place.worked("2").then_some(()))
    })
    .await;
    let detail: TaskDetail = place.ann.ask(Call::TaskShow { task }).await.unwrap();
    let outcomes: Vec<_> = detail.attempts.iter().map(|attempt| (attempt.worker, attempt.outcome)).collect();
    assert_eq!(outcomes, [(first, AttemptOutcome::Lost), (second, AttemptOutcome::Open)]);
    drop(filler);
    place.until_trouble(id, None).await;
    let done = place.until_done(task).await;
    let accepted = done.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).count();
    assert_eq!(accepted, 1, "{:?}", done.attempts);
    wait_until("no session is left", async || {
        let sessions: Vec<Session> = place.ann.ask(Call::SessionList { filter: Default::default() }).await.ok()?;
        sessions.iter().all(|session| session.state.ended()).then_some(())
    })
    .await;
    place.close(vec![one, two]).await;
}
