//! A real hub with a project.

use std::path::{Path, PathBuf};

use client::Client;
use domain::{ReportVerdict, TaskStatus};
use protocol::{
    AddedTasks, Call, NewRunner, Project, ProjectCreate, Runner, RunnerCreate, TaskDetail, TaskFilter, TaskLine,
    TasksAdd,
};
use serde_json::{Value, json};
use testkit::{HubProcess, RunnerProcess, wait_until};

pub(crate) struct Hub {
    folder: tempfile::TempDir,
    process: HubProcess,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) ann: Client,
    pub(crate) project: Project,
}

impl Hub {
    pub(crate) async fn open() -> Self {
        // Not below /tmp, where Codex refuses to put its helpers.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (process, url) = start(folder.path(), port).await;
        let token = std::fs::read_to_string(folder.path().join("hub/token")).unwrap().trim().to_owned();
        let ann = Client::new(&url, &token).unwrap();
        let input: ProjectCreate = serde_json::from_value(json!({ "content": "Taking part" })).unwrap();
        let project: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
        Self { folder, process, url, token, ann, project }
    }

    /// The same hub after a SIGKILL, at the same address.
    pub(crate) async fn killed_and_started_again(self) -> Self {
        self.process.kill().await;
        let port = self.url.rsplit(':').next().unwrap().parse().unwrap();
        let (process, url) = start(self.folder.path(), port).await;
        Self { folder: self.folder, process, url, token: self.token, ann: self.ann, project: self.project }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) async fn add(&self, tasks: Value) -> Vec<TaskLine> {
        let tasks = serde_json::from_value(tasks).unwrap();
        let call = Call::TaskAdd { project: self.project.id, input: TasksAdd { tasks } };
        self.ann.ask::<AddedTasks>(call).await.unwrap().tasks
    }

    pub(crate) async fn tasks(&self) -> Vec<TaskLine> {
        let filter = TaskFilter { project: Some(self.project.id), limit: Some(1000), ..TaskFilter::default() };
        self.ann.ask(Call::TaskList { filter }).await.unwrap()
    }

    pub(crate) async fn show(&self, line: &TaskLine) -> TaskDetail {
        self.ann.ask(Call::TaskShow { task: line.id }).await.unwrap()
    }

    /// Every task is done, and was accepted exactly once.
    pub(crate) async fn check_done_once(&self) {
        for line in self.tasks().await {
            let detail = self.show(&line).await;
            let accepted = |report: &&protocol::Report| report.verdict == ReportVerdict::Accepted;
            assert_eq!(detail.task.status, TaskStatus::Done, "{detail:?}");
            assert_eq!(detail.reports.iter().filter(accepted).count(), 1, "{detail:?}");
        }
    }

    /// A runner on this machine, with a home of its own and further environment.
    pub(crate) async fn runner(&self, env: &[(&str, String)]) -> RunnerProcess {
        let input = RunnerCreate { name: "here".into() };
        let made: NewRunner = self.ann.ask(Call::RunnerCreate { input }).await.unwrap();
        self.runner_as(&made.secret, env).await
    }

    /// The same runner again.
    pub(crate) async fn runner_again(&self) -> RunnerProcess {
        let secret = std::fs::read_to_string(self.path("runner").join("runner-token")).unwrap();
        self.runner_as(&secret, &[]).await
    }

    async fn runner_as(&self, secret: &str, env: &[(&str, String)]) -> RunnerProcess {
        let mut all = vec![("HOME".to_owned(), self.path("home").display().to_string())];
        all.extend(env.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        let runner = RunnerProcess::spawn_with(&self.path("runner"), &self.url, secret, "here", &all);
        wait_until("the runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            runners[0].connected.then_some(())
        })
        .await;
        runner
    }

    pub(crate) fn log(&self) -> String {
        self.process.log_text()
    }
}

async fn start(folder: &Path, port: u16) -> (HubProcess, String) {
    let data = folder.join("hub");
    let database = format!("sqlite:{}", data.join("shopfloor.db").display());
    let mut process = HubProcess::spawn(&data, &database, port);
    let url = process.ready().await;
    (process, url)
}

/// Where the examples are.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap()
}
