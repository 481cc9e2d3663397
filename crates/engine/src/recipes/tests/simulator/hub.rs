//! Hubs that share the store, workers, people, clocks; and what goes wrong with them.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::Timestamp;
use serde_json::{Map, json};

use super::super::generate::{Chance, random_recipe};
use super::super::world::context;
use super::Fault;
use super::store::{Progress, Row};
use crate::recipes::model::Action;
use crate::recipes::*;

/// How long a hub holds an execution without renewing.
const LEASE: i64 = 20_000;
const EXECUTIONS: usize = 2;
const HUBS: usize = 3;

/// A hub: what it holds, as it remembers it.
#[derive(Clone, Default)]
pub(super) struct Hub {
    /// The fence, and the state as this hub has last written or read it.
    held: BTreeMap<usize, (u64, Execution)>,
    /// Stopped for a while; goes on with what it remembers.
    asleep: bool,
    /// An effect that it was about to begin when it was stopped.
    about_to: Option<(usize, (Path, u32))>,
}

/// Everything.
pub(super) struct Sim {
    chance: Chance,
    fault: Fault,
    pub rows: Vec<Row>,
    hubs: Vec<Hub>,
    /// The clock on the wall, which jumps.
    wall: Timestamp,
    /// The clock of leases, which does not.
    steady: i64,
    /// Results that no hub has acknowledged.
    facts: Vec<(usize, Event)>,
    /// How often each effect was done, by its key, and whether that may happen only once.
    pub log: BTreeMap<(usize, Path, u32), (u32, bool)>,
    /// Whether things go wrong.
    wild: bool,
}

impl Sim {
    pub(super) fn new(mut chance: Chance, fault: Fault) -> Self {
        let one = |at: usize, chance: &mut Chance| {
            let recipe = random_recipe(chance);
            let inputs = complete(&recipe, &Map::new()).unwrap();
            let context = model::Context { id: format!("e{at}"), ..context() };
            Row::new(Execution::new(Arc::new(recipe), "v".to_owned(), context, inputs))
        };
        let rows = (0..EXECUTIONS).map(|at| one(at, &mut chance)).collect();
        Self {
            chance,
            fault,
            rows,
            hubs: vec![Hub::default(); HUBS],
            wall: Timestamp::from_millis(1_000_000_000),
            steady: 100_000,
            facts: Vec::new(),
            log: BTreeMap::new(),
            wild: true,
        }
    }

    /// Everything goes wrong for some time.
    pub(super) fn chaos(&mut self, turns: usize) -> Result<(), String> {
        for _ in 0..turns {
            let hub = self.chance.pick(HUBS);
            match self.chance.pick(30) {
                0 => self.crash(hub),
                1 => self.hubs[hub].asleep = true,
                2..=4 => self.hubs[hub].asleep = false,
                5 => self.wall = self.wall.plus_millis([3_600_000, -3_600_000, 60_000][self.chance.pick(3)]),
                6 => self.repeat_a_fact(),
                _ => self.turn(hub)?,
            }
            self.pass(3_000);
        }
        Ok(())
    }

    /// Nothing goes wrong any more: everything must end.
    pub(super) fn calm(&mut self) -> Result<(), String> {
        self.wild = false;
        for hub in 0..HUBS {
            self.hubs[hub].asleep = false;
        }
        for _ in 0..600 {
            if self.rows.iter().all(|row| row.state.status.is_over()) {
                return Ok(());
            }
            for hub in 0..HUBS {
                self.turn(hub)?;
            }
            self.pass(300_000);
        }
        let open = self.rows.iter().find(|row| !row.state.status.is_over());
        Err(format!("an execution is not over: {:?}", open.map(|row| owners(&row.state))))
    }

    fn pass(&mut self, millis: i64) {
        self.wall = self.wall.plus_millis(millis);
        self.steady += millis;
    }

    fn crash(&mut self, hub: usize) {
        self.hubs[hub] = Hub::default();
    }

    /// A crash just here, sometimes. Returns whether the hub is gone.
    fn may_crash(&mut self, hub: usize) -> bool {
        let crashes = self.wild && self.chance.happens(4);
        if crashes {
            self.crash(hub);
        }
        crashes
    }

    fn repeat_a_fact(&mut self) {
        let all: Vec<(usize, Event)> = self
            .rows
            .iter()
            .enumerate()
            .flat_map(|(at, row)| row.history.iter().map(move |e| (at, e.1.clone())))
            .collect();
        if let Some((row, event)) = self.chance.one(&all).cloned()
            && matches!(event, Event::Ended { .. } | Event::RunnerAway { .. } | Event::RunnerBack { .. })
        {
            self.facts.push((row, event));
        }
    }

    /// What a hub does when it runs.
    fn turn(&mut self, hub: usize) -> Result<(), String> {
        if self.hubs[hub].asleep {
            return Ok(());
        }
        // A hub that was stopped finishes its last action, although another hub may have taken over.
        if let Some((row, key)) = self.hubs[hub].about_to.take() {
            self.perform(row, &key);
            self.confirm(hub, row, &key);
        }
        self.lease(hub);
        for row in 0..EXECUTIONS {
            if !self.hubs[hub].held.contains_key(&row) {
                continue;
            }
            self.interrupt(hub, row)?;
            self.begin_effects(hub, row);
            self.deliver(hub, row)?;
            self.wake(hub, row)?;
            self.people(hub, row)?;
        }
        Ok(())
    }

