//! Workers' rows: reads, writes and access.

use domain::{Action, ProjectId, Timestamp, WorkerId, WorkerKind, WorkerStatus};
use protocol::{Change, Sandbox, Usage, UserRef, Worker};

pub(crate) use super::book::{add, get, know, know_named, put, put_quietly};

use super::book::free_colour;
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::Tx;
use crate::verbs::workspaces::{json_or_none, size_or_none};
use crate::verbs::{projects, users};
use crate::{Caller, EventBody, StoreError};

pub(crate) const COLUMNS: &str = "SELECT w.id, w.project, w.owner, u.name AS owner_name, w.name, w.kind, w.runner, w.agent, \
    w.model, w.role, w.abilities, w.argv, w.sandbox, w.profile, w.colour, w.status, w.reason, w.until_at, w.task, w.session, \
    w.queue, w.failures, w.done, w.failed, w.usage, w.budget_micros, w.handoff_after_micros, w.scores, w.score_sum, w.scaled, w.seen_at, \
    w.idle_since, w.created_at, w.removed_at FROM workers w JOIN users u ON u.id = w.owner";

/// A worker's row: the public view and the parameters of its sessions.
#[derive(Debug, Clone)]
pub(crate) struct WorkerRow {
    /// The public view.
    pub(crate) view: Worker,
    pub(crate) argv: Vec<String>,
    pub(crate) sandbox: Option<Sandbox>,
    /// The name of the agent profile that it follows.
    pub(crate) profile: Option<String>,
    /// Whether scaling added the worker, and may remove it.
    pub(crate) scaled: bool,
    pub(crate) idle_since: Option<Timestamp>,
    pub(crate) scores: u32,
    pub(crate) score_sum: u32,
    pub(crate) removed_at: Option<Timestamp>,
}

impl std::ops::Deref for WorkerRow {
    type Target = Worker;

    fn deref(&self) -> &Worker {
        &self.view
    }
}

impl std::ops::DerefMut for WorkerRow {
    fn deref_mut(&mut self) -> &mut Worker {
        &mut self.view
    }
}

/// Zero usage.
pub(crate) fn nothing() -> Usage {
    Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None }
}

/// The sum of two usages.
pub(crate) fn sum(one: &Usage, other: &Usage) -> Usage {
    let cost = |usage: &Usage| usage.cost_micros;
    Usage {
        input_tokens: one.input_tokens.saturating_add(other.input_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        cost_micros: match (cost(one), cost(other)) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0).saturating_add(other.unwrap_or(0))),
        },
    }
}

impl WorkerRow {
    /// A new worker without history.
    pub(crate) fn fresh(project: ProjectId, owner: UserRef, name: String, kind: WorkerKind, now: Timestamp) -> Self {
        let view = Worker {
            id: WorkerId::generate(),
            project,
            owner,
            name,
            kind,
            runner: None,
            agent: kind.word().to_owned(),
            model: None,
            role: None,
            abilities: Vec::new(),
            colour: 0,
            status: WorkerStatus::Idle,
            reason: None,
            until: None,
            task: None,
            session: None,
            queue: Vec::new(),
            failures: 0,
            done: 0,
            failed: 0,
            usage: nothing(),
            budget_micros: None,
            handoff_after_micros: None,
            context_score: None,
            seen_at: Some(now),
            created_at: now,
        };
        let idle_since = Some(now);
        Self {
            view,
            argv: Vec::new(),
            sandbox: None,
            profile: None,
            scaled: false,
            idle_since,
            scores: 0,
            score_sum: 0,
            removed_at: None,
        }
    }

    /// Agent and model, as attempts name them.
    pub(crate) fn agent(&self) -> String {
        match &self.view.model {
            Some(model) => format!("{} {model}", self.view.agent),
            None => self.view.agent.clone(),
        }
    }

    /// Changes the status, its reason and its end.
    pub(crate) fn becomes(&mut self, status: WorkerStatus, reason: Option<String>, until: Option<Timestamp>) {
        self.view.status = status;
        self.view.reason = reason;
        self.view.until = until;
    }
}

