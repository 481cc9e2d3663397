//! One world: a few tasks, a few workers, and an unreliable network.

use domain::{AnswerAct, ProjectId, TaskId, TaskStatus};
use protocol::{EscalationAnswer, EscalationFilter, verbs};
use store::{Reported, StoreError};

use super::model::{Known, Model};
use crate::fixture::Fixture;
use crate::tasks::{LEASE, add, beat, expire, failure, named, report, sound, takes};

/// The step after which nothing fails any more, and the step by which all tasks must have ended.
const TROUBLE: u32 = 45;
const END: u32 = 600;

/// Random numbers that depend only on the seed.
struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.next(times) == 0
    }
}

/// A message in flight to the hub.
#[derive(Debug, Clone)]
enum Letter {
    Take { worker: usize, life: u32, key: Option<String> },
    Beat { task: TaskId, fence: u64 },
    Report { task: TaskId, fence: u64, fails: bool },
}

/// A worker program; its view of its task may be stale.
#[derive(Debug, Default)]
struct Worker {
    name: String,
    /// Counts its restarts: it does not know the requests of an earlier life.
    life: u32,
    holds: Option<(TaskId, u64)>,
    waits: bool,
    left: u64,
    /// SIGSTOPped until this step.
    stopped: u32,
    /// Without a network until this step: its messages stay in flight.
    cut_off: u32,
}

/// One world.
pub(super) struct World<'f> {
    fixture: &'f Fixture,
    seed: u64,
    project: ProjectId,
    chance: Chance,
    model: Model,
    workers: Vec<Worker>,
    on_the_way: Vec<(usize, Letter)>,
    step: u32,
}

impl<'f> World<'f> {
    pub(super) async fn new(fixture: &'f Fixture, seed: u64) -> Self {
        let mut chance = Chance(seed);
        let project = crate::tasks::shared(fixture).await;
        let count = 3 + chance.next(4);
        let mut tasks = Vec::new();
        for at in 0..count {
            let deps: Vec<String> = (0..at).filter(|_| chance.one_in(3)).map(|dep| format!("t{dep}")).collect();
            tasks.push(named(&format!("t{at}"), &deps.iter().map(String::as_str).collect::<Vec<_>>()));
        }
        let added = add(fixture, project, tasks).await;
        let known = |task: &protocol::TaskLine| (task.id, Known { deps: task.deps.clone(), ..Known::default() });
        let model = Model { tasks: added.tasks.iter().map(known).collect() };
        let workers = (0..3).map(|at| Worker { name: format!("w{at}"), ..Worker::default() }).collect();
        Self { fixture, seed, project, chance, model, workers, on_the_way: Vec::new(), step: 0 }
    }

    pub(super) async fn run(mut self) {
        let mut raw = self.fixture.raw().await;
        while !self.model.is_over() {
            self.step += 1;
            assert!(self.step < END, "seed {}: not all ended: {:?}", self.seed, self.model);
            let most = if self.chance.one_in(6) { LEASE as u64 } else { 20_000 };
            self.fixture.pass(1 + self.chance.next(most) as i64);
            for task in expire(self.fixture).await {
                self.model.lost(self.seed, task, self.fixture.store.now());
            }
            for at in 0..self.workers.len() {
                self.trouble(at);
                self.act(at);
            }
            self.deliver().await;
            self.answer().await;
            if self.step.is_multiple_of(4) {
                sound(&mut raw, self.project).await;
            }
        }
        self.check_the_end().await;
    }

    fn rough(&self) -> bool {
        self.step < TROUBLE
    }

    /// Injects failures: workers are stopped for longer than a lease, crash, or lose the network.
    fn trouble(&mut self, at: usize) {
        if !self.rough() {
            return;
        }
        let until = self.step + 1 + self.chance.next(12) as u32;
        let kind = self.chance.next(30);
        let worker = &mut self.workers[at];
        match kind {
            0 | 1 => worker.stopped = until,
            2 => worker.cut_off = until,
            3 => {
                let (name, life) = (worker.name.clone(), worker.life + 1);
                *worker = Worker { name, life, ..Worker::default() };
            }
            _ => {}
        }
    }

    /// Lets a worker act on its last known state.
    fn act(&mut self, at: usize) {
        let worker = &mut self.workers[at];
        if worker.stopped > self.step {
            return;
        }
        let letter = match worker.holds {
            None if worker.waits => return,
            None => {
                worker.waits = true;
                let key =
                    (!self.chance.one_in(3)).then(|| format!("{}-{}-{}-{}", self.seed, at, worker.life, self.step));
                Letter::Take { worker: at, life: worker.life, key }
            }
            Some((task, fence)) if worker.left == 0 => {
                let fails = self.step < TROUBLE && self.chance.one_in(8);
                worker.holds = None;
                Letter::Report { task, fence, fails }
            }
            Some((task, fence)) => {
                worker.left -= 1;
                Letter::Beat { task, fence }
            }
        };
        if self.rough() && self.chance.one_in(6) {
            self.on_the_way.push((at, letter.clone()));
        }
        self.on_the_way.push((at, letter));
    }

