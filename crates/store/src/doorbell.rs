//! Telling other hubs on the same PostgreSQL that there is something new. Only a hint: the table is the truth.

use domain::Seq;
use sqlx::postgres::PgListener;

use crate::sql::args;
use crate::{Store, StoreError};

const CHANNEL: &str = "shopfloor";

/// Hears other hubs ring.
pub struct Doorbell(PgListener);

impl Doorbell {
    /// Waits for a ring; a lost connection is made again and counts as one.
    pub async fn heard(&mut self) -> Result<(), StoreError> {
        self.0.try_recv().await?;
        Ok(())
    }
}

impl Store {
    /// Listens for other hubs; `None` where there can be none.
    pub async fn doorbell(&self) -> Result<Option<Doorbell>, StoreError> {
        let Some(pool) = self.readers.server() else { return Ok(None) };
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Doorbell(listener)))
    }

    /// Rings for other hubs. Outside of any writing transaction: a notifying commit takes a lock on the whole server.
    pub async fn ring(&self, newest: Seq) -> Result<(), StoreError> {
        if self.is_shared() {
            let mut reader = self.readers.get().await?;
            reader.borrow().all("SELECT pg_notify($1, $2)", args![CHANNEL, newest.to_string()]).await?;
        }
        Ok(())
    }
}
