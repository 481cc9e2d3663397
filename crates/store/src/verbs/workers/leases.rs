//! Leases of managed workers: kept as long as their runners are heard from.

use std::collections::BTreeMap;

use domain::{ProjectId, RunnerId, TaskId, Timestamp, WorkerId};
use serde::Serialize;

use crate::sql::{Connection, args, text};
use crate::tx::Tx;
use crate::{Command, StoreError};

/// Keeps the leases of managed workers whose sessions live on runners that are linked here: their sign of life.
#[derive(Debug, Serialize)]
pub struct RenewLeases {
    /// The runners that are linked to this hub, and by how many milliseconds each one's sign of life is late.
    pub runners: Vec<(RunnerId, u32)>,
}

impl Command for RenewLeases {
    type Output = u32;
    const VERB: &'static str = "work.renew";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u32, StoreError> {
        let linked: Vec<RunnerId> = self.runners.iter().map(|(runner, _)| *runner).collect();
        let held = held_on(tx.read(), &linked).await?;
        let mut alike: BTreeMap<(u32, u32), Vec<&Held>> = BTreeMap::new();
        for hold in &held {
            let late = self.runners.iter().find(|(runner, _)| *runner == hold.runner).map_or(0, |(_, late)| *late);
            let lease = tx.work_settings(hold.project).await?.lease_seconds;
            alike.entry((lease, late)).or_default().push(hold);
        }
        for ((lease, late), holds) in alike {
            let heard = tx.now.plus_millis(-i64::from(late));
            let until = heard.plus_millis(i64::from(lease) * 1000);
            for some in holds.chunks(128) {
                let tasks: Vec<TaskId> = some.iter().map(|hold| hold.task).collect();
                let head =
                    "UPDATE tasks SET lease_until = $1 WHERE lease_until IS NOT NULL AND lease_until < $1 AND id";
                write_in(tx, head, until, &tasks).await?;
                let workers: Vec<WorkerId> = some.iter().map(|hold| hold.worker).collect();
                write_in(tx, "UPDATE workers SET seen_at = $1 WHERE seen_at < $1 AND id", heard, &workers).await?;
            }
        }
        Ok(u32::try_from(held.len()).unwrap_or(u32::MAX))
    }
}

/// Lets every lease hold a little longer: while there was no hub, nobody could give a sign of life.
#[derive(Debug, Serialize)]
pub struct GraceLeases {
    /// How long at least, from now.
    pub seconds: u32,
}

impl Command for GraceLeases {
    type Output = ();
    const VERB: &'static str = "work.grace";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let until = tx.now.plus_millis(i64::from(self.seconds) * 1000);
        let sql = "UPDATE tasks SET lease_until = $1 WHERE lease_until IS NOT NULL AND lease_until < $1";
        tx.run(sql, args![until]).await?;
        let sql = "UPDATE workers SET seen_at = $1 WHERE task IS NOT NULL AND removed_at IS NULL";
        tx.run(sql, args![tx.now]).await.map(|_| ())
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
}

/// The tasks whose sessions live on these runners.
pub(crate) async fn held_on(c: &mut Connection<'_>, runners: &[RunnerId]) -> Result<Vec<Held>, StoreError> {
    if runners.is_empty() {
        return Ok(Vec::new());
    }
    let sql = "SELECT t.id, t.worker, t.project, s.runner FROM tasks t JOIN workers w ON w.id = t.worker \
               JOIN sessions s ON s.id = t.session WHERE t.lease_until IS NOT NULL AND w.kind = 'managed' AND \
               s.ended_at IS NULL";
    let mut held = Vec::new();
    for row in c.all(sql, args![]).await? {
        let runner = row.parsed("runner")?;
        if runners.contains(&runner) {
            let (task, worker, project) = (row.parsed("id")?, row.parsed("worker")?, row.parsed("project")?);
            held.push(Held { task, worker, project, runner });
        }
    }
    Ok(held)
}
