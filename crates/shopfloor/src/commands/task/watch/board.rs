//! The followed tasks as a state; knows no terminal and makes no requests.

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::{ProjectId, TaskId, TaskStatus, Timestamp, WorkerId};
use protocol::{Change, TaskFilter, TaskLine, Worker};

use crate::commands::task::nobody::Nobody;
use crate::commands::words;

/// The followed tasks.
#[derive(Debug, Default)]
pub(crate) struct Board {
    filter: TaskFilter,
    tasks: BTreeMap<TaskId, TaskLine>,
    workers: HashMap<WorkerId, Worker>,
    loaded: bool,
}

/// A changed task, and its status before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) before: Option<TaskStatus>,
    pub(crate) task: TaskLine,
}

/// How following ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All tasks are done.
    Done,
    /// Some failed, or wait for a failed one.
    Failed { failed: usize, blocked: usize },
}

impl Board {
    pub(crate) fn new(filter: TaskFilter) -> Self {
        Self { filter, ..Self::default() }
    }

    /// The hub will send a full sync.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(std::mem::take(&mut self.filter));
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// Loads all tasks.
    pub(crate) fn load(&mut self, tasks: Vec<TaskLine>) {
        self.tasks = tasks.into_iter().map(|task| (task.id, task)).collect();
        self.loaded = true;
    }

    /// Stores the workers.
    pub(crate) fn learn(&mut self, change: &Change) {
        match change {
            Change::Workers { workers } => {
                self.workers.extend(workers.iter().map(|worker| (worker.id, worker.clone())));
            }
            Change::WorkerGone { worker } => {
                self.workers.remove(worker);
            }
            _ => {}
        }
    }

    /// Applies a change; returns the tasks that differ now.
    pub(crate) fn apply(&mut self, change: &Change) -> Vec<Moved> {
        self.learn(change);
        let Change::Tasks { tasks } = change else { return Vec::new() };
        // Before the tasks are loaded there is nothing to compare with, and the load will contain the change.
        if !self.loaded {
            return Vec::new();
        }
        tasks.iter().filter_map(|task| self.put(task)).collect()
    }

    fn put(&mut self, task: &TaskLine) -> Option<Moved> {
        let before = self.tasks.get(&task.id);
        // The load may be newer than the change; a change may arrive twice.
        if before.map_or_else(|| !self.wanted(task), |before| before.updated_at > task.updated_at || before == task) {
            return None;
        }
        let before = self.tasks.insert(task.id, task.clone()).map(|task| task.status);
        Some(Moved { before, task: task.clone() })
    }

    fn wanted(&self, task: &TaskLine) -> bool {
        let TaskFilter { project, activity, worker, .. } = &self.filter;
        project.is_none_or(|project| project == task.project)
            && (activity.is_none() || *activity == task.activity)
            && (worker.is_none() || *worker == task.assigned_to)
    }