pub(crate) fn slot(row: &Row) -> Result<WorkerRow, StoreError> {
    let (scores, score_sum) = (row.count("scores")?, row.count("score_sum")?);
    let id = |column: &str| row.text_or_none(column);
    let view = Worker {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        owner: users::reference(row, "owner")?,
        name: row.text("name")?,
        kind: row.parsed("kind")?,
        runner: id("runner")?.and_then(|id| id.parse().ok()),
        agent: row.text("agent")?,
        model: row.text_or_none("model")?,
        role: row.text_or_none("role")?,
        abilities: row.json("abilities")?,
        colour: row.count("colour")?,
        status: row.parsed("status")?,
        reason: row.text_or_none("reason")?,
        until: row.time_or_none("until_at")?,
        task: id("task")?.and_then(|id| id.parse().ok()),
        session: id("session")?.and_then(|id| id.parse().ok()),
        queue: row.json("queue")?,
        failures: row.count("failures")?,
        done: row.count("done")?,
        failed: row.count("failed")?,
        usage: row.json("usage")?,
        budget_micros: size_or_none(row, "budget_micros")?,
        handoff_after_micros: size_or_none(row, "handoff_after_micros")?,
        context_score: (scores > 0).then(|| score_sum.saturating_mul(100) / scores.max(1)),
        seen_at: row.time_or_none("seen_at")?,
        created_at: row.time("created_at")?,
    };
    Ok(WorkerRow {
        view,
        argv: row.json("argv")?,
        sandbox: json_or_none(row, "sandbox")?,
        profile: row.text_or_none("profile")?,
        scaled: row.flag("scaled")?,
        idle_since: row.time_or_none("idle_since")?,
        scores,
        score_sum,
        removed_at: row.time_or_none("removed_at")?,
    })
}

/// The workers of one project or of all, oldest first, without removed ones. The caller must check access.
pub(crate) async fn all(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<WorkerRow>, StoreError> {
    let filter = if only.is_some() { "AND w.project = $1" } else { "" };
    let sql = format!("{COLUMNS} WHERE w.removed_at IS NULL {filter} ORDER BY w.created_at, w.colour, w.id");
    c.all(&sql, only.map(text).into_iter().collect()).await?.iter().map(slot).collect()
}

/// The same workers, with this transaction's changes.
pub(crate) async fn of(tx: &mut Tx<'_>, only: Option<ProjectId>) -> Result<Vec<WorkerRow>, StoreError> {
    all(tx.read(), only).await
}

/// A worker that was not removed, if the caller may see its project.
pub(crate) async fn find(c: &mut Connection<'_>, caller: &Caller, id: WorkerId) -> Result<WorkerRow, StoreError> {
    let sql = format!("{COLUMNS} WHERE w.id = $1 AND w.removed_at IS NULL");
    let row = c.first(&sql, vec![text(id)]).await?.ok_or(StoreError::NotFound("worker"))?;
    let found = slot(&row)?;
    projects::check(c, caller, found.project, Action::See, "worker").await?;
    Ok(found)
}

/// A worker of the caller's own.
pub(crate) async fn own(tx: &mut Tx<'_>, id: WorkerId) -> Result<WorkerRow, StoreError> {
    let caller = tx.caller;
    let found = find(tx.read(), caller, id).await?;
    let me = caller.person()?;
    // Everybody who sees the project sees its workers, so a refusal reveals nothing.
    if me.id != found.owner.id {
        return Err(StoreError::Forbidden("only its owner may do this: talk to them in the project's chat"));
    }
    get(tx, id).await?.ok_or(StoreError::NotFound("worker"))
}

/// The lowest unused colours.
pub(crate) fn free_colours(workers: &[WorkerRow]) -> impl Iterator<Item = u32> {
    let taken: Vec<u32> = workers.iter().map(|worker| worker.colour).collect();
    (0..).filter(move |colour| !taken.contains(colour))
}

/// Announces a change to everybody who sees the project.
pub(crate) fn tell(tx: &mut Tx<'_>, project: ProjectId, change: Change) {
    let body = EventBody::Change { change };
    let project = Some(project);
    tx.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
}

/// The external worker with this name in the project; added on its first request.
pub(crate) async fn external(
    tx: &mut Tx<'_>,
    project: ProjectId,
    owner: &UserRef,
    name: &str,
    abilities: &[String],
) -> Result<WorkerRow, StoreError> {
    let name_key = (project, owner.id, name.to_owned());
    let known = match tx.worker_book().external.get(&name_key) {
        Some(known) => *known,
        None => {
            let sql = "SELECT id FROM workers WHERE project = $1 AND owner = $2 AND name = $3 AND kind = 'external' \
                       AND removed_at IS NULL";
            let row = tx.stored().first(sql, args![project.to_string(), owner.id.to_string(), name]).await?;
            row.map(|row| row.parsed("id")).transpose()?
        }
    };
    if let Some(id) = known {
        let mut found = get(tx, id).await?.ok_or(StoreError::NotFound("worker"))?;
        tx.worker_book().external.insert(name_key, Some(id));
        if !abilities.is_empty() && found.abilities != abilities {
            found.abilities = abilities.to_vec();
            put(tx, found.clone());
        }
        return Ok(found);
    }
    let mut made = WorkerRow::fresh(project, owner.clone(), name.to_owned(), WorkerKind::External, tx.now);
    made.abilities = abilities.to_vec();
    made.colour = free_colour(tx, project).await?;
    add(tx, made.clone());
    Ok(made)
}
