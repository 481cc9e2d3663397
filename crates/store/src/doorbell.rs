//! Notifications between hubs on the same PostgreSQL. They are only hints; the table is the truth.

use domain::Seq;
use sqlx::postgres::PgListener;

use crate::sql::args;
use crate::{Store, StoreError};

const CHANNEL: &str = "shopfloor";

/// Receives notifications of other hubs.
pub struct Doorbell(PgListener);

impl Doorbell {
    /// Waits for a notification; reconnects after a lost connection, which counts as one.
    pub async fn heard(&mut self) -> Result<(), StoreError> {
        self.0.try_recv().await?;
        Ok(())
    }
}

impl Store {
    /// Listens for other hubs; `None` if the database allows only one.
    pub async fn doorbell(&self) -> Result<Option<Doorbell>, StoreError> {
        let Some(pool) = self.readers.server() else { return Ok(None) };
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Doorbell(listener)))
    }

    /// Notifies other hubs. Must run outside of writing transactions: a notifying commit locks the whole server.
    pub async fn ring(&self, newest: Seq) -> Result<(), StoreError> {
        if self.is_shared() {
            let mut reader = self.readers.get().await?;
            reader.borrow().all("SELECT pg_notify($1, $2)", args![CHANNEL, newest.to_string()]).await?;
        }
        Ok(())
    }
}