    /// Delivers some messages in flight, in any order.
    async fn deliver(&mut self) {
        let mut held_back = Vec::new();
        while !self.on_the_way.is_empty() {
            let next = if self.rough() { self.chance.next(self.on_the_way.len() as u64) as usize } else { 0 };
            let (from, letter) = self.on_the_way.remove(next);
            let away = self.workers[from].cut_off > self.step;
            if self.rough() && (away || self.chance.one_in(4)) {
                held_back.push((from, letter));
                continue;
            }
            self.arrive(letter).await;
        }
        self.on_the_way = held_back;
    }

    async fn arrive(&mut self, letter: Letter) {
        match letter {
            Letter::Take { worker, life, key } => self.take(worker, life, key).await,
            Letter::Beat { task, fence } => {
                let may = self.model.holds(task, fence);
                match self.fixture.store.write(&self.fixture.ada, None, beat(task, fence)).await {
                    Ok(done) if may => self.model.renewed(task, done.value.expires_at),
                    Err(StoreError::Conflict(_)) if !may => {}
                    other => panic!("seed {}: {task} under {fence}, may {may}: {other:?}", self.seed),
                }
            }
            Letter::Report { task, fence, fails } => self.report(task, fence, fails).await,
        }
    }

    async fn take(&mut self, at: usize, life: u32, key: Option<String>) {
        let name = self.workers[at].name.clone();
        let keyed = key.is_some();
        let taken =
            self.fixture.store.write(&self.fixture.ada, key, takes(self.project, &name)).await.unwrap().value.taken;
        let worker = &mut self.workers[at];
        let asked = worker.life == life && worker.waits;
        if asked {
            worker.waits = false;
        }
        let Some(taken) = taken else { return };
        let (task, fence) = (taken.task.id, taken.lease.fence);
        // The same key returns the first answer, even if the task has changed since.
        if !(keyed && fence <= self.model.tasks[&task].fence) {
            self.model.handed_out(self.seed, task, fence, &name, taken.lease.expires_at);
        }
        if asked && worker.holds.is_none() {
            worker.holds = Some((task, fence));
            worker.left = self.chance.next(4);
        }
    }

    async fn report(&mut self, task: TaskId, fence: u64, fails: bool) {
        let may = self.model.holds(task, fence);
        let command = if fails { failure(task, fence, "no luck") } else { report(task, fence, "done") };
        match self.fixture.store.write(&self.fixture.ada, None, command).await.map(|done| done.value) {
            Ok(Reported::Taken(_)) if may && fails => self.model.let_go(task),
            Ok(Reported::Taken(_)) if may => self.model.accepted(self.seed, task),
            Ok(Reported::Late { .. }) | Err(StoreError::Conflict(_)) if !may => {}
            other => panic!("seed {}: {task} under {fence}, may {may}: {other:?}", self.seed),
        }
    }

    /// A person answers open escalations.
    async fn answer(&mut self) {
        let filter = EscalationFilter { project: Some(self.project), answered: None };
        if !self.chance.one_in(4) && self.rough() {
            return;
        }
        for asked in self.fixture.store.escalations(&self.fixture.ada, filter).await.unwrap() {
            let input = EscalationAnswer { option: None, act: Some(AnswerAct::Retry), text: None };
            self.fixture.done(&self.fixture.bo, verbs::EscalationAnswer { escalation: asked.id, input }).await;
        }
    }

    /// Checks that the database agrees with the model.
    async fn check_the_end(&self) {
        for (task, known) in &self.model.tasks {
            let shown = self.fixture.store.task_detail(&self.fixture.ada, *task).await.unwrap();
            assert_eq!(shown.task.status, TaskStatus::Done, "seed {}", self.seed);
            let accepted = shown.reports.iter().filter(|report| report.verdict.word() == "accepted").count();
            let ended = shown.attempts.iter().filter(|attempt| attempt.outcome.word() == "accepted").count();
            assert_eq!((accepted, ended), (1, 1), "seed {}: {task} is accepted once", self.seed);
            assert!(shown.attempts.iter().all(|attempt| attempt.ended_at.is_some()), "seed {}", self.seed);
            assert_eq!(shown.attempts.last().map(|attempt| attempt.fence), Some(known.fence), "seed {}", self.seed);
        }
    }
}
