//! Hubs on one database, runners behind proxies, workers on them, and what may befall them.

use std::path::PathBuf;
use std::time::Duration;

use client::Client;
use domain::{ProjectId, WorkerId};
use protocol::{
    AddedTasks, Call, NewRunner, Project, ProjectCreate, Repository, Runner, RunnerCreate, TaskAdd, TaskFilter,
    TaskLine, TasksAdd, WorkConfigure, WorkEntry, WorkLogPage, WorkSettings, Worker, WorkerFilter, WorkerStart,
    WorkerStop,
};
use rand::Rng;
use rand::rngs::StdRng;
use rustix::process::Signal;
use testkit::{HubProcess, RunnerProcess, wait_until};

use crate::link::{Fault, Link};
use crate::processes;
use crate::support::free_port;
use crate::tasks::AGENT;

pub(crate) const RUNNERS: usize = 3;
/// When nothing moves for so long, nothing will.
const STILL: Duration = Duration::from_secs(50);

struct OneHub {
    data: PathBuf,
    database: String,
    port: u16,
    allowed: Vec<String>,
    process: Option<HubProcess>,
}

impl OneHub {
    async fn start(&mut self) -> String {
        let mut hub = HubProcess::spawn_with(&self.data, &self.database, self.port, &self.allowed);
        let url = hub.ready().await;
        self.process = Some(hub);
        url
    }
}

struct Place {
    link: Link,
    data: PathBuf,
    token: String,
    name: String,
    process: Option<RunnerProcess>,
}

impl Place {
    fn start(&mut self) {
        self.process = Some(RunnerProcess::spawn(&self.data, &self.link.url(), &self.token, &self.name));
    }
}

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    hubs: Vec<OneHub>,
    ann: Client,
    project: ProjectId,
    places: Vec<Place>,
}

impl Fixture {
    /// Opens a system with one hub for each database; its agents take this many seconds, or a random time.
    pub(crate) async fn open(random: &mut StdRng, databases: &[String], workers: usize, pace: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ports: Vec<u16> = databases.iter().map(|_| free_port(random)).collect();
        let mut links = Vec::new();
        for number in 0..RUNNERS {
            links.push(Link::start(ports[number % ports.len()]).await);
        }
        let allowed: Vec<String> =
            links.iter().flat_map(|link| ["--allow-host".to_owned(), format!("127.0.0.1:{}", link.port)]).collect();
        let mut hubs = Vec::new();
        let mut url = String::new();
        for (number, (database, port)) in databases.iter().zip(ports).enumerate() {
            let data = folder.path().join(format!("hub{number}"));
            let mut hub = OneHub { data, database: database.clone(), port, allowed: allowed.clone(), process: None };
            let at = hub.start().await;
            if number == 0 {
                url = at;
            }
            hubs.push(hub);
        }
        let token = std::fs::read_to_string(hubs[0].data.join("token")).unwrap();
        let ann = Client::new(&url, token.trim()).unwrap();
        let project = project(&ann, &folder).await;
        let mut fixture = Self { folder, hubs, ann, project, places: Vec::new() };
        for (number, link) in links.into_iter().enumerate() {
            fixture.add_runner(number, link).await;
        }
        fixture.start_workers(workers, pace).await;
        fixture
    }

    async fn add_runner(&mut self, number: usize, link: Link) {
        let name = format!("r{number}");
        let made: NewRunner =
            self.ann.ask(Call::RunnerCreate { input: RunnerCreate { name: name.clone() } }).await.unwrap();
        let data = self.folder.path().join(&name);
        let mut place = Place { link, data, token: made.secret, name, process: None };
        place.start();
        self.places.push(place);
    }

