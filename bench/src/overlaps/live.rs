//! From an edit to both activities: two people with a runner each, and real workspaces.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use client::{Client, Socket};
use domain::{RunnerId, Visibility, WorkspaceId, WorkspaceStatus};
use protocol::{
    Call, Change, FromHub, NewRunner, Project, ProjectCreate, Repository, Runner, RunnerCreate, Session, SessionDetail,
    SessionSpawn, SessionStop, WorkOverlap, Workspace,
};
use testkit::RunnerProcess;
use tokio::sync::mpsc;

use crate::hub::Hub;
use crate::report::{Goal, Report, Row, percentile, section};

/// The workspaces of each of the two people, and the rounds in which each pair collides once.
const EACH: usize = 20;
const ROUNDS: usize = 5;
const FILES: usize = 500;
const LINES: usize = 100;
const PATIENCE: Duration = Duration::from_secs(120);

/// Measures collisions, one after the other, while all workspaces are followed.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Overlaps: from an edit to both activities, 2 runners, {} workspaces", 2 * EACH));
    let folder = tempfile::tempdir()?;
    let hub = Hub::start(&folder.path().join("hub"), None).await?;
    let owner = hub.client()?;
    let token = testkit::join(&hub.url, &owner, "Bo").await?;
    let seed = folder.path().join("seed");
    plant(&seed)?;
    let location = seed.to_str().context("a temporary folder has a plain name")?.to_owned();
    let input = ProjectCreate {
        content: "Bench".into(),
        visibility: Some(Visibility::ReadWrite),
        share_execution: Some(true),
        repositories: vec![Repository { location, ..Repository::default() }],
        ..ProjectCreate::default()
    };
    let project: Project = owner.ask(Call::ProjectCreate { input }).await?;
    let mut people = Vec::new();
    for (name, token) in [("ann", hub.token.clone()), ("bo", token)] {
        people.push(Person::new(&hub.url, token, &project, folder.path(), name).await?);
    }
    let (tell, mut told) = mpsc::unbounded_channel();
    for (at, person) in people.iter().enumerate() {
        person.listen(at, tell.clone()).await?;
    }
    let (mine, theirs) = (&people[0].places, &people[1].places);
    for (at, (_, path)) in mine.iter().enumerate() {
        edit(path, at, "mine")?;
    }
    let mut times = Vec::new();
    // In the first round, not everything has been looked at.
    for round in 0..=ROUNDS {
        for (at, (other, path)) in theirs.iter().enumerate() {
            let wanted = |overlap: &WorkOverlap, over: bool| {
                let mut sides = overlap.other.iter().chain([&overlap.one]);
                sides.any(|side| side.workspace == Some(*other)) && overlap.ended_at.is_some() == over
            };
            let begun = Instant::now();
            edit(path, at, &format!("theirs {round}"))?;
            let seen = both(&mut told, |overlap| wanted(overlap, false)).await?;
            if round > 0 {
                times.push(seen.duration_since(begun).as_secs_f64() * 1e3);
            }
            // As it was: the next round collides again.
            std::fs::write(path.join(file(at)), text(at))?;
            both(&mut told, |overlap| wanted(overlap, true)).await?;
        }
    }
    let ours = percentile(&mut times, 0.5);
    report.add(Row { what: "edit → both, p50".into(), ours, baseline: None, unit: "ms", goal: None });
    let (ours, goal) = (percentile(&mut times, 0.95), Some(Goal::AtMost(2000.0)));
    report.add(Row { what: "edit → both, p95".into(), ours, baseline: None, unit: "ms", goal });
    for person in people {
        person.leave().await?;
    }
    hub.stop().await
}

/// When both people have been told of something.
async fn both(
    told: &mut mpsc::UnboundedReceiver<(usize, Instant, WorkOverlap)>,
    wanted: impl Fn(&WorkOverlap) -> bool,
) -> anyhow::Result<Instant> {
    let mut seen = [None, None];
    loop {
        let next = tokio::time::timeout(PATIENCE, told.recv()).await.context("nobody was told")?;
        let (person, at, overlap) = next.context("the hub closed")?;
        if wanted(&overlap) {
            seen[person].get_or_insert(at);
        }
        if let [Some(one), Some(other)] = seen {
            return Ok(one.max(other));
        }
    }
}

