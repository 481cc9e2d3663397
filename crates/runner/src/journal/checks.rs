//! Checks in the journal: started ones are finished, and finished ones are reported.

use domain::ReportId;
use protocol::link::{DesiredCheck, FactBody};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{Journal, JournalError};

/// A stored check.
#[derive(Debug, Clone)]
pub(crate) struct CheckRow {
    pub(crate) desired: DesiredCheck,
    /// The result for the hub; `None` until it is finished.
    pub(crate) result: Option<FactBody>,
}

impl Journal {
    /// Every wanted check.
    pub(crate) async fn checks(&self) -> Result<Vec<CheckRow>, JournalError> {
        let mut held = self.connection.hold().await?;
        let rows = sqlx::query("SELECT desired, result FROM checks").fetch_all(held.connection()?).await?;
        rows.iter().map(check_row).collect()
    }

    /// Whether the hub has not acknowledged a report's result yet.
    pub(crate) async fn owes_check(&self, report: ReportId) -> Result<bool, JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "SELECT 1 FROM facts WHERE about = $1 LIMIT 1";
        Ok(sqlx::query(sql).bind(report.to_string()).fetch_optional(held.connection()?).await?.is_some())
    }
}

fn check_row(row: &SqliteRow) -> Result<CheckRow, JournalError> {
    let read = |error: serde_json::Error| JournalError::Damaged(format!("a check: {error}"));
    let result: Option<String> = row.try_get("result")?;
    Ok(CheckRow {
        desired: serde_json::from_str(&row.try_get::<String, _>("desired")?).map_err(read)?,
        result: result.map(|text| serde_json::from_str(&text)).transpose().map_err(read)?,
    })
}
