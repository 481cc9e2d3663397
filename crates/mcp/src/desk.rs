//! One caller's state: its connection to the hub, its defaults, and the tasks that it holds.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use domain::{ActivityId, EscalationId, OverlapId, ProjectId, ReportId, SessionId, TaskId, TaskStatus};
use parking_lot::Mutex;
use protocol::{Call, TakenTask, Task, TaskDetail, TaskFilter, TaskLine, TaskRelease};

use crate::keeper::{Keeper, Pulse};
use crate::trouble::Trouble;
use crate::verbs::{Verbs, ask};

/// A caller's defaults.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The default project: an id or a name.
    pub project: Option<String>,
    /// The default activity.
    pub activity: Option<ActivityId>,
    /// The session of the calling agent.
    pub session: Option<SessionId>,
    /// The task that the session was spawned for.
    pub task: Option<TaskId>,
    /// The fence of that task's lease.
    pub fence: Option<u64>,
    /// The worker's default name.
    pub worker: Option<String>,
    /// How long to renew a silent caller's leases; `None`: as long as it is connected.
    pub grace: Option<Duration>,
}

/// One caller's state.
pub struct Desk {
    pub(crate) verbs: Arc<dyn Verbs>,
    pub(crate) settings: Settings,
    pub(crate) pulse: Arc<Pulse>,
    held: Mutex<Vec<Held>>,
    pub(crate) only_project: Mutex<Option<ProjectId>>,
    /// How often each task was edited, as far as the caller knows.
    pub(crate) edits: Mutex<HashMap<TaskId, u32>>,
    /// The overlaps with other work that the caller was told of.
    pub(crate) conflicts: Mutex<HashSet<OverlapId>>,
}

/// A held task.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) hold: Hold,
    /// The caller's worker that holds it.
    pub(crate) worker: Option<String>,
    /// The answer to `take_task`.
    pub(crate) answer: serde_json::Value,
    /// Unanswered questions.
    pub(crate) asked: Vec<EscalationId>,
    /// The report without a known verdict.
    pub(crate) handed_in: Option<ReportId>,
    /// Renews the lease; `None` if the hub does.
    keeper: Option<Keeper>,
}

/// What every write about a task must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) task: TaskId,
    pub(crate) fence: u64,
    pub(crate) activity: Option<ActivityId>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").field("settings", &self.settings).field("held", &self.held).finish_non_exhaustive()
    }
}

impl Desk {
    /// A state without tasks.
    pub fn new(verbs: Arc<dyn Verbs>, settings: Settings) -> Self {
        let pulse = Arc::new(Pulse::new(settings.grace));
        let (held, only_project, edits, conflicts) = Default::default();
        Self { verbs, settings, pulse, held, only_project, edits, conflicts }
    }

    /// The time since the last call.
    pub fn silent_for(&self) -> Duration {
        self.pulse.silent_for()
    }

    /// Whether no task is held.
    pub fn is_empty(&self) -> bool {
        self.held.lock().is_empty()
    }

    /// Returns the unfinished tasks that were taken here.
    pub async fn release_all(&self, reason: &str) {
        let held = std::mem::take(&mut *self.held.lock());
        for held in held.into_iter().filter(|held| held.keeper.is_some()) {
            let Hold { task, fence, .. } = held.hold;
            let input = TaskRelease { fence, reason: Some(reason.to_owned()) };
            // The hub refuses to release a task whose report is being checked, and that is right.
            if let Err(problem) = self.verbs.run(Call::TaskRelease { task, input }).await {
                tracing::debug!(%task, problem = problem.detail, "not released");
            }
        }
    }

    /// Stores a taken task and starts renewing its lease.
    pub(crate) fn keep(&self, taken: &TakenTask, worker: Option<String>, answer: serde_json::Value) {
        let hold = Hold { task: taken.task.id, fence: taken.lease.fence, activity: taken.task.activity };
        // The hub renews the lease of a session's own task while the session lives.
        let spawned_for = self.settings.session.is_some() && taken.task.session == self.settings.session;
        let every = Duration::from_secs(u64::from(taken.heartbeat_seconds.max(1)));
        let start = || Keeper::start(self.verbs.clone(), self.pulse.clone(), hold.task, hold.fence, every);
        let keeper = (!spawned_for).then(start);
        let mut all = self.held.lock();
        // A worker has one task: an earlier reported one does not return to it.
        all.retain(|held| held.hold.task != hold.task && held.worker != worker);
        all.push(Held { hold, worker, answer, asked: Vec::new(), handed_in: None, keeper });
        self.edits.lock().insert(hold.task, taken.lease.edits);
    }

