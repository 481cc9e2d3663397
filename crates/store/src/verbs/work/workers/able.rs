//! Which workers may take a task now, and why the others may not.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use domain::placement::{Candidate, missing_agent};
use domain::text::counted;
use domain::{Action, Actor, ProjectId, Resource, RunnerId, UserId, WorkerId, WorkerKind, WorkerStatus, can};
use engine::workers::budget::{Purse, expected, refuses};
use engine::workers::decision::Decision;
use protocol::{Usage, WorkSettings};

use super::log::decided;
use super::rows::{WorkerRow, get, put};
use super::{freeze, holds, outage};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::sessions::spawn::candidates;
use crate::verbs::{projects, users};

/// After this silence, in milliseconds, an external worker counts as gone.
pub(crate) const LATELY: i64 = 600_000;

/// Workers that may take a task.
#[derive(Debug, Default)]
pub(crate) struct Able {
    /// Workers that can take one now.
    pub(crate) free: BTreeSet<WorkerId>,
    /// Workers that can take one after their current task.
    pub(crate) alive: BTreeSet<WorkerId>,
    why_not: Vec<String>,
}

impl Able {
    /// Why no worker takes a task, worker by worker.
    pub(crate) fn why_nobody(&self) -> String {
        match self.why_not.is_empty() {
            true => "there is no worker: start one, or take it".to_owned(),
            false => self.why_not.join("; "),
        }
    }
}

/// Facts about a worker's owner.
struct Owner {
    refused: Option<&'static str>,
    runners: Vec<Candidate>,
}

/// Decides which workers may take a task now. Marks workers whose budget is spent.
pub(crate) async fn able(
    tx: &mut Tx<'_>,
    project: ProjectId,
    settings: &WorkSettings,
    slots: &[WorkerRow],
    connected: &[RunnerId],
) -> Result<Able, StoreError> {
    let mut able = Able::default();
    let mut owners: HashMap<UserId, Owner> = HashMap::new();
    let money = Money::read(tx, project).await?;
    let mut promised = money.promised;
    let mut outages = Vec::new();
    for open in outage::all(tx).await? {
        let may_probe = open.outage.may_probe(outage::probing(tx, &open).await?, tx.now);
        outages.push((open, may_probe));
    }
    for slot in slots {
        if slot.kind == WorkerKind::External {
            if slot.task.is_none()
                && let Some(why) = money.refuses(slot, settings)
            {
                able.why_not.push(format!("`{}`: {why}", slot.name));
                continue;
            }
            let lately = slot.seen_at.is_some_and(|seen| seen > tx.now.plus_millis(-LATELY));
            able.alive
                .extend((slot.task.is_some() || (slot.status == WorkerStatus::Idle && lately)).then_some(slot.id));
            continue;
        }
        let owner = match owners.entry(slot.owner.id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(owner(tx, project, slot.owner.id, connected).await?),
        };
        let out = outages.iter().position(|(open, _)| open.is_of(slot) && slot.task.is_none());
        let probes = out.is_some_and(|at| outages[at].1 && probe(slot));
        if let Some((open, _)) = out.map(|at| &outages[at]).filter(|_| !probes) {
            able.why_not.push(format!("`{}` is paused: {}", slot.name, open.reason()));
            continue;
        }
        if let Some(why) = resting(slot, settings, tx).filter(|_| !probes) {
            able.why_not.push(format!("`{}` {why}", slot.name));
            continue;
        }
        if slot.task.is_some() {
            able.alive.insert(slot.id);
            continue;
        }
        if let Some(why) = owner.refused.map(str::to_owned).or_else(|| full(slot, &owner.runners)) {
            able.why_not.push(format!("`{}`: {why}", slot.name));
            continue;
        }
        if let Some(reason) = money.refuses_worker(slot) {
            able.why_not.push(format!("`{}`: its budget is spent: {reason}", slot.name));
            spent(tx, slot.id, reason).await?;
            continue;
        }
        if let Some(reason) = money.refuses_project(settings, promised) {
            able.why_not.push(format!("`{}`: the project's budget is spent: {reason}", slot.name));
            continue;
        }
        promised = promised.saturating_add(money.expected);
        able.free.insert(slot.id);
        // Only one worker probes an outage at a time.
        if let Some(at) = out {
            outages[at].1 = false;
        }
        let place = owner.runners.iter_mut().find(|candidate| Some(candidate.runner) == slot.runner);
        if let Some(candidate) = place {
            candidate.sessions += 1;
        }
    }
    Ok(able)
}

async fn owner(tx: &mut Tx<'_>, project: ProjectId, id: UserId, connected: &[RunnerId]) -> Result<Owner, StoreError> {
    Ok(Owner { refused: refused(tx, project, id).await?, runners: candidates(tx, id, connected).await? })
}

