//! Executable configuration of strangers' repositories that the runner's owner has read and allowed.

use std::path::Path;

use sqlx::Connection as _;

use super::open::connect;
use super::{Journal, JournalError};
use crate::clock::now;

const PUT: &str = "INSERT INTO approvals (hash, at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";

/// Allows the executable configuration with this hash; also while the runner of `data_dir` runs.
pub async fn approve(data_dir: &Path, hash: &str) -> Result<(), JournalError> {
    let mut connection = connect(data_dir).await?;
    sqlx::query(PUT).bind(hash).bind(now().as_millis()).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

impl Journal {
    /// Whether the executable configuration with this hash was allowed.
    pub(crate) async fn approved(&self, hash: &str) -> Result<bool, JournalError> {
        let mut connection = self.connection.lock().await;
        let row = sqlx::query("SELECT 1 FROM approvals WHERE hash = $1").bind(hash).fetch_optional(&mut *connection);
        Ok(row.await?.is_some())
    }
}
