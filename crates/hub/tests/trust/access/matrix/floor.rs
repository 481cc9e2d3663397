//! A floor to try the table on, and the ways to ask.

use domain::{ProjectId, UserId, Visibility};
use protocol::{
    ActivityCreate, Call, ExecutionFilter, MessageText, ObserverCreate, ProjectCreate, SessionSpawn, SessionStop,
    WorkerStop,
};
use serde_json::{Value, json};
use testkit::TestHub;

use super::calls::{Targets, ask, question, take, tasks, workers};
use super::table::Kind;
use crate::links::plan;
use crate::support::runner::Serving;
use crate::support::{Credential, FakeRunner, Socket, ann, browser, call, join, observe, view};

/// How a verb is asked.
pub(super) enum Way {
    Http,
    Socket(Box<Socket>),
    /// No socket without a credential, or with a runner's: the status of the refusal.
    Shut(u16),
}

impl Way {
    /// The status, and what was said if it was a refusal.
    pub(super) async fn ask(&mut self, hub: &TestHub, credential: &Credential, verb: Call) -> (u16, Value) {
        match self {
            Self::Http => {
                let reply = call(hub, credential, &verb).await;
                let refusal = if reply.status < 300 { Value::Null } else { reply.body };
                (if reply.status < 300 { 200 } else { reply.status }, refusal)
            }
            Self::Socket(socket) => match socket.ask(verb).await {
                Ok(_) => (200, Value::Null),
                Err(problem) => (problem.status, json!(problem)),
            },
            Self::Shut(status) => (*status, Value::Null),
        }
    }
}

/// A floor to try everything on.
pub(super) struct Floor {
    pub(super) hub: TestHub,
    owner: Credential,
    peer: Credential,
    ann: Credential,
    victim: UserId,
    elsewhere: ProjectId,
    machine: Serving,
    /// The token of a runner of the owner's.
    runner: Credential,
}

impl Floor {
    pub(super) async fn new() -> Self {
        let hub = TestHub::start().await;
        let (owner, peer, victim) = (join(&hub, "olga").await, join(&hub, "pete").await, join(&hub, "victor").await);
        let victim = view!(&hub, &victim, Me, Call::Me {}).user.expect("a person").id;
        let content = "elsewhere".to_owned();
        let input = ProjectCreate { content, visibility: Some(Visibility::ReadOnly), ..Default::default() };
        let elsewhere = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
        let machine = FakeRunner::start(&hub, &owner, "the machine").await.serve();
        let runner =
            Credential::Token(view!(&hub, &owner, NewRunner, ask("runner.create", &Targets::nowhere())).secret);
        Self { ann: ann(&hub), owner, peer, victim, elsewhere, machine, runner, hub }
    }

    pub(super) async fn targets(&self, visibility: Visibility, share_execution: bool) -> Targets {
        let (hub, owner) = (&self.hub, &self.owner);
        let content = "the secret plan".to_owned();
        let (visibility, share_execution) = (Some(visibility), Some(share_execution));
        let input = ProjectCreate { content, visibility, share_execution, ..Default::default() };
        let project = view!(hub, owner, Project, Call::ProjectCreate { input }).id;
        let input = ActivityCreate { content: "secret work".into(), ..Default::default() };
        let activity = view!(hub, owner, Activity, Call::ActivityCreate { project, input }).id;
        let input = MessageText { content: "a secret".into() };
        let message = view!(hub, owner, Message, Call::ChatSend { project, input }).id;
        let token = view!(hub, owner, NewToken, ask("token.create", &Targets::nowhere())).token.id;
        let invite = view!(hub, owner, NewInvite, ask("invite.create", &Targets::nowhere())).invite.id;
        let runner = view!(hub, owner, NewRunner, ask("runner.create", &Targets::nowhere())).runner.id;
        let input = ObserverCreate { name: "to be revoked".into(), expires_at: None };
        let observer = view!(hub, owner, NewObserver, Call::ObserverCreate { project, input }).observer.id;
        browser(hub, owner).await;
        let logins = view!(hub, owner, Logins, Call::LoginList {});
        let login = logins.first().expect("the browser that was logged in").id;
        let input = SessionSpawn { activity: Some(activity), ..plan(project, "secret session") };
        let made = view!(hub, owner, Session, Call::SessionSpawn { input });
        // Stopped at once: it must not take what others are asked to take.
        let worker = view!(hub, owner, Workers, Call::WorkerStart { project, input: workers() })[0].id;
        view!(hub, owner, Worker, Call::WorkerStop { worker, input: WorkerStop::default() });
        let (victim, session, workspace) = (self.victim, made.id, made.workspace);
        let input = tasks(&["a secret task", "another secret task", "one with a question", "one that nobody has"]);
        let added = view!(hub, owner, AddedTasks, Call::TaskAdd { project, input });
        let held = [added.tasks[0].id, added.tasks[1].id];
        for name in ["one", "two", "three"] {
            view!(hub, owner, Taken, Call::TaskTake { project, input: take(name) });
        }
        // Of its own: a question ends with its task, and others are reported.
        let asked = Call::TaskAsk { task: added.tasks[2].id, input: question(1) };
        let escalation = view!(hub, owner, Escalation, asked).id;
        Targets {
            victim,
            project,
            activity,
            message,
            observer,
            token,
            login,
            invite,
            runner,
            session,
            workspace,
            held,
            idle: added.tasks[3].id,
            escalation,
            worker,
        }
    }

    pub(super) async fn credential(&self, kind: Kind, on: &Targets) -> Credential {
        match kind {
            Kind::Agent => self.machine.token(on.session).await,
            Kind::Runner => self.runner.clone(),
            Kind::Owner => self.owner.clone(),
            Kind::Peer => self.peer.clone(),
            Kind::HubOwner => self.ann.clone(),
            Kind::Observer => observe(&self.hub, &self.owner, on.project).await.0,
            Kind::Stranger => observe(&self.hub, &self.owner, self.elsewhere).await.0,
            Kind::Anonymous => Credential::None,
        }
    }

    /// Ends what runs in a project, so that it can be deleted.
    pub(super) async fn end(&self, project: ProjectId) {
        let filter = ExecutionFilter { project: Some(project), ..Default::default() };
        testkit::wait_until("everything has ended", async || {
            let live = view!(&self.hub, &self.owner, Sessions, Call::SessionList { filter });
            for session in &live {
                let input = SessionStop { force: true };
                view!(&self.hub, &self.owner, Session, Call::SessionStop { session: session.id, input });
            }
            live.is_empty().then_some(())
        })
        .await;
    }
}
