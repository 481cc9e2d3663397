//! What webhooks receive. Signatures are verified before.

use domain::{HookId, HookKind, Seq};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::rows;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::{executions, schedules};
use crate::{Command, Store, StoreError};

/// How long a delivery is remembered: it counts once in this time.
const REMEMBERED_MILLIS: i64 = 7 * 24 * 3_600_000;
/// The maximum length of a service's id of a delivery, and of its word for what happened.
const WORD: usize = 200;

/// The encrypted secrets that a webhook's signatures may be made with.
#[derive(Debug, Clone)]
pub struct HookSecrets {
    /// How the service signs.
    pub kind: HookKind,
    /// The secret, and the one before while it is valid.
    pub sealed: Vec<String>,
}

/// Something signed that a webhook received.
#[derive(Debug, Serialize)]
pub struct ReceiveHook {
    /// The webhook.
    pub hook: HookId,
    /// The service's id of it.
    pub delivery: String,
    /// What happened, in the service's words.
    pub event: Option<String>,
    /// What it says.
    pub data: Json,
    /// Whether parts of it were left out because it is large.
    pub shortened: bool,
    /// Whether it only tests the webhook and is no event.
    pub ping: bool,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
pub enum Received {
    /// It counted for this many schedules and steps.
    Woke(u32),
    /// It was received before.
    Before,
}

impl Command for ReceiveHook {
    type Output = Received;
    const VERB: &'static str = "hub.hook";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Received, StoreError> {
        let hook = rows::find(tx.read(), self.hook).await?.ok_or(StoreError::NotFound("webhook"))?.hook;
        let id = self.hook.to_string();
        if self.delivery.is_empty() || self.delivery.len() > WORD {
            return Err(StoreError::invalid("delivery", format!("the id of a delivery has 1 to {WORD} letters")));
        }
        let forgotten = tx.now.plus_millis(-REMEMBERED_MILLIS);
        tx.run("DELETE FROM hook_deliveries WHERE hook = $1 AND at < $2", args![&id, forgotten]).await?;
        let event = self.event.as_ref().map(|event| event.chars().take(WORD).collect::<String>());
        let sql = "INSERT INTO hook_deliveries (hook, delivery, event, woke, at) VALUES ($1, $2, $3, 0, $4) \
                   ON CONFLICT (hook, delivery) DO NOTHING";
        if tx.run(sql, args![&id, &self.delivery, event.clone(), tx.now]).await? == 0 {
            return Ok(Received::Before);
        }
        tx.run("UPDATE hooks SET received_at = $1 WHERE id = $2", args![tx.now, &id]).await?;
        if self.ping {
            return Ok(Received::Woke(0));
        }
        let news = json!({
            "kind": "webhook", "hook": hook.name, "type": event, "delivery": self.delivery, "data": self.data,
            "shortened": self.shortened,
        });
        // Whatever waits now has begun to wait before this.
        let seq = Seq(tx.position()?.0.saturating_add(1));
        let steps = executions::event_happened(tx, hook.project, "webhook", &news, seq).await?;
        let woke = steps + schedules::event_happened(tx, hook.project, "webhook", &news, seq).await?;
        let sql = "UPDATE hook_deliveries SET woke = $1 WHERE hook = $2 AND delivery = $3";
        tx.run(sql, args![woke, &id, &self.delivery]).await?;
        Ok(Received::Woke(woke))
    }
}

impl Store {
    /// The secrets of a webhook; the new one first.
    pub async fn hook_secrets(&self, id: HookId) -> Result<Option<HookSecrets>, StoreError> {
        let mut reader = self.readers.get().await?;
        let Some(row) = rows::find(&mut reader.borrow(), id).await? else { return Ok(None) };
        let old = row.old_sealed.filter(|_| row.hook.old_secret_until.is_some_and(|until| until > self.now()));
        Ok(Some(HookSecrets { kind: row.hook.kind, sealed: std::iter::once(row.sealed).chain(old).collect() }))
    }
}
