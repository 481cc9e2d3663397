//! Deliveries: claimed by one hub at a time, retried until they arrive or fail for good.

use domain::{ChannelId, ChannelKind, NotificationId, UserId};
use engine::notify::{Next, Outcome, next};
use serde::{Deserialize, Serialize};

use super::channels::drop_pending;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::{Command, Store, StoreError};

/// How many deliveries one hub sends at a time.
const AT_ONCE: u32 = 16;
/// How long a hub may take to send one, in milliseconds; afterwards it is sent again, with the same id.
const LEASE: i64 = 60_000;

const DUE: &str = "FROM notify_deliveries d JOIN notify_channels c ON c.id = d.channel JOIN users u ON u.id = c.user_id \
    WHERE d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1) AND c.disabled IS NULL AND u.disabled = 0";

/// A message to be sent now.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id, the same in every attempt.
    pub id: NotificationId,
    /// The channel.
    pub channel: ChannelId,
    /// The kind of channel.
    pub kind: ChannelKind,
    /// The person.
    pub user: UserId,
    /// The channel's encrypted address.
    pub sealed: String,
}

/// Claims deliveries that are due, so that no other hub sends them meanwhile.
#[derive(Debug, Serialize)]
pub struct ClaimDeliveries;

impl Command for ClaimDeliveries {
    type Output = Vec<Delivery>;
    const VERB: &'static str = "hub.claim_deliveries";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Delivery>, StoreError> {
        let sql = format!(
            "SELECT d.id, d.channel, c.kind, c.user_id, c.sealed {DUE} ORDER BY d.due_at, d.id LIMIT {AT_ONCE}"
        );
        let mut claimed = Vec::new();
        let now = tx.now;
        for row in tx.read().all(&sql, args![now]).await? {
            claimed.push(Delivery {
                id: row.parsed("id")?,
                channel: row.parsed("channel")?,
                kind: row.parsed("kind")?,
                user: row.parsed("user_id")?,
                sealed: row.text("sealed")?,
            });
        }
        for one in &claimed {
            let sql = "UPDATE notify_deliveries SET leased_until = $1 WHERE id = $2";
            tx.run(sql, args![tx.now.plus_millis(LEASE), one.id.to_string()]).await?;
        }
        Ok(claimed)
    }
}

/// Makes claimed deliveries due again: at the start of the only hub, nobody sends them.
#[derive(Debug, Serialize)]
pub struct FreeDeliveries;

impl Command for FreeDeliveries {
    type Output = u64;
    const VERB: &'static str = "hub.free_deliveries";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        tx.run("UPDATE notify_deliveries SET leased_until = NULL WHERE leased_until IS NOT NULL", args![]).await
    }
}

/// Stores what became of an attempt.
#[derive(Debug, Serialize)]
pub struct EndDelivery {
    /// The delivery.
    pub delivery: NotificationId,
    /// What became of it; `None`: there was nothing left to say, so nothing was sent.
    #[serde(skip)]
    pub outcome: Option<Outcome>,
    /// Why it failed, for its person.
    pub why: Option<String>,
}

impl Command for EndDelivery {
    type Output = ();
    const VERB: &'static str = "hub.end_delivery";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let id = self.delivery.to_string();
        let row = tx.read().first("SELECT channel, tried FROM notify_deliveries WHERE id = $1", args![&id]).await?;
        // The channel was removed or turned off meanwhile.
        let Some(row) = row else { return Ok(()) };
        let (channel, tried) = (row.parsed::<ChannelId>("channel")?, row.count("tried")? + 1);
        let Some(outcome) = self.outcome else { return end(tx, &id, "dropped").await };
        let failed = "UPDATE notify_channels SET failure = $1 WHERE id = $2";
        let why = || args![self.why.clone(), channel.to_string()];
        match next(tried, outcome, tx.now) {
            Next::Done => {
                let sql = "UPDATE notify_channels SET delivered_at = $1, failure = NULL WHERE id = $2";
                tx.run(sql, args![tx.now, channel.to_string()]).await?;
                end(tx, &id, "sent").await
            }
            Next::Again { at } => {
                let sql = "UPDATE notify_deliveries SET tried = $1, due_at = $2, leased_until = NULL WHERE id = $3";
                tx.run(sql, args![tried, at, &id]).await?;
                tx.run(failed, why()).await.map(|_| ())
            }
            Next::GiveUp => {
                tx.run(failed, why()).await?;
                end(tx, &id, "failed").await
            }
            Next::Disable => {
                tx.run(failed, why()).await?;
                let sql = "UPDATE notify_channels SET disabled = $1 WHERE id = $2";
                tx.run(sql, args!["the receiver is gone", channel.to_string()]).await?;
                drop_pending(tx, channel).await
            }
        }
    }
}

async fn end(tx: &mut Tx<'_>, delivery: &str, state: &str) -> Result<(), StoreError> {
    tx.run("UPDATE notices SET state = $1 WHERE delivery = $2", args![state, delivery]).await?;
    tx.run("DELETE FROM notify_deliveries WHERE id = $1", vec![text(delivery)]).await.map(|_| ())
}

impl Store {
    /// Whether a delivery is due.
    pub async fn delivery_is_due(&self) -> Result<bool, StoreError> {
        let now = self.now();
        let mut reader = self.readers.get().await?;
        Ok(reader.borrow().first(&format!("SELECT d.id {DUE} LIMIT 1"), args![now]).await?.is_some())
    }
}
