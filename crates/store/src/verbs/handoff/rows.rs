//! The rows of handoffs, and the one way to change their state.

use domain::{HandoffId, HandoffOutcome, HandoffStatus, HandoffStep, HandoffWriter, SessionId, SessionMode, Timestamp};
use engine::handoff::{self, Event, State, holds_back};
use protocol::link::KeptAll;
use protocol::{Handoff, HandoffFirst, HandoffStepTaken};

use super::{announce, taken};
use crate::StoreError;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::users;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::json_or_none;

pub(super) const COLUMNS: &str = "SELECT h.id, h.project, h.activity, h.session, h.title, h.workspace, h.runner, \
    h.owner, u.name AS owner_name, h.task, h.to_runner, h.to_owner, t.name AS to_owner_name, h.agent, h.model, h.goal, \
    h.role, h.edit, h.push, h.wait_seconds, h.status, h.step, h.detail, h.steps, h.since, h.tries, h.written_since, \
    h.body, h.written_by, h.first_body, h.first_by, h.kept, h.document, h.hash, h.branch, h.bundle, h.successor, \
    h.by_itself, h.asked_by, a.name AS asked_by_name, h.by_agent, h.takes_over, h.created_at, h.updated_at, \
    s.agent AS from_agent, s.mode AS from_mode FROM handoffs h JOIN users u ON u.id = h.owner \
    JOIN users t ON t.id = h.to_owner JOIN users a ON a.id = h.asked_by LEFT JOIN sessions s ON s.id = h.session";
/// The longest stored reason, in characters.
const REASON: usize = 2000;

/// A handoff with everything that is stored of it.
#[derive(Debug, Clone)]
pub(super) struct HandoffRow {
    pub(super) view: Handoff,
    pub(super) model: Option<String>,
    /// The role whose template the document follows, if one was named.
    pub(super) role: Option<String>,
    pub(super) wait_seconds: u32,
    /// When the current step began.
    pub(super) since: Timestamp,
    /// How often a runner tried the current step and could not do it.
    pub(super) tries: u32,
    /// When the agent was asked for the prose.
    pub(super) written_since: Option<Timestamp>,
    pub(super) body: Option<String>,
    pub(super) written_by: Option<HandoffWriter>,
    /// The prose before a person edited it.
    pub(super) first: Option<HandoffFirst>,
    pub(super) kept: Option<KeptAll>,
    pub(super) document: Option<String>,
    pub(super) bundle: Option<String>,
    /// Whether an agent asked for it with its person's credential.
    pub(super) by_agent: bool,
}

pub(super) fn read(row: &Row) -> Result<HandoffRow, StoreError> {
    let kept: Option<KeptAll> = json_or_none(row, "kept")?;
    let agent = row.text("agent")?;
    // A session that was deleted cannot be asked.
    let mode: Option<SessionMode> = id_or_none(row, "from_mode")?;
    let from = row.text_or_none("from_agent")?.unwrap_or_default();
    Ok(HandoffRow {
        view: Handoff {
            id: row.parsed("id")?,
            project: row.parsed("project")?,
            activity: row.parsed("activity")?,
            session: row.parsed("session")?,
            title: row.text("title")?,
            workspace: row.parsed("workspace")?,
            runner: row.parsed("runner")?,
            owner: users::reference(row, "owner")?,
            task: id_or_none(row, "task")?,
            to_runner: row.parsed("to_runner")?,
            to: users::reference(row, "to_owner")?,
            writes: mode.is_some_and(|mode| handoff::writes(&from, mode)),
            reads: handoff::reads(&agent),
            takes_over: row.flag("takes_over")?,
            agent,
            goal: row.text("goal")?,
            edit: row.flag("edit")?,
            push: row.flag("push")?,
            status: row.parsed("status")?,
            step: row.parsed("step")?,
            detail: row.text_or_none("detail")?,
            steps: row.json("steps")?,
            hash: row.text_or_none("hash")?,
            saved: kept.as_ref().map(|kept| kept.commit.clone()),
            branch: row.text_or_none("branch")?,
            successor: id_or_none(row, "successor")?,
            by_itself: row.text_or_none("by_itself")?,
            asked_by: users::reference(row, "asked_by")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        },
        model: row.text_or_none("model")?,
        role: row.text_or_none("role")?,
        wait_seconds: row.count("wait_seconds")?,
        since: row.time("since")?,
        tries: row.count("tries")?,
        written_since: row.time_or_none("written_since")?,
        body: row.text_or_none("body")?,
        written_by: id_or_none(row, "written_by")?,
        first: row.text_or_none("first_body")?.map(|body| first(row, body)).transpose()?,
        kept,
        document: row.text_or_none("document")?,
        bundle: row.text_or_none("bundle")?,
        by_agent: row.flag("by_agent")?,
    })
}

fn first(row: &Row, body: String) -> Result<HandoffFirst, StoreError> {
    Ok(HandoffFirst { body, written_by: id_or_none(row, "first_by")? })
}

/// A handoff, without an access check.
pub(super) async fn get(c: &mut Connection<'_>, id: HandoffId) -> Result<Option<HandoffRow>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE h.id = $1"), vec![text(id)]).await?.as_ref().map(read).transpose()
}

/// The handoff of a session that is not over.
pub(super) async fn open_of(c: &mut Connection<'_>, session: SessionId) -> Result<Option<HandoffRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE h.session = $1 AND h.status NOT IN ('done', 'cancelled') ORDER BY h.id LIMIT 1");
    c.first(&sql, vec![text(session)]).await?.as_ref().map(read).transpose()
}

