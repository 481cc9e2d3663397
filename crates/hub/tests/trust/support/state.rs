//! A client's state, from nothing but the hub's frames.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use domain::{
    ActivityId, ApprovalId, EscalationId, ExecutionId, HubId, ProjectId, RunnerId, ScheduleId, Seq, SessionId, UserId,
    WorkerId, WorkspaceId,
};
use protocol::{
    Activity, Approval, Change, Delta, Escalation, Execution, FromHub, Project, Runner, Schedule, Session, User,
    UserRef, WorkSettings, Worker, Workspace,
};

/// What a client knows, and from where it resumes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) users: BTreeMap<UserId, User>,
    pub(crate) runners: BTreeMap<RunnerId, Runner>,
    pub(crate) projects: BTreeMap<ProjectId, Project>,
    pub(crate) activities: BTreeMap<ActivityId, Activity>,
    pub(crate) workspaces: BTreeMap<WorkspaceId, Workspace>,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    pub(crate) workers: BTreeMap<WorkerId, Worker>,
    pub(crate) escalations: BTreeMap<EscalationId, Escalation>,
    pub(crate) approvals: BTreeMap<ApprovalId, Approval>,
    pub(crate) settings: BTreeMap<ProjectId, WorkSettings>,
    pub(crate) handoffs: BTreeMap<domain::HandoffId, protocol::Handoff>,
    pub(crate) landings: BTreeMap<domain::LandingId, protocol::Landing>,
    pub(crate) landing_settings: BTreeMap<ProjectId, protocol::LandingSettings>,
    pub(crate) executions: BTreeMap<ExecutionId, Execution>,
    pub(crate) schedules: BTreeMap<ScheduleId, Schedule>,
    pub(crate) read: BTreeMap<ProjectId, u32>,
}

/// A client that applies frames as `docs/protocol.md` says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Follower {
    pub(crate) state: State,
    pub(crate) seen: Option<(HubId, Seq)>,
    hub: Option<HubId>,
    me: Option<UserId>,
    staging: State,
}

impl Follower {
    /// Applies one frame.
    pub(crate) fn apply(&mut self, frame: &FromHub) {
        match frame {
            FromHub::Welcome { hub, me, .. } => {
                self.hub = Some(*hub);
                self.me = me.user.as_ref().map(|user| user.id);
            }
            FromHub::Sync { seq, part, last, changes } => {
                if *part == 0 {
                    self.staging = State::default();
                }
                changes.iter().for_each(|change| self.staging.apply(change, self.me));
                if *last {
                    self.state = std::mem::take(&mut self.staging);
                    self.reached(*seq);
                }
            }
            FromHub::Delta(Delta { seq, change, .. }) => {
                self.state.apply(change, self.me);
                self.reached(*seq);
            }
            FromHub::Live { seq } => self.reached(*seq),
            FromHub::Answer { .. }
            | FromHub::Error { .. }
            | FromHub::Presence { .. }
            | FromHub::Watching { .. }
            | FromHub::Unwatched { .. } => {}
        }
    }

    fn reached(&mut self, seq: Seq) {
        let before = self.seen.map_or(Seq(0), |(_, seq)| seq);
        self.seen = self.hub.map(|hub| (hub, seq.max(before)));
    }
}

