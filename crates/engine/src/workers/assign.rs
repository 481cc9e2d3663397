//! Assignment of tasks to workers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use domain::{TaskId, WorkerId};

use crate::tasks::files::lists_overlap;

/// How a project assigns its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Each free worker in turn.
    RoundRobin,
    /// The free worker with the fewest finished tasks.
    LeastLoaded,
    /// The free worker whose abilities fit most closely, so that versatile workers stay free.
    Capability,
    /// Each worker has its own queue; an idle worker steals from the longest.
    Stealing,
}

/// A ready task, in the order of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// The task.
    pub id: TaskId,
    /// Abilities that its worker must have.
    pub needs: BTreeSet<String>,
    /// Workers that failed at it, while others could do it.
    pub not_by: BTreeSet<WorkerId>,
    /// The files to change.
    pub files: Vec<String>,
    /// Whether another activity has reserved some of them.
    pub later: bool,
}

/// A worker's facts for the assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The worker.
    pub id: WorkerId,
    /// Its abilities.
    pub abilities: BTreeSet<String>,
    /// Whether it may take tasks: not stopped, paused, out of budget, or taken offline by its breaker.
    pub takes: bool,
    /// Whether it has a task.
    pub busy: bool,
    /// Its own queue, in order.
    pub queue: Vec<Ready>,
    /// The number of finished tasks.
    pub done: u64,
}

/// A task that moves from one worker's queue to another worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steal {
    /// The task.
    pub task: TaskId,
    /// The worker that loses it.
    pub from: WorkerId,
    /// The worker that gets it.
    pub to: WorkerId,
}

/// What a worker lacks to take a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// An ability that the task needs.
    Ability(String),
    /// The worker failed at the task, and others go first.
    AnotherTry,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ability(ability) => f.write_str(ability),
            Self::AnotherTry => f.write_str("another try"),
        }
    }
}

/// Why a task was not assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WhyNot {
    /// No worker takes tasks.
    Nobody,
    /// No worker has the abilities; with what each worker lacks.
    Incapable(Vec<(WorkerId, Vec<Lack>)>),
    /// All able workers are busy.
    AllBusy,
}

/// The result of an assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Assigned tasks, at most one for each free worker.
    pub given: Vec<(TaskId, WorkerId)>,
    /// Tasks added to a busy worker's queue.
    pub queued: Vec<(TaskId, WorkerId)>,
    /// Stolen tasks.
    pub stolen: Vec<Steal>,
    /// Unassigned tasks, and why.
    pub left: Vec<(TaskId, WhyNot)>,
    /// The next round-robin position.
    pub turn: u64,
}

/// The maximum length of a worker's own queue.
const QUEUE: usize = 2;

/// Assigns ready tasks, given in the order of the queue.
///
/// `running` are the files of tasks in progress. A task whose files overlap them, or those of a task assigned before
/// it, or are reserved by others, goes after the others. `turn` is the last plan's round-robin position.
pub fn assign(strategy: Strategy, turn: u64, ready: &[Ready], workers: &[Worker], running: &[Vec<String>]) -> Plan {
    let mut plan = Plan { turn, ..Plan::default() };
    let mut free: Vec<&Worker> =
        workers.iter().filter(|worker| worker.takes && !worker.busy && worker.queue.is_empty()).collect();
    let mut touched: Vec<&[String]> = running.iter().map(Vec::as_slice).collect();
    let mut waiting: BTreeMap<WorkerId, usize> = workers.iter().map(|worker| (worker.id, worker.queue.len())).collect();
    // A task with overlapping files goes to the end of the line, once.
    let mut line: VecDeque<(&Ready, bool)> = ready.iter().map(|task| (task, false)).collect();
    while let Some((task, waited)) = line.pop_front() {
        if !waited && (task.later || touched.iter().any(|files| lists_overlap(files, &task.files))) {
            line.push_back((task, true));
            continue;
        }
        if let Some(chosen) = choose(strategy, &mut plan.turn, task, &free, workers) {
            free.retain(|worker| worker.id != chosen);
            touched.push(&task.files);
            plan.given.push((task.id, chosen));
            continue;
        }
        let queue = match strategy {
            Strategy::Stealing => shortest(task, workers, &waiting),
            Strategy::RoundRobin | Strategy::LeastLoaded | Strategy::Capability => None,
        };
        match queue {
            Some(worker) => {
                *waiting.entry(worker).or_default() += 1;
                plan.queued.push((task.id, worker));
            }
            None => plan.left.push((task.id, why_not(task, workers))),
        }
    }
    if strategy == Strategy::Stealing {
        steal(&mut plan, free, workers);
    }
    plan
}

