//! Adding, changing and removing workers.

use domain::placement::{Candidate, Needs, place};
use domain::text::{AGENT, Field, MAX_ARGV, MODEL, NAME, TextError};
use domain::{Action, RunnerId, UserId, WorkerId, WorkerKind, WorkerStatus};
use engine::workers::decision::{Decision, Resume};
use protocol::{AgentProfile, Change, Verb, Worker, WorkerStart, verbs};

use super::log::decided;
use super::rows::{self, WorkerRow, free_colours, get, own, put, tell};
use super::{freeze, stop};
use crate::tx::{AuditScope, Tx};
use crate::verbs::recipes;
use crate::verbs::sessions::spawn::candidates;
use crate::{Command, Placed, StoreError};

/// The maximum number of abilities of a worker.
const ABILITIES: usize = 50;

/// The maximum number of workers that one call starts, and of managed workers that a person has in a project.
pub const MAX_WORKERS: u32 = 32;

impl Command for Placed<verbs::WorkerStart> {
    type Output = Vec<Worker>;
    const VERB: &'static str = verbs::WorkerStart::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Worker>, StoreError> {
        tx.check(self.verb.project, Action::Write, "project").await?;
        let owner = tx.caller.person()?;
        let profile = match &self.verb.input.profile {
            Some(name) => Some(recipes::followed(tx.read(), self.verb.project, name).await?),
            None => None,
        };
        let input = with_profile(self.verb.input.clone(), profile.as_ref());
        check_input(&input)?;
        let (count, most) = (input.count.unwrap_or(1), MAX_WORKERS);
        if !(1..=most).contains(&count) {
            return Err(StoreError::invalid("count", format!("`count` is 1 to {most}, not {count}")));
        }
        let there = rows::all(tx.read(), Some(self.verb.project)).await?;
        let mine = there.iter().filter(|worker| worker.owner.id == owner.id && worker.kind == WorkerKind::Managed);
        let mine = u32::try_from(mine.count()).unwrap_or(u32::MAX);
        if mine.saturating_add(count) > most {
            let message = format!("you have {mine} workers in this project, and may have {most}: remove some first");
            return Err(StoreError::Conflict(message));
        }
        let labels = profile.map(|found| found.labels).unwrap_or_default();
        let runner = choose(tx, owner.id, (&input.agent, &labels), input.runner, &self.connected).await?;
        let mut model = WorkerRow::fresh(self.verb.project, owner, String::new(), WorkerKind::Managed, tx.now);
        model.runner = Some(runner);
        model.role = input.role.as_deref().map(|role| role.trim().to_owned());
        model.abilities = abilities(&input.abilities);
        (model.agent, model.model, model.argv) = (input.agent, input.model, input.argv);
        (model.sandbox, model.profile, model.budget_micros) = (input.sandbox, input.profile, input.budget_micros);
        model.handoff_after_micros = input.handoff_after_micros;
        let made = add(tx, &model, &there, count);
        freeze::changed(tx, model.owner.id, self.verb.project).await?;
        let names: Vec<&str> = made.iter().map(|worker| worker.name.as_str()).collect();
        let detail = format!("started {}", names.join(", "));
        tx.audit(Self::VERB, self.verb.project, AuditScope::Project(self.verb.project), detail);
        Ok(made)
    }
}

/// What is not given comes from the profile.
fn with_profile(mut input: WorkerStart, profile: Option<&AgentProfile>) -> WorkerStart {
    let Some(profile) = profile else { return input };
    // A profile's model is one of its own agent.
    if input.agent.is_empty() || input.agent == profile.agent {
        input.agent = profile.agent.clone();
        input.model = input.model.or(profile.model.clone());
    }
    input.sandbox = input.sandbox.or(profile.sandbox.clone());
    input.budget_micros = input.budget_micros.or(profile.budget_micros);
    input
}

/// A person's runner that has the agent and the labels. A full one is fine, because workers wait.
pub(crate) async fn choose(
    tx: &mut Tx<'_>,
    owner: UserId,
    (agent, labels): (&str, &[String]),
    wanted: Option<RunnerId>,
    connected: &[RunnerId],
) -> Result<RunnerId, StoreError> {
    let needs = Needs { runner: wanted, agent, labels };
    let found = candidates(tx, owner, connected).await?;
    let roomy: Vec<Candidate> =
        found.into_iter().map(|candidate| Candidate { capacity: u32::MAX, ..candidate }).collect();
    place(needs, &roomy).map_err(StoreError::Conflict)
}

