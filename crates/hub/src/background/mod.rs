//! A hub's background work: follow other hubs, store who was seen, delete old events, assign tasks.

mod artifacts;
mod asker;
mod conductor;
mod courier;
mod foreman;
mod keeper;
mod lander;
mod merges;
mod mover;
mod notifier;
mod pushes;
mod surveyor;
mod tidy;
mod witness;

use std::sync::Arc;
use std::time::Duration;

use domain::Seq;
use store::{Caller, Compact, Touch};
use tokio::time::{MissedTickBehavior, interval};

pub(crate) use self::tidy::Untidy;
use crate::hub::Hub;

/// Polling interval, in case a notification is lost.
const POLL: Duration = Duration::from_secs(2);
/// Wait before listening again after the notification channel failed.
const DEAF: Duration = Duration::from_secs(1);
/// Maximum notifications per second, however many commits.
const RING: Duration = Duration::from_millis(20);
const TOUCH: Duration = Duration::from_secs(60);
const COMPACT: Duration = Duration::from_secs(600);
/// How many events to read at a time.
const PAGE: u32 = 1000;

/// Starts everything; it ends with the hub.
pub(crate) fn start(hub: &Arc<Hub>) {
    tokio::spawn(until_stop(hub.clone(), upkeep(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), foreman::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), witness::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), mover::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), tidy::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), merges::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), lander::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), courier::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), asker::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), conductor::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), keeper::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), pushes::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), notifier::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), artifacts::run(hub.clone())));
    tokio::spawn(until_stop(hub.clone(), surveyor::run(hub.clone())));
    if hub.store.is_shared() {
        tokio::spawn(until_stop(hub.clone(), follow(hub.clone())));
        tokio::spawn(until_stop(hub.clone(), ring(hub.clone())));
    }
}

async fn until_stop(hub: Arc<Hub>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        () = hub.stopping.cancelled() => {}
    }
}

async fn upkeep(hub: Arc<Hub>) {
    let mut touch = interval(TOUCH);
    let mut compact = interval(COMPACT);
    touch.set_missed_tick_behavior(MissedTickBehavior::Delay);
    compact.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = touch.tick() => write_seen(&hub).await,
            _ = compact.tick() => forget(&hub).await,
        }
    }
}

/// Stores who was seen since the last time.
pub(crate) async fn write_seen(hub: &Hub) {
    let seen = hub.take_seen();
    if !seen.is_empty()
        && let Err(error) = hub.store.write(&Caller::hub("upkeep"), None, Touch { seen }).await
    {
        tracing::warn!(%error, "could not store who was seen");
    }
}

async fn forget(hub: &Hub) {
    hub.meters.tidy();
    let command = Compact { keep: hub.limits.events_kept };
    match hub.store.write(&Caller::hub("upkeep"), None, command).await {
        Ok(done) if done.value > 0 => tracing::info!(events = done.value, "deleted old events"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "could not delete old events"),
    }
}

/// Reads other hubs' commits: on a notification, on a gap, and by polling.
async fn follow(hub: Arc<Hub>) {
    let mut poll = interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut doorbell = None;
    loop {
        if doorbell.is_none() {
            doorbell = match hub.store.doorbell().await {
                Ok(doorbell) => doorbell,
                Err(error) => {
                    tracing::warn!(%error, "no notifications from other hubs; polling");
                    tokio::time::sleep(DEAF).await;
                    None
                }
            };
        }
        let heard = async {
            match &mut doorbell {
                Some(doorbell) => doorbell.heard().await,
                None => std::future::pending().await,
            }
        };
        let deaf = tokio::select! {
            heard = heard => heard.is_err(),
            () = hub.live.gap.notified() => false,
            _ = poll.tick() => false,
        };
        if deaf {
            doorbell = None;
        }
        if let Err(error) = read_new(&hub).await {
            tracing::warn!(%error, "could not read new events");
        }
    }
}

/// Publishes the events that the log does not have yet.
async fn read_new(hub: &Hub) -> Result<(), store::StoreError> {
    if hub.store.extent().await?.newest <= hub.live.newest() {
        return Ok(());
    }
    loop {
        let events = hub.store.events_after(hub.live.newest(), PAGE).await?;
        let full = events.len() == PAGE as usize;
        hub.live.publish(&events.into_iter().map(Arc::new).collect::<Vec<_>>());
        if !full {
            return Ok(());
        }
    }
}

/// Notifies other hubs of commits, at a bounded rate.
async fn ring(hub: Arc<Hub>) {
    let mut newest = hub.live.watch();
    let mut rung = Seq(0);
    while newest.changed().await.is_ok() {
        let seq = *newest.borrow_and_update();
        if seq > rung {
            if let Err(error) = hub.store.ring(seq).await {
                tracing::debug!(%error, "could not notify other hubs; they poll");
            }
            rung = seq;
            tokio::time::sleep(RING).await;
        }
    }
}