    async fn start_workers(&self, workers: usize, pace: Option<&str>) {
        self.all_connected().await;
        // Short leases: what is lost is noticed soon.
        let input = WorkConfigure {
            lease_seconds: Some(5),
            heartbeat_seconds: Some(1),
            missed: Some(4),
            tries_per_worker: Some(5),
            workers_per_task: Some(20),
            breaker_failures: Some(20),
            breaker_seconds: Some(1),
            ..Default::default()
        };
        let _: WorkSettings = self.ann.ask(Call::WorkConfigure { project: self.project, input }).await.unwrap();
        let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.unwrap();
        let worked = self.worked_file().display().to_string();
        for number in 0..workers {
            let argv = ["sh", "-c", AGENT, "scripted-agent", &worked].into_iter().chain(pace);
            let input = WorkerStart {
                agent: "command".into(),
                argv: argv.map(str::to_owned).collect(),
                runner: Some(runners[number % RUNNERS].id),
                ..Default::default()
            };
            let _: Vec<Worker> = self.ann.ask(Call::WorkerStart { project: self.project, input }).await.unwrap();
        }
    }

    pub(crate) fn client(&self) -> Client {
        self.ann.clone()
    }

    pub(crate) fn project(&self) -> ProjectId {
        self.project
    }

    pub(crate) async fn add(&self, tasks: Vec<TaskAdd>) {
        let count = tasks.len();
        let call = Call::TaskAdd { project: self.project, input: TasksAdd { tasks } };
        let added: AddedTasks = self.ann.ask(call).await.unwrap();
        assert_eq!(added.tasks.len(), count);
    }

    pub(crate) async fn tasks(&self) -> Vec<TaskLine> {
        let filter = TaskFilter { project: Some(self.project), limit: Some(1000), ..Default::default() };
        self.ann.ask(Call::TaskList { filter }).await.unwrap_or_default()
    }

    /// Where the agents note what they begin.
    fn worked_file(&self) -> PathBuf {
        self.folder.path().join("worked")
    }

