//! Dispatch: assigns ready tasks to managed workers, in one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::{ProjectId, RunnerId, TaskId, TaskStatus, WorkerId, WorkerKind, WorkerStatus};
use engine::tasks::files::lists_overlap;
use engine::tasks::life::{Event, State};
use engine::workers::assign::{self, Lack, Plan, Ready, WhyNot, assign};
use engine::workers::decision::Decision;
use protocol::WorkSettings;
use serde::{Deserialize, Serialize};

use super::log::decided;
use super::moving::{self, Work};
use super::rows::{self, WorkerRow, get, put};
use super::{able, builds_on, launch, outage, settings, tend};
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::overlaps::{self, Changing, Reserved};
use crate::verbs::projects;
use crate::verbs::work::life::{self, step};
use crate::verbs::work::tasks::reach::{AHEAD, FAR};
use crate::verbs::work::tasks::row::TaskRow;
use crate::{Command, StoreError};

/// Assigns a project's ready tasks to its managed workers.
#[derive(Debug, Serialize)]
pub struct Dispatch {
    /// The project.
    pub project: ProjectId,
    /// The connected runners.
    #[serde(skip)]
    pub connected: Vec<RunnerId>,
    /// Runners with a link to the calling hub; lost workers on them return.
    #[serde(skip)]
    pub heard: Vec<RunnerId>,
}

/// Result of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatched {
    /// Number of assigned tasks.
    pub handed: u32,
}

impl Command for Dispatch {
    type Output = Dispatched;
    const VERB: &'static str = "work.dispatch";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Dispatched, StoreError> {
        if projects::facts_of(tx.read(), self.project).await?.is_none() {
            return Ok(Dispatched { handed: 0 });
        }
        let settings = tx.work_settings(self.project).await?;
        tend::tend(tx, self.project, &settings, &self.connected, &self.heard).await?;
        let slots = rows::of(tx, Some(self.project)).await?;
        let able = able::able(tx, self.project, &settings, &slots, &self.connected).await?;
        let handed = Round { settings, slots, able, connected: &self.connected }.run(tx, self.project).await?;
        Ok(Dispatched { handed })
    }
}

/// One round of assignments.
struct Round<'a> {
    settings: WorkSettings,
    slots: Vec<WorkerRow>,
    able: able::Able,
    connected: &'a [RunnerId],
}

