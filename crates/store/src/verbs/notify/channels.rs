//! The channels of a person. Their addresses are secrets, which the hub encrypts before they get here.

use domain::limits::MAX_CHANNELS;
use domain::text::NAME;
use domain::{Action, ChannelId, ChannelKind, NotifyKind, Resource, UserId};
use protocol::{NotifyChannel, Verb, verbs};
use serde::Serialize;

use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::room::room;
use crate::{Caller, Command, Store, StoreError};

const COLUMNS: &str = "SELECT c.id, c.user_id, c.kind, c.name, c.host, c.kinds, c.sealed, c.disabled, c.delivered_at, \
    c.failure, c.created_at, (SELECT COUNT(*) FROM notices n WHERE n.channel = c.id AND n.state = 'pending') AS waiting \
    FROM notify_channels c";

fn channel(row: &Row) -> Result<NotifyChannel, StoreError> {
    Ok(NotifyChannel {
        id: row.parsed("id")?,
        kind: row.parsed("kind")?,
        name: row.text("name")?,
        host: row.text("host")?,
        kinds: row.json("kinds")?,
        disabled: row.text_or_none("disabled")?,
        created_at: row.time("created_at")?,
        delivered_at: row.time_or_none("delivered_at")?,
        failure: row.text_or_none("failure")?,
        waiting: row.count("waiting")?,
    })
}

/// The caller's channel with its sealed address; for everybody else it does not exist.
async fn mine(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: ChannelId,
) -> Result<(NotifyChannel, UserId, String), StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE c.id = $1"), vec![text(id)]).await?;
    let row = row.ok_or(StoreError::NotFound("channel"))?;
    let owner = row.parsed("user_id")?;
    caller.may(Action::ManageOwn, Resource::Belongings(owner), "channel")?;
    Ok((channel(&row)?, owner, row.text("sealed")?))
}

/// Starts to follow events now, if nobody had a channel: nothing from before is announced.
async fn follow(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let sql = "SELECT id FROM notify_channels WHERE disabled IS NULL LIMIT 1";
    if tx.read().first(sql, args![]).await?.is_none() {
        let sql = "INSERT INTO notify_cursor (one, seq) SELECT 1, seq FROM ledger WHERE one = 1 \
                   ON CONFLICT (one) DO UPDATE SET seq = excluded.seq";
        tx.run(sql, args![]).await?;
    }
    Ok(())
}

/// Each kind once, in their order.
fn ordered(kinds: &[NotifyKind]) -> Vec<NotifyKind> {
    NotifyKind::ALL.iter().copied().filter(|kind| kinds.contains(kind)).collect()
}

/// Adds a channel.
#[derive(Debug, Serialize)]
pub struct AddChannel {
    /// Its id, which the address is sealed for.
    #[serde(skip)]
    pub id: ChannelId,
    /// The kind of place.
    pub kind: ChannelKind,
    /// Its name.
    pub name: String,
    /// The host of its address.
    pub host: String,
    /// What is sent there.
    pub kinds: Vec<NotifyKind>,
    /// Its encrypted address.
    #[serde(skip)]
    pub sealed: String,
}

impl Command for AddChannel {
    type Output = NotifyChannel;
    const VERB: &'static str = verbs::NotifyAdd::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NotifyChannel, StoreError> {
        let caller = tx.caller;
        caller.may(Action::TakePart, Resource::Hub, "channel")?;
        let me = caller.person()?;
        let name = NAME.name(&self.name)?;
        let sql = "SELECT COUNT(*) AS total FROM notify_channels WHERE user_id = $1";
        let full = || format!("you have {MAX_CHANNELS} channels: remove one first");
        room(tx, sql, vec![text(me.id)], MAX_CHANNELS, full).await?;
        follow(tx).await?;
        let sql = "INSERT INTO notify_channels (id, user_id, kind, name, host, kinds, sealed, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let kinds = ordered(&self.kinds);
        let (id, owner) = (self.id.to_string(), me.id.to_string());
        tx.run(sql, args![id, owner, self.kind.word(), &name, &self.host, to_json(&kinds), &self.sealed, tx.now])
            .await?;
        let detail = format!("added a {} channel at {}", self.kind, self.host);
        tx.audit(Self::VERB, self.id, AuditScope::Private(me.id), detail);
        Ok(mine(tx.read(), caller, self.id).await?.0)
    }
}

