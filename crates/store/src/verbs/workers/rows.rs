//! Workers' rows: reading them, writing them, and who may see and change them.

use domain::{Action, ProjectId, Resource, Timestamp, WorkerId, WorkerKind, WorkerStatus};
use protocol::{Change, Sandbox, Usage, UserRef, Worker};

use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::workspaces::{json_or_none, size_or_none};
use crate::verbs::{projects, users};
use crate::{Caller, EventBody, StoreError};

const COLUMNS: &str = "SELECT w.id, w.project, w.owner, u.name AS owner_name, w.name, w.kind, w.runner, w.agent, \
    w.model, w.role, w.abilities, w.argv, w.sandbox, w.colour, w.status, w.reason, w.until_at, w.task, w.session, \
    w.queue, w.failures, w.done, w.failed, w.usage, w.budget_micros, w.scores, w.score_sum, w.scaled, w.seen_at, \
    w.idle_since, w.created_at, w.removed_at FROM workers w JOIN users u ON u.id = w.owner";

/// A worker's whole row: what is shown of it, and what it is run with.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// What is shown.
    pub(crate) view: Worker,
    pub(crate) argv: Vec<String>,
    pub(crate) sandbox: Option<Sandbox>,
    /// The scale made it, and may take it away again.
    pub(crate) scaled: bool,
    pub(crate) idle_since: Option<Timestamp>,
    pub(crate) scores: u32,
    pub(crate) score_sum: u32,
    pub(crate) removed: bool,
}

/// Nothing used yet.
pub(crate) fn nothing() -> Usage {
    Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None }
}

/// Two usages together.
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

impl Slot {
    /// A worker that has done nothing yet.
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
            context_score: None,
            seen_at: Some(now),
            created_at: now,
        };
        let idle_since = Some(now);
        Self { view, argv: Vec::new(), sandbox: None, scaled: false, idle_since, scores: 0, score_sum: 0, removed: false }
    }

    /// The agent and model, as attempts name them.
    pub(crate) fn agent(&self) -> String {
        match &self.view.model {
            Some(model) => format!("{} {model}", self.view.agent),
            None => self.view.agent.clone(),
        }
    }

    /// What it is at from now on, and why.
    pub(crate) fn becomes(&mut self, status: WorkerStatus, reason: Option<String>, until: Option<Timestamp>) {
        self.view.status = status;
        self.view.reason = reason;
        self.view.until = until;
    }
}

pub(crate) fn slot(row: &Row) -> Result<Slot, StoreError> {
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
        context_score: (scores > 0).then(|| score_sum.saturating_mul(100) / scores.max(1)),
        seen_at: row.time_or_none("seen_at")?,
        created_at: row.time("created_at")?,
    };
    Ok(Slot {
        view,
        argv: row.json("argv")?,
        sandbox: json_or_none(row, "sandbox")?,
        scaled: row.flag("scaled")?,
        idle_since: row.time_or_none("idle_since")?,
        scores,
        score_sum,
        removed: row.time_or_none("removed_at")?.is_some(),
    })
}

/// A worker, whoever asks; one that was removed, too.
pub(crate) async fn get(c: &mut Connection<'_>, id: WorkerId) -> Result<Option<Slot>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE w.id = $1"), vec![text(id)]).await?.as_ref().map(slot).transpose()
}

