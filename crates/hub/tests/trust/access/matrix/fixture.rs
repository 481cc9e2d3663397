//! A hub to try the table on, and the ways to ask.

use domain::{
    Answered, ApprovalId, ApprovalKind, ExecutionId, GrantId, HookKind, OverlapId, ProjectId, RecipeId, ScheduleId,
    UserId, Visibility, WorkspaceId,
};
use protocol::link::{EntryFacts, FactBody, FileFacts, LineFacts, Subject, Wish, WorkFacts};
use protocol::{
    ActivityCreate, ApprovalAnswer, ApprovalFilter, ArtifactPut, Call, Criterion, ExecutionAnswer, ExecutionFilter,
    ExecutionStart, HandoffBegin, HookText, MergeAdd, MessageText, NewReservation, ObserverCreate, OverlapFilter,
    ProjectCreate, RecipeText, Repository, ReviewComment, ScheduleText, SessionSpawn, SessionStop, TaskReport,
    TaskTake, TaskTakeOver, Trigger, WorkerStop,
};
use serde_json::{Value, json};
use testkit::TestHub;

use super::calls::{Targets, ask, done_with, question, recipe, take, tasks, workers};
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

/// A hub to try everything on.
pub(super) struct Fixture {
    pub(super) hub: TestHub,
    owner: Credential,
    peer: Credential,
    ann: Credential,
    victim: UserId,
    elsewhere: ProjectId,
    /// A project that the owner only takes part in.
    anns: ProjectId,
    machine: Serving,
    /// The token of a runner of the owner's.
    runner: Credential,
}

impl Fixture {
    pub(super) async fn new() -> Self {
        let hub = TestHub::with(|options| options.notify_allow_hosts = vec!["127.0.0.1:1".into()]).await;
        let (owner, peer, victim) = (join(&hub, "olga").await, join(&hub, "pete").await, join(&hub, "victor").await);
        let victim = view!(&hub, &victim, Me, Call::Me {}).user.expect("a person").id;
        let content = "elsewhere".to_owned();
        let input = ProjectCreate { content, visibility: Some(Visibility::ReadOnly), ..Default::default() };
        let elsewhere = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
        let repositories = vec![Repository { location: "https://example.org/code".into(), ..Default::default() }];
        let input = ProjectCreate {
            content: "Ann's".into(),
            visibility: Some(Visibility::ReadWrite),
            repositories,
            ..Default::default()
        };
        let anns = view!(&hub, &ann(&hub), Project, Call::ProjectCreate { input }).id;
        let machine = FakeRunner::start(&hub, &owner, "the machine").await.serve();
        let runner =
            Credential::Token(view!(&hub, &owner, NewRunner, ask("runner.create", &Targets::nowhere())).secret);
        Self { ann: ann(&hub), owner, peer, victim, elsewhere, anns, machine, runner, hub }
    }

    pub(super) async fn targets(&self, visibility: Visibility, share_execution: bool) -> Targets {
        let (hub, owner) = (&self.hub, &self.owner);
        let content = format!("the secret plan {}", domain::ProjectId::generate());
        let (visibility, share_execution) = (Some(visibility), Some(share_execution));
        let repositories = vec![Repository { location: "https://example.org/secret".into(), ..Default::default() }];
        let input = ProjectCreate { content, visibility, share_execution, repositories, ..Default::default() };
        let project = view!(hub, owner, Project, Call::ProjectCreate { input }).id;
        let input = MergeAdd { branch: "a-secret-branch".into(), ..Default::default() };
        let candidate = view!(hub, owner, Candidate, Call::MergeAdd { project, input }).id;
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
        let input = HandoffBegin { edit: true, wait_seconds: Some(3600), ..Default::default() };
        let handoff = view!(hub, owner, Handoff, Call::HandoffBegin { session, input }).id;
        let overlap = self.overlaps(project, workspace).await;
        let input = NewReservation { patterns: vec!["a-secret-folder/**".into()], ..Default::default() };
        let reservation = view!(hub, owner, Reservation, Call::OverlapReserve { activity, input }).id;
        let input = tasks(&["one that is done"]);
        let done = view!(hub, owner, AddedTasks, Call::TaskAdd { project, input }).tasks[0].id;
        view!(hub, owner, Taken, Call::TaskTake { project, input: take("one") });
        view!(hub, owner, Report, Call::TaskReport { task: done, input: done_with(1) });
        let descriptions = [
            "a secret task",
            "another secret task",
            "one with a question",
            "one that nobody has",
            "one to review",
            "another to review",
            "one with changes",
        ];
        let mut input = tasks(&descriptions);
        for task in &mut input.tasks[4..6] {
            task.acceptance = vec![Criterion::Text { text: "it reads well".into() }];
        }
        let added = view!(hub, owner, AddedTasks, Call::TaskAdd { project, input });
        let held = [added.tasks[0].id, added.tasks[1].id];
        for name in ["one", "two", "three"] {
            view!(hub, owner, Taken, Call::TaskTake { project, input: take(name) });
        }
        // Of its own: a question ends with its task, and others are reported.
        let asked = Call::TaskAsk { task: added.tasks[2].id, input: question(1) };
        let escalation = view!(hub, owner, Escalation, asked).id;
        let reviewed = [added.tasks[4].id, added.tasks[5].id];
        for (task, name) in reviewed.into_iter().zip(["four", "five"]) {
            let input = TaskTake { task: Some(task), ..take(name) };
            view!(hub, owner, Taken, Call::TaskTake { project, input });
            let input = TaskReport { fence: 1, summary: "done".into(), ..Default::default() };
            view!(hub, owner, Report, Call::TaskReport { task, input });
        }
        let changed = added.tasks[6].id;
        let input = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
        view!(hub, owner, Task, Call::TaskTakeOver { task: changed, input });
        let input = ReviewComment { path: "src/a.rs".into(), line: 1, text: "why?".into(), ..Default::default() };
        let thread = view!(hub, owner, ReviewThread, Call::ReviewComment { task: held[0], input }).id;
        let channel = view!(hub, owner, NewNotifyChannel, ask("notify.add", &Targets::nowhere())).channel.id;
        let (approval, grant) = self.asked().await;
        let (recipe, [execution, asking, failed], schedule) = self.planned(project).await;
        let input = HookText { name: "a secret webhook".into(), kind: HookKind::Github };
        let hook = view!(hub, owner, NewHook, Call::HookAdd { project, input }).hook.id;
        let input = ArtifactPut { name: "a.txt".into(), text: Some("a secret".into()), ..Default::default() };
        let artifact = view!(hub, owner, Artifact, Call::ArtifactPut { project, input }).id;
        let leaver = join(hub, &format!("leaver {}", &project.to_string()[24..])).await;
        let leaver = view!(hub, &leaver, Me, Call::Me {}).user.expect("a person").id;
        view!(hub, &self.ann, User, Call::UserDisable { user: leaver });
        Targets {
            approval,
            grant,
            victim,
            leaver,
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
            handoff,
            overlap,
            reservation,
            held,
            idle: added.tasks[3].id,
            done,
            reviewed,
            changed,
            thread,
            escalation,
            worker,
            candidate,
            channel,
            recipe,
            execution,
            asking,
            failed,
            schedule,
            artifact,
            hook,
        }
    }

