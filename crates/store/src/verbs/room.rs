//! Whether one more of something may be made.

use crate::StoreError;
use crate::sql::Value;
use crate::tx::Tx;

/// Refuses one more when `sql` counts (as `total`) as many as there may be.
pub(crate) async fn room(
    tx: &mut Tx<'_>,
    sql: &str,
    values: Vec<Value>,
    most: u32,
    full: impl FnOnce() -> String,
) -> Result<(), StoreError> {
    let row = tx.read().first(sql, values).await?;
    let total = row.map_or(Ok(0), |row| row.count("total"))?;
    if total >= most { Err(StoreError::Conflict(full())) } else { Ok(()) }
}