    fn lease(&mut self, hub: usize) {
        for at in 0..EXECUTIONS {
            let row = &mut self.rows[at];
            match self.hubs[hub].held.get(&at).map(|held| held.0) {
                Some(fence) if fence == row.fence => {
                    row.until = self.steady + LEASE;
                }
                // A zombie notices late, or when it writes.
                Some(_) if self.wild && self.chance.happens(70) => {}
                Some(_) => drop(self.hubs[hub].held.remove(&at)),
                None if row.until < self.steady => {
                    row.fence += 1;
                    row.until = self.steady + LEASE;
                    self.hubs[hub].held.insert(at, (row.fence, row.state.clone()));
                }
                None => {}
            }
        }
    }

    /// A hub that has taken over finds intents of another: nobody knows what became of them.
    fn interrupt(&mut self, hub: usize, row: usize) -> Result<(), String> {
        let Some((fence, _)) = self.hubs[hub].held.get(&row) else { return Ok(()) };
        let fence = *fence;
        let lost = |(key, out): (&(Path, u32), &super::store::Out)| match out.progress {
            Progress::Intended(by) if by < fence => Some(key.clone()),
            _ => None,
        };
        let found: Vec<(Path, u32)> = self.rows[row].outbox.iter().filter_map(lost).collect();
        for (path, attempt) in found {
            if self.fault == Fault::RunAgain {
                self.perform(row, &(path, attempt));
                continue;
            }
            let verdict = Verdict::Interrupted { why: "the hub was lost".to_owned() };
            self.commit(hub, row, &Event::Ended { path, attempt, verdict })?;
        }
        Ok(())
    }

    /// Does what is in the outbox.
    fn begin_effects(&mut self, hub: usize, row: usize) {
        let pending = |(key, out): (&(Path, u32), &super::store::Out)| {
            (out.progress == Progress::Pending).then(|| (key.clone(), out.at_most_once))
        };
        let found: Vec<((Path, u32), bool)> = self.rows[row].outbox.iter().filter_map(pending).collect();
        for (key, at_most_once) in found {
            if at_most_once && self.fault != Fault::NoIntent {
                let Some(fence) = self.hubs[hub].held.get(&row).map(|held| held.0) else { return };
                if fence != self.rows[row].fence {
                    return drop(self.hubs[hub].held.remove(&row));
                }
                if let Some(out) = self.rows[row].outbox.get_mut(&key) {
                    out.progress = Progress::Intended(fence);
                }
                if self.may_crash(hub) {
                    return;
                }
                if self.wild && self.chance.happens(4) {
                    self.hubs[hub].about_to = Some((row, key));
                    self.hubs[hub].asleep = true;
                    return;
                }
            }
            self.perform(row, &key);
            if self.may_crash(hub) {
                return;
            }
            self.confirm(hub, row, &key);
        }
    }

    /// The effect itself: it happens outside, and its key is written to a log. A worker that gets the key of work that
    /// may run again continues it.
    fn perform(&mut self, row: usize, key: &(Path, u32)) {
        let out = self.rows[row].outbox.get(key);
        let at_most_once = out.is_some_and(|out| out.at_most_once);
        let (path, attempt) = key.clone();
        let entry = self.log.entry((row, path.clone(), attempt)).or_insert((0, at_most_once));
        entry.0 += 1;
        entry.1 |= at_most_once;
        let plan = tree::find(&self.rows[row].state.recipe, &path);
        if plan.is_none_or(|plan| matches!(plan.action, Action::Approve(_))) {
            return;
        }
        let runner = "r1".to_owned();
        match self.chance.pick(20) {
            // Gone for good: nobody will ever say how it ended.
            0 if plan.is_some_and(operate::is_interruptible) => {
                return self.facts.push((row, Event::RunnerAway { path, attempt, runner }));
            }
            // Away for a while; what it says arrives in any order.
            1 => {
                self.facts.push((row, Event::RunnerAway { path: path.clone(), attempt, runner }));
                self.facts.push((row, Event::RunnerBack { path: path.clone(), attempt }));
            }
            _ => {}
        }
        let verdict = match self.chance.pick(12) {
            10 => Verdict::Failed { kind: ErrorKind::Failed, message: "no".to_owned() },
            11 => Verdict::Failed { kind: ErrorKind::Lost, message: "the runner is gone".to_owned() },
            _ => Verdict::Succeeded { output: json!({ "n": attempt }) },
        };
        self.facts.push((row, Event::Ended { path, attempt, verdict }));
    }

    fn confirm(&mut self, hub: usize, row: usize, key: &(Path, u32)) {
        let fence = self.hubs[hub].held.get(&row).map(|held| held.0);
        if fence == Some(self.rows[row].fence)
            && let Some(out) = self.rows[row].outbox.get_mut(key)
        {
            out.progress = Progress::Begun;
        }
    }