/// Adds `count` workers like this one, each with its own name and colour.
pub(crate) fn add(tx: &mut Tx<'_>, model: &WorkerRow, there: &[WorkerRow], count: u32) -> Vec<Worker> {
    let stem = model.role.as_deref().unwrap_or(&model.agent);
    let taken = |name: &String| there.iter().any(|worker| worker.name == *name);
    let names = (1..).map(|number| format!("{stem} {number}")).filter(|name| !taken(name));
    let fresh: Vec<(String, u32)> = names.zip(free_colours(there)).take(count as usize).collect();
    let mut made = Vec::new();
    for (name, colour) in fresh {
        let mut worker = model.clone();
        worker.id = WorkerId::generate();
        worker.name = name;
        worker.colour = colour;
        made.push(worker.view.clone());
        rows::add(tx, worker);
    }
    made
}

impl Command for verbs::WorkerUpdate {
    type Output = Worker;
    const VERB: &'static str = verbs::WorkerUpdate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Worker, StoreError> {
        let mut worker = own(tx, self.worker).await?;
        let before = worker.view.clone();
        let input = &self.input;
        if let Some(name) = &input.name {
            let name = NAME.name(name)?;
            let there = rows::all(tx.read(), Some(worker.project)).await?;
            if there.iter().any(|other| other.id != worker.id && other.name == name) {
                return Err(StoreError::Conflict(format!("there is a worker `{name}` already: choose another name")));
            }
            worker.name = name;
        }
        if let Some(words) = &input.abilities {
            check_abilities(words)?;
            worker.abilities = abilities(words);
        }
        if let Some(budget) = input.budget_micros {
            check_budget(Some(budget))?;
            worker.budget_micros = Some(budget).filter(|budget| *budget > 0);
            let spent = worker.usage.cost_micros.unwrap_or(0);
            if worker.status == WorkerStatus::Spent && worker.budget_micros.is_none_or(|budget| budget > spent) {
                worker.becomes(WorkerStatus::Idle, None, None);
                worker.idle_since = Some(tx.now);
            }
        }
        if let Some(cost) = input.handoff_after_micros {
            check_cost("handoff_after_micros", Some(cost))?;
            worker.handoff_after_micros = Some(cost).filter(|cost| *cost > 0);
        }
        let after = worker.view.clone();
        if after == before {
            return Ok(before);
        }
        put(tx, worker);
        if before.status == WorkerStatus::Spent && after.status == WorkerStatus::Idle {
            let decision = Decision::Resumed(Resume::Budget { by: actor(tx) });
            decided(tx, after.project, Some(after.id), None, decision).await?;
        }
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), format!("changed `{}`", after.name));
        Ok(after)
    }
}

impl Command for verbs::WorkerRestart {
    type Output = Worker;
    const VERB: &'static str = verbs::WorkerRestart::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Worker, StoreError> {
        let worker = own(tx, self.worker).await?;
        let name = worker.name.clone();
        if worker.task.is_some() {
            stop::release(tx, &worker, "its worker was restarted", true).await?;
        }
        let mut worker = get(tx, self.worker).await?.ok_or(StoreError::NotFound("worker"))?;
        worker.failures = 0;
        worker.idle_since = Some(tx.now);
        worker.session = None;
        worker.becomes(WorkerStatus::Idle, None, None);
        let (view, project) = (worker.view.clone(), worker.project);
        put(tx, worker);
        let decision = Decision::Restarted { by: actor(tx) };
        decided(tx, project, Some(self.worker), None, decision).await?;
        tx.audit(Self::VERB, self.worker, AuditScope::Project(project), format!("restarted `{name}`"));
        Ok(view)
    }
}

impl Command for verbs::WorkerRemove {
    type Output = ();
    const VERB: &'static str = verbs::WorkerRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let worker = own(tx, self.worker).await?;
        let (name, project) = (worker.name.clone(), worker.project);
        take_away(tx, worker, "its worker was removed").await?;
        tx.audit(Self::VERB, self.worker, AuditScope::Project(project), format!("removed `{name}`"));
        Ok(())
    }
}