/// Why no worker of a person may work in a project.
async fn refused(tx: &mut Tx<'_>, project: ProjectId, id: UserId) -> Result<Option<&'static str>, StoreError> {
    let facts = projects::facts_of(tx.read(), project).await?;
    let writes =
        |facts| can(&Actor::User { id, hub_owner: false }, Action::Write, Resource::Project(facts)).is_allowed();
    let person = users::find(tx.read(), id).await?;
    Ok(match () {
        () if !facts.as_ref().is_some_and(writes) => Some("its owner may no longer write in this project"),
        () if person.is_none_or(|person| person.disabled) => Some("its owner was disabled"),
        () if freeze::frozen(tx.read(), id, project).await? => Some(freeze::REASON),
        () => None,
    })
}

/// Why a worker may not continue its task after its session ended.
pub(crate) async fn may_not_go_on(tx: &mut Tx<'_>, slot: &WorkerRow) -> Result<Option<String>, StoreError> {
    if let Some(why) = refused(tx, slot.project, slot.owner.id).await? {
        return Ok(Some(format!("`{}` may not continue: {why}", slot.name)));
    }
    let settings = tx.work_settings(slot.project).await?;
    let money = Money::read(tx, slot.project).await?;
    let whose = [
        (slot.budget_micros, slot.usage.cost_micros.unwrap_or(0), "its"),
        (settings.budget_micros, money.spent, "the project's"),
    ];
    let over = whose
        .into_iter()
        .find_map(|(limit, spent, whose)| Some((whose, refuses(Purse { limit, spent, promised: 0 }, 0)?)));
    Ok(over.map(|(whose, reason)| format!("`{}` may not continue: {whose} budget is spent: {reason}", slot.name)))
}

/// Whether a worker with an outage may be the one that probes it.
fn probe(slot: &WorkerRow) -> bool {
    slot.status == WorkerStatus::Idle || (slot.status == WorkerStatus::Paused && slot.until.is_some())
}

/// Why a worker takes nothing, regardless of its owner and runner.
fn resting(slot: &WorkerRow, settings: &WorkSettings, tx: &Tx<'_>) -> Option<String> {
    let because = || slot.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    match slot.status {
        WorkerStatus::Idle | WorkerStatus::Working => None,
        WorkerStatus::Offline if holds::breaker(slot, settings).take(tx.now).is_some() => None,
        WorkerStatus::Paused if slot.task.is_some() => None,
        status => Some(format!("is {status}{}", because())),
    }
}

/// Why a worker's runner can start no session now.
fn full(slot: &WorkerRow, runners: &[Candidate]) -> Option<String> {
    let Some(candidate) = runners.iter().find(|candidate| Some(candidate.runner) == slot.runner) else {
        return Some("its runner was removed".to_owned());
    };
    let name = &candidate.name;
    if !candidate.connected {
        return Some(format!("its runner `{name}` is away"));
    }
    if let Some(missing) = missing_agent(&slot.agent, candidate) {
        return Some(missing);
    }
    let sessions = || counted(candidate.sessions, "session", "sessions");
    (candidate.sessions >= candidate.capacity).then(|| format!("its runner `{name}` is full, with {}", sessions()))
}

/// Marks a worker whose budget does not cover another task.
pub(crate) async fn spent(tx: &mut Tx<'_>, worker: WorkerId, reason: String) -> Result<(), StoreError> {
    let Some(mut slot) = get(tx, worker).await? else { return Ok(()) };
    if slot.status == WorkerStatus::Spent {
        return Ok(());
    }
    slot.becomes(WorkerStatus::Spent, Some(reason.clone()), None);
    let (project, task) = (slot.project, slot.task);
    put(tx, slot);
    decided(tx, project, Some(worker), task, Decision::BudgetSpent { why: reason }).await
}

/// Money spent in a project, reserved for running tasks, and expected for the next one.
pub(crate) struct Money {
    pub(crate) spent: u64,
    pub(crate) promised: u64,
    pub(crate) expected: u64,
}

impl Money {
    /// Why an external worker may not take a task: its budget or the project's does not cover one.
    pub(crate) fn refuses(&self, slot: &WorkerRow, settings: &WorkSettings) -> Option<String> {
        let shared = || self.refuses_project(settings, self.promised);
        let own = self.refuses_worker(slot).map(|reason| format!("its budget is spent: {reason}"));
        own.or_else(|| shared().map(|reason| format!("the project's budget is spent: {reason}")))
    }

    fn refuses_worker(&self, slot: &WorkerRow) -> Option<String> {
        let purse = Purse { limit: slot.budget_micros, spent: slot.usage.cost_micros.unwrap_or(0), promised: 0 };
        refuses(purse, self.expected)
    }

    fn refuses_project(&self, settings: &WorkSettings, promised: u64) -> Option<String> {
        refuses(Purse { limit: settings.budget_micros, spent: self.spent, promised }, self.expected)
    }

    pub(crate) async fn read(tx: &mut Tx<'_>, project: ProjectId) -> Result<Self, StoreError> {
        let cost = |row: &crate::sql::Row| Ok::<u64, StoreError>(row.json::<Usage>("usage")?.cost_micros.unwrap_or(0));
        let sql = "SELECT usage FROM workers WHERE project = $1";
        let rows = tx.read().all(sql, vec![text(project)]).await?;
        let spent = rows.iter().map(cost).sum::<Result<u64, _>>()?;
        // An accepted attempt without a session or usage does not help to estimate the next one's cost.
        let sql = "SELECT usage FROM attempts WHERE project = $1 AND ended_at IS NOT NULL AND \
                   outcome IN ('accepted', 'refused', 'failed') AND (outcome <> 'accepted' OR sessions <> '[]' OR \
                   usage <> $2) ORDER BY started_at DESC LIMIT 10";
        let rows = tx.read().all(sql, args![project.to_string(), to_json(&Usage::default())]).await?;
        let last = rows.iter().map(cost).collect::<Result<Vec<u64>, _>>()?;
        let expected = expected(&last);
        let sql = "SELECT usage FROM attempts WHERE project = $1 AND ended_at IS NULL";
        let rows = tx.read().all(sql, vec![text(project)]).await?;
        let open = rows.iter().map(cost).collect::<Result<Vec<u64>, _>>()?;
        let promised = open.iter().map(|cost| expected.saturating_sub(*cost)).sum();
        Ok(Self { spent, promised, expected })
    }
}