fn can(worker: &Worker, task: &Ready) -> bool {
    task.needs.is_subset(&worker.abilities) && !task.not_by.contains(&worker.id)
}

/// Chooses one of the free workers for the task.
fn choose(strategy: Strategy, turn: &mut u64, task: &Ready, free: &[&Worker], all: &[Worker]) -> Option<WorkerId> {
    let able = free.iter().filter(|worker| can(worker, task));
    let chosen = match strategy {
        Strategy::RoundRobin => {
            // The first free worker at or after the round-robin position, which counts busy workers, too.
            let round = all.len().max(1);
            let start = usize::try_from(*turn % round as u64).unwrap_or(0);
            let mut circle = (0..round).map(|step| (start + step) % round);
            let free = |place: &usize| able.clone().any(|worker| worker.id == all[*place].id);
            let place = circle.find(free)?;
            *turn = place as u64 + 1;
            Some(&all[place])
        }
        Strategy::LeastLoaded | Strategy::Stealing => able.min_by_key(|worker| (worker.done, worker.id)).copied(),
        Strategy::Capability => able.min_by_key(|worker| (worker.abilities.len(), worker.done, worker.id)).copied(),
    };
    chosen.map(|worker| worker.id)
}

/// The able worker with the shortest queue that is not full.
fn shortest(task: &Ready, workers: &[Worker], waiting: &BTreeMap<WorkerId, usize>) -> Option<WorkerId> {
    let room = |worker: &&Worker| worker.takes && worker.busy && waiting[&worker.id] < QUEUE && can(worker, task);
    workers.iter().filter(room).min_by_key(|worker| (waiting[&worker.id], worker.id)).map(|worker| worker.id)
}

/// Lets idle workers steal from the longest queues.
fn steal(plan: &mut Plan, free: Vec<&Worker>, workers: &[Worker]) {
    let mut queues: BTreeMap<WorkerId, Vec<&Ready>> =
        workers.iter().map(|worker| (worker.id, worker.queue.iter().collect())).collect();
    for thief in free {
        let longest = queues
            .iter()
            .filter(|(_, queue)| queue.iter().any(|task| can(thief, task)))
            .max_by_key(|(worker, queue)| (queue.len(), std::cmp::Reverse(**worker)))
            .map(|(worker, _)| *worker);
        let Some((from, queue)) = longest.and_then(|from| Some((from, queues.get_mut(&from)?))) else { continue };
        let Some(index) = queue.iter().position(|task| can(thief, task)) else { continue };
        plan.stolen.push(Steal { task: queue.remove(index).id, from, to: thief.id });
    }
}

