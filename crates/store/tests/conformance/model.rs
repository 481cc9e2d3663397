//! A client's view, built from events alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::{
    Action, ActivityId, Actor, MessageId, ProjectFacts, ProjectId, Resource, RunnerId, Seq, SessionId, UserId,
    WorkspaceId, can,
};
use protocol::{Activity, Change, Message, Project, Runner, Session, Unread, User, Workspace};
use store::{Caller, Event, EventBody};

/// Everything, by id. Names inside references are as of writing, so they are left out of comparisons.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Model {
    seq: u64,
    users: BTreeMap<UserId, User>,
    runners: BTreeMap<RunnerId, Runner>,
    projects: BTreeMap<ProjectId, Project>,
    activities: BTreeMap<ActivityId, Activity>,
    workspaces: BTreeMap<WorkspaceId, Workspace>,
    sessions: BTreeMap<SessionId, Session>,
    messages: BTreeMap<MessageId, Message>,
    reads: BTreeMap<(UserId, ProjectId), u32>,
    unreads: BTreeMap<ProjectId, Unread>,
}

impl Model {
    /// Applies the events after the last one, up to `seq`.
    pub(crate) fn read_on(&mut self, events: &[Arc<Event>], seq: Seq) {
        for event in events.iter().take_while(|event| event.seq <= seq).skip(usize::try_from(self.seq).unwrap()) {
            assert_eq!(event.seq.0, self.seq + 1, "events are dense");
            self.seq = event.seq.0;
            if let EventBody::Change { change } = &event.body {
                self.apply(change, event.audience);
            }
        }
        assert_eq!(self.seq, seq.0, "the state is not ahead of the published events");
    }

    /// The view that a state describes.
    pub(crate) fn of_state(changes: &[Change]) -> Self {
        let mut model = Self::default();
        for change in changes {
            model.apply(change, None);
        }
        model.reads.clear();
        model
    }

    /// The part that a person may see, with their unread counts.
    pub(crate) fn seen_by(&self, caller: &Caller) -> Self {
        let Some(actor @ Actor::User { id: me, .. }) = caller.actor() else { panic!("only people look") };
        let mut seen = Self { seq: 0, reads: BTreeMap::new(), messages: BTreeMap::new(), ..self.clone() };
        seen.projects.retain(|_, project| can(actor, Action::See, Resource::Project(&facts(project))).is_allowed());
        seen.activities.retain(|_, activity| seen.projects.contains_key(&activity.project));
        let projects = seen.projects.clone();
        let looks = |project: &ProjectId, owner| {
            let Some(project) = projects.get(project) else { return false };
            let execution = Resource::Execution { project: &facts(project), owner };
            can(actor, Action::SeeExecution, execution).is_allowed()
        };
        seen.workspaces.retain(|_, workspace| looks(&workspace.project, workspace.owner.id));
        seen.sessions.retain(|_, session| looks(&session.project, session.owner.id));
        seen.unreads = seen.projects.keys().map(|project| (*project, self.unread(*me, *project))).collect();
        seen
    }

    fn unread(&self, me: UserId, project: ProjectId) -> Unread {
        let read = self.reads.get(&(me, project)).copied().unwrap_or(0);
        let unread = |message: &&Message| {
            message.project == project
                && message.number > read
                && message.author.id != me
                && message.deleted_at.is_none()
        };
        let messages: Vec<&Message> = self.messages.values().filter(unread).collect();
        let mentions = messages.iter().filter(|message| message.mentions.contains(&me)).count();
        Unread { project, read, count: messages.len() as u32, mentions: mentions as u32 }
    }

    fn apply(&mut self, change: &Change, audience: Option<UserId>) {
        match change.clone() {
            Change::User { user } => drop(self.users.insert(user.id, user)),
            Change::UserGone { user } => drop(self.users.remove(&user)),
            Change::Runner { mut runner } => {
                runner.owner.name.clear();
                self.runners.insert(runner.id, runner);
            }
            Change::RunnerGone { runner } => drop(self.runners.remove(&runner)),
            Change::Project { mut project } => {
                project.owner.name.clear();
                self.projects.insert(project.id, project);
            }
            Change::ProjectGone { project } => self.forget(project),
            Change::Activity { mut activity } => {
                activity.owner.name.clear();
                self.activities.insert(activity.id, activity);
            }
            Change::Workspace { mut workspace } => {
                workspace.owner.name.clear();
                self.workspaces.insert(workspace.id, workspace);
            }
            Change::Session { mut session } => {
                session.owner.name.clear();
                self.sessions.insert(session.id, session);
            }
            // The script adds no tasks: work has its own simulator.
            Change::Tasks { .. }
            | Change::Workers { .. }
            | Change::Handoff { .. }
            | Change::Overlap { .. }
            | Change::Reservation { .. }
            | Change::WorkerGone { .. }
            | Change::Escalation { .. }
            | Change::Approval { .. }
            | Change::Review { .. }
            | Change::WorkEntry { .. }
            | Change::MergeQueue { .. }
            | Change::Candidate { .. }
            | Change::MergeSettings { .. }
            | Change::Landing { .. }
            | Change::LandingSettings { .. }
            | Change::Recipe { .. }
            | Change::Profiles { .. }
            | Change::Execution { .. }
            | Change::Schedule { .. }
            | Change::ScheduleRemoved { .. }
            | Change::WorkSettings { .. } => {}
            Change::ExecutionGone { .. } | Change::Unknown => panic!("nobody is told this by the store"),
            Change::Message { message, .. } => drop(self.messages.insert(message.id, message)),
            Change::Unread { unread } => {
                if let Some(user) = audience {
                    self.reads.insert((user, unread.project), unread.read);
                } else {
                    self.unreads.insert(unread.project, unread);
                }
            }
        }
    }

    fn forget(&mut self, project: ProjectId) {
        self.projects.remove(&project);
        self.activities.retain(|_, activity| activity.project != project);
        self.workspaces.retain(|_, workspace| workspace.project != project);
        self.sessions.retain(|_, session| session.project != project);
        self.messages.retain(|_, message| message.project != project);
        self.reads.retain(|(_, read), _| *read != project);
    }
}

fn facts(project: &Project) -> ProjectFacts {
    ProjectFacts {
        id: project.id,
        owner: project.owner.id,
        visibility: project.visibility,
        share_execution: project.share_execution,
    }
}
