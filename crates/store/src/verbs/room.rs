//! Limits on the number of rows.

use crate::StoreError;
use crate::sql::Value;
use crate::tx::Tx;

/// Refuses another row if `sql` counts (as `total`) the maximum already.
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