/// A person with a runner and its workspaces.
struct Person {
    client: Client,
    url: String,
    token: String,
    runner: RunnerProcess,
    sessions: Vec<Session>,
    places: Vec<(WorkspaceId, PathBuf)>,
}

impl Person {
    async fn new(url: &str, token: String, project: &Project, folder: &Path, name: &str) -> anyhow::Result<Self> {
        let client = Client::new(url, &token)?;
        let made: NewRunner = client.ask(Call::RunnerCreate { input: RunnerCreate { name: name.into() } }).await?;
        let home = folder.join(format!("home-{name}"));
        std::fs::create_dir_all(&home)?;
        let home = [("HOME".to_owned(), home.display().to_string())];
        let runner = RunnerProcess::spawn_with(&folder.join(name), url, &made.secret, name, &home);
        let id: RunnerId = made.runner.id;
        testkit::wait_until("the runner is connected", async || {
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await.ok()?;
            runners.iter().any(|runner| runner.id == id && runner.connected).then_some(())
        })
        .await;
        let mut person = Self { client, url: url.to_owned(), token, runner, sessions: vec![], places: vec![] };
        for _ in 0..EACH {
            person.works(project, id).await?;
        }
        Ok(person)
    }

    /// A session in a new activity, with its workspace.
    async fn works(&mut self, project: &Project, runner: RunnerId) -> anyhow::Result<()> {
        let argv = ["sleep", "100000"].map(str::to_owned).to_vec();
        let input = SessionSpawn {
            project: Some(project.id),
            agent: "command".into(),
            argv,
            runner: Some(runner),
            ..SessionSpawn::default()
        };
        let session: Session = self.client.ask(Call::SessionSpawn { input }).await?;
        let workspace = session.workspace;
        let path = testkit::wait_until("the workspace is ready", async || {
            let found: Workspace = self.client.ask(Call::WorkspaceShow { workspace }).await.ok()?;
            found.path.filter(|_| found.status == WorkspaceStatus::Ready)
        })
        .await;
        self.sessions.push(session);
        self.places.push((workspace, path.into()));
        Ok(())
    }

    /// Passes on each overlap that this person is told of, with when.
    async fn listen(
        &self,
        at: usize,
        tell: mpsc::UnboundedSender<(usize, Instant, WorkOverlap)>,
    ) -> anyhow::Result<()> {
        let mut socket = Socket::connect(&self.url, &self.token).await?;
        socket.hello(None, None, "bench").await?;
        while !matches!(socket.next().await?.context("the hub closed")?, FromHub::Live { .. }) {}
        tokio::spawn(async move {
            while let Ok(Some(frame)) = socket.next().await {
                if let FromHub::Delta(delta) = frame
                    && let Change::Overlap { overlap } = delta.change
                    && tell.send((at, Instant::now(), overlap)).is_err()
                {
                    return;
                }
            }
        });
        Ok(())
    }

    /// Ends the sessions, which would outlive the runner, and then the runner.
    async fn leave(self) -> anyhow::Result<()> {
        for session in &self.sessions {
            let input = SessionStop { force: true };
            let _: Session = self.client.ask(Call::SessionStop { session: session.id, input }).await?;
        }
        for session in &self.sessions {
            testkit::wait_until("the session ended", async || {
                let found: SessionDetail = self.client.ask(Call::SessionShow { session: session.id }).await.ok()?;
                found.session.state.ended().then_some(())
            })
            .await;
        }
        self.runner.kill().await;
        Ok(())
    }
}

fn file(number: usize) -> String {
    format!("d{}/f{number}.txt", number % 20)
}

fn text(number: usize) -> String {
    (0..LINES).map(|line| format!("line {line} of {number}\n")).collect()
}

/// Changes a line in the middle of a file.
fn edit(place: &Path, number: usize, new: &str) -> anyhow::Result<()> {
    let changed = text(number).replacen(&format!("line {} ", LINES / 2), &format!("{new} "), 1);
    Ok(std::fs::write(place.join(file(number)), changed)?)
}

/// A repository with one commit.
fn plant(seed: &Path) -> anyhow::Result<()> {
    for number in 0..FILES {
        let path = seed.join(file(number));
        std::fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
        std::fs::write(path, text(number))?;
    }
    let who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
    for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "first"]] {
        let done = Command::new("git").current_dir(seed).args(who).args(args).output()?;
        ensure!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(())
}
