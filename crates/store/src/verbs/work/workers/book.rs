//! Workers that a transaction has read and changed: each row is read once, changed in memory, and written and announced
//! with the others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::{ProjectId, UserId, WorkerId, WorkerKind};
use protocol::Worker;

use super::rows::{COLUMNS, WorkerRow, slot};
use super::told::together;
use crate::batch::PendingEvent;
use crate::bulk::{Part, Update};
use crate::sql::{Value, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::list;
use crate::{EventBody, StoreError};

const INSERT: &str = "INSERT INTO workers (id, project, owner, name, kind, runner, agent, model, role, abilities, argv, \
    sandbox, profile, colour, status, queue, failures, done, failed, usage, budget_micros, handoff_after_micros, scores, score_sum, scaled, seen_at, \
    idle_since, created_at)";

/// The columns that change, in the order of [`changed`].
const CHANGING: &[&str] = &[
    "name",
    "abilities",
    "status",
    "reason",
    "until_at",
    "task",
    "session",
    "queue",
    "failures",
    "done",
    "failed",
    "usage",
    "budget_micros",
    "handoff_after_micros",
    "scores",
    "score_sum",
    "seen_at",
    "idle_since",
    "removed_at",
];

const WORKERS: Update = Update { table: "workers", keys: &["id"], columns: CHANGING, only: "", every: None };

/// The workers that a transaction has read and changed.
#[derive(Debug, Default)]
pub(crate) struct WorkerBook {
    rows: HashMap<WorkerId, WorkerRow>,
    fresh: Vec<WorkerId>,
    dirty: BTreeSet<WorkerId>,
    told: BTreeMap<WorkerId, (ProjectId, Option<Worker>)>,
    /// External workers, by project, owner and name; `None` if there is none.
    pub(super) external: HashMap<(ProjectId, UserId, String), Option<WorkerId>>,
    /// Colours in use by the workers of a project.
    colours: HashMap<ProjectId, HashSet<u32>>,
}

impl WorkerBook {
    /// Adds the changed rows to the inserts and updates.
    pub(crate) fn write(&mut self, inserts: &mut Vec<Part>, updates: &mut Vec<Part>) {
        for (id, (_, view)) in self.told.iter_mut().filter(|(_, (_, view))| view.is_none()) {
            if let Some(slot) = self.rows.get(id) {
                *view = Some(slot.view.clone());
            }
        }
        let fresh = std::mem::take(&mut self.fresh);
        inserts.push(Part::insert(INSERT, fresh.iter().filter_map(|id| self.rows.get(id)).map(inserted).collect()));
        let dirty = std::mem::take(&mut self.dirty);
        updates.push(Part::update(WORKERS, dirty.iter().filter_map(|id| self.rows.get(id)).map(changed).collect()));
    }

    /// The tables with pending changes.
    pub(crate) fn changed_tables(&self) -> Option<&'static str> {
        (!self.fresh.is_empty() || !self.dirty.is_empty()).then_some("workers")
    }

    /// Forgets all rows: a statement may have changed them.
    pub(crate) fn forget_all(&mut self) {
        self.rows.clear();
        self.external.clear();
        self.colours.clear();
    }

    /// Drops rows that the next transaction does not need.
    pub(crate) fn settle_down(&mut self) {
        self.colours.clear();
    }

    /// Updates the index of external workers by name.
    fn named(&mut self, slot: &WorkerRow) {
        let id = slot.removed_at.is_none().then_some(slot.id);
        if slot.kind == WorkerKind::External {
            self.external.insert((slot.project, slot.owner.id, slot.name.clone()), id);
        }
    }

    /// Drops the announcements of a project.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.told.retain(|_, (of, _)| *of != project);
    }

    /// The announcements: the last state of each changed worker, once, grouped by project.
    pub(crate) fn events(&mut self) -> Vec<PendingEvent> {
        let told = std::mem::take(&mut self.told).into_values().filter_map(|(_, worker)| worker);
        let event = |(project, change)| {
            let (project, body) = (Some(project), EventBody::Change { change });
            PendingEvent { project, audience: None, facts_before: None, execution_of: None, body }
        };
        together(told).into_iter().map(event).collect()
    }
}

/// A worker, if it exists; also a removed one.
pub(crate) async fn get(tx: &mut Tx<'_>, id: WorkerId) -> Result<Option<WorkerRow>, StoreError> {
    if let Some(known) = tx.worker_book().rows.get(&id) {
        return Ok(Some(known.clone()));
    }
    let row = tx.stored().first(&format!("{COLUMNS} WHERE w.id = $1"), vec![text(id)]).await?;
    let Some(row) = row else { return Ok(None) };
    let found = slot(&row)?;
    tx.worker_book().rows.insert(id, found.clone());
    Ok(Some(found))
}

/// Reads these workers in one query.
pub(crate) async fn know(tx: &mut Tx<'_>, ids: &[WorkerId]) -> Result<(), StoreError> {
    let missing: Vec<WorkerId> = ids.iter().filter(|id| !tx.worker_book().rows.contains_key(id)).copied().collect();
    for some in missing.chunks(128) {
        let (places, values) = list(some);
        let rows = tx.stored().all(&format!("{COLUMNS} WHERE w.id IN ({places})"), values).await?;
        for row in &rows {
            let found = slot(row)?;
            tx.worker_book().rows.entry(found.id).or_insert(found);
        }
    }
    Ok(())
}

