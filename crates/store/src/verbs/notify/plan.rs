//! Which pending notices are sent now, and as how many messages.

use domain::{ChannelId, NotificationId, Timestamp, UserId};
use engine::notify::{Decision, Facts, Pending, decide};
use serde::Serialize;

use super::settings;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::{Command, Store, StoreError};

/// How long a person counts as looking at the page after a hub has noticed it, in milliseconds.
const LOOKING: i64 = 15_000;

/// Decides about what is pending, with the people who look at this hub's page.
#[derive(Debug, Serialize)]
pub struct PlanDeliveries {
    /// Who looks at the page.
    pub looking: Vec<UserId>,
}

impl Command for PlanDeliveries {
    type Output = u32;
    const VERB: &'static str = "hub.deliveries";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u32, StoreError> {
        for user in &self.looking {
            let sql = "INSERT INTO notify_settings (user_id, looking_until) VALUES ($1, $2) \
                       ON CONFLICT (user_id) DO UPDATE SET looking_until = excluded.looking_until";
            tx.run(sql, args![user.to_string(), tx.now.plus_millis(LOOKING)]).await?;
        }
        let sql = "SELECT DISTINCT c.id, c.user_id FROM notify_channels c JOIN notices n ON n.channel = c.id \
                   WHERE n.state = 'pending' AND n.delivery IS NULL AND c.disabled IS NULL \
                   AND (c.hold_until IS NULL OR c.hold_until <= $1) ORDER BY c.id";
        let mut made = 0;
        let now = tx.now;
        for row in tx.read().all(sql, args![now]).await? {
            made += u32::from(plan(tx, row.parsed("id")?, row.parsed("user_id")?).await?);
        }
        Ok(made)
    }
}

/// Decides about one channel; returns whether there is something to deliver.
async fn plan(tx: &mut Tx<'_>, channel: ChannelId, user: UserId) -> Result<bool, StoreError> {
    let sql = "SELECT id, kind, at FROM notices WHERE channel = $1 AND state = 'pending' AND delivery IS NULL \
               ORDER BY at, id";
    let rows = tx.read().all(sql, vec![text(channel)]).await?;
    let pending: Result<Vec<Pending>, StoreError> =
        rows.iter().map(|row| Ok(Pending { kind: row.parsed("kind")?, at: row.time("at")? })).collect();
    let (pending, (settings, looking_until)) = (pending?, settings::of(tx.read(), user).await?);
    match decide(&settings::prefs(&settings), &Facts { pending: &pending, looking_until }, tx.now) {
        Decision::Nothing => Ok(false),
        Decision::Hold { until, seen } => {
            for row in seen.into_iter().filter_map(|at| rows.get(at)) {
                tx.run("UPDATE notices SET state = 'seen' WHERE id = $1", args![row.text("id")?]).await?;
            }
            let sql = "UPDATE notify_channels SET hold_until = $1 WHERE id = $2";
            tx.run(sql, args![until, channel.to_string()]).await?;
            Ok(false)
        }
        Decision::Send | Decision::Digest => {
            let id = NotificationId::generate().to_string();
            let sql = "INSERT INTO notify_deliveries (id, channel, tried, due_at) VALUES ($1, $2, 0, $3)";
            tx.run(sql, args![&id, channel.to_string(), tx.now]).await?;
            for row in &rows {
                tx.run("UPDATE notices SET delivery = $1 WHERE id = $2", args![&id, row.text("id")?]).await?;
            }
            tx.run("UPDATE notify_channels SET hold_until = NULL WHERE id = $1", vec![text(channel)]).await?;
            Ok(true)
        }
    }
}

impl Store {
    /// Which of these people look at the page while something is pending for them, if that or the time means that
    /// deliveries must be planned; `None` if not.
    pub async fn deliveries_to_plan(&self, looking: &[UserId]) -> Result<Option<PlanDeliveries>, StoreError> {
        let sql = "SELECT DISTINCT c.user_id, c.hold_until, s.looking_until FROM notify_channels c \
                   JOIN notices n ON n.channel = c.id LEFT JOIN notify_settings s ON s.user_id = c.user_id \
                   WHERE n.state = 'pending' AND n.delivery IS NULL AND c.disabled IS NULL";
        let rows = self.readers.get().await?.borrow().all(sql, args![]).await?;
        let now = self.now();
        let soon = now.plus_millis(LOOKING / 3);
        let (mut due, mut here) = (false, Vec::new());
        for row in rows {
            let user: UserId = row.parsed("user_id")?;
            let passed = |at: Option<Timestamp>, when: Timestamp| at.is_none_or(|at| at <= when);
            due |= passed(row.time_or_none("hold_until")?, now);
            if looking.contains(&user) && passed(row.time_or_none("looking_until")?, soon) && !here.contains(&user) {
                here.push(user);
            }
        }
        Ok((due || !here.is_empty()).then_some(PlanDeliveries { looking: here }))
    }
}