    /// Which task was begun under which fence, as the agents noted it.
    pub(crate) fn worked(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.worked_file()).unwrap();
        let pair = |line: &str| {
            let mut words = line.split_whitespace().map(str::to_owned);
            Some((words.next()?, words.next()?))
        };
        text.lines().filter_map(pair).collect()
    }

    pub(crate) async fn kill_hub(&mut self, random: &mut StdRng) -> String {
        let which = random.random_range(0..self.hubs.len());
        let hub = &mut self.hubs[which];
        hub.process.take().unwrap().kill().await;
        hub.start().await;
        format!("killed hub {which}")
    }

    pub(crate) async fn kill_runner(&mut self, which: usize) -> String {
        self.places[which].process.take().unwrap().kill().await;
        self.places[which].start();
        format!("killed runner {which}")
    }

    pub(crate) async fn pause_runner(&mut self, which: usize, pause: Duration) -> String {
        let pid = self.places[which].process.as_ref().unwrap().pid().unwrap();
        processes::pause(pid, pause).await;
        format!("stopped runner {which} for {pause:?}")
    }

    pub(crate) fn kill_an_agent(&self, random: &mut StdRng) -> String {
        let agents = processes::agents(self.folder.path());
        if agents.is_empty() {
            return "no agent to kill".to_owned();
        }
        let pid = agents[random.random_range(0..agents.len())];
        processes::signal(pid, Signal::KILL);
        format!("killed agent {pid}")
    }

    pub(crate) async fn pause_an_agent(&self, random: &mut StdRng, pause: Duration) -> String {
        let agents = processes::agents(self.folder.path());
        if agents.is_empty() {
            return "no agent to stop".to_owned();
        }
        let pid = agents[random.random_range(0..agents.len())];
        processes::pause(pid, pause).await;
        format!("stopped agent {pid} for {pause:?}")
    }

    pub(crate) async fn disturb(&mut self, which: usize, fault: Fault, pause: Duration) -> String {
        self.places[which].link.set(fault);
        tokio::time::sleep(pause).await;
        self.places[which].link.set(Fault::None);
        format!("{fault:?} on the link of runner {which} for {pause:?}")
    }

    /// Stops one worker as a person would, and starts it again.
    pub(crate) async fn stop_a_worker(&self, random: &mut StdRng, pause: Duration) -> String {
        let filter = WorkerFilter { project: Some(self.project) };
        let workers: Vec<Worker> = self.ann.ask(Call::WorkerList { filter }).await.unwrap_or_default();
        if workers.is_empty() {
            return "no worker to stop".to_owned();
        }
        let worker = workers[random.random_range(0..workers.len())].id;
        let force = random.random();
        // A hub that was killed a moment ago may not answer yet: then nothing was stopped.
        let stopped = self.ann.ask::<Worker>(Call::WorkerStop { worker, input: WorkerStop { force } }).await;
        tokio::time::sleep(pause).await;
        self.restart(worker).await;
        format!("stopped worker {worker} (force: {force}, answered: {}) for {pause:?}", stopped.is_ok())
    }

    async fn restart(&self, worker: WorkerId) {
        wait_until("the worker is started again", async || {
            self.ann.ask::<Worker>(Call::WorkerRestart { worker }).await.ok().map(drop)
        })
        .await;
    }

    async fn all_connected(&self) {
        wait_until("every runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            (runners.len() == RUNNERS && runners.iter().all(|runner| runner.connected)).then_some(())
        })
        .await;
    }

    /// Waits until every task is over; as long as anything moves there is time.
    pub(crate) async fn settle(&self) {
        self.all_connected().await;
        let mut left = usize::MAX;
        while left > 0 {
            let one_more = wait_until("one more task is over", async || {
                let tasks = self.tasks().await;
                let open = tasks.iter().filter(|task| !task.status.is_over()).count();
                (!tasks.is_empty() && (open == 0 || open < left)).then_some(open)
            });
            left = tokio::select! {
                left = one_more => left,
                () = tokio::time::sleep(STILL) => panic!("nothing moves any more:\n{}", self.standing().await),
            };
        }
    }

    /// The state of everything, for debugging.
    async fn standing(&self) -> String {
        let filter = WorkerFilter { project: Some(self.project) };
        let workers: Vec<Worker> = self.ann.ask(Call::WorkerList { filter }).await.unwrap_or_default();
        let page = WorkLogPage { limit: Some(40), ..Default::default() };
        let log: Vec<WorkEntry> = self.ann.ask(Call::WorkLog { project: self.project, page }).await.unwrap_or_default();
        let mut text = String::new();
        for task in self.tasks().await.iter().filter(|task| !task.status.is_over()) {
            text += &format!("{} {} {:?} {:?}\n", task.title, task.status, task.reason, task.session);
        }
        for worker in &workers {
            text += &format!("{} {} {:?} {:?}\n", worker.name, worker.status, worker.reason, worker.task);
        }
        for entry in log.iter().rev() {
            text += &format!("{} {}: {}\n", entry.at, entry.what, entry.reason);
        }
        let tail = |text: String| text.lines().rev().take(30).map(str::to_owned).collect::<Vec<_>>().join("\n");
        for place in self.places.iter().filter_map(|place| place.process.as_ref()) {
            text += &format!("runner, newest first:\n{}\n", tail(place.log_text()));
        }
        for hub in self.hubs.iter().filter_map(|hub| hub.process.as_ref()) {
            text += &format!("hub, newest first:\n{}\n", tail(hub.log_text()));
        }
        text
    }

    pub(crate) async fn close(mut self) {
        for pid in processes::agents(self.folder.path()) {
            processes::signal(pid, Signal::KILL);
        }
        for place in &mut self.places {
            place.process.take().unwrap().kill().await;
        }
        for hub in &mut self.hubs {
            hub.process.take().unwrap().kill().await;
        }
    }
}

/// A project with a repository on this machine.
async fn project(ann: &Client, folder: &tempfile::TempDir) -> ProjectId {
    let place = folder.path().join("repository");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("README.md"), "# A repository\n").unwrap();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "-A"],
        &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "base"],
    ] {
        let done = std::process::Command::new("git").args(args).current_dir(&place).status().unwrap();
        assert!(done.success(), "git {args:?}");
    }
    let repository = Repository { location: place.display().to_string(), ..Default::default() };
    let input = ProjectCreate { content: "chaos".into(), repositories: vec![repository], ..Default::default() };
    let made: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
    made.id
}