    /// Forgets a task that is no longer held.
    pub(crate) fn forget(&self, task: TaskId) {
        self.held.lock().retain(|held| held.hold.task != task);
    }

    /// Forgets an earlier hold on a task, unless the task was taken again.
    pub(crate) fn forget_hold(&self, hold: Hold) {
        self.held.lock().retain(|held| held.hold.task != hold.task || held.hold.fence != hold.fence);
    }

    /// Changes the stored state of a held task.
    pub(crate) fn with<T>(&self, task: TaskId, change: impl FnOnce(&mut Held) -> T) -> Option<T> {
        self.held.lock().iter_mut().find(|held| held.hold.task == task).map(change)
    }

    /// The task that this worker already holds, with the answer to `take_task`.
    pub(crate) fn in_hand(&self, worker: Option<&str>) -> Option<(Hold, serde_json::Value)> {
        let held = self.held.lock();
        held.iter().find(|held| held.worker.as_deref() == worker).map(|held| (held.hold, held.answer.clone()))
    }

    /// The activity of the held task.
    pub(crate) fn activity(&self) -> Option<ActivityId> {
        self.settings.activity.or_else(|| self.held.lock().last().and_then(|held| held.hold.activity))
    }

    /// The task that a call is about: the named one, else the held one, else the session's.
    pub(crate) async fn hold(&self, task: Option<TaskId>, fence: Option<u64>) -> Result<Hold, Trouble> {
        if let (Some(task), Some(fence)) = (task, fence) {
            let activity = self.with(task, |held| held.hold.activity).flatten();
            return Ok(Hold { task, fence, activity });
        }
        let known: Vec<Hold> = {
            let held = self.held.lock();
            held.iter().map(|held| held.hold).filter(|hold| task.is_none_or(|task| task == hold.task)).collect()
        };
        match (known.as_slice(), task) {
            ([hold], _) => Ok(Hold { fence: fence.unwrap_or(hold.fence), ..*hold }),
            ([], _) => match self.of_session(task).await? {
                Some(hold) => Ok(hold),
                None => Err(nothing_held(task)),
            },
            (several, _) => {
                let ids: Vec<String> = several.iter().map(|hold| hold.task.to_string()).collect();
                Err(Trouble::new(format!("You hold several tasks: {}. Name one in `task`.", ids.join(", "))))
            }
        }
    }

    /// The task of the caller's session, under its original lease.
    async fn of_session(&self, task: Option<TaskId>) -> Result<Option<Hold>, Trouble> {
        let Some(session) = self.settings.session else { return Ok(None) };
        if let (Some(own), Some(fence)) = (self.settings.task, self.settings.fence)
            && task.is_none_or(|task| task == own)
        {
            return Ok(Some(Hold { task: own, fence, activity: self.settings.activity }));
        }
        let found = match task.or(self.settings.task) {
            Some(task) => Some(ask::<TaskDetail>(&*self.verbs, Call::TaskShow { task }).await?.task),
            None => self.search(session).await?,
        };
        // Only the session that got the lease may use it: otherwise the task has gone to another session.
        Ok(found.filter(|task| task.session == Some(session)).and_then(|task: Task| {
            let fence = task.lease.as_ref()?.fence;
            Some(Hold { task: task.id, fence, activity: task.activity })
        }))
    }

    async fn search(&self, session: SessionId) -> Result<Option<Task>, Trouble> {
        let project = crate::project::resolve(self, None).await?;
        for status in TaskStatus::ALL.iter().copied().filter(|status| status.is_held()) {
            let filter =
                TaskFilter { project: Some(project), status: Some(status), limit: Some(1000), ..TaskFilter::default() };
            let lines: Vec<TaskLine> = ask(&*self.verbs, Call::TaskList { filter }).await?;
            if let Some(line) = lines.into_iter().find(|line| line.session == Some(session)) {
                return Ok(Some(ask::<TaskDetail>(&*self.verbs, Call::TaskShow { task: line.id }).await?.task));
            }
        }
        Ok(None)
    }
}

/// Whether a task is still held under a fence, also while its report is checked and there is no lease.
pub(crate) fn held_under(detail: &TaskDetail, fence: u64) -> bool {
    detail.task.status.is_held() && detail.attempts.last().is_some_and(|attempt| attempt.fence == fence)
}

fn nothing_held(task: Option<TaskId>) -> Trouble {
    match task {
        Some(task) => Trouble::new(format!(
            "You do not hold {task}: it was never taken here, or it is finished. Call take_task with `task` set to it, \
             or give the `fence` that take_task answered earlier."
        )),
        None => Trouble::new(
            "You hold no task. Call take_task first; it answers with the task and what to do. If you took one before the \
             hub was restarted, give the `task` and `fence` that take_task answered.",
        ),
    }
}
