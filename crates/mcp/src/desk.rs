//! One caller's place: the way to the hub, what is known without being told, and the tasks in hand.

use std::sync::Arc;
use std::time::Duration;

use domain::{ActivityId, EscalationId, ProjectId, ReportId, SessionId, TaskId, TaskStatus};
use parking_lot::Mutex;
use protocol::{Call, TakenTask, Task, TaskDetail, TaskFilter, TaskLine, TaskRelease};

use crate::keeper::{Keeper, Pulse};
use crate::trouble::Trouble;
use crate::verbs::{Verbs, ask};

/// What is known about a caller without being told.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The project that is meant when none is named: an id or a name.
    pub project: Option<String>,
    /// The activity that is meant when none is named.
    pub activity: Option<ActivityId>,
    /// The session whose agent calls.
    pub session: Option<SessionId>,
    /// The task that the session was spawned for.
    pub task: Option<TaskId>,
    /// The fence of the lease that it was spawned under.
    pub fence: Option<u64>,
    /// What the worker is called when it gives no name.
    pub worker: Option<String>,
    /// How long a silent caller's leases are renewed; for ever when absent, because the connection is a sign of life.
    pub grace: Option<Duration>,
}

/// One caller's place.
pub struct Desk {
    pub(crate) verbs: Arc<dyn Verbs>,
    pub(crate) settings: Settings,
    pub(crate) pulse: Arc<Pulse>,
    held: Mutex<Vec<Held>>,
    pub(crate) only_project: Mutex<Option<ProjectId>>,
}

/// A task in hand.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) hold: Hold,
    /// Which of the caller's workers has it.
    pub(crate) worker: Option<String>,
    /// What was said when it was taken.
    pub(crate) answer: serde_json::Value,
    /// Questions that have not been answered yet.
    pub(crate) asked: Vec<EscalationId>,
    /// The report whose verdict has not been told yet.
    pub(crate) handed_in: Option<ReportId>,
    /// Renews the lease; absent where somebody else does.
    keeper: Option<Keeper>,
}

/// What must be named to write about a task.
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
    /// A place with nothing in hand.
    pub fn new(verbs: Arc<dyn Verbs>, settings: Settings) -> Self {
        let pulse = Arc::new(Pulse::new(settings.grace));
        Self { verbs, settings, pulse, held: Mutex::default(), only_project: Mutex::default() }
    }

    /// How long nobody has called.
    pub fn silent_for(&self) -> Duration {
        self.pulse.silent_for()
    }

    /// Whether no task is in hand.
    pub fn is_empty(&self) -> bool {
        self.held.lock().is_empty()
    }

    /// Gives back what was taken here and not finished.
    pub async fn release_all(&self, reason: &str) {
        let held = std::mem::take(&mut *self.held.lock());
        for held in held.into_iter().filter(|held| held.keeper.is_some()) {
            let Hold { task, fence, .. } = held.hold;
            let input = TaskRelease { fence, reason: Some(reason.to_owned()) };
            // A report that is being checked is not given back; the hub says so, and that is right.
            if let Err(problem) = self.verbs.run(Call::TaskRelease { task, input }).await {
                tracing::debug!(%task, problem = problem.detail, "not given back");
            }
        }
    }

    /// Remembers a task that was taken, and renews its lease from now on.
    pub(crate) fn keep(&self, taken: &TakenTask, worker: Option<String>, answer: serde_json::Value) {
        let hold = Hold { task: taken.task.id, fence: taken.lease.fence, activity: taken.task.activity };
        // A task that a session was spawned for is renewed by the hub while the session lives.
        let spawned_for = self.settings.session.is_some() && taken.task.session == self.settings.session;
        let every = Duration::from_secs(u64::from(taken.heartbeat_seconds.max(1)));
        let start = || Keeper::start(self.verbs.clone(), self.pulse.clone(), hold.task, hold.fence, every);
        let keeper = (!spawned_for).then(start);
        let mut all = self.held.lock();
        // A worker has one task: what it handed in before does not come back to it.
        all.retain(|held| held.hold.task != hold.task && held.worker != worker);
        all.push(Held { hold, worker, answer, asked: Vec::new(), handed_in: None, keeper });
    }

    /// Forgets a task that is not in hand any more.
    pub(crate) fn forget(&self, task: TaskId) {
        self.held.lock().retain(|held| held.hold.task != task);
    }

    /// Forgets an earlier hold on a task, unless it has been renewed by taking the task again.
    pub(crate) fn forget_hold(&self, hold: Hold) {
        self.held.lock().retain(|held| held.hold.task != hold.task || held.hold.fence != hold.fence);
    }

    /// Changes what is remembered about a task in hand.
    pub(crate) fn with<T>(&self, task: TaskId, change: impl FnOnce(&mut Held) -> T) -> Option<T> {
        self.held.lock().iter_mut().find(|held| held.hold.task == task).map(change)
    }

    /// The task that this worker has already, with what was said when it was taken.
    pub(crate) fn in_hand(&self, worker: Option<&str>) -> Option<(Hold, serde_json::Value)> {
        let held = self.held.lock();
        held.iter().find(|held| held.worker.as_deref() == worker).map(|held| (held.hold, held.answer.clone()))
    }

    /// The activity of the task in hand, if there is one.
    pub(crate) fn activity(&self) -> Option<ActivityId> {
        self.settings.activity.or_else(|| self.held.lock().last().and_then(|held| held.hold.activity))
    }

    /// What a call about a task means: what it names, else what is remembered, else the task of the session.
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

    /// The task that the caller's session works on, under the lease that it was handed out with.
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
        // Only the session that it was handed to may use the lease: another one has got the task since, otherwise.
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

/// Whether a task is still held under a fence, also while its report is checked: there is no lease then.
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