impl Command for verbs::NotifyUpdate {
    type Output = NotifyChannel;
    const VERB: &'static str = verbs::NotifyUpdate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NotifyChannel, StoreError> {
        let caller = tx.caller;
        let (mut found, owner, _) = mine(tx.read(), caller, self.channel).await?;
        if let Some(name) = &self.input.name {
            found.name = NAME.name(name)?;
        }
        if let Some(kinds) = &self.input.kinds {
            found.kinds = ordered(kinds);
        }
        match self.input.enabled {
            Some(true) if found.disabled.is_some() => {
                follow(tx).await?;
                (found.disabled, found.failure) = (None, None);
            }
            Some(false) => found.disabled = Some("turned off".to_owned()),
            _ => {}
        }
        let sql = "UPDATE notify_channels SET name = $1, kinds = $2, disabled = $3, failure = $4 WHERE id = $5";
        let (disabled, failure) = (found.disabled.clone(), found.failure.clone());
        tx.run(sql, args![&found.name, to_json(&found.kinds), disabled, failure, self.channel.to_string()]).await?;
        if found.disabled.is_some() {
            drop_pending(tx, self.channel).await?;
            found.waiting = 0;
        }
        tx.audit(Self::VERB, self.channel, AuditScope::Private(owner), format!("changed channel `{}`", found.name));
        Ok(found)
    }
}

impl Command for verbs::NotifyRemove {
    type Output = ();
    const VERB: &'static str = verbs::NotifyRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let caller = tx.caller;
        let (found, owner, _) = mine(tx.read(), caller, self.channel).await?;
        tx.run("DELETE FROM notify_deliveries WHERE channel = $1", vec![text(self.channel)]).await?;
        tx.run("DELETE FROM notices WHERE channel = $1", vec![text(self.channel)]).await?;
        tx.run("DELETE FROM notify_channels WHERE id = $1", vec![text(self.channel)]).await?;
        tx.audit(Self::VERB, self.channel, AuditScope::Private(owner), format!("removed channel `{}`", found.name));
        Ok(())
    }
}

/// Drops what a channel was to get.
pub(super) async fn drop_pending(tx: &mut Tx<'_>, channel: ChannelId) -> Result<(), StoreError> {
    tx.run("DELETE FROM notify_deliveries WHERE channel = $1", vec![text(channel)]).await?;
    let sql = "UPDATE notices SET state = 'dropped', delivery = NULL WHERE channel = $1 AND state = 'pending'";
    tx.run(sql, vec![text(channel)]).await.map(|_| ())
}

/// Records the outcome of a test message.
#[derive(Debug, Serialize)]
pub struct TestedChannel {
    /// The channel.
    pub channel: ChannelId,
    /// Why it failed; `None` if it was delivered.
    pub failure: Option<String>,
}

impl Command for TestedChannel {
    type Output = ();
    const VERB: &'static str = verbs::NotifyTest::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let caller = tx.caller;
        let (found, owner, _) = mine(tx.read(), caller, self.channel).await?;
        let id = self.channel.to_string();
        match &self.failure {
            None => {
                let sql = "UPDATE notify_channels SET delivered_at = $1, failure = NULL WHERE id = $2";
                tx.run(sql, args![tx.now, id]).await?;
            }
            Some(why) => {
                tx.run("UPDATE notify_channels SET failure = $1 WHERE id = $2", args![why, id]).await?;
            }
        }
        let outcome = if self.failure.is_none() { "delivered" } else { "failed" };
        let detail = format!("tested channel `{}`: {outcome}", found.name);
        tx.audit(Self::VERB, self.channel, AuditScope::Private(owner), detail);
        Ok(())
    }
}

/// A channel with what is needed to send to it.
#[derive(Debug, Clone)]
pub struct ChannelNow {
    /// The channel.
    pub channel: NotifyChannel,
    /// Whose it is.
    pub owner: UserId,
    /// Its encrypted address.
    pub sealed: String,
}

impl Store {
    /// The caller's channels, oldest first.
    pub async fn notify_channels(&self, caller: &Caller) -> Result<Vec<NotifyChannel>, StoreError> {
        caller.may(Action::TakePart, Resource::Hub, "channel")?;
        let me = caller.person()?;
        let sql = format!("{COLUMNS} WHERE c.user_id = $1 ORDER BY c.created_at, c.id");
        self.readers.get().await?.borrow().all(&sql, vec![text(me.id)]).await?.iter().map(channel).collect()
    }

    /// One of the caller's channels, to send to it.
    pub async fn notify_channel(&self, caller: &Caller, id: ChannelId) -> Result<ChannelNow, StoreError> {
        let (channel, owner, sealed) = mine(&mut self.readers.get().await?.borrow(), caller, id).await?;
        Ok(ChannelNow { channel, owner, sealed })
    }
}
