//! Maintenance by the hub, without events or audit entries.

use domain::Timestamp;
use serde::Serialize;

use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::executions;
use crate::{Command, StoreError};

/// How long answered requests and expired links are kept, in milliseconds.
const REMEMBERED: i64 = 24 * 3_600_000;

/// Stores when credentials, people and runners were last seen.
#[derive(Debug, Serialize)]
pub struct Touch {
    /// Ids of tokens, logins, users and runners, each with the time.
    pub seen: Vec<(String, Timestamp)>,
}

impl Command for Touch {
    type Output = ();
    const VERB: &'static str = "hub.touch";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        for (id, at) in &self.seen {
            let sql = match id.split('_').next() {
                Some("tok") => "UPDATE tokens SET last_used_at = $1 WHERE id = $2",
                Some("lgn") => "UPDATE logins SET last_used_at = $1 WHERE id = $2",
                Some("usr") => "UPDATE users SET last_seen_at = $1 WHERE id = $2",
                // Another hub may have heard from the runner later.
                Some("run") => {
                    "UPDATE runners SET last_seen_at = $1 WHERE id = $2 AND (last_seen_at IS NULL OR last_seen_at < $1)"
                }
                _ => continue,
            };
            tx.run(sql, args![*at, id]).await?;
        }
        Ok(())
    }
}

/// Deletes the oldest events, answered requests and histories of executions; a client older than the horizon gets a full sync.
#[derive(Debug, Serialize)]
pub struct Compact {
    /// The minimum number of kept events.
    pub keep: u64,
}

impl Command for Compact {
    type Output = u64;
    const VERB: &'static str = "hub.compact";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        let old = tx.now.plus_millis(-REMEMBERED);
        tx.run("DELETE FROM requests WHERE at < $1", args![old]).await?;
        // Remembered for this long, so that no event is announced twice.
        let told = tx.now.plus_millis(-30 * REMEMBERED);
        tx.run("DELETE FROM notices WHERE at < $1 AND state <> 'pending'", args![told]).await?;
        tx.run("DELETE FROM login_links WHERE expires_at < $1", args![old]).await?;
        executions::compact(tx).await?;
        let row = tx.read().first("SELECT seq, horizon FROM ledger WHERE one = 1", args![]).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let horizon = row.integer("seq")?.cast_unsigned().saturating_sub(self.keep);
        if horizon <= row.integer("horizon")?.cast_unsigned() {
            return Ok(0);
        }
        tx.run("UPDATE ledger SET horizon = $1 WHERE one = 1", args![horizon]).await?;
        tx.run("DELETE FROM events WHERE seq <= $1", args![horizon]).await
    }
}