/// Reads the external workers with these names in one query.
pub(crate) async fn know_named(
    tx: &mut Tx<'_>,
    project: ProjectId,
    owner: UserId,
    names: &[String],
) -> Result<(), StoreError> {
    let unknown = |name: &&String| !tx.batch().workers.external.contains_key(&(project, owner, String::clone(name)));
    let names: Vec<&String> = names.iter().filter(unknown).collect();
    for some in names.chunks(128) {
        let (places, mut values) = list(some);
        let (at, by) = (values.len() + 1, values.len() + 2);
        values.extend([text(project), text(owner)]);
        let sql = format!(
            "{COLUMNS} WHERE w.name IN ({places}) AND w.project = ${at} AND w.owner = ${by} AND w.kind = 'external' \
             AND w.removed_at IS NULL"
        );
        let rows = tx.stored().all(&sql, values).await?;
        for name in some {
            tx.worker_book().external.entry((project, owner, String::clone(name))).or_insert(None);
        }
        for row in &rows {
            let found = slot(row)?;
            tx.worker_book().external.insert((project, owner, found.name.clone()), Some(found.id));
            tx.worker_book().rows.entry(found.id).or_insert(found);
        }
    }
    Ok(())
}

/// Writes a changed worker and announces it to those who see the project.
pub(crate) fn put(tx: &mut Tx<'_>, slot: WorkerRow) {
    let (id, project) = (slot.id, slot.project);
    let book = tx.change_workers();
    match slot.removed_at.is_some() {
        true => drop(book.told.remove(&id)),
        false => drop(book.told.insert(id, (project, None))),
    }
    book.dirty.insert(id);
    book.named(&slot);
    book.rows.insert(id, slot);
}

/// Writes a changed worker without an announcement: no client shows the difference.
pub(crate) fn put_quietly(tx: &mut Tx<'_>, slot: WorkerRow) {
    let book = tx.change_workers();
    book.told.entry(slot.id).and_modify(|(_, view)| *view = None);
    book.dirty.insert(slot.id);
    book.rows.insert(slot.id, slot);
}

/// Adds a worker and announces it to those who see the project.
pub(crate) fn add(tx: &mut Tx<'_>, slot: WorkerRow) {
    let book = tx.change_workers();
    book.fresh.push(slot.id);
    book.told.insert(slot.id, (slot.project, None));
    book.named(&slot);
    if let Some(colours) = book.colours.get_mut(&slot.project) {
        colours.insert(slot.colour);
    }
    book.rows.insert(slot.id, slot);
}

/// The lowest unused colour in a project.
pub(super) async fn free_colour(tx: &mut Tx<'_>, project: ProjectId) -> Result<u32, StoreError> {
    if !tx.worker_book().colours.contains_key(&project) {
        let sql = "SELECT colour FROM workers WHERE project = $1 AND removed_at IS NULL";
        let rows = tx.stored().all(sql, vec![text(project)]).await?;
        let mut colours = rows.iter().map(|row| row.count("colour")).collect::<Result<HashSet<_>, _>>()?;
        let book = tx.worker_book();
        colours.extend(book.rows.values().filter(|slot| slot.project == project).map(|slot| slot.colour));
        book.colours.insert(project, colours);
    }
    let taken = &tx.worker_book().colours[&project];
    Ok((0..).find(|colour| !taken.contains(colour)).unwrap_or(0))
}

fn inserted(slot: &WorkerRow) -> Vec<Value> {
    args![
        slot.id.to_string(),
        slot.project.to_string(),
        slot.owner.id.to_string(),
        &slot.name,
        slot.kind.word(),
        slot.runner.map(|id| id.to_string()),
        &slot.agent,
        slot.model.clone(),
        slot.role.clone(),
        to_json(&slot.abilities),
        to_json(&slot.argv),
        slot.sandbox.as_ref().map(to_json),
        slot.profile.clone(),
        slot.colour,
        slot.status.word(),
        to_json(&slot.queue),
        slot.failures,
        slot.done,
        slot.failed,
        to_json(&slot.usage),
        slot.budget_micros.map(u64::cast_signed),
        slot.handoff_after_micros.map(u64::cast_signed),
        slot.scores,
        slot.score_sum,
        slot.scaled,
        slot.seen_at,
        slot.idle_since,
        slot.created_at,
    ]
}

fn changed(slot: &WorkerRow) -> Vec<Value> {
    args![
        slot.id.to_string(),
        &slot.name,
        to_json(&slot.abilities),
        slot.status.word(),
        slot.reason.clone(),
        slot.until,
        slot.task.map(|id| id.to_string()),
        slot.session.map(|id| id.to_string()),
        to_json(&slot.queue),
        slot.failures,
        slot.done,
        slot.failed,
        to_json(&slot.usage),
        slot.budget_micros.map(u64::cast_signed),
        slot.handoff_after_micros.map(u64::cast_signed),
        slot.scores,
        slot.score_sum,
        slot.seen_at,
        slot.idle_since,
        slot.removed_at,
    ]
}