/// Removes a worker: its task returns to the queue and its session stops.
pub(crate) async fn take_away(tx: &mut Tx<'_>, worker: WorkerRow, why: &str) -> Result<(), StoreError> {
    let (id, project, owner) = (worker.id, worker.project, worker.owner.id);
    if worker.task.is_some() {
        stop::release(tx, &worker, why, false).await?;
    }
    let Some(mut worker) = get(tx, id).await? else { return Ok(()) };
    worker.removed_at = Some(tx.now);
    worker.session = None;
    worker.becomes(WorkerStatus::Stopped, None, None);
    put(tx, worker);
    tell(tx, project, Change::WorkerGone { worker: id });
    freeze::changed(tx, owner, project).await
}

/// The name of the caller.
fn actor(tx: &Tx<'_>) -> String {
    tx.caller.person().map_or_else(|_| "the hub".to_owned(), |person| person.name)
}

/// The abilities, sorted and without duplicates.
fn abilities(words: &[String]) -> Vec<String> {
    let mut found: Vec<String> = words.iter().map(|word| word.trim().to_owned()).collect();
    found.sort();
    found.dedup();
    found
}

fn check_abilities(words: &[String]) -> Result<(), StoreError> {
    if words.len() > ABILITIES {
        return Err(StoreError::invalid("abilities", format!("a worker has at most {ABILITIES} abilities")));
    }
    words.iter().try_for_each(|word| Field { name: "abilities", ..NAME }.check(word)).map_err(StoreError::from)
}

fn check_budget(budget: Option<u64>) -> Result<(), StoreError> {
    check_cost("budget_micros", budget)
}

fn check_cost(field: &'static str, micros: Option<u64>) -> Result<(), StoreError> {
    match micros.is_none_or(|micros| i64::try_from(micros).is_ok()) {
        true => Ok(()),
        false => Err(StoreError::invalid(field, "the amount is too large")),
    }
}

fn check_input(input: &WorkerStart) -> Result<(), StoreError> {
    AGENT.check(&input.agent)?;
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !input.agent.chars().all(word) || input.agent.starts_with(['-', '.']) {
        return Err(StoreError::invalid("agent", "an agent's name has letters, digits and `._-` only"));
    }
    if input.agent == "shell" {
        return Err(StoreError::invalid("agent", "a shell takes no tasks: use `command` to run a program"));
    }
    if let Some(model) = &input.model {
        MODEL.check(model)?;
        if model.starts_with('-') {
            return Err(StoreError::invalid("model", "a model's name does not start with `-`"));
        }
    }
    if let Some(role) = &input.role {
        Field { name: "role", limit: 60, ..NAME }.check(role)?;
    }
    check_abilities(&input.abilities)?;
    check_budget(input.budget_micros)?;
    if input.budget_micros == Some(0) {
        let message = "a budget of 0: a worker that may cost nothing takes nothing; leave it out for no limit";
        return Err(StoreError::invalid("budget_micros", message));
    }
    check_cost("handoff_after_micros", input.handoff_after_micros)?;
    if input.handoff_after_micros == Some(0) {
        let message = "a handoff after a cost of 0 would never end: leave it out for no handoff";
        return Err(StoreError::invalid("handoff_after_micros", message));
    }
    check_argv(&input.argv)?;
    if input.agent == "command" && input.argv.is_empty() {
        return Err(StoreError::invalid("argv", NO_PROGRAM));
    }
    Ok(())
}

const NO_PROGRAM: &str = "name the program to run, such as `-- ./agent.sh`";

/// Refuses a command that cannot be run.
pub(crate) fn check_argv(argv: &[String]) -> Result<(), StoreError> {
    let (count, length) = MAX_ARGV;
    if argv.len() > count || argv.iter().map(String::len).sum::<usize>() > length {
        let message = format!("a command has at most {count} arguments with {length} bytes in all");
        return Err(StoreError::invalid("argv", message));
    }
    if argv.iter().any(|arg| arg.contains('\0')) {
        return Err(TextError::Control { field: "argv", code: 0, position: 0 }.into());
    }
    match argv.first().is_some_and(String::is_empty) {
        true => Err(StoreError::invalid("argv", NO_PROGRAM)),
        false => Ok(()),
    }
}
