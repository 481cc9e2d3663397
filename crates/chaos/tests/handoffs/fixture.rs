//! A hub, two runners, a chain of sessions that hand off, and what may befall them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use client::{Client, ClientError, View};
use domain::{HandoffId, HandoffStatus, ProjectId, RunnerId, SessionId};
use protocol::{
    Call, Handoff, HandoffBegin, HandoffDetail, NewRunner, Project, ProjectCreate, Repository, Runner, RunnerCreate,
    Session, SessionDetail, SessionSpawn,
};
use rand::Rng;
use rand::rngs::StdRng;
use rustix::process::Signal;
use testkit::wait_until;

use crate::agent::{home, out};
use crate::place::{OneHub, OneRunner};
use crate::processes::{hosts, signal};
use crate::support::free_port;

const RUNNERS: usize = 2;
/// When nothing moves for so long, nothing will.
const STILL: Duration = Duration::from_secs(75);
/// How long an agent may write its document, in seconds: a hub that was killed may never have asked.
const WAIT: u32 = 4;
/// How long a process may take to reach the place where it dies.
const DEATH: Duration = Duration::from_secs(5);

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    hub: OneHub,
    runners: Vec<(OneRunner, RunnerId)>,
    ann: Client,
    pub(crate) project: ProjectId,
    /// Every session of the chain.
    pub(crate) chain: Vec<SessionId>,
    begun: u32,
    /// How often a process was killed or died at its place.
    pub(crate) kills: u32,
    /// The reasons of failed steps, which a person retried.
    failures: Vec<String>,
}

