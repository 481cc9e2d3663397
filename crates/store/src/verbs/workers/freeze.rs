//! Stop everything, and thaw.

use std::collections::BTreeMap;

use domain::{Action, ProjectId, SessionId, UserId, WorkerStatus};
use protocol::{Freeze, Frozen};
use serde::Serialize;

use super::log::decided;
use super::rows::{self, get, put};
use super::{settings, stop};
use crate::sql::{Connection, args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::sessions;
use crate::{Command, StoreError};

/// Why a worker of somebody takes nothing who stopped everything.
pub(crate) const REASON: &str = "everything was stopped: thaw to go on";

/// Whether somebody's workers take nothing in a project.
pub(crate) async fn frozen(c: &mut Connection<'_>, user: UserId, project: ProjectId) -> Result<bool, StoreError> {
    let sql = "SELECT project FROM freezes WHERE user_id = $1 AND project IN ('', $2)";
    Ok(c.first(sql, vec![text(user), text(project)]).await?.is_some())
}

/// Stops everything of the caller's, in one project or everywhere; nothing is handed to them until it is thawed.
#[derive(Debug, Serialize)]
pub struct FreezeFloor {
    /// Where.
    pub input: Freeze,
}

impl Command for FreezeFloor {
    type Output = Frozen;
    const VERB: &'static str = "floor.freeze";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Frozen, StoreError> {
        let me = caller(tx, self.input.project).await?;
        let scope = self.input.project.map(|id| id.to_string()).unwrap_or_default();
        let sql =
            "INSERT INTO freezes (user_id, project, at) VALUES ($1, $2, $3) ON CONFLICT (user_id, project) DO NOTHING";
        let news = tx.run(sql, args![me.to_string(), scope, tx.now]).await? > 0;
        let mut workers = 0;
        let mut stopped: BTreeMap<ProjectId, u32> = self.input.project.iter().map(|project| (*project, 0)).collect();
        for mut slot in rows::of(tx, self.input.project).await? {
            if slot.owner.id != me {
                continue;
            }
            workers += 1;
            *stopped.entry(slot.project).or_default() += 1;
            if slot.task.is_some() {
                stop::release(tx, &slot, "everything was stopped", false).await?;
                slot = get(tx, slot.id).await?.unwrap_or(slot);
            }
            if matches!(slot.status, WorkerStatus::Idle | WorkerStatus::Working | WorkerStatus::Lost) {
                slot.becomes(WorkerStatus::Paused, Some(REASON.into()), None);
                put(tx, slot);
            }
        }
        let mut sessions = 0;
        for session in live(tx, me, self.input.project).await? {
            sessions::ask_any_to_stop(tx, session).await?;
            sessions += 1;
        }
        announce(tx, me, self.input.project).await?;
        let by = tx.caller.person()?.name;
        for (project, count) in stopped.into_iter().filter(|_| news) {
            let reason = format!("{by} stopped everything of theirs: {} take nothing", workers_in_words(count));
            decided(tx, project, None, None, "frozen", reason).await?;
        }
        let detail = format!("stopped everything: {workers} workers, {sessions} sessions");
        tx.audit(Self::VERB, me, scoped(me, self.input.project), detail);
        Ok(Frozen { frozen: true, workers, sessions })
    }
}

/// Hands out tasks to the caller's workers again.
#[derive(Debug, Serialize)]
pub struct ThawFloor {
    /// Where.
    pub input: Freeze,
}

impl Command for ThawFloor {
    type Output = Frozen;
    const VERB: &'static str = "floor.thaw";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Frozen, StoreError> {
        let me = caller(tx, self.input.project).await?;
        let news = match self.input.project {
            Some(project) => {
                let sql = "DELETE FROM freezes WHERE user_id = $1 AND project = $2";
                tx.run(sql, vec![text(me), text(project)]).await?
            }
            None => tx.run("DELETE FROM freezes WHERE user_id = $1", vec![text(me)]).await?,
        };
        let mut workers = 0;
        let mut thawed: BTreeMap<ProjectId, u32> = BTreeMap::new();
        let mut still = false;
        for mut slot in rows::of(tx, self.input.project).await? {
            if slot.owner.id != me {
                continue;
            }
            if frozen(tx.read(), me, slot.project).await? {
                still = true;
                continue;
            }
            workers += 1;
            *thawed.entry(slot.project).or_default() += 1;
            if slot.status == WorkerStatus::Paused && slot.until.is_none() {
                slot.becomes(WorkerStatus::Idle, None, None);
                slot.idle_since = Some(tx.now);
                put(tx, slot);
            }
        }
        announce(tx, me, self.input.project).await?;
        let by = tx.caller.person()?.name;
        for (project, count) in thawed.into_iter().filter(|_| news > 0) {
            decided(tx, project, None, None, "thawed", format!("{by} thawed {}", workers_in_words(count))).await?;
        }
        tx.audit(Self::VERB, me, scoped(me, self.input.project), format!("thawed {workers} workers"));
        Ok(Frozen { frozen: still, workers, sessions: 0 })
    }
}

fn workers_in_words(count: u32) -> String {
    if count == 1 { "1 worker".to_owned() } else { format!("{count} workers") }
}

/// Who stops or thaws; a project must be one that they see.
async fn caller(tx: &mut Tx<'_>, project: Option<ProjectId>) -> Result<UserId, StoreError> {
    if let Some(project) = project {
        tx.check(project, Action::See, "project").await?;
    }
    Ok(tx.caller.person()?.id)
}

fn scoped(me: UserId, project: Option<ProjectId>) -> AuditScope {
    project.map_or(AuditScope::Private(me), AuditScope::Project)
}

/// The sessions of somebody that are not over and were not asked to stop.
async fn live(tx: &mut Tx<'_>, owner: UserId, project: Option<ProjectId>) -> Result<Vec<SessionId>, StoreError> {
    let mut sql = "SELECT id FROM sessions WHERE owner = $1 AND ended_at IS NULL".to_owned();
    let mut values = vec![text(owner)];
    if let Some(project) = project {
        sql.push_str(" AND project = $2");
        values.push(text(project));
    }
    sql.push_str(" ORDER BY created_at, id");
    tx.read().all(&sql, values).await?.iter().map(|row| row.parsed("id")).collect()
}

/// Tells whoever sees a project who stopped everything there, after somebody came or went who had.
pub(crate) async fn changed(tx: &mut Tx<'_>, owner: UserId, project: ProjectId) -> Result<(), StoreError> {
    if frozen(tx.read(), owner, project).await? {
        tx.settle().await?;
        settings::ensure(tx, project).await?;
        settings::announce(tx, project).await?;
    }
    Ok(())
}

/// Tells whoever sees a project of theirs, or one that they have workers in, who stopped everything there.
async fn announce(tx: &mut Tx<'_>, me: UserId, only: Option<ProjectId>) -> Result<(), StoreError> {
    tx.settle().await?;
    let sql = "SELECT id FROM projects WHERE owner = $1 UNION SELECT project AS id FROM workers WHERE owner = $1 AND \
               removed_at IS NULL ORDER BY id";
    let rows = tx.read().all(sql, vec![text(me)]).await?;
    for row in &rows {
        let project: ProjectId = row.parsed("id")?;
        if only.is_none_or(|only| only == project) {
            settings::ensure(tx, project).await?;
            settings::announce(tx, project).await?;
        }
    }
    Ok(())
}
