//! Leases of managed workers: renewed while their runners and sessions are heard from.

use std::collections::BTreeMap;

use domain::{ProjectId, RunnerId, SessionId, TaskId, Timestamp, WorkerId};
use serde::Serialize;

use super::settings::hold_ms;

use crate::sql::{Connection, args, text};
use crate::tx::Tx;
use crate::{Command, StoreError};

/// Tasks under a lease, `t`, with their workers, `w`: each is its worker's task.
pub(crate) const HELD: &str = "FROM workers w JOIN tasks t ON t.id = w.task AND w.removed_at IS NULL AND \
    t.lease_until IS NOT NULL";

/// When the next lease expires, if any task is held.
pub(crate) async fn next_end(c: &mut Connection<'_>) -> Result<Option<Timestamp>, StoreError> {
    let row = c.first(&format!("SELECT MIN(t.lease_until) AS next {HELD}"), args![]).await?;
    row.map_or(Ok(None), |row| row.time_or_none("next"))
}

/// When a runner, and each of its silent sessions, was last heard from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LastHeard {
    /// The runner.
    pub runner: RunnerId,
    /// Milliseconds since the runner was last heard from.
    pub ago_ms: u32,
    /// Silent sessions, each with the milliseconds since its last sign of life.
    pub silent: Vec<(SessionId, u32)>,
}

impl LastHeard {
    /// A runner that was just heard from, with all its sessions.
    pub fn now(runner: RunnerId) -> Self {
        Self { runner, ago_ms: 0, silent: Vec::new() }
    }

    /// Milliseconds since one of its sessions was last heard from.
    fn of(&self, session: SessionId) -> u32 {
        let silent = self.silent.iter().find(|(silent, _)| *silent == session);
        silent.map_or(self.ago_ms, |(_, ms)| self.ago_ms.max(*ms))
    }
}

/// Renews the leases of managed workers from the time when their sessions were last heard from, which may be long ago.
#[derive(Debug, Serialize)]
pub struct RenewLeases {
    /// The runners that are, or were, connected to this hub.
    pub runners: Vec<LastHeard>,
}

impl Command for RenewLeases {
    type Output = u32;
    const VERB: &'static str = "work.renew";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u32, StoreError> {
        let linked: Vec<RunnerId> = self.runners.iter().map(|heard| heard.runner).collect();
        let held = held_on(tx.read(), &linked).await?;
        let mut alike: BTreeMap<(u32, Option<i64>, u32), Vec<&Held>> = BTreeMap::new();
        for hold in &held {
            let heard = self.runners.iter().find(|heard| heard.runner == hold.runner);
            let ago = heard.map_or(0, |heard| heard.of(hold.session));
            let settings = tx.work_settings(hold.project).await?;
            alike.entry((settings.lease_seconds, hold_ms(&settings), ago)).or_default().push(hold);
        }
        for ((lease, most, ago), holds) in alike {
            let heard = tx.now.plus_millis(-i64::from(ago));
            let until = heard.plus_millis(i64::from(lease) * 1000);
            for some in holds.chunks(128) {
                let tasks: Vec<TaskId> = some.iter().map(|hold| hold.task).collect();
                // A hanging agent is heard from, too, so the hold has a maximum length.
                let until_then = match most {
                    Some(most) => format!("CASE WHEN taken_at + {most} < $1 THEN taken_at + {most} ELSE $1 END"),
                    None => "$1".to_owned(),
                };
                let head = format!(
                    "UPDATE tasks SET lease_until = {until_then} WHERE lease_until IS NOT NULL AND lease_until < \
                     {until_then} AND id"
                );
                write_in(tx, &head, until, &tasks).await?;
                let workers: Vec<WorkerId> = some.iter().map(|hold| hold.worker).collect();
                write_in(tx, "UPDATE workers SET seen_at = $1 WHERE seen_at < $1 AND id", heard, &workers).await?;
            }
        }
        Ok(u32::try_from(held.len()).unwrap_or(u32::MAX))
    }
}

/// Extends every lease as if its worker had just been heard from: while no hub ran, no worker could send a heartbeat.
#[derive(Debug, Serialize)]
pub struct GraceLeases {
    /// The minimum extension, from now, in seconds.
    pub seconds: u32,
}

impl Command for GraceLeases {
    type Output = ();
    const VERB: &'static str = "work.grace";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let rows = tx
            .read()
            .all("SELECT DISTINCT project FROM workers WHERE removed_at IS NULL AND task IS NOT NULL", args![])
            .await?;
        for row in rows {
            let project: ProjectId = row.parsed("project")?;
            let seconds = tx.work_settings(project).await?.lease_seconds.max(self.seconds);
            let until = tx.now.plus_millis(i64::from(seconds) * 1000);
            let sql = "UPDATE tasks SET lease_until = $1 WHERE lease_until IS NOT NULL AND lease_until < $1 AND \
                       id IN (SELECT task FROM workers WHERE project = $2 AND removed_at IS NULL AND \
                       task IS NOT NULL)";
            tx.run(sql, args![until, project.to_string()]).await?;
        }
        let sql = "UPDATE workers SET seen_at = $1 WHERE task IS NOT NULL AND removed_at IS NULL";
        tx.run(sql, args![tx.now]).await?;
        Ok(())
    }
}

async fn write_in<T: std::fmt::Display>(
    tx: &mut Tx<'_>,
    head: &str,
    at: Timestamp,
    ids: &[T],
) -> Result<(), StoreError> {
    let places: Vec<String> = (0..ids.len()).map(|index| format!("${}", index + 2)).collect();
    let mut values = args![at];
    values.extend(ids.iter().map(text));
    tx.run(&format!("{head} IN ({})", places.join(", ")), values).await?;
    Ok(())
}

/// A task that a managed worker holds.
pub(crate) struct Held {
    pub(crate) task: TaskId,
    pub(crate) worker: WorkerId,
    pub(crate) project: ProjectId,
    pub(crate) runner: RunnerId,
    pub(crate) session: SessionId,
}

/// The tasks whose sessions run on these runners.
pub(crate) async fn held_on(c: &mut Connection<'_>, runners: &[RunnerId]) -> Result<Vec<Held>, StoreError> {
    if runners.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT t.id, t.worker, t.project, t.session, s.runner {HELD} JOIN sessions s ON s.id = t.session \
         WHERE w.kind = 'managed' AND s.ended_at IS NULL"
    );
    let mut held = Vec::new();
    for row in c.all(&sql, args![]).await? {
        let runner = row.parsed("runner")?;
        if runners.contains(&runner) {
            let (task, worker, project) = (row.parsed("id")?, row.parsed("worker")?, row.parsed("project")?);
            let session = row.parsed("session")?;
            held.push(Held { task, worker, project, runner, session });
        }
    }
    Ok(held)
}