impl HandoffRow {
    /// The state, as the machine reads it.
    pub(super) fn machine(&self) -> Result<handoff::Handoff, StoreError> {
        let view = &self.view;
        let successor = || view.successor.ok_or_else(|| StoreError::Corrupt(format!("{} has no successor", view.id)));
        let state = match (view.status, view.step) {
            (HandoffStatus::Editing, _) => State::Editing,
            (HandoffStatus::Failed, at) => State::Failed { at, why: view.detail.clone().unwrap_or_default() },
            (HandoffStatus::Cancelled, at) => State::Cancelled { at },
            (HandoffStatus::Done, _) => State::Done { successor: successor()? },
            (HandoffStatus::Running, HandoffStep::Write) => State::Writing,
            (HandoffStatus::Running, HandoffStep::Save) => State::Saving,
            (HandoffStatus::Running, HandoffStep::Publish) => State::Publishing,
            (HandoffStatus::Running, HandoffStep::Stop) => State::Stopping,
            (HandoffStatus::Running, HandoffStep::Start) => State::Starting,
            (HandoffStatus::Running, HandoffStep::Acknowledge) => State::Acknowledging { successor: successor()? },
        };
        Ok(handoff::Handoff { state, edit: view.edit })
    }

    /// Applies an event; `result` says what came of the step. Whether anything changed.
    pub(super) async fn apply(
        &mut self,
        tx: &mut Tx<'_>,
        event: Event,
        result: Option<String>,
    ) -> Result<bool, StoreError> {
        let machine = self.machine()?;
        let outcome = outcome(&event);
        let why = match &event {
            Event::Failed { why, .. } => Some(domain::text::plain(why, REASON)),
            _ => None,
        };
        let after = handoff::step(&machine, event).state;
        if after == machine.state {
            return Ok(false);
        }
        let ended = machine.state.step();
        self.view.status = after.status();
        self.view.step = after.step();
        self.view.detail = match &after {
            State::Failed { why: told, .. } => Some(why.clone().unwrap_or_else(|| told.clone())),
            _ => None,
        };
        if let State::Acknowledging { successor } | State::Done { successor } = after {
            self.view.successor = Some(successor);
        }
        if let Some(outcome) = outcome.filter(|_| machine.state != State::Editing) {
            let detail = self.view.detail.clone().or(result);
            self.view.steps.push(HandoffStepTaken { step: ended, outcome, detail, at: tx.now });
        }
        (self.since, self.tries) = (tx.now, 0);
        self.save(tx).await?;
        // Sessions of tasks wait for the old one, and for the document.
        if self.view.successor.is_some() && holds_back(&machine.state) && !holds_back(&after) {
            taken::release(tx, self).await?;
        }
        failpoint::pass(place(ended));
        Ok(true)
    }

    /// A runner could not do the current step, for a reason that may pass: it is tried again, a few times.
    pub(super) async fn tried(&mut self, tx: &mut Tx<'_>, at: HandoffStep, why: &str) -> Result<(), StoreError> {
        if self.view.status != HandoffStatus::Running || self.view.step != at {
            return Ok(());
        }
        self.tries += 1;
        match handoff::tried(at, self.tries, why) {
            Some(event) => self.apply(tx, event, None).await.map(|_| ()),
            None => {
                self.view.detail = Some(domain::text::plain(why, REASON));
                self.save(tx).await
            }
        }
    }

    /// Says what the current step waits for.
    pub(super) async fn waits(&mut self, tx: &mut Tx<'_>, why: Option<String>) -> Result<(), StoreError> {
        if self.view.status != HandoffStatus::Running || self.view.detail == why {
            return Ok(());
        }
        self.view.detail = why;
        self.save(tx).await
    }

    /// Stores it and announces it.
    pub(super) async fn save(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.view.saved = self.kept.as_ref().map(|kept| kept.commit.clone());
        self.view.updated_at = tx.now;
        let view = &self.view;
        let sql = "UPDATE handoffs SET status = $1, step = $2, detail = $3, steps = $4, since = $5, \
                   written_since = $6, body = $7, written_by = $8, kept = $9, document = $10, hash = $11, \
                   branch = $12, bundle = $13, successor = $14, tries = $15, updated_at = $16, first_body = $17, \
                   first_by = $18 WHERE id = $19";
        let values = args![
            view.status.word(),
            view.step.word(),
            view.detail.clone(),
            to_json(&view.steps),
            self.since,
            self.written_since,
            self.body.clone(),
            self.written_by.map(|by| by.word().to_owned()),
            self.kept.as_ref().map(to_json),
            self.document.clone(),
            view.hash.clone(),
            view.branch.clone(),
            self.bundle.clone(),
            view.successor.map(|id| id.to_string()),
            self.tries,
            tx.now,
            self.first.as_ref().map(|first| first.body.clone()),
            self.first.as_ref().and_then(|first| first.written_by).map(|by| by.word().to_owned()),
            view.id.to_string(),
        ];
        tx.run(sql, values).await?;
        announce(tx, self.view.clone());
        Ok(())
    }
}

/// The failpoint at the end of a step.
fn place(step: HandoffStep) -> &'static str {
    match step {
        HandoffStep::Write => "handoff.write",
        HandoffStep::Save => "handoff.save",
        HandoffStep::Publish => "handoff.publish",
        HandoffStep::Stop => "handoff.stop",
        HandoffStep::Start => "handoff.start",
        HandoffStep::Acknowledge => "handoff.acknowledge",
    }
}

/// How the current step ends with an event; `None` if it does not.
fn outcome(event: &Event) -> Option<HandoffOutcome> {
    match event {
        Event::Failed { .. } | Event::Gone { .. } => Some(HandoffOutcome::Failed),
        Event::Skip => Some(HandoffOutcome::Skipped),
        Event::Retry | Event::Cancel | Event::Released => None,
        _ => Some(HandoffOutcome::Done),
    }
}
