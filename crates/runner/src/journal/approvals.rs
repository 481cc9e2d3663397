//! Executable configuration of strangers' repositories that the runner's owner has read and allowed.

use std::path::Path;

use sqlx::Connection as _;

use super::open::{connect, make, migrate};
use super::{Journal, JournalError};
use crate::clock::now;

const PUT: &str = "INSERT INTO approvals (hash, at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";

const ASK: &str = "INSERT INTO asked (hash, at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
const ASKED: &str = "SELECT 1 FROM asked WHERE hash = $1";

/// How many digits a hash has that can be allowed.
pub const APPROVAL_DIGITS: usize = 32;

/// Allows the executable configuration with this hash; also while the runner of `data_dir` runs. False: nobody was asked
/// to allow it, and nothing is done.
pub async fn approve(data_dir: &Path, hash: &str) -> Result<bool, JournalError> {
    make(data_dir)?;
    let (mut connection, _) = connect(data_dir).await?;
    migrate(&mut connection).await?;
    let asked = sqlx::query(ASKED).bind(hash).fetch_optional(&mut connection).await?.is_some();
    if asked {
        sqlx::query(PUT).bind(hash).bind(now().as_millis()).execute(&mut connection).await?;
    }
    connection.close().await?;
    Ok(asked)
}

impl Journal {
    /// Whether the executable configuration with this hash was allowed; if not, it can be from now on.
    pub(crate) async fn approved(&self, hash: &str) -> Result<bool, JournalError> {
        let mut held = self.line.hold().await?;
        let connection = held.connection()?;
        let row = sqlx::query("SELECT 1 FROM approvals WHERE hash = $1").bind(hash).fetch_optional(&mut *connection);
        if row.await?.is_some() {
            return Ok(true);
        }
        if sqlx::query(ASKED).bind(hash).fetch_optional(&mut *connection).await?.is_none() {
            let put = sqlx::query(ASK).bind(hash).bind(now().as_millis()).execute(&mut *connection).await;
            drop(held);
            self.note(put.map_err(JournalError::from))?;
        }
        Ok(false)
    }
}
