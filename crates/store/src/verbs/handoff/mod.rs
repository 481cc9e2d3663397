//! Handoffs: one session's work continues in a fresh session.

mod agents;
mod begin;
mod document;
pub(crate) mod itself;
mod people;
mod rows;
mod settings;
pub(crate) mod start;
pub(crate) mod taken;
mod tend;

pub use tend::{HandoffResult, HandoffTold, HandoffWork, TendHandoff};

use domain::{Action, HandoffId, ProjectId, Resource};
use protocol::{Change, Handoff, HandoffDetail, HandoffFilter};

use self::rows::{COLUMNS, HandoffRow, get};
use super::workspaces::sees;
use crate::sql::{Connection, args, text};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::{Caller, Store, StoreError};

/// The default and maximum number of listed handoffs.
const LISTED: (u32, u32) = (100, 200);
/// How long clients keep an ended handoff in their state, in milliseconds.
const REMEMBERED: i64 = 7 * 24 * 3_600_000;

/// A handoff, if the caller may do this to its session.
async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: HandoffId,
    action: Action,
) -> Result<HandoffRow, StoreError> {
    let found = get(c, id).await?.ok_or(StoreError::NotFound("handoff"))?;
    let facts = projects::facts_of(c, found.view.project).await?.ok_or(StoreError::NotFound("handoff"))?;
    let of = |owner| Resource::Execution { project: &facts, owner };
    // The person who continues sees it as the person who hands off does.
    match caller.may(action, of(found.view.owner.id), "handoff") {
        Err(_) if action == Action::SeeExecution && caller.may(action, of(found.view.to.id), "handoff").is_ok() => {}
        // The person who takes a task over decides about its document.
        Err(_) if found.view.takes_over && caller.may(action, of(found.view.to.id), "handoff").is_ok() => {}
        refused => refused?,
    }
    Ok(found)
}

/// Announces a handoff to those who may see one of its sessions.
fn announce(tx: &mut Tx<'_>, handoff: Handoff) {
    let (project, owner, to) = (handoff.project, handoff.owner.id, handoff.to.id);
    if handoff.takes_over && owner != to {
        tx.announce_execution(project, to, Change::Handoff { handoff: handoff.clone() });
    }
    tx.announce_execution(project, owner, Change::Handoff { handoff });
}

/// The handoffs that are not over, and those that ended lately, for the state of a client.
pub(crate) async fn current(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
    now: domain::Timestamp,
) -> Result<Vec<Handoff>, StoreError> {
    let mut values = args![now.plus_millis(-REMEMBERED)];
    let mut sql = format!("{COLUMNS} WHERE (h.status NOT IN ('done', 'cancelled') OR h.updated_at > $1)");
    if let Some(project) = only {
        values.push(text(project));
        sql.push_str(" AND h.project = $2");
    }
    sql.push_str(" ORDER BY h.id");
    c.all(&sql, values).await?.iter().map(|row| rows::read(row).map(|row| row.view)).collect()
}

impl Store {
    /// The newest handoffs that the caller may see, newest first.
    pub async fn handoffs(&self, caller: &Caller, filter: HandoffFilter) -> Result<Vec<Handoff>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::all_facts(&mut c).await?;
        if let Some(project) = filter.project {
            projects::check(&mut c, caller, project, Action::See, "project").await?;
        }
        let (mut sql, mut values) = (format!("{COLUMNS} WHERE 1 = 1"), Vec::new());
        let conditions = [
            ("h.project = ?", filter.project.map(text)),
            ("h.activity = ?", filter.activity.map(text)),
            ("(h.session = ? OR h.successor = ?)", filter.session.map(text)),
        ];
        for (condition, value) in conditions {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {}", condition.replace('?', &format!("${}", values.len()))));
            }
        }
        sql.push_str(" ORDER BY h.id DESC");
        let limit = filter.limit.unwrap_or(LISTED.0).min(LISTED.1) as usize;
        let mut seen = Vec::new();
        for row in c.all(&sql, values).await? {
            let found = rows::read(&row)?.view;
            let of = facts.get(&found.project);
            if sees(caller, of, found.owner.id) || sees(caller, of, found.to.id) {
                seen.push(found);
            }
            if seen.len() == limit {
                break;
            }
        }
        Ok(seen)
    }

    /// One handoff with its document.
    pub async fn handoff(&self, caller: &Caller, id: HandoffId) -> Result<HandoffDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let found = find(&mut reader.borrow(), caller, id, Action::SeeExecution).await?;
        let HandoffRow { view, body, written_by, first, document, .. } = found;
        Ok(HandoffDetail { handoff: view, body, written_by, first, document })
    }

    /// The handoffs with something to do.
    pub async fn open_handoffs(&self) -> Result<Vec<HandoffId>, StoreError> {
        let mut reader = self.readers.get().await?;
        let sql = "SELECT id FROM handoffs WHERE status = 'running' ORDER BY id";
        reader.borrow().all(sql, args![]).await?.iter().map(|row| row.parsed("id")).collect()
    }
}
