//! Freeze and thaw.

use std::collections::BTreeSet;

use domain::text::counted;
use domain::{Action, ProjectId, SessionId, UserId, WorkerStatus};
use engine::workers::decision::{Decision, Scope};
use protocol::{Frozen, Verb, verbs};

use super::log::decided;
use super::rows::{self, get, put};
use super::{settings, stop};
use crate::sql::{Connection, args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::sessions;
use crate::{Command, StoreError};

/// Why a frozen worker takes nothing.
pub(crate) const REASON: &str = "everything was stopped: thaw to continue";

/// Whether a person's workers are frozen in a project.
pub(crate) async fn frozen(c: &mut Connection<'_>, user: UserId, project: ProjectId) -> Result<bool, StoreError> {
    let sql = "SELECT project FROM freezes WHERE user_id = $1 AND project IN ('', $2)";
    Ok(c.first(sql, vec![text(user), text(project)]).await?.is_some())
}

impl Command for verbs::FloorFreeze {
    type Output = Frozen;
    const VERB: &'static str = verbs::FloorFreeze::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Frozen, StoreError> {
        let me = caller(tx, self.input.project).await?;
        let scope = self.input.project.map(|id| id.to_string()).unwrap_or_default();
        let sql =
            "INSERT INTO freezes (user_id, project, at) VALUES ($1, $2, $3) ON CONFLICT (user_id, project) DO NOTHING";
        let news = tx.run(sql, args![me.to_string(), scope, tx.now]).await? > 0;
        let by = tx.caller.person()?.name;
        // Read before the workers stop: the result counts the sessions that this freeze stops.
        let live = live(tx, me, self.input.project).await?;
        let mut workers = 0;
        let mut told: BTreeSet<ProjectId> = BTreeSet::new();
        for mut slot in rows::of(tx, self.input.project).await? {
            if slot.owner.id != me || matches!(slot.status, WorkerStatus::Stopped | WorkerStatus::Stopping) {
                continue;
            }
            workers += 1;
            let task = slot.task;
            if task.is_some() {
                stop::release(tx, &slot, "everything was stopped", false).await?;
                slot = get(tx, slot.id).await?.unwrap_or(slot);
            }
            let (id, project) = (slot.id, slot.project);
            if matches!(slot.status, WorkerStatus::Idle | WorkerStatus::Working | WorkerStatus::Lost) {
                slot.becomes(WorkerStatus::Paused, Some(REASON.into()), None);
                put(tx, slot);
            }
            if news {
                let decision = Decision::Frozen { by: by.clone(), scope: Scope::Worker };
                decided(tx, project, Some(id), task, decision).await?;
                told.insert(project);
            }
        }
        for session in &live {
            sessions::ask_any_to_stop(tx, *session, false).await?;
        }
        let sessions = u32::try_from(live.len()).unwrap_or(u32::MAX);
        announce(tx, me, self.input.project).await?;
        if let Some(project) = self.input.project.filter(|project| news && !told.contains(project)) {
            let decision = Decision::Frozen { by, scope: Scope::NoneHere };
            decided(tx, project, None, None, decision).await?;
        }
        let (of_workers, of_sessions) =
            (counted(workers, "worker", "workers"), counted(sessions, "session", "sessions"));
        let detail = format!("stopped everything: {of_workers}, {of_sessions}");
        tx.audit(Self::VERB, me, scoped(me, self.input.project), detail);
        Ok(Frozen { frozen: true, workers, sessions })
    }
}

impl Command for verbs::FloorThaw {
    type Output = Frozen;
    const VERB: &'static str = verbs::FloorThaw::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Frozen, StoreError> {
        let me = caller(tx, self.input.project).await?;
        let news = match self.input.project {
            Some(project) => {
                let sql = "DELETE FROM freezes WHERE user_id = $1 AND project = $2";
                tx.run(sql, vec![text(me), text(project)]).await?
            }
            None => tx.run("DELETE FROM freezes WHERE user_id = $1", vec![text(me)]).await?,
        };
        let by = tx.caller.person()?.name;
        let mut workers = 0;
        let mut still = false;
        let mut told: BTreeSet<ProjectId> = BTreeSet::new();
        for mut slot in rows::of(tx, self.input.project).await? {
            if slot.owner.id != me {
                continue;
            }
            if frozen(tx.read(), me, slot.project).await? {
                still = true;
                continue;
            }
            let (id, project) = (slot.id, slot.project);
            if slot.status == WorkerStatus::Paused && slot.until.is_none() {
                slot.becomes(WorkerStatus::Idle, None, None);
                slot.idle_since = Some(tx.now);
                put(tx, slot.clone());
            }
            // A worker that is paused for another reason resumes when that reason ends.
            if news > 0 && slot.status == WorkerStatus::Idle {
                workers += 1;
                told.insert(project);
                let decision = Decision::Thawed { by: by.clone(), scope: Scope::Worker };
                decided(tx, project, Some(id), None, decision).await?;
            }
        }
        if let Some(project) = self.input.project.filter(|project| news > 0 && !told.contains(project)) {
            let decision = Decision::Thawed { by, scope: Scope::NoneHere };
            decided(tx, project, None, None, decision).await?;
        }
        announce(tx, me, self.input.project).await?;
        let detail = format!("thawed {}", counted(workers, "worker", "workers"));
        tx.audit(Self::VERB, me, scoped(me, self.input.project), detail);
        Ok(Frozen { frozen: still, workers, sessions: 0 })
    }
}

/// The caller, who must see the project.
async fn caller(tx: &mut Tx<'_>, project: Option<ProjectId>) -> Result<UserId, StoreError> {
    if let Some(project) = project {
        tx.check(project, Action::See, "project").await?;
    }
    Ok(tx.caller.person()?.id)
}

fn scoped(me: UserId, project: Option<ProjectId>) -> AuditScope {
    project.map_or(AuditScope::Private(me), AuditScope::Project)
}

/// A person's live sessions that were not asked to stop.
async fn live(tx: &mut Tx<'_>, owner: UserId, project: Option<ProjectId>) -> Result<Vec<SessionId>, StoreError> {
    let mut sql = "SELECT id FROM sessions WHERE owner = $1 AND ended_at IS NULL AND stop IS NULL".to_owned();
    let mut values = vec![text(owner)];
    if let Some(project) = project {
        sql.push_str(" AND project = $2");
        values.push(text(project));
    }
    sql.push_str(" ORDER BY created_at, id");
    tx.read().all(&sql, values).await?.iter().map(|row| row.parsed("id")).collect()
}

/// Announces who has frozen a project, after a worker of a frozen person was added or removed.
pub(crate) async fn changed(tx: &mut Tx<'_>, owner: UserId, project: ProjectId) -> Result<(), StoreError> {
    if frozen(tx.read(), owner, project).await? {
        settings::ensure(tx, project).await?;
        settings::announce(tx, project).await?;
    }
    Ok(())
}

/// Announces who has frozen each project that a person owns or has workers in.
async fn announce(tx: &mut Tx<'_>, me: UserId, only: Option<ProjectId>) -> Result<(), StoreError> {
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