fn why_not(task: &Ready, workers: &[Worker]) -> WhyNot {
    let taking: Vec<&Worker> = workers.iter().filter(|worker| worker.takes).collect();
    if taking.is_empty() {
        return WhyNot::Nobody;
    }
    if taking.iter().any(|worker| can(worker, task)) {
        return WhyNot::AllBusy;
    }
    let lacks = |worker: &Worker| {
        let abilities = task.needs.difference(&worker.abilities).cloned().map(Lack::Ability);
        abilities.chain(task.not_by.contains(&worker.id).then_some(Lack::AnotherTry)).collect()
    };
    WhyNot::Incapable(taking.into_iter().map(|worker| (worker.id, lacks(worker))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
    use proptest::strategy::Strategy as Made;

    const STRATEGIES: [Strategy; 4] =
        [Strategy::RoundRobin, Strategy::LeastLoaded, Strategy::Capability, Strategy::Stealing];

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn task(needs: &[&str], files: &[&str]) -> Ready {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Ready { id: TaskId::generate(), needs: set(needs), not_by: BTreeSet::new(), files, later: false }
    }

    fn worker(abilities: &[&str], busy: bool, done: u64) -> Worker {
        let (id, abilities) = (WorkerId::generate(), set(abilities));
        Worker { id, abilities, takes: true, busy, queue: Vec::new(), done }
    }

    #[test]
    fn each_strategy_chooses_as_it_says() {
        let (one, other) = (worker(&["rust"], false, 5), worker(&["rust", "css"], false, 1));
        let tasks = [task(&["rust"], &[])];
        let workers = [one.clone(), other.clone()];
        let who = |strategy, turn| assign(strategy, turn, &tasks, &workers, &[]).given[0].1;
        assert_eq!((who(Strategy::RoundRobin, 0), who(Strategy::RoundRobin, 1)), (one.id, other.id));
        assert_eq!(who(Strategy::LeastLoaded, 0), other.id);
        assert_eq!(who(Strategy::Capability, 0), one.id, "who can more stays free");
    }

    #[test]
    fn tasks_that_overlap_running_work_go_last() {
        let (clashing, other) = (task(&[], &["src/a.rs"]), task(&[], &["docs"]));
        let tasks = [clashing.clone(), other.clone()];
        let running = [vec!["src".to_owned()]];
        let given = |workers: &[Worker]| assign(Strategy::LeastLoaded, 0, &tasks, workers, &running).given;
        assert_eq!(given(&[worker(&[], false, 0)])[0].0, other.id);
        assert_eq!(given(&[worker(&[], false, 0), worker(&[], false, 0)]).len(), 2);
    }

    #[test]
    fn tasks_whose_files_others_reserved_go_last() {
        let reserved = Ready { later: true, ..task(&[], &["src/a.rs"]) };
        let tasks = [reserved.clone(), task(&[], &[])];
        let given = |free: usize| {
            let workers: Vec<Worker> = (0..free).map(|_| worker(&[], false, 0)).collect();
            let plan = assign(Strategy::LeastLoaded, 0, &tasks, &workers, &[]);
            plan.given.iter().map(|(given, _)| *given).collect::<Vec<_>>()
        };
        assert_eq!(given(1), [tasks[1].id]);
        assert_eq!(given(2), [tasks[1].id, reserved.id], "nothing is refused");
    }

    #[test]
    fn tasks_that_overlap_each_other_go_last() {
        let lexer = || task(&[], &["src/lexer.rs"]);
        let tasks = [lexer(), lexer(), task(&[], &["docs"]), task(&[], &[])];
        let given = |free: usize| {
            let workers: Vec<Worker> = (0..free).map(|_| worker(&[], false, 0)).collect();
            let plan = assign(Strategy::LeastLoaded, 0, &tasks, &workers, &[]);
            plan.given
                .iter()
                .map(|(given, _)| tasks.iter().position(|task| task.id == *given).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(given(3), [0, 2, 3]);
        assert_eq!(given(4), [0, 2, 3, 1]);
    }

    #[test]
    fn every_free_worker_gets_its_turn() {
        let workers: Vec<Worker> = (0..3).map(|_| worker(&[], false, 0)).collect();
        let mut turn = 0;
        let mut next = |busy: &[usize]| {
            let now: Vec<Worker> = workers
                .iter()
                .enumerate()
                .map(|(at, one)| Worker { busy: busy.contains(&at), ..one.clone() })
                .collect();
            let plan = assign(Strategy::RoundRobin, turn, &[task(&[], &[])], &now, &[]);
            turn = plan.turn;
            workers.iter().position(|worker| worker.id == plan.given[0].1).unwrap()
        };
        assert_eq!([next(&[]), next(&[0]), next(&[1]), next(&[2]), next(&[0])], [0, 1, 2, 0, 1]);
    }

    #[test]
    fn a_task_that_stays_says_why() {
        let css = [task(&["css"], &[])];
        let left = |workers: &[Worker]| assign(Strategy::Capability, 0, &css, workers, &[]).left[0].1.clone();
        assert_eq!(left(&[]), WhyNot::Nobody);
        let rust = worker(&["rust"], false, 0);
        assert_eq!(
            left(std::slice::from_ref(&rust)),
            WhyNot::Incapable(vec![(rust.id, vec![Lack::Ability("css".to_owned())])])
        );
        assert_eq!(left(&[worker(&["css"], true, 0)]), WhyNot::AllBusy);
    }

    #[test]
    fn a_worker_that_failed_at_a_task_does_not_get_it_again_while_others_could() {
        let (failed, other) = (worker(&[], false, 0), worker(&[], false, 9));
        let tasks = [Ready { not_by: BTreeSet::from([failed.id]), ..task(&[], &[]) }];
        let plan = |workers: &[Worker]| assign(Strategy::LeastLoaded, 0, &tasks, workers, &[]);
        assert_eq!(plan(&[failed.clone(), other.clone()]).given, [(tasks[0].id, other.id)]);
        let left = plan(std::slice::from_ref(&failed)).left;
        assert_eq!(left, [(tasks[0].id, WhyNot::Incapable(vec![(failed.id, vec![Lack::AnotherTry])]))]);
    }

    #[test]
    fn an_idle_worker_steals_from_the_longest_queue() {
        let (first, second) = (task(&[], &[]), task(&[], &[]));
        let long = Worker { queue: vec![first.clone(), second], ..worker(&[], true, 0) };
        let short = Worker { queue: vec![task(&[], &[])], ..worker(&[], true, 0) };
        let idle = worker(&[], false, 0);
        let plan = assign(Strategy::Stealing, 0, &[], &[long.clone(), short, idle.clone()], &[]);
        assert_eq!(plan.stolen, [Steal { task: first.id, from: long.id, to: idle.id }]);
    }

    fn workers() -> impl Made<Value = Vec<Worker>> {
        let one = (proptest::collection::btree_set("[ab]", 0..3), any::<bool>(), any::<bool>(), 0u64..4, 0usize..3);
        proptest::collection::vec(one, 0..6).prop_map(|all| {
            let made = all.into_iter().map(|(abilities, takes, busy, done, queued)| {
                let queue = (0..if busy { queued } else { 0 }).map(|_| task(&[], &[])).collect();
                Worker { id: WorkerId::generate(), abilities, takes, busy, queue, done }
            });
            made.collect()
        })
    }

    fn tasks() -> impl Made<Value = Vec<Ready>> {
        let one = (proptest::collection::btree_set("[ab]", 0..3), proptest::collection::vec("[xyz]", 0..3));
        proptest::collection::vec(one, 0..8).prop_map(|all| {
            let made = all.into_iter().map(|(needs, files)| {
                let (id, not_by) = (TaskId::generate(), BTreeSet::new());
                Ready { id, needs, not_by, files, later: false }
            });
            made.collect()
        })
    }

    proptest! {
        #[test]
        fn every_task_goes_to_one_place_and_no_able_worker_is_idle_beside_it(
            tasks in tasks(), workers in workers(), strategy in 0usize..4, turn in any::<u64>(),
        ) {
            let strategy = STRATEGIES[strategy];
            let plan = assign(strategy, turn, &tasks, &workers, &[vec!["x".to_owned()]]);
            let mut places: Vec<TaskId> = plan.given.iter().chain(&plan.queued).map(|(task, _)| *task).collect();
            places.extend(plan.left.iter().map(|(task, _)| *task));
            places.sort();
            let mut all: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
            all.sort();
            prop_assert_eq!(places, all, "no task is lost or given twice");

            let by_id = |id: WorkerId| workers.iter().find(|worker| worker.id == id).unwrap();
            let mut taken: Vec<WorkerId> = plan.given.iter().map(|(_, worker)| *worker).collect();
            taken.extend(plan.stolen.iter().map(|steal| steal.to));
            for worker in &taken {
                prop_assert!(by_id(*worker).takes && !by_id(*worker).busy);
                prop_assert_eq!(taken.iter().filter(|other| *other == worker).count(), 1, "one task at a time");
            }
            for (id, worker) in plan.given.iter().chain(&plan.queued) {
                let task = tasks.iter().find(|task| task.id == *id).unwrap();
                prop_assert!(can(by_id(*worker), task));
            }
            let idle = workers.iter().filter(|worker| {
                worker.takes && !worker.busy && worker.queue.is_empty() && !taken.contains(&worker.id)
            });
            for worker in idle {
                for (id, _) in &plan.left {
                    let task = tasks.iter().find(|task| task.id == *id).unwrap();
                    prop_assert!(!can(worker, task), "{:?} is idle beside {:?}", worker, task);
                }
            }
            let mut stolen: Vec<TaskId> = plan.stolen.iter().map(|steal| steal.task).collect();
            stolen.sort();
            stolen.dedup();
            prop_assert_eq!(stolen.len(), plan.stolen.len(), "nothing is stolen twice");
            for steal in &plan.stolen {
                prop_assert!(by_id(steal.from).queue.iter().any(|task| task.id == steal.task));
            }
        }
    }
}
