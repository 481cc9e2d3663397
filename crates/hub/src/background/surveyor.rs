//! The surveyor: compares what activities declare with the work of others when a reservation expires, and when a task that
//! names files begins or ends.
//!
//! A reservation, and a change in a workspace, are compared in their own transactions. What is left is in the database, so
//! any hub continues after a restart; a second comparison changes nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::ProjectId;
use store::{Caller, DeclaredIn, StoreError, TendDeclared};
use tokio::time::sleep;

use crate::hub::Hub;

/// Wait between two looks, however many tasks change.
const LOOK: Duration = Duration::from_millis(200);
/// How often to look in any case.
const SWEEP: Duration = Duration::from_secs(60);
/// Wait after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut known = HashMap::new();
    loop {
        let wait = match look(&hub, &mut known).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(%error, "could not compare declared files");
                AFTER_FAILURE
            }
        };
        sleep(LOOK).await;
        tokio::select! {
            () = hub.live.declared.changed() => {}
            () = sleep(wait) => {}
        }
    }
}

/// Compares again where something is declared that was not known; returns how long to wait.
async fn look(hub: &Hub, known: &mut HashMap<ProjectId, DeclaredIn>) -> Result<Duration, StoreError> {
    let now = hub.store.now();
    let found: HashMap<_, _> = hub.store.declared().await?.into_iter().map(|one| (one.project, one)).collect();
    let expired = |one: &DeclaredIn| one.next().is_some_and(|next| next <= now);
    let changed = found.values().filter(|one| known.get(&one.project) != Some(*one) || expired(one));
    let gone = known.keys().filter(|project| !found.contains_key(*project));
    let tend: Vec<ProjectId> = changed.map(|one| one.project).chain(gone.copied()).collect();
    for project in tend {
        hub.store.write(&Caller::hub("surveyor"), None, TendDeclared { project }).await?;
    }
    let next = found.values().filter(|one| !expired(one)).filter_map(DeclaredIn::next).min();
    *known = found;
    let until = |next: domain::Timestamp| u64::try_from(next.as_millis() - now.as_millis()).unwrap_or(0);
    Ok(next.map_or(SWEEP, |next| Duration::from_millis(until(next))).min(SWEEP))
}