    /// Where the work in a workspace meets that of another session of the owner's.
    async fn overlaps(&self, project: ProjectId, workspace: WorkspaceId) -> OverlapId {
        let (hub, owner) = (&self.hub, &self.owner);
        let other = view!(hub, owner, Session, Call::SessionSpawn { input: plan(project, "more secret work") });
        for (workspace, content) in [(workspace, "one"), (other.workspace, "another")] {
            let after = Some(EntryFacts { mode: "100644".into(), content: content.into() });
            let lines = LineFacts::Whole {};
            let file =
                FileFacts { path: "a-secret-file".into(), from: None, before: None, after, lines, symbols: vec![] };
            let work = vec![WorkFacts { against: "1".repeat(40), files: vec![file], gone: vec![], truncated: false }];
            self.machine.fact(FactBody::WorkspaceWork { workspace, work }).await;
        }
        let filter = OverlapFilter { project: Some(project), ..Default::default() };
        testkit::wait_until("they overlap", async || {
            view!(hub, owner, Overlaps, Call::OverlapList { filter }).first().map(|overlap| overlap.id)
        })
        .await
    }

    /// A recipe with executions that wait for an answer, the last of which was refused, and a schedule.
    async fn planned(&self, project: ProjectId) -> (RecipeId, [ExecutionId; 3], ScheduleId) {
        let (hub, owner) = (&self.hub, &self.owner);
        let input = RecipeText { text: recipe("a secret plan"), format: None };
        let recipe = view!(hub, owner, Recipe, Call::RecipeAdd { project, input }).id;
        let mut started = Vec::new();
        for _ in 0..3 {
            let input = ExecutionStart::default();
            started.push(view!(hub, owner, Execution, Call::ExecutionStart { recipe, input }).id);
        }
        let input = ExecutionAnswer { path: "ask".into(), approve: false, ..Default::default() };
        view!(hub, owner, Execution, Call::ExecutionAnswer { execution: started[2], input });
        let trigger = Trigger::Cron { cron: "0 9 * * *".into(), time_zone: None };
        let (name, recipe_name) = (Some("a secret schedule".into()), recipe.to_string());
        let input = ScheduleText { name, recipe: recipe_name, trigger, ..Default::default() };
        let schedule = view!(hub, owner, Schedule, Call::ScheduleAdd { project, input }).id;
        (recipe, [started[0], started[1], started[2]], schedule)
    }

    /// A request to the owner that is open, and one that they allowed for good: in a project of somebody else, whose
    /// repository would be read on their machine.
    async fn asked(&self) -> (ApprovalId, GrantId) {
        let (hub, owner) = (&self.hub, &self.owner);
        let made = view!(hub, owner, Session, Call::SessionSpawn { input: plan(self.anns, "a session") });
        let wish = |kind, text: String| Wish { kind, sha256: format!("{text:0>64}"), text, sandbox: None };
        let wishes = vec![
            wish(ApprovalKind::Repository, made.id.to_string()),
            wish(ApprovalKind::Setup, made.workspace.to_string()),
        ];
        let subject = Subject::Session(made.id);
        self.machine.fact(FactBody::ApprovalWanted { subject, wishes }).await;
        let open = testkit::wait_until("the owner is asked", async || {
            let open = view!(hub, owner, Approvals, Call::ApprovalList { filter: ApprovalFilter::default() });
            let open: Vec<_> = open.into_iter().filter(|one| one.session == Some(made.id)).collect();
            (open.len() == 2).then_some(open)
        })
        .await;
        let input = ApprovalAnswer { answer: Answered::Text };
        view!(hub, owner, Approval, Call::ApprovalAnswer { approval: open[0].id, input });
        let grants = view!(hub, owner, Grants, Call::GrantList {});
        let grant = grants.iter().find(|grant| grant.sha256.as_deref() == Some(open[0].sha256.as_str()));
        (open[1].id, grant.expect("what was allowed for good is listed").id)
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