/// The workers of one project or of all that are there, oldest first. What may be seen is for the caller to check.
pub(crate) async fn of(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<Slot>, StoreError> {
    let filter = if only.is_some() { "AND w.project = $1" } else { "" };
    let sql = format!("{COLUMNS} WHERE w.removed_at IS NULL {filter} ORDER BY w.created_at, w.colour, w.id");
    c.all(&sql, only.map(text).into_iter().collect()).await?.iter().map(slot).collect()
}

/// A worker that is there, if the caller may see its project.
pub(crate) async fn find(c: &mut Connection<'_>, caller: &Caller, id: WorkerId) -> Result<Slot, StoreError> {
    let found = get(c, id).await?.filter(|slot| !slot.removed).ok_or(StoreError::NotFound("worker"))?;
    projects::check(c, caller, found.view.project, Action::See, "worker").await?;
    Ok(found)
}

/// A worker of the caller's own.
pub(crate) async fn own(tx: &mut Tx<'_>, id: WorkerId) -> Result<Slot, StoreError> {
    let caller = tx.caller;
    let found = find(tx.read(), caller, id).await?;
    let me = caller.person()?;
    // Whoever sees the project sees its workers: there is nothing to hide, only to refuse.
    if me.id != found.view.owner.id {
        return Err(StoreError::Forbidden("only its owner may do this: talk to them in the project's chat"));
    }
    Ok(found)
}

/// The lowest colour that no worker of the project has.
pub(crate) async fn free_colour(c: &mut Connection<'_>, project: ProjectId) -> Result<u32, StoreError> {
    let rows = c.all("SELECT colour FROM workers WHERE project = $1 AND removed_at IS NULL", vec![text(project)]).await?;
    let taken = rows.iter().map(|row| row.count("colour")).collect::<Result<Vec<_>, _>>()?;
    Ok((0..).find(|colour| !taken.contains(colour)).unwrap_or(0))
}

/// Adds a worker's row and tells those who see the project.
pub(crate) async fn add(tx: &mut Tx<'_>, slot: &Slot) -> Result<(), StoreError> {
    let view = &slot.view;
    let sql = "INSERT INTO workers (id, project, owner, name, kind, runner, agent, model, role, abilities, argv, \
               sandbox, colour, status, queue, failures, done, failed, usage, budget_micros, scores, score_sum, \
               scaled, seen_at, idle_since, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, \
               $13, $14, '[]', 0, 0, 0, $15, $16, 0, 0, $17, $18, $18, $18)";
    let values = args![
        view.id.to_string(),
        view.project.to_string(),
        view.owner.id.to_string(),
        &view.name,
        view.kind.word(),
        view.runner.map(|id| id.to_string()),
        &view.agent,
        view.model.clone(),
        view.role.clone(),
        to_json(&view.abilities),
        to_json(&slot.argv),
        slot.sandbox.as_ref().map(to_json),
        view.colour,
        view.status.word(),
        to_json(&view.usage),
        view.budget_micros.map(u64::cast_signed),
        slot.scaled,
        tx.now,
    ];
    tx.run(sql, values).await?;
    announce(tx, view.clone());
    Ok(())
}

/// Writes all of a worker that changes, and tells those who see the project.
pub(crate) async fn save(tx: &mut Tx<'_>, slot: &Slot) -> Result<(), StoreError> {
    let view = &slot.view;
    let sql = "UPDATE workers SET name = $1, abilities = $2, status = $3, reason = $4, until_at = $5, task = $6, \
               session = $7, queue = $8, failures = $9, done = $10, failed = $11, usage = $12, budget_micros = $13, \
               scores = $14, score_sum = $15, seen_at = $16, idle_since = $17, removed_at = $18 WHERE id = $19";
    let values = args![
        &view.name,
        to_json(&view.abilities),
        view.status.word(),
        view.reason.clone(),
        view.until,
        view.task.map(|id| id.to_string()),
        view.session.map(|id| id.to_string()),
        to_json(&view.queue),
        view.failures,
        view.done,
        view.failed,
        to_json(&view.usage),
        view.budget_micros.map(u64::cast_signed),
        slot.scores,
        slot.score_sum,
        view.seen_at,
        slot.idle_since,
        slot.removed.then_some(tx.now),
        view.id.to_string(),
    ];
    tx.run(sql, values).await?;
    if slot.removed {
        tell(tx, view.project, Change::WorkerGone { worker: view.id });
    } else {
        announce(tx, view.clone());
    }
    Ok(())
}

fn announce(tx: &mut Tx<'_>, worker: Worker) {
    tell(tx, worker.project, Change::Worker { worker });
}

/// Announces a change to everybody who sees the project.
pub(crate) fn tell(tx: &mut Tx<'_>, project: ProjectId, change: Change) {
    let body = EventBody::Change { change };
    tx.announce(PendingEvent {
        project: Some(project),
        audience: None,
        facts_before: None,
        execution_of: None,
        body,
    });
}

/// The worker that a person's program is, by its name in the project; made when it comes for the first time.
pub(crate) async fn external(
    tx: &mut Tx<'_>,
    project: ProjectId,
    owner: &UserRef,
    name: &str,
    abilities: &[String],
) -> Result<Slot, StoreError> {
    let sql = format!(
        "{COLUMNS} WHERE w.project = $1 AND w.owner = $2 AND w.name = $3 AND w.kind = 'external' AND w.removed_at IS NULL"
    );
    let values = args![project.to_string(), owner.id.to_string(), name];
    if let Some(row) = tx.read().first(&sql, values).await? {
        let mut found = slot(&row)?;
        if !abilities.is_empty() && found.view.abilities != abilities {
            found.view.abilities = abilities.to_vec();
            save(tx, &found).await?;
        }
        return Ok(found);
    }
    let mut made = Slot::fresh(project, owner.clone(), name.to_owned(), WorkerKind::External, tx.now);
    made.view.abilities = abilities.to_vec();
    made.view.colour = free_colour(tx.read(), project).await?;
    add(tx, &made).await?;
    Ok(made)
}

/// Whether the caller may see a project.
pub(crate) fn sees(caller: &Caller, facts: &domain::ProjectFacts) -> bool {
    caller.may(Action::See, Resource::Project(facts), "project").is_ok()
}
