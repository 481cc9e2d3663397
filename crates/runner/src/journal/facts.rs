//! Facts: numbered without gaps, kept until acknowledged; an unsent one may be replaced by a newer value.

use std::sync::atomic::Ordering;

use domain::{JournalId, SessionId, SessionStatus, Timestamp};
use protocol::link::{Fact, FactBody, Subject};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::open::count;
use super::{Journal, JournalError};
use crate::clock::now;

impl Journal {
    /// The facts after number `after`, at most `limit`; they no longer change, since the hub may see them.
    pub(crate) async fn to_send(&self, after: u64, limit: u32) -> Result<Vec<Fact>, JournalError> {
        let mut held = self.connection.hold().await?;
        let rows = sqlx::query("SELECT number, at, body FROM facts WHERE number > $1 ORDER BY number LIMIT $2")
            .bind(integer(after))
            .bind(limit)
            .fetch_all(held.connection()?)
            .await?;
        let facts: Vec<Fact> = rows.iter().map(fact).collect::<Result<_, _>>()?;
        if let Some(last) = facts.last() {
            self.sent.fetch_max(last.number, Ordering::SeqCst);
        }
        Ok(facts)
    }

    /// The hub has everything up to `number`.
    pub(crate) async fn acknowledge(&self, number: u64) -> Result<(), JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "DELETE FROM facts WHERE number <= $1";
        let deleted = sqlx::query(sql).bind(integer(number)).execute(held.connection()?).await;
        drop(held);
        self.note(deleted.map(|_| ()).map_err(JournalError::from))
    }

    /// Whether there are unacknowledged facts about a session.
    pub(crate) async fn owes(&self, session: SessionId) -> Result<bool, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT 1 FROM facts WHERE about = $1 LIMIT 1";
        Ok(sqlx::query(sql).bind(session.to_string()).fetch_optional(held.connection()?).await?.is_some())
    }

    /// Restarts the numbering under another journal id, if the hub remembers more than this journal, or less than it
    /// has acknowledged: one of them was restored from an older copy, and numbers and generations changed their
    /// meaning.
    pub(crate) async fn start_over(&self) -> Result<(), JournalError> {
        let owed = self.note(self.restart_numbering().await)?;
        self.sent.store(owed, Ordering::SeqCst);
        Ok(())
    }

    async fn restart_numbering(&self) -> Result<u64, JournalError> {
        let mut tx = self.connection.begin().await?;
        let done = renumber(tx.connection()?).await;
        tx.end(done).await
    }
}

/// Renumbers the facts from 1 under another journal id; returns their number.
async fn renumber(tx: &mut SqliteConnection) -> Result<u64, JournalError> {
    let rows = sqlx::query("SELECT number FROM facts ORDER BY number").fetch_all(&mut *tx).await?;
    for (index, row) in rows.iter().enumerate() {
        let sql = "UPDATE facts SET number = $1 WHERE number = $2";
        sqlx::query(sql).bind(index as i64 + 1).bind(row.try_get::<i64, _>("number")?).execute(&mut *tx).await?;
    }
    let sql = "UPDATE runner SET journal = $1, facts = $2, generation = 0 WHERE one = 1";
    sqlx::query(sql).bind(JournalId::generate().to_string()).bind(rows.len() as i64).execute(&mut *tx).await?;
    Ok(rows.len() as u64)
}

/// Numbers and stores a fact, in place of an unsent one that it makes obsolete.
pub(super) async fn put(tx: &mut SqliteConnection, sent: u64, body: &FactBody) -> Result<(), JournalError> {
    let (topic, about) = topic(body);
    let text = serde_json::to_string(body).map_err(|error| JournalError::Damaged(error.to_string()))?;
    let at = now().as_millis();
    if !topic.is_empty() {
        let sql = "UPDATE facts SET at = $1, body = $2 WHERE topic = $3 AND about = $4 AND number > $5";
        let query = sqlx::query(sql).bind(at).bind(&text).bind(topic).bind(&about).bind(integer(sent));
        if query.execute(&mut *tx).await?.rows_affected() > 0 {
            return Ok(());
        }
    }
    let sql = "UPDATE runner SET facts = facts + 1 WHERE one = 1 RETURNING facts";
    let number = count(&sqlx::query(sql).fetch_one(&mut *tx).await?, "facts")?;
    let sql = "INSERT INTO facts (number, at, topic, about, body) VALUES ($1, $2, $3, $4, $5)";
    let query = sqlx::query(sql).bind(integer(number)).bind(at).bind(topic).bind(about).bind(text);
    query.execute(&mut *tx).await?;
    Ok(())
}

/// The topic within which a later fact replaces an earlier one (empty: none), and its subject.
fn topic(body: &FactBody) -> (&'static str, String) {
    match body {
        // Progress of the preparation; later states are history.
        FactBody::SessionState { session, state } if state.status == SessionStatus::Starting => {
            ("starting", session.to_string())
        }
        FactBody::SessionState { session, .. } => ("", session.to_string()),
        FactBody::SessionUsage { session, .. } => ("usage", session.to_string()),
        FactBody::Recorded { session, .. } => ("recorded", session.to_string()),
        FactBody::WorkspaceReady { workspace, .. }
        | FactBody::WorkspaceFailed { workspace, .. }
        | FactBody::WorksConflict { workspace, .. }
        | FactBody::WorkspaceCleaned { workspace } => ("", workspace.to_string()),
        FactBody::SessionSaid { session, .. }
        | FactBody::SessionPrinted { session, .. }
        | FactBody::SessionLimited { session, .. }
        | FactBody::SessionProgress { session } => ("", session.to_string()),
        FactBody::Checking { report } => ("checking", report.to_string()),
        FactBody::Checked { report, .. } | FactBody::CheckFailed { report, .. } => ("", report.to_string()),
        FactBody::ApprovalWanted { subject: Subject::Session(session), .. } => ("", session.to_string()),
        FactBody::ApprovalWanted { subject: Subject::Report(report), .. } => ("", report.to_string()),
        FactBody::ApprovalWanted { subject: Subject::Merge(run), .. }
        | FactBody::MergeBegan { run }
        | FactBody::MergeTested { run, .. }
        | FactBody::MergeLanded { run, .. } => ("", run.to_string()),
        FactBody::WorkspaceStats { workspace, .. } => ("stats", workspace.to_string()),
        FactBody::WorkspaceWork { workspace, .. } => ("work", workspace.to_string()),
    }
}

fn fact(row: &SqliteRow) -> Result<Fact, JournalError> {
    let body: String = row.try_get("body")?;
    let body = serde_json::from_str(&body).map_err(|error| JournalError::Damaged(error.to_string()))?;
    Ok(Fact { number: count(row, "number")?, at: Timestamp::from_millis(row.try_get("at")?), body })
}

pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