impl Round<'_> {
    async fn run(mut self, tx: &mut Tx<'_>, project: ProjectId) -> Result<u32, StoreError> {
        let stealing = self.settings.strategy == domain::AssignStrategy::Stealing;
        let waiting = self.queues(tx, stealing).await?;
        let queued: BTreeSet<TaskId> = waiting.values().flatten().map(|task| task.id).collect();
        let mut ready = tx.ready(project, AHEAD).await?;
        if ready.len() == AHEAD && !ready.iter().any(|task| self.suits_somebody(task)) {
            // Tasks that no present worker can do must not block later ones.
            ready = tx.ready(project, FAR).await?;
        }
        ready.retain(|task| !queued.contains(&task.id));
        self.leave_out_of_reach(tx, &mut ready).await?;
        let known: HashMap<TaskId, TaskRow> =
            ready.iter().chain(waiting.values().flatten()).map(|task| (task.id, task.clone())).collect();
        if known.is_empty() {
            return Ok(0);
        }
        let now = tx.now;
        let reserved = overlaps::reserved(tx.read(), project, now).await?;
        let mut given = Vec::new();
        let workers: Vec<assign::Worker> = self
            .slots
            .iter()
            .map(|slot| {
                let mut queue: Vec<Ready> = waiting[&slot.id].iter().map(|task| self.wish(task, &reserved)).collect();
                let outside = slot.kind == WorkerKind::External;
                // An external worker takes tasks itself: nothing is assigned to it or queued for it.
                let later = self.able.alive.contains(&slot.id) && !(outside && stealing);
                let takes = self.takes(slot) || later;
                let mut busy = slot.task.is_some() || outside;
                // A worker with queued tasks starts with the first of them.
                if !busy && takes && !queue.is_empty() {
                    given.push((queue.remove(0).id, slot.id));
                    busy = true;
                }
                let abilities = slot.abilities.iter().cloned().collect();
                let done = u64::from(slot.done) + u64::from(slot.failed);
                assign::Worker { id: slot.id, abilities, takes, busy, queue, done }
            })
            .collect();
        let mut running = tx.running_files(project).await?;
        let changing = overlaps::changing(tx.read(), project).await?;
        running.extend(changing.iter().map(|work| work.paths.clone()));
        let wishes: Vec<Ready> = ready.iter().map(|task| self.wish(task, &reserved)).collect();
        let turn = settings::turn(tx.read(), project).await?;
        let mut plan = assign(strategy(self.settings.strategy), turn, &wishes, &workers, &running);
        given.append(&mut plan.given);
        given.extend(plan.stolen.iter().map(|steal| (steal.task, steal.to)));
        if plan.turn != turn {
            settings::ensure(tx, project).await?;
            let sql = "UPDATE work_settings SET turn = $1 WHERE project = $2";
            tx.run(sql, args![plan.turn % (1 << 32), project.to_string()]).await?;
        }
        self.requeue(tx, &waiting, &plan, &given).await?;
        let handed = u32::try_from(given.len()).unwrap_or(u32::MAX);
        for (task, worker) in given {
            self.hand(tx, task, worker).await?;
        }
        let changing = self.elsewhere(tx, project, changing).await?;
        self.explain(tx, &known, plan.left, &changing, &reserved).await?;
        Ok(handed)
    }

    /// Leaves tasks in the queue whose accepted dependencies are on runners that are away.
    async fn leave_out_of_reach(&self, tx: &mut Tx<'_>, ready: &mut Vec<TaskRow>) -> Result<(), StoreError> {
        let building: Vec<TaskId> = ready.iter().filter(|task| !task.deps.is_empty()).map(|task| task.id).collect();
        for (id, why) in builds_on::out_of_reach(tx, &building, self.connected).await? {
            ready.retain(|task| task.id != id);
            let (task, unassigned) = (tx.known_task(id).await?, Some(format!("no worker can take it: {why}")));
            if task.state != (State::Ready { unassigned: unassigned.clone() }) {
                step(tx, task, Event::Pass { unassigned }).await?;
            }
        }
        Ok(())
    }

    /// Whether a free worker can do this task.
    fn suits_somebody(&self, task: &TaskRow) -> bool {
        self.slots.iter().any(|slot| self.takes(slot) && task.lacks(&slot.abilities).is_empty())
    }

    fn takes(&self, slot: &WorkerRow) -> bool {
        self.able.free.contains(&slot.id)
    }

    /// The valid tasks in each worker's own queue; tasks of workers that take nothing return to the shared queue.
    async fn queues(
        &mut self,
        tx: &mut Tx<'_>,
        stealing: bool,
    ) -> Result<BTreeMap<WorkerId, Vec<TaskRow>>, StoreError> {
        let mut queues = BTreeMap::new();
        for slot in &self.slots {
            let mut tasks = Vec::new();
            if stealing && (self.takes(slot) || self.able.alive.contains(&slot.id)) {
                tasks = tx.tasks(&slot.queue).await?;
                tasks.retain(|task| task.status() == TaskStatus::Ready && task.project == slot.project);
            }
            queues.insert(slot.id, tasks);
        }
        Ok(queues)
    }

    /// A task's requirements; workers that failed at it are excluded while others are left.
    fn wish(&self, task: &TaskRow, reserved: &[Reserved]) -> Ready {
        let needs = task.needs.iter().cloned().collect();
        let not_by = if self.others(task) { task.not_by.iter().copied().collect() } else { BTreeSet::new() };
        let later = reserved.iter().any(|one| one.meets(task.activity, &task.files));
        Ready { id: task.id, needs, not_by, files: task.files.clone(), later }
    }

    /// Whether a worker that has not failed at the task could take it.
    fn others(&self, task: &TaskRow) -> bool {
        let could = |slot: &&WorkerRow| {
            let skilled = task.lacks(&slot.abilities).is_empty();
            skilled && !task.not_by.contains(&slot.id) && (self.takes(slot) || self.able.alive.contains(&slot.id))
        };
        !task.not_by.is_empty() && self.slots.iter().any(|slot| could(&slot))
    }

    /// Writes the workers' own queues.
    async fn requeue(
        &self,
        tx: &mut Tx<'_>,
        before: &BTreeMap<WorkerId, Vec<TaskRow>>,
        plan: &Plan,
        given: &[(TaskId, WorkerId)],
    ) -> Result<(), StoreError> {
        let gone: BTreeSet<TaskId> = given.iter().map(|(task, _)| *task).collect();
        for slot in &self.slots {
            let kept = before[&slot.id].iter().map(|task| task.id).filter(|task| !gone.contains(task));
            let fresh = plan.queued.iter().filter(|(_, worker)| *worker == slot.id).map(|(task, _)| *task);
            let queue: Vec<TaskId> = kept.chain(fresh).collect();
            if queue != slot.queue
                && let Some(mut slot) = get(tx, slot.id).await?
            {
                slot.queue = queue;
                put(tx, slot);
            }
        }
        Ok(())
    }

    async fn hand(&self, tx: &mut Tx<'_>, task: TaskId, worker: WorkerId) -> Result<(), StoreError> {
        let Some(before) = get(tx, worker).await? else { return Ok(()) };
        let until = settings::lease_end(&self.settings, tx.now, Some(tx.now));
        let fence = life::take(tx, task, worker, until).await?;
        if before.status == WorkerStatus::Offline {
            decided(tx, before.project, Some(worker), Some(task), Decision::BreakerTrial).await?;
        }
        outage::probes(tx, &before, task).await?;
        let row = tx.known_task(task).await?;
        let work = match before.runner {
            Some(runner) => moving::work_of(tx, &row, runner, self.connected).await?,
            None => Work::Here,
        };
        let how = launch::How { moves: matches!(work, Work::At(_)), ..Default::default() };
        let made = launch::launch(tx, &before, task, fence, how).await?;
        match work {
            Work::At(from) => moving::begin(tx, task, &made, from).await,
            Work::Here | Work::Away => Ok(()),
        }
    }

    /// The work of others that tasks wait for, named only if everybody may know who changes what.
    async fn elsewhere(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        changing: Vec<Changing>,
    ) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let shared = projects::facts_of(tx.read(), project).await?.is_some_and(|facts| facts.share_execution);
        let told = |work: Changing| match shared {
            true => (format!("in `{}`", work.name), work.paths),
            false => ("by other work".to_owned(), work.paths),
        };
        Ok(changing.into_iter().map(told).collect())
    }

    /// Records why tasks stay unassigned, unless all workers are merely busy.
    async fn explain(
        &self,
        tx: &mut Tx<'_>,
        known: &HashMap<TaskId, TaskRow>,
        left: Vec<(TaskId, WhyNot)>,
        changing: &[(String, Vec<String>)],
        reserved: &[Reserved],
    ) -> Result<(), StoreError> {
        for (id, why) in left.into_iter().take(AHEAD) {
            let unassigned = match why {
                WhyNot::AllBusy => {
                    let task = known.get(&id);
                    let files = task.map(|task| task.files.as_slice()).unwrap_or_default();
                    let other = changing.iter().find(|(_, paths)| lists_overlap(files, paths));
                    let other = other.map(|(what, _)| format!("being changed {what}"));
                    let of = task.and_then(|task| task.activity);
                    let intent = || reserved.iter().find(|one| one.meets(of, files));
                    let other = other.or_else(|| intent().map(|one| format!("reserved {}", one.told)));
                    other.map(|what| format!("it comes later: its files are {what}"))
                }
                WhyNot::Nobody => Some(format!("no worker can take it: {}", self.able.why_nobody())),
                WhyNot::Incapable(lacks) => Some(format!("no worker can take it: {}", self.lacking(lacks))),
            };
            if known.get(&id).is_some_and(|before| before.state != State::Ready { unassigned: unassigned.clone() }) {
                let task = tx.known_task(id).await?;
                step(tx, task, Event::Pass { unassigned }).await?;
            }
        }
        Ok(())
    }

    fn lacking(&self, lacks: Vec<(WorkerId, Vec<Lack>)>) -> String {
        let name = |id: WorkerId| self.slots.iter().find(|slot| slot.id == id).map_or("?", |slot| slot.name.as_str());
        let each = lacks.into_iter().map(|(worker, words)| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            format!("`{}` lacks {}", name(worker), words.join(", "))
        });
        each.collect::<Vec<_>>().join("; ")
    }
}

fn strategy(word: domain::AssignStrategy) -> assign::Strategy {
    match word {
        domain::AssignStrategy::RoundRobin => assign::Strategy::RoundRobin,
        domain::AssignStrategy::LeastLoaded => assign::Strategy::LeastLoaded,
        domain::AssignStrategy::Capability => assign::Strategy::Capability,
        domain::AssignStrategy::Stealing => assign::Strategy::Stealing,
    }
}
