//! The hub, two runners, the repository and the queue, and what may befall them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use client::{Client, ClientError, View};
use domain::{CandidateId, MergeMethod, ProjectId};
use protocol::{
    Call, Candidate, CandidateDetail, MergeAdd, MergeCommand, MergeConfigure, MergeGateChange, MergeQueue,
    MergeSettings, NewRunner, ProblemKind, Project, ProjectCreate, Runner, RunnerCreate,
};
use rand::Rng;
use rand::rngs::StdRng;
use testkit::{HubProcess, RunnerProcess, wait_until};

use crate::branches::{self, Branch, Fate};
use crate::repository::Repository;
use crate::support::free_port;

pub(crate) const RUNNERS: usize = 2;
/// When no branch leaves the queue for so long, none will.
const STILL: Duration = Duration::from_secs(90);
/// How long a check is waited for: there may be nothing to test.
const QUIET: Duration = Duration::from_millis(1500);

struct Place {
    data: PathBuf,
    url: String,
    token: String,
    name: String,
    process: Option<RunnerProcess>,
}

impl Place {
    fn start(&mut self) {
        self.process = Some(RunnerProcess::spawn(&self.data, &self.url, &self.token, &self.name));
    }
}

/// How the queue merges.
pub(crate) struct Rules {
    pub(crate) method: MergeMethod,
    pub(crate) at_once: u32,
    /// The duration of the check.
    pub(crate) seconds: &'static str,
}

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    hub: Option<HubProcess>,
    port: u16,
    ann: Client,
    project: ProjectId,
    places: Vec<Place>,
    pub(crate) repository: Repository,
    pub(crate) added: Vec<(Branch, CandidateId)>,
}

