//! Merge runs in the journal: started ones are finished, and finished ones are reported.

use domain::MergeRunId;
use protocol::link::{DesiredMerge, FactBody};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Journal, JournalError};

/// A stored merge run.
#[derive(Debug, Clone)]
pub(crate) struct MergeRow {
    pub(crate) desired: DesiredMerge,
    /// The result for the hub; `None` until it is finished.
    pub(crate) result: Option<FactBody>,
}

impl Journal {
    /// Every wanted merge run.
    pub(crate) async fn merges(&self) -> Result<Vec<MergeRow>, JournalError> {
        let mut held = self.connection.hold().await?;
        let rows = sqlx::query("SELECT desired, result FROM merges").fetch_all(held.connection()?).await?;
        rows.iter().map(merge_row).collect()
    }

    /// Whether the hub has not acknowledged a run's result yet.
    pub(crate) async fn owes_merge(&self, run: MergeRunId) -> Result<bool, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT 1 FROM facts WHERE about = $1 LIMIT 1";
        Ok(sqlx::query(sql).bind(run.to_string()).fetch_optional(held.connection()?).await?.is_some())
    }
}

fn merge_row(row: &SqliteRow) -> Result<MergeRow, JournalError> {
    let read = |error: serde_json::Error| JournalError::Damaged(format!("a merge run: {error}"));
    let result: Option<String> = row.try_get("result")?;
    Ok(MergeRow {
        desired: serde_json::from_str(&row.try_get::<String, _>("desired")?).map_err(read)?,
        result: result.map(|text| serde_json::from_str(&text)).transpose().map_err(read)?,
    })
}