    /// How many tasks have a status.
    pub(crate) fn count(&self, status: TaskStatus) -> usize {
        self.tasks.values().filter(|task| task.status == status).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Held tasks with their workers.
    pub(crate) fn held(&self) -> impl Iterator<Item = (&TaskLine, Option<&Worker>)> {
        let held = self.tasks.values().filter(|task| task.status.is_held());
        held.map(|task| (task, task.assigned_to.and_then(|worker| self.workers.get(&worker))))
    }

    /// A summary in one line.
    pub(crate) fn summary(&self) -> String {
        let counts = TaskStatus::ALL.iter().map(|status| (status, self.count(*status))).filter(|(_, count)| *count > 0);
        let counts: Vec<String> =
            counts.map(|(status, count)| format!("{} {count} {status}", words::sign(*status))).collect();
        match self.tasks.len() {
            0 => "no tasks".to_owned(),
            all => format!("{}: {}", words::counted(all, "task", "tasks"), counts.join(", ")),
        }
    }

    /// How following ended, once no task can change by itself.
    pub(crate) fn end(&self) -> Option<End> {
        if !self.loaded {
            return None;
        }
        let (mut failed, mut blocked, mut stopped) = (0, 0, Vec::new());
        for task in self.tasks.values() {
            match task.status {
                TaskStatus::Done => {}
                TaskStatus::Cancelled => stopped.push(task.id),
                TaskStatus::Failed => {
                    failed += 1;
                    stopped.push(task.id);
                }
                TaskStatus::Blocked => blocked += 1,
                _ => return None,
            }
        }
        if blocked > 0 && self.dependants(stopped) < blocked {
            return None;
        }
        Some(if failed + blocked > 0 { End::Failed { failed, blocked } } else { End::Done })
    }

    /// Why nothing moves while no worker works: open questions, and ready tasks without a free worker.
    pub(crate) fn stands(&self, now: Timestamp) -> Option<String> {
        let taken = self.tasks.values().any(|task| task.status.is_held());
        let mut known: HashMap<ProjectId, Option<Nobody>> = HashMap::new();
        let mut nobody = |project: ProjectId| {
            let of = || Nobody::of(project, self.workers.values(), now).filter(|nobody| nobody.stands());
            known.entry(project).or_insert_with(of).map(|nobody| nobody.to_string())
        };
        let why = |task: &TaskLine| task.reason.clone().or_else(|| nobody(task.project));
        let ready: Vec<Option<String>> =
            self.tasks.values().filter(|task| task.status == TaskStatus::Ready).map(why).collect();
        // A task without a reason is about to be assigned.
        if !self.loaded || taken || ready.iter().any(Option::is_none) {
            return None;
        }
        let mut parts = Vec::new();
        let asked = self.count(TaskStatus::Escalated);
        if asked > 0 {
            let tasks = words::counted(asked, "task waits", "tasks wait");
            parts.push(format!("{tasks} for a person's answer (`shopfloor escalation list`)"));
        }
        if let Some(Some(why)) = ready.first() {
            let tasks = words::counted(ready.len(), "ready task has", "ready tasks have");
            parts.push(format!("{tasks} no free worker: {why}"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// How many blocked tasks wait, directly or indirectly, for one of these.
    fn dependants(&self, stopped: Vec<TaskId>) -> usize {
        let mut waiting: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for task in self.tasks.values().filter(|task| task.status == TaskStatus::Blocked) {
            task.deps.iter().for_each(|dep| waiting.entry(*dep).or_default().push(task.id));
        }
        let (mut seen, mut open) = (HashSet::new(), stopped);
        while let Some(task) = open.pop() {
            let next = waiting.get(&task).into_iter().flatten();
            open.extend(next.filter(|next| seen.insert(**next)).copied());
        }
        seen.len()
    }
}

/// A task for tests.
#[cfg(test)]
pub(crate) fn sample(title: &str, status: TaskStatus, deps: &[TaskId]) -> TaskLine {
    let at = domain::Timestamp::from_millis(1_794_774_000_000);
    TaskLine {
        id: TaskId::generate(),
        short: "CALC-1".to_owned(),
        project: "prj_00000000000000000000000000000001".parse().unwrap(),
        activity: None,
        title: title.to_owned(),
        status,
        reason: None,
        priority: 5,
        labels: Vec::new(),
        needs: Vec::new(),
        attempt: 0,
        assigned_to: None,
        session: None,
        progress: None,
        deps: deps.to_vec(),
        waits_for: u32::try_from(deps.len()).unwrap(),
        created_at: at,
        updated_at: at,
    }
}

/// A worker of the same project, for tests.
#[cfg(test)]
pub(crate) fn sample_worker(name: &str, status: domain::WorkerStatus) -> Worker {
    Worker {
        id: WorkerId::generate(),
        project: "prj_00000000000000000000000000000001".parse().unwrap(),
        owner: protocol::UserRef { id: domain::UserId::generate(), name: "ann".into() },
        name: name.to_owned(),
        kind: domain::WorkerKind::Managed,
        runner: None,
        agent: "codex".into(),
        model: None,
        role: None,
        abilities: Vec::new(),
        colour: 0,
        status,
        reason: None,
        until: None,
        task: None,
        session: None,
        queue: Vec::new(),
        failures: 0,
        done: 0,
        failed: 0,
        usage: protocol::Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None },
        budget_micros: None,
        handoff_after_micros: None,
        context_score: None,
        seen_at: None,
        created_at: domain::Timestamp::from_millis(1_794_774_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::WorkerStatus;

    fn board(tasks: &[TaskLine]) -> Board {
        let mut board = Board::new(TaskFilter::default());
        board.load(tasks.to_vec());
        board
    }

    fn change(task: &TaskLine, status: TaskStatus, later: i64) -> Change {
        let updated_at = task.updated_at.plus_millis(later);
        Change::Tasks { tasks: vec![TaskLine { status, updated_at, ..task.clone() }] }
    }

    #[test]
    fn a_board_takes_changes_in_once_and_in_their_order() {
        let task = sample("a", TaskStatus::Ready, &[]);
        let mut board = board(std::slice::from_ref(&task));
        let running = change(&task, TaskStatus::Running, 2);
        let moved = board.apply(&running);
        assert_eq!((moved.len(), moved[0].before), (1, Some(TaskStatus::Ready)));
        assert_eq!(board.apply(&running), [], "it may come twice");
        assert_eq!(board.apply(&change(&task, TaskStatus::Assigned, 1)), [], "and late");
        assert_eq!(board.summary(), "1 task: ◑ 1 running");
        let other = TaskLine { project: domain::ProjectId::generate(), ..sample("b", TaskStatus::Ready, &[]) };
        let mut scoped = Board::new(TaskFilter { project: Some(task.project), ..TaskFilter::default() });
        scoped.load(vec![task]);
        assert_eq!(scoped.apply(&Change::Tasks { tasks: vec![other] }), [], "a task of another project");
    }

    #[test]
    fn a_tasks_worker_is_known_until_it_is_removed() {
        let workers = ["anvil", "bellows"].map(|name| sample_worker(name, WorkerStatus::Working));
        let task = |worker: &Worker| TaskLine {
            assigned_to: Some(worker.id),
            ..sample(&worker.name, TaskStatus::Running, &[])
        };
        let mut board = board(&workers.each_ref().map(task));
        let names = |board: &Board| {
            let mut names: Vec<_> =
                board.held().map(|(task, by)| (task.title.clone(), by.map(|by| by.name.clone()))).collect();
            names.sort();
            names
        };
        board.learn(&Change::Workers { workers: workers.to_vec() });
        let both = ["anvil", "bellows"].map(|name| (name.to_owned(), Some(name.to_owned())));
        assert_eq!(names(&board), both);
        board.learn(&Change::WorkerGone { worker: workers[0].id });
        assert_eq!(names(&board), [("anvil".to_owned(), None), both[1].clone()]);
    }

    #[test]
    fn the_reason_for_waiting_is_shown_when_no_worker_works() {
        use TaskStatus as S;
        let now = domain::Timestamp::from_millis(1_794_774_000_000);
        let stands = |tasks: &[TaskLine]| {
            let mut board = board(tasks);
            board.learn(&Change::Workers { workers: vec![sample_worker("anvil", WorkerStatus::Idle)] });
            board.stands(now)
        };
        let asked = sample("a", S::Escalated, &[]);
        let waits = sample("b", S::Blocked, &[asked.id]);
        let both = [asked.clone(), waits];
        assert_eq!(stands(&both).unwrap(), "1 task waits for a person's answer (`shopfloor escalation list`)");
        let why = Some("no worker has `gpu`".to_owned());
        let nobody = TaskLine { reason: why, ..sample("c", S::Ready, &[]) };
        let said = stands(&[asked.clone(), nobody]).unwrap();
        assert!(said.ends_with("; 1 ready task has no free worker: no worker has `gpu`"), "{said}");
        assert_eq!(stands(&[asked.clone(), sample("d", S::Ready, &[])]), None, "it is about to be assigned");
        let said = board(&[sample("d", S::Ready, &[])]).stands(now).unwrap();
        assert!(said.contains("no worker: start one with"), "{said}");
        assert_eq!(stands(&[asked, sample("e", S::Running, &[])]), None);
        assert_eq!(stands(&[sample("f", S::Done, &[])]), None);
    }

    #[test]
    fn it_ends_when_no_task_can_make_progress() {
        use TaskStatus as S;
        let end = |tasks: &[TaskLine]| board(tasks).end();
        assert_eq!(Board::new(TaskFilter::default()).end(), None, "nothing is loaded yet");
        assert_eq!(end(&[]), Some(End::Done));
        assert_eq!(end(&[sample("a", S::Done, &[]), sample("b", S::Cancelled, &[])]), Some(End::Done));
        for moving in [S::Ready, S::Assigned, S::Running, S::Reported, S::Validating, S::Escalated] {
            assert_eq!(end(&[sample("a", S::Failed, &[]), sample("b", moving, &[])]), None, "{moving}");
        }
        let failed = sample("a", S::Failed, &[]);
        let waits = sample("b", S::Blocked, &[failed.id]);
        let waits_too = sample("c", S::Blocked, &[waits.id]);
        let all = [failed, waits, waits_too];
        assert_eq!(end(&all), Some(End::Failed { failed: 1, blocked: 2 }));
        assert_eq!(end(&[sample("a", S::Blocked, &[TaskId::generate()])]), None, "its dependency may still finish");
    }
}