impl Fixture {
    pub(crate) async fn open(random: &mut StdRng, rules: Rules) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port(random);
        let (mut hub, data) = spawn_hub(&folder, port);
        let url = hub.ready().await;
        let token = std::fs::read_to_string(data.join("token")).unwrap();
        let ann = Client::new(&url, token.trim()).unwrap();
        let repository = Repository::make(folder.path());
        let project = project(&ann, &repository, &rules).await;
        let mut places = Vec::new();
        for number in 0..RUNNERS {
            let name = format!("r{number}");
            let input = RunnerCreate { name: name.clone() };
            let made: NewRunner = ann.ask(Call::RunnerCreate { input }).await.unwrap();
            let data = folder.path().join(&name);
            let mut place = Place { data, url: url.clone(), token: made.secret, name, process: None };
            place.start();
            places.push(place);
        }
        wait_until("every runner is connected", async || {
            let runners: Vec<Runner> = ann.ask(Call::RunnerList {}).await.ok()?;
            (runners.len() == RUNNERS && runners.iter().all(|runner| runner.connected)).then_some(())
        })
        .await;
        Self { folder, hub: Some(hub), port, ann, project, places, repository, added: Vec::new() }
    }

    /// Makes the next branches and adds them to the queue; before that, an earlier one is deleted or pushed to.
    pub(crate) async fn add(&mut self, random: &mut StdRng) {
        if let Some((branch, _)) = self.added.last() {
            match branch.fate {
                Fate::Deleted => self.repository.delete(branch),
                Fate::Moved => self.repository.push_more(branch),
                _ => {}
            }
        }
        self.add_all(branches::next(random, self.added.len())).await;
    }

    /// Makes branches and adds them to the queue in this order.
    pub(crate) async fn add_all(&mut self, branches: Vec<Branch>) {
        let (lower, upper): (Vec<&Branch>, Vec<&Branch>) = branches.iter().partition(|branch| branch.on.is_none());
        for branch in lower.into_iter().chain(upper) {
            self.repository.publish(branch);
        }
        for branch in branches {
            let input = MergeAdd { branch: branch.name.clone(), ..Default::default() };
            let call = Call::MergeAdd { project: self.project, input };
            let candidate: Candidate = insist(&self.ann, call, &branch.name).await;
            self.added.push((branch, candidate.id));
        }
    }

    pub(crate) fn push_to_target(&mut self) {
        self.repository.push_to_target();
    }

    /// Waits for the next verdict of a check, for a while.
    pub(crate) async fn until_tested(&self) {
        let (before, since) = (self.repository.verdicts(), Instant::now());
        while self.repository.verdicts() == before && since.elapsed() < QUIET {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Kills the hub, and sometimes once more while it starts.
    pub(crate) async fn kill_hub(&mut self, random: &mut StdRng) -> String {
        self.hub.take().unwrap().kill().await;
        if random.random_ratio(1, 8) {
            let (hub, _) = spawn_hub(&self.folder, self.port);
            tokio::time::sleep(Duration::from_micros(random.random_range(0..80_000))).await;
            hub.kill().await;
        }
        self.start_hub().await;
        "killed the hub".to_owned()
    }

    async fn start_hub(&mut self) {
        let (mut hub, _) = spawn_hub(&self.folder, self.port);
        hub.ready().await;
        self.hub = Some(hub);
    }

    pub(crate) async fn kill_runner(&mut self, which: usize, pause: Duration) -> String {
        self.places[which].process.take().unwrap().kill().await;
        tokio::time::sleep(pause).await;
        self.places[which].start();
        format!("killed runner {which}, down for {pause:?}")
    }

    pub(crate) async fn kill_both(&mut self, which: usize, pause: Duration) -> String {
        self.hub.take().unwrap().kill().await;
        self.places[which].process.take().unwrap().kill().await;
        tokio::time::sleep(pause).await;
        self.places[which].start();
        self.start_hub().await;
        format!("killed the hub and runner {which}, down for {pause:?}")
    }

    /// Pauses the queue.
    pub(crate) async fn pause(&self) {
        let (project, input) = (self.project, MergeGateChange::default());
        let _: MergeQueue = self.ann.ask(Call::MergePause { project, input }).await.unwrap();
    }

    /// Lets the queue move.
    pub(crate) async fn thaw(&self) {
        let (project, input) = (self.project, MergeGateChange::default());
        let _: MergeQueue = self.ann.ask(Call::MergeThaw { project, input }).await.unwrap();
    }

    /// Waits until every branch has left the queue.
    pub(crate) async fn settle(&self) {
        let (mut left, mut since) = (usize::MAX, Instant::now());
        let mut said = None;
        while left > 0 {
            let queue = self.queue().await;
            let reason = queue.as_ref().and_then(|queue| queue.reason.clone());
            if reason != said {
                eprintln!("the queue says: {}", reason.as_deref().unwrap_or("nothing"));
                said = reason;
            }
            let now = queue.as_ref().map_or(left, |queue| queue.candidates.len());
            if now < left {
                (left, since) = (now, Instant::now());
            }
            assert!(since.elapsed() < STILL, "nothing moves any more: {queue:#?}\n{}", self.logs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// How many branches are in the queue.
    pub(crate) async fn waiting(&self) -> usize {
        self.queue().await.map_or(0, |queue| queue.candidates.len())
    }

    /// The queue; `None` if the hub did not answer.
    async fn queue(&self) -> Option<MergeQueue> {
        let found: Result<Vec<MergeQueue>, _> = self.ann.ask(Call::MergeList { project: self.project }).await;
        found.ok()?.into_iter().next()
    }

    pub(crate) async fn shown(&self, candidate: CandidateId) -> CandidateDetail {
        self.ann.ask(Call::MergeShow { candidate }).await.unwrap()
    }

    /// What hub and runners said last, newest first.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, log: String| {
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            text += &format!("{name}, newest first:\n{}\n", tail.join("\n"));
        };
        for place in &self.places {
            add(&place.name, place.process.as_ref().map(RunnerProcess::log_text).unwrap_or_default());
        }
        add("hub", self.hub.as_ref().map(HubProcess::log_text).unwrap_or_default());
        text
    }

    pub(crate) async fn close(mut self) {
        for place in &mut self.places {
            place.process.take().unwrap().kill().await;
        }
        self.hub.take().unwrap().kill().await;
    }
}

fn spawn_hub(folder: &tempfile::TempDir, port: u16) -> (HubProcess, PathBuf) {
    let data = folder.path().join("hub");
    let database = format!("sqlite:{}", data.join("shopfloor.db").display());
    (HubProcess::spawn(&data, &database, port), data)
}

/// A project whose queue tests with the repository's check.
async fn project(ann: &Client, repository: &Repository, rules: &Rules) -> ProjectId {
    let location = repository.place.display().to_string();
    let repositories = vec![protocol::Repository { location, ..Default::default() }];
    let input = ProjectCreate { content: "chaos".into(), repositories, ..Default::default() };
    let made: Project = ann.ask(Call::ProjectCreate { input }).await.unwrap();
    let checks = vec![MergeCommand { argv: repository.check(rules.seconds), seconds: 60 }];
    let (method, at_once) = (Some(rules.method), Some(rules.at_once));
    let input = MergeConfigure { checks: Some(checks), method, at_once, ..Default::default() };
    let _: MergeSettings = ann.ask(Call::MergeConfigure { project: made.id, input }).await.unwrap();
    made.id
}

/// Asks with the same key until there is an answer.
async fn insist<T: View>(client: &Client, call: Call, key: &str) -> T {
    loop {
        match client.call_with_key(call.clone(), Some(key)).await {
            Ok(answer) => return T::from_answer(answer).unwrap(),
            Err(ClientError::Unreachable { .. }) => {}
            Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::Unavailable => {}
            Err(other) => panic!("{key}: {other:?}"),
        }
    }
}