    /// Results arrive, in any order, and stay until a hub has committed them.
    fn deliver(&mut self, hub: usize, row: usize) -> Result<(), String> {
        for _ in 0..3 {
            let mine: Vec<usize> = (0..self.facts.len()).filter(|at| self.facts[*at].0 == row).collect();
            let Some(at) = self.chance.one(&mine).copied() else { return Ok(()) };
            let event = self.facts[at].1.clone();
            if self.fault == Fault::EarlyAck {
                self.facts.remove(at);
                self.commit(hub, row, &event)?;
            } else if self.commit(hub, row, &event)? {
                self.facts.remove(at);
            }
        }
        Ok(())
    }

    /// Timers that are due. A wake may be lost, or come twice.
    fn wake(&mut self, hub: usize, row: usize) -> Result<(), String> {
        if self.wild && self.chance.happens(20) {
            return Ok(());
        }
        let due: Vec<_> =
            self.rows[row].timers.iter().filter(|(_, at)| **at <= self.wall).map(|(timer, _)| timer.clone()).collect();
        for (path, attempt, timer) in due {
            let event = Event::Due { path, attempt, timer };
            for _ in 0..=usize::from(self.wild && self.chance.happens(20)) {
                self.commit(hub, row, &event)?;
            }
        }
        Ok(())
    }

    /// People start it, answer, decide about what was interrupted, and resume; sometimes they pause.
    fn people(&mut self, hub: usize, row: usize) -> Result<(), String> {
        let operated = |operation| Event::Operated { operation, reason: "because".to_owned() };
        let event = match self.rows[row].state.status {
            Status::New => Some(Event::Started),
            Status::Paused => Some(operated(Operation::Resume)),
            Status::Running if self.wild && self.chance.happens(6) => {
                Some(operated(Operation::Pause { now: self.chance.happens(50) }))
            }
            Status::Running => self.ask(row),
            _ => None,
        };
        if let Some(event) = event {
            self.commit(hub, row, &event)?;
        }
        Ok(())
    }

    fn ask(&mut self, row: usize) -> Option<Event> {
        let state = &self.rows[row].state;
        let asked: Vec<Path> = owners(state)
            .into_iter()
            .filter_map(|owner| match owner {
                Owner::People(path) => Some(path),
                _ => None,
            })
            .collect();
        let path = self.chance.one(&asked)?.clone();
        if matches!(state.steps[&path].state, StepState::Interrupted { .. }) {
            let operation = Operation::Retry { path };
            return Some(Event::Operated { operation, reason: "it may run again".to_owned() });
        }
        let name = ["bob", "cid", "dan"][self.chance.pick(3)].to_owned();
        let by = name.clone();
        let answer = Answer { by, name, starter: false, approve: true, data: json!(null), comment: String::new() };
        Some(Event::Answered { path, answer })
    }

    /// Decides, and writes the decision in one transaction that checks the fence. Returns whether it was written.
    fn commit(&mut self, hub: usize, row: usize, event: &Event) -> Result<bool, String> {
        let Some((fence, known)) = self.hubs[hub].held.get(&row) else { return Ok(false) };
        let fence = *fence;
        let Ok(mut decided) = step(known, event, self.wall) else { return Ok(true) };
        let is_new = decided.execution != *known || !decided.effects.is_empty();
        if self.may_crash(hub) {
            return Ok(false);
        }
        if fence != self.rows[row].fence && self.fault != Fault::IgnoreFence {
            self.hubs[hub].held.remove(&row);
            return Ok(false);
        }
        if !is_new {
            return Ok(true);
        }
        let forgets = self.chance.happens(10);
        if self.fault == Fault::LoseStep && forgets {
            lose_a_step(&mut decided.execution);
        }
        if let Some(why) = stuck(&decided.execution) {
            return Err(format!("stuck: {why}"));
        }
        self.hubs[hub].held.insert(row, (fence, decided.execution.clone()));
        match self.fault {
            Fault::ForgetEffect if forgets => decided.effects.retain(|effect| !matches!(effect, Effect::Begin { .. })),
            Fault::ForgetTimer if forgets => {
                decided.effects.retain(|effect| !matches!(effect, Effect::SetTimer { .. }))
            }
            Fault::KeepTimers => decided.effects.retain(|effect| !matches!(effect, Effect::DropTimers { .. })),
            _ => {}
        }
        self.rows[row].write(self.wall, event, decided);
        if self.fault == Fault::ForgetEvent && forgets {
            self.rows[row].history.pop();
        }
        Ok(!self.may_crash(hub))
    }
}

/// Ends a step whose work is in progress, without deciding what follows.
fn lose_a_step(execution: &mut Execution) {
    let at_work = |owner| if let Owner::Work(path) = owner { Some(path) } else { None };
    let Some(path) = owners(execution).into_iter().find_map(at_work) else { return };
    if let Some(run) = execution.steps.get_mut(&path) {
        run.state = StepState::Succeeded { output: json!(null) };
    }
}
