//! Sessions and workspaces: the desired state, runners' facts, and visibility.

mod desired;
mod facts;
mod fits;
mod keyboard;
mod look;
mod place;
mod questions;
mod reviews;
mod spawn;

use domain::{JournalId, RunnerId, SessionId, SessionStatus, Timestamp, Visibility};
use protocol::link::{Fact, FactBody};
use protocol::{
    FoundAgent, Project, Repository, RunnerAbout, RunnerCreate, Session, SessionSpawn, SessionState, Workspace, verbs,
};
use store::{Caller, Placed, SeeRunner, TakeFacts};

use crate::fixture::Fixture;

/// The description of a runner with room for `capacity` sessions.
pub(crate) fn about(capacity: u32) -> RunnerAbout {
    let agent = |name: &str, version: Option<&str>| FoundAgent {
        name: name.into(),
        label: name.into(),
        version: version.map(str::to_owned),
        install: None,
        headless: true,
        modes: None,
    };
    RunnerAbout {
        machine: "box".into(),
        version: "0.1.0".into(),
        labels: vec!["linux".into()],
        capacity,
        agents: vec![agent("codex", Some("1.0")), agent("gemini", None), agent("command", Some("1"))],
    }
}

/// A person's runner that has connected, as far as the store knows.
pub(crate) async fn runner(fixture: &Fixture, owner: &Caller, name: &str, capacity: u32) -> RunnerId {
    let id = fixture.done(owner, verbs::RunnerCreate { input: RunnerCreate { name: name.into() } }).await.runner.id;
    let about = Some(about(capacity));
    fixture.done(&Caller::hub("link"), SeeRunner { runner: id, link: name.into(), about }).await;
    id
}

/// A project of Ada's with a repository.
pub(crate) async fn project(fixture: &Fixture, visibility: Visibility, share_execution: bool) -> Project {
    let verbs::ProjectCreate { mut input } = fixture.another_project(visibility);
    input.share_execution = Some(share_execution);
    let base_branch = Some("main".into());
    input.repositories = vec![
        Repository { location: "/srv/parser".into(), base_branch, ..Default::default() },
        Repository { location: "https://example.org/lexer".into(), ..Default::default() },
    ];
    fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await
}

/// A session in a new activity of a project.
pub(crate) fn in_project(project: &Project, prompt: &str) -> SessionSpawn {
    SessionSpawn { project: Some(project.id), agent: "codex".into(), prompt: Some(prompt.into()), ..Default::default() }
}

/// Spawns on one of the runners.
pub(crate) fn spawn(input: SessionSpawn, connected: &[RunnerId]) -> Placed<verbs::SessionSpawn> {
    Placed { verb: verbs::SessionSpawn { input }, connected: connected.to_vec() }
}

/// A session's state.
pub(crate) fn state(status: SessionStatus, since: Timestamp) -> SessionState {
    let code = (status == SessionStatus::Exited).then_some(0);
    SessionState { status, detail: None, code, signal: None, since }
}

/// A runner's journal, which numbers its facts.
pub(crate) struct Memory {
    pub(crate) runner: RunnerId,
    pub(crate) journal: JournalId,
    next: u64,
}

impl Memory {
    pub(crate) fn new(runner: RunnerId) -> Self {
        Self { runner, journal: JournalId::generate(), next: 1 }
    }

    /// The next fact.
    pub(crate) fn fact(&mut self, body: FactBody) -> Fact {
        let number = self.next;
        self.next += 1;
        Fact { number, at: Timestamp::from_millis(0), body }
    }

    /// Stores facts; returns the last stored number.
    pub(crate) async fn tell(&self, fixture: &Fixture, facts: Vec<Fact>) -> u64 {
        let (runner, journal) = (self.runner, self.journal);
        fixture.done(&Caller::hub("link"), TakeFacts { runner, journal, facts }).await.acknowledged
    }

    /// Stores one fact.
    pub(crate) async fn happened(&mut self, fixture: &Fixture, body: FactBody) -> u64 {
        let fact = self.fact(body);
        self.tell(fixture, vec![fact]).await
    }

    /// Reports that a workspace is ready, on its wanted branch.
    pub(crate) async fn ready(&mut self, fixture: &Fixture, workspace: &Workspace) -> u64 {
        let (workspace, branch, base) = (workspace.id, workspace.branch.clone(), workspace.base.clone());
        let path = "/somewhere".to_owned();
        self.happened(fixture, FactBody::WorkspaceReady { workspace, path, branch, base, ports: None }).await
    }

    /// Reports a session's new status.
    pub(crate) async fn at(&mut self, fixture: &Fixture, session: SessionId, status: SessionStatus) -> u64 {
        let state = state(status, fixture.store.now());
        self.happened(fixture, FactBody::SessionState { session, state }).await
    }
}

/// A session as the caller sees it.
pub(crate) async fn show(fixture: &Fixture, caller: &Caller, session: SessionId) -> Session {
    fixture.store.session_detail(caller, session).await.unwrap().session
}

/// Every row except those about identities, and the number of events and audit entries.
pub(crate) async fn everything(fixture: &Fixture) -> Vec<Vec<Vec<String>>> {
    let mut raw = fixture.raw().await;
    let mut all = Vec::new();
    for sql in [
        "SELECT * FROM activities ORDER BY id",
        "SELECT * FROM workspaces ORDER BY id",
        "SELECT * FROM sessions ORDER BY id",
        "SELECT id, generation, facts FROM runners ORDER BY id",
        "SELECT id FROM tokens ORDER BY id",
        "SELECT seq, audit FROM ledger",
    ] {
        all.push(raw.rows(sql).await);
    }
    all
}
