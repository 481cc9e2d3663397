//! Runners' links: what should run, what happened, and the terminals that people watch through them.

mod asks;
mod desired;
mod doors;
mod facts;
mod hostile;
mod search;
mod terminals;

use domain::{ProjectId, Visibility};
use protocol::{Call, ProjectCreate, ProjectUpdate, Session, SessionSpawn};
use testkit::TestHub;

use crate::support::{Credential, FakeRunner, fresh, join, view};

/// Olga's project with a session on her runner, and Pete, who may look at both.
pub(crate) struct Fixture {
    pub(crate) hub: TestHub,
    pub(crate) olga: Credential,
    pub(crate) pete: Credential,
    pub(crate) runner: FakeRunner,
    pub(crate) project: ProjectId,
    pub(crate) session: Session,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(|_| ()).await
    }

    pub(crate) async fn with(adjust: impl FnOnce(&mut hub::Options)) -> Self {
        let hub = TestHub::with(adjust).await;
        let (olga, pete) = (join(&hub, "olga").await, join(&hub, "pete").await);
        let runner = FakeRunner::start(&hub, &olga, "box").await;
        let project = project(&hub, &olga, Visibility::ReadWrite, true).await;
        let session = spawn(&hub, &olga, project, "work").await;
        Self { hub, olga, pete, runner, project, session }
    }

    /// The session as its owner sees it now.
    pub(crate) async fn now(&self) -> Session {
        view!(&self.hub, &self.olga, SessionDetail, Call::SessionShow { session: self.session.id }).session
    }
}

/// A project of somebody's.
pub(crate) async fn project(
    hub: &TestHub,
    owner: &Credential,
    visibility: Visibility,
    share_execution: bool,
) -> ProjectId {
    let (visibility, share_execution) = (Some(visibility), Some(share_execution));
    let input = ProjectCreate { content: fresh("a project"), visibility, share_execution, ..Default::default() };
    view!(hub, owner, Project, Call::ProjectCreate { input }).id
}

/// A session in a fresh activity.
pub(crate) async fn spawn(hub: &TestHub, owner: &Credential, project: ProjectId, prompt: &str) -> Session {
    view!(hub, owner, Session, Call::SessionSpawn { input: plan(project, prompt) })
}

/// What a session is spawned with.
pub(crate) fn plan(project: ProjectId, prompt: &str) -> SessionSpawn {
    let (project, prompt) = (Some(project), Some(prompt.to_owned()));
    SessionSpawn { project, prompt, agent: "codex".into(), ..Default::default() }
}

/// Shares what runs in a project with those who see it, or not.
pub(crate) async fn share(hub: &TestHub, owner: &Credential, project: ProjectId, share: bool) {
    let input = ProjectUpdate { share_execution: Some(share), ..Default::default() };
    view!(hub, owner, Project, Call::ProjectUpdate { project, input });
}

/// The number of a person.
pub(crate) async fn id(hub: &TestHub, person: &Credential) -> domain::UserId {
    view!(hub, person, Me, Call::Me {}).user.expect("a person").id
}
