//! The notifier: turns the event log into notifications, and delivers them.
//!
//! What is pending and what is to be delivered is stored, so that any hub continues after a crash. A delivery that was
//! sent but not recorded is sent again, with the same id.

use std::sync::Arc;
use std::time::Duration;

use domain::Seq;
use store::{Caller, ClaimDeliveries, Delivery, EndDelivery, FreeDeliveries, StoreError};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::AppError;
use crate::hub::Hub;
use crate::notify::{Letterhead, Message, Sent, Target, place};

/// How often to look for what is due.
const TICK: Duration = Duration::from_secs(1);
/// How often to look at most when events arrive.
const PACE: Duration = Duration::from_millis(200);
/// Deliveries of one hub at a time.
const AT_ONCE: usize = 64;

fn by_hub() -> Caller {
    Caller::hub("notifier")
}

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared()
        && let Err(error) = hub.store.write(&by_hub(), None, FreeDeliveries).await
    {
        tracing::warn!(%error, "deliveries of notifications may be late");
    }
    let mut newest = hub.live.watch();
    let mut seen = Seq(0);
    let mut sending = JoinSet::new();
    loop {
        while sending.try_join_next().is_some() {}
        if let Err(error) = gather(&hub, &mut seen).await {
            tracing::warn!(%error, "could not read what people are notified of");
        }
        if let Err(error) = plan(&hub).await {
            tracing::warn!(%error, "could not plan notifications");
        }
        match claim(&hub, sending.len()).await {
            Ok(claimed) => claimed.into_iter().for_each(|one| drop(sending.spawn(deliver(hub.clone(), one)))),
            Err(error) => tracing::warn!(%error, "could not read which notifications are due"),
        }
        sleep(PACE).await;
        tokio::select! {
            _ = newest.changed() => {}
            _ = sending.join_next(), if !sending.is_empty() => {}
            () = sleep(TICK) => {}
        }
    }
}

/// Adds what happened since the last time to what is pending.
async fn gather(hub: &Hub, seen: &mut Seq) -> Result<(), StoreError> {
    while let Some(found) = hub.store.new_notices(*seen).await? {
        let upto = found.upto();
        if found.is_needed() && !hub.store.write(&by_hub(), None, found).await?.value {
            // Another hub was faster: read again from its position.
            continue;
        }
        *seen = upto;
    }
    Ok(())
}

async fn plan(hub: &Hub) -> Result<(), StoreError> {
    let looking = hub.live.presence.looking();
    if let Some(plan) = hub.store.deliveries_to_plan(&looking).await? {
        hub.store.write(&by_hub(), None, plan).await?;
    }
    Ok(())
}

async fn claim(hub: &Hub, sending: usize) -> Result<Vec<Delivery>, StoreError> {
    if sending >= AT_ONCE || !hub.store.delivery_is_due().await? {
        return Ok(Vec::new());
    }
    Ok(hub.store.write(&by_hub(), None, ClaimDeliveries).await?.value)
}

/// Sends one message and stores what became of it.
async fn deliver(hub: Arc<Hub>, delivery: Delivery) {
    let (id, channel) = (delivery.id, delivery.channel);
    let sent = match timeout(Duration::from_secs(30), attempt(&hub, delivery)).await {
        Ok(Ok(sent)) => sent,
        // Its lease runs out, and it is sent again.
        Ok(Err(error)) => return tracing::warn!(%error, %channel, "could not send a notification"),
        Err(_) => return tracing::warn!(%channel, "sending a notification took too long"),
    };
    let (outcome, why) = sent.map_or((None, None), |sent| (Some(sent.outcome), sent.why));
    if let Some(why) = &why {
        tracing::info!(%channel, notification = %id, why, "a notification did not arrive");
    }
    if let Err(error) = hub.store.write(&by_hub(), None, EndDelivery { delivery: id, outcome, why }).await {
        tracing::warn!(%error, %channel, "could not store what became of a notification");
    }
}

/// `None`: there is nothing left that its person may see or must do.
async fn attempt(hub: &Hub, delivery: Delivery) -> Result<Option<Sent>, AppError> {
    let Delivery { id, channel, kind, user, sealed } = delivery;
    let letters = hub.store.letters(user, id).await?;
    let Some(message) = Message::of(letters, hub.doors.url()) else { return Ok(None) };
    let opened = match hub.notify.key()?.open(&place(channel, user), &sealed) {
        Ok(text) => serde_json::from_str::<Target>(&text).ok(),
        Err(error) => {
            tracing::warn!(%error, %channel, "the key of this hub does not open an address");
            None
        }
    };
    let Some(target) = opened else {
        return Ok(Some(Sent::refused("the hub's key does not open the address: remove the channel and add it again")));
    };
    let head = Letterhead { id, now: hub.store.now(), base: hub.doors.url() };
    Ok(Some(hub.notify.send(kind, &target, &message, head).await))
}
