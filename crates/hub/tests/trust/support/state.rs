//! A client's state, from nothing but the hub's frames.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use domain::{ActivityId, HubId, ProjectId, RunnerId, Seq, UserId};
use protocol::{Activity, Change, Delta, FromHub, Project, Runner, User, UserRef};

/// What a client knows, and from where it resumes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) users: BTreeMap<UserId, User>,
    pub(crate) runners: BTreeMap<RunnerId, Runner>,
    pub(crate) projects: BTreeMap<ProjectId, Project>,
    pub(crate) activities: BTreeMap<ActivityId, Activity>,
    pub(crate) read: BTreeMap<ProjectId, u32>,
}

/// A client that applies frames as `docs/protocol.md` says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Follower {
    pub(crate) state: State,
    pub(crate) seen: Option<(HubId, Seq)>,
    hub: Option<HubId>,
    staging: State,
}

impl Follower {
    /// Applies one frame.
    pub(crate) fn apply(&mut self, frame: &FromHub) {
        match frame {
            FromHub::Welcome { hub, .. } => self.hub = Some(*hub),
            FromHub::Sync { seq, part, last, changes } => {
                if *part == 0 {
                    self.staging = State::default();
                }
                changes.iter().for_each(|change| self.staging.apply(change));
                if *last {
                    self.state = std::mem::take(&mut self.staging);
                    self.reached(*seq);
                }
            }
            FromHub::Delta(Delta { seq, change, .. }) => {
                self.state.apply(change);
                self.reached(*seq);
            }
            FromHub::Live { seq } => self.reached(*seq),
            FromHub::Answer { .. } | FromHub::Error { .. } | FromHub::Presence { .. } => {}
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
            between(&self.read, &other.read),
        ]
        .concat()
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::User { user } => {
                // Presence is the truth about who is here.
                let user = User { connected: false, last_seen_at: None, ..user.clone() };
                self.users.insert(user.id, user);
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