impl Fixture {
    pub(crate) async fn open(random: &mut StdRng) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let data = folder.path().join("hub");
        let database = format!("sqlite:{}", data.join("shopfloor.db").display());
        let mut hub = OneHub::new(data, database, free_port(random));
        let url = hub.start(None, &mut BTreeSet::new()).await;
        let token = std::fs::read_to_string(hub.data.join("token")).unwrap();
        let ann = Client::new(&url, token.trim()).unwrap();
        let project = project(&ann, folder.path()).await;
        let env = vec![("HOME".to_owned(), home(folder.path()).display().to_string())];
        let mut runners = Vec::new();
        for number in 0..RUNNERS {
            let name = format!("r{number}");
            let input = RunnerCreate { name: name.clone() };
            let made: NewRunner = ann.ask(Call::RunnerCreate { input }).await.unwrap();
            let (data, url, env) = (folder.path().join(&name), url.clone(), env.clone());
            let mut runner = OneRunner { data, url, token: made.secret, name, process: None, armed: None, env };
            runner.start(None);
            runners.push((runner, made.runner.id));
        }
        let mut fixture =
            Self { folder, hub, runners, ann, project, chain: Vec::new(), begun: 0, kills: 0, failures: Vec::new() };
        fixture.connected().await;
        let input = SessionSpawn {
            project: Some(project),
            agent: "scripted".into(),
            prompt: Some("Write the files".into()),
            runner: Some(fixture.runners[0].1),
            ..Default::default()
        };
        let first: Session = fixture.ann.ask(Call::SessionSpawn { input }).await.unwrap();
        fixture.chain.push(first.id);
        fixture.ready(first.id).await;
        fixture
    }

    /// Waits until both runners are connected and know the agent.
    async fn connected(&self) {
        wait_until("every runner is connected", async || {
            let runners: Vec<Runner> = self.ann.ask(Call::RunnerList {}).await.ok()?;
            let there = |runner: &Runner| {
                let about = runner.about.as_ref();
                runner.connected && about.is_some_and(|about| about.agents.iter().any(|one| one.name == "scripted"))
            };
            (runners.len() == RUNNERS && runners.iter().all(there)).then_some(())
        })
        .await;
    }

    /// Waits until a session has written its work.
    async fn ready(&self, session: SessionId) {
        let sums = self.out().join(format!("{session}.sums"));
        wait_until("the session has written its work", async || sums.exists().then_some(())).await;
    }

    /// Hands the last session off, to its own runner or the other one, pushed or kept; a process dies at this place.
    pub(crate) async fn begin(
        &mut self,
        random: &mut StdRng,
        place: &str,
        reached: &mut BTreeSet<String>,
    ) -> HandoffId {
        let session = *self.chain.last().unwrap();
        let at = self.session(session).await.session.runner;
        let from = self.runners.iter().position(|(_, runner)| *runner == at).unwrap();
        let other = ["runner.packed", "runner.unpacked"].contains(&place) || random.random_ratio(1, 2);
        let to = if other { (from + 1) % RUNNERS } else { from };
        let dies = match place {
            "runner.unpacked" => Some(to),
            place if failpoint::HANDOFF_RUNNER.contains(&place) => Some(from),
            _ => None,
        };
        let passage = if place.starts_with("courier.") { random.random_range(1..=4) } else { 1 };
        self.arm(dies, format!("{place}:{passage}")).await;
        let input = HandoffBegin {
            goal: Some("Finish it".into()),
            push: place == "runner.published" || random.random_ratio(1, 3),
            wait_seconds: Some(WAIT),
            runner: other.then(|| self.runners[to].1),
            ..Default::default()
        };
        self.begun += 1;
        let (call, key) = (Call::HandoffBegin { session, input }, format!("begin-{}", self.begun));
        let mut died = false;
        let made: Handoff = loop {
            match self.ann.call_with_key(call.clone(), Some(&key)).await {
                Ok(answer) => break Handoff::from_answer(answer).unwrap(),
                // It died before it answered.
                Err(ClientError::Unreachable { .. }) => {
                    died = true;
                    self.end_hub(random, Duration::ZERO, reached).await;
                }
                Err(other) => panic!("{key}: {other:?}"),
            }
        };
        match dies {
            Some(which) => self.end_runner(random, which, DEATH, reached).await,
            None if died => {}
            None => self.end_hub(random, DEATH, reached).await,
        }
        made.id
    }

    /// Starts the hub or a runner again, to die at a place.
    async fn arm(&mut self, runner: Option<usize>, place: String) {
        match runner {
            Some(which) => {
                let runner = &mut self.runners[which].0;
                runner.process.take().unwrap().kill().await;
                runner.start(Some(place));
            }
            None => {
                self.hub.process.take().unwrap().kill().await;
                self.hub.start(Some(place), &mut BTreeSet::new()).await;
            }
        }
        self.connected().await;
    }

    async fn end_hub(&mut self, random: &mut StdRng, moment: Duration, reached: &mut BTreeSet<String>) {
        let done = self.hub.kill(random, (moment, &[]), reached).await;
        self.killed(&done);
    }

    async fn end_runner(
        &mut self,
        random: &mut StdRng,
        which: usize,
        moment: Duration,
        reached: &mut BTreeSet<String>,
    ) {
        let done = self.runners[which].0.kill(random, (moment, &[]), reached).await;
        self.killed(&done);
    }

    fn killed(&mut self, done: &str) {
        self.kills += 1;
        eprintln!("kill {}: {done}", self.kills);
    }

    /// Kills the hub or a runner after a moment.
    pub(crate) async fn kill(&mut self, random: &mut StdRng, moment: Duration, reached: &mut BTreeSet<String>) {
        match random.random_range(0..RUNNERS + 2) {
            which @ 0..RUNNERS => self.end_runner(random, which, moment, reached).await,
            _ => self.end_hub(random, moment, reached).await,
        }
    }

    pub(crate) async fn is_done(&self, handoff: HandoffId) -> bool {
        self.shown(handoff).await.is_some_and(|detail| detail.handoff.status == HandoffStatus::Done)
    }

    pub(crate) async fn shown(&self, handoff: HandoffId) -> Option<HandoffDetail> {
        self.ann.ask(Call::HandoffShow { handoff }).await.ok()
    }

    pub(crate) async fn session(&self, session: SessionId) -> SessionDetail {
        self.ann.ask(Call::SessionShow { session }).await.unwrap()
    }

    /// Waits until a handoff is done; a person retries the steps that failed, and wants a reason.
    pub(crate) async fn settle(&mut self, handoff: HandoffId) {
        self.hub.disarm().await;
        for (runner, _) in &mut self.runners {
            runner.disarm().await;
        }
        self.connected().await;
        let (mut seen, mut since) = (None, Instant::now());
        loop {
            let found = self.shown(handoff).await.unwrap().handoff;
            match found.status {
                HandoffStatus::Done => {
                    let successor = found.successor.unwrap();
                    self.chain.push(successor);
                    return self.ready(successor).await;
                }
                HandoffStatus::Failed => {
                    let why = found.detail.clone().filter(|why| !why.is_empty());
                    let why = why.unwrap_or_else(|| panic!("failed without a reason: {found:#?}"));
                    self.failures.push(format!("{}: {why}", found.step));
                    let _: Handoff = self.ann.ask(Call::HandoffRetry { handoff }).await.unwrap();
                }
                HandoffStatus::Running => {}
                other => panic!("nobody asked for it to be {other}: {found:#?}"),
            }
            if seen != Some(found.updated_at) {
                (seen, since) = (Some(found.updated_at), Instant::now());
            }
            assert!(since.elapsed() < STILL, "nothing moves any more: {found:#?}\n{}", self.logs());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.ann
    }

    pub(crate) fn database(&self) -> &str {
        &self.hub.database
    }

    pub(crate) fn out(&self) -> PathBuf {
        out(self.folder.path())
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    pub(crate) fn summary(&self) -> String {
        let (begun, kills) = (self.begun, self.kills);
        format!(
            "{begun} handoffs, {kills} kills; {} failed steps were retried: {:?}",
            self.failures.len(),
            self.failures
        )
    }

    /// What hub and runners said last, newest first, and what the agents were told.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, log: String| {
            let tail: Vec<&str> = log.lines().rev().take(40).collect();
            text += &format!("{name}, newest first:\n{}\n", tail.join("\n"));
        };
        for (runner, _) in &self.runners {
            add(&runner.name, runner.process.as_ref().map(|runner| runner.log_text()).unwrap_or_default());
        }
        add("hub", self.hub.process.as_ref().map(|hub| hub.log_text()).unwrap_or_default());
        add("agents", std::fs::read_to_string(self.out().join("log")).unwrap_or_default());
        text
    }

    pub(crate) async fn close(mut self) {
        for (runner, _) in &mut self.runners {
            runner.process.take().unwrap().kill().await;
        }
        for pid in hosts(self.folder.path()) {
            signal(pid, Signal::KILL);
        }
        self.hub.process.take().unwrap().kill().await;
    }
}

/// A project with a repository on this machine.
async fn project(ann: &Client, folder: &Path) -> ProjectId {
    let place = folder.join("repository");
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