impl State {
    /// What differs from another client's state, a line each.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        fn between<K: Ord + Debug, V: PartialEq + Debug>(
            ours: &BTreeMap<K, V>,
            theirs: &BTreeMap<K, V>,
        ) -> Vec<String> {
            let keys: BTreeSet<&K> = ours.keys().chain(theirs.keys()).collect();
            let differing = keys.into_iter().filter(|key| ours.get(key) != theirs.get(key));
            differing.map(|key| format!("{key:?}: {:?} is not {:?}", ours.get(key), theirs.get(key))).collect()
        }
        [
            between(&self.users, &other.users),
            between(&self.runners, &other.runners),
            between(&self.projects, &other.projects),
            between(&self.activities, &other.activities),
            between(&self.workspaces, &other.workspaces),
            between(&self.sessions, &other.sessions),
            between(&self.workers, &other.workers),
            between(&self.escalations, &other.escalations),
            between(&self.approvals, &other.approvals),
            between(&self.settings, &other.settings),
            between(&self.handoffs, &other.handoffs),
            between(&self.landings, &other.landings),
            between(&self.landing_settings, &other.landing_settings),
            between(&self.executions, &other.executions),
            between(&self.schedules, &other.schedules),
            between(&self.read, &other.read),
        ]
        .concat()
    }

    fn apply(&mut self, change: &Change, me: Option<UserId>) {
        match change {
            Change::User { user } => {
                // Presence is the truth about who is here.
                let user = User { connected: false, last_seen_at: None, ..user.clone() };
                self.users.insert(user.id, user);
            }
            Change::UserGone { user } => {
                self.users.remove(user);
            }
            Change::Runner { runner } => {
                let owner = nameless(&runner.owner);
                let runner = Runner { connected: false, last_seen_at: None, owner, ..runner.clone() };
                self.runners.insert(runner.id, runner);
            }
            Change::RunnerGone { runner } => {
                self.runners.remove(runner);
            }
            Change::Project { project } => {
                let project = Project { owner: nameless(&project.owner), ..project.clone() };
                self.projects.insert(project.id, project);
            }
            Change::ProjectGone { project } => {
                self.projects.remove(project);
                self.read.remove(project);
                self.activities.retain(|_, activity| activity.project != *project);
                self.workspaces.retain(|_, workspace| workspace.project != *project);
                self.sessions.retain(|_, session| session.project != *project);
                self.workers.retain(|_, worker| worker.project != *project);
                self.approvals.retain(|_, approval| approval.project != *project);
                self.escalations.retain(|_, escalation| escalation.project != *project);
                self.settings.remove(project);
                self.handoffs.retain(|_, handoff| handoff.project != *project);
                self.landings.retain(|_, landing| landing.project != *project);
                self.landing_settings.remove(project);
                self.executions.retain(|_, execution| execution.project != *project);
                self.schedules.retain(|_, schedule| schedule.project != *project);
            }
            Change::Workers { workers } => {
                for worker in workers {
                    // Signs of life are not announced.
                    let worker = Worker { owner: nameless(&worker.owner), seen_at: None, ..worker.clone() };
                    self.workers.insert(worker.id, worker);
                }
            }
            Change::WorkerGone { worker } => drop(self.workers.remove(worker)),
            Change::Escalation { escalation } => {
                // What was answered is left to lists.
                match escalation.answered_at {
                    Some(_) => drop(self.escalations.remove(&escalation.id)),
                    None => drop(self.escalations.insert(escalation.id, escalation.clone())),
                }
            }
            Change::Approval { approval } => match approval.answer {
                Some(_) => drop(self.approvals.remove(&approval.id)),
                None => drop(self.approvals.insert(approval.id, approval.clone())),
            },
            Change::WorkSettings { project, settings } => drop(self.settings.insert(*project, settings.clone())),
            Change::Handoff { handoff } => drop(self.handoffs.insert(handoff.id, handoff.clone())),
            Change::Landing { landing } => drop(self.landings.insert(landing.id, landing.clone())),
            Change::LandingSettings { project, settings } => {
                drop(self.landing_settings.insert(*project, settings.clone()));
            }
            Change::Tasks { .. } | Change::WorkEntry { .. } | Change::Review { .. } => {}
            Change::Overlap { .. } | Change::Reservation { .. } => {}
            Change::Execution { execution } => drop(self.executions.insert(execution.id, execution.clone())),
            Change::Schedule { schedule } => {
                // Times that are still to come pass.
                let schedule = Schedule { next: Vec::new(), ..schedule.clone() };
                self.schedules.insert(schedule.id, schedule);
            }
            Change::ScheduleRemoved { schedule } => drop(self.schedules.remove(schedule)),
            // Pages ask for merge queues, recipes and profiles when they show them.
            Change::Recipe { .. } | Change::Profiles { .. } => {}
            // A queue that came to rest is not in the sync: the two states differ then.
            Change::MergeQueue { .. } | Change::Candidate { .. } | Change::MergeSettings { .. } => {}
            Change::Unknown => panic!("a hub tells only what it knows"),
            Change::Workspace { workspace } => {
                let workspace = Workspace { owner: nameless(&workspace.owner), ..workspace.clone() };
                self.workspaces.insert(workspace.id, workspace);
            }
            Change::Session { session } => {
                let session = Session { owner: nameless(&session.owner), ..session.clone() };
                self.sessions.insert(session.id, session);
            }
            Change::ExecutionGone { project } => {
                let stays = |of: &ProjectId, owner: UserId| of != project || Some(owner) == me;
                self.workspaces.retain(|_, workspace| stays(&workspace.project, workspace.owner.id));
                self.sessions.retain(|_, session| stays(&session.project, session.owner.id));
            }
            Change::Activity { activity } => {
                let activity = Activity { owner: nameless(&activity.owner), ..activity.clone() };
                self.activities.insert(activity.id, activity);
            }
            Change::Unread { unread } => {
                // A chat that nobody has read in yet is not announced; it is read up to 0.
                match unread.read {
                    0 => self.read.remove(&unread.project),
                    read => self.read.insert(unread.project, read),
                };
            }
            Change::Message { .. } => {}
        }
    }
}

/// A reference holds the name of when it was written: the newest is with the user.
fn nameless(reference: &UserRef) -> UserRef {
    UserRef { id: reference.id, name: String::new() }
}
