//! Detects an unreachable database server, so that no caller waits for it.
//!
//! A caller that waits too long for a connection asks the watchdog to probe the server. If the probe fails, all callers
//! are refused at once until a later probe succeeds. Callers still wait for a pool that is merely busy.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::StoreError;

/// How long a caller waits for a connection before it asks for a probe.
const GRACE: Duration = Duration::from_millis(100);
/// The time limit of a probe.
const PATIENCE: Duration = Duration::from_secs(2);
/// The interval between probes.
const AGAIN: Duration = Duration::from_millis(250);

/// The known state of the server; always up for a file.
#[derive(Debug, Clone)]
pub(crate) struct Outage(Option<Arc<Watchdog>>);

#[derive(Debug)]
struct Watchdog {
    known: Arc<Known>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Known {
    /// Why the server is unreachable; `None` if it is reachable.
    now: watch::Sender<Option<String>>,
    suspicion: Notify,
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Outage {
    /// The state of a database file, which is always up.
    pub(crate) fn never() -> Self {
        Self(None)
    }

    /// Watches a server.
    pub(crate) fn of(server: PgConnectOptions) -> Self {
        let known = Arc::new(Known::default());
        let task = tokio::spawn(watch(known.clone(), server));
        Self(Some(Arc::new(Watchdog { known, task })))
    }

    /// Why the server is unreachable, if it is.
    pub(crate) fn now(&self) -> Option<String> {
        self.0.as_ref()?.known.now.borrow().clone()
    }

    /// Gets a connection, or refuses as soon as the server is known to be down.
    pub(crate) async fn unless_down<T>(
        &self,
        get: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, StoreError> {
        let Some(watchdog) = &self.0 else { return Ok(get.await?) };
        if let Some(why) = self.now() {
            return Err(StoreError::Unavailable(why));
        }
        let mut now = watchdog.known.now.subscribe();
        let down = async {
            sleep(GRACE).await;
            watchdog.known.suspicion.notify_one();
            loop {
                let known = now.borrow_and_update().clone();
                match known {
                    Some(why) => return why,
                    None if now.changed().await.is_err() => std::future::pending::<()>().await,
                    None => {}
                }
            }
        };
        tokio::select! {
            biased;
            got = get => Ok(got?),
            why = down => Err(StoreError::Unavailable(why)),
        }
    }
}

/// Probes a suspected server until it answers.
async fn watch(known: Arc<Known>, server: PgConnectOptions) {
    loop {
        if known.now.borrow().is_none() {
            known.suspicion.notified().await;
        }
        let found = knock(&server).await.err();
        known.now.send_if_modified(|now| {
            match (&now, &found) {
                (None, Some(why)) => tracing::warn!(why, "the database cannot be reached"),
                (Some(_), None) => tracing::info!("the database can be reached again"),
                _ => {}
            }
            let news = *now != found;
            *now = found;
            news
        });
        sleep(AGAIN).await;
    }
}

/// Probes the server; one that refuses connections because it is full counts as up.
async fn knock(server: &PgConnectOptions) -> Result<(), String> {
    let connected = timeout(PATIENCE, PgConnection::connect_with(server)).await;
    match connected.map_err(|_| format!("no answer for {PATIENCE:?}"))? {
        Ok(connection) => {
            let _ = timeout(PATIENCE, connection.close()).await;
            Ok(())
        }
        Err(sqlx::Error::Database(error)) if !error.code().is_some_and(|code| code.starts_with("57P")) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    /// A pool that never gives a connection.
    async fn asked(outage: &Outage) -> Result<(), StoreError> {
        outage.unless_down(pending::<Result<(), sqlx::Error>>()).await
    }

    #[tokio::test]
    async fn nobody_waits_for_the_pool_of_a_server_that_is_away() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let outage = Outage::of(PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(port));
        assert!(matches!(asked(&outage).await, Err(StoreError::Unavailable(_))), "the pool would never have answered");
        // From here on the outage is known, so the caller is refused at once.
        let at_once = tokio::select! {
            biased;
            refused = asked(&outage) => Some(refused),
            () = std::future::ready(()) => None,
        };
        assert!(matches!(at_once, Some(Err(StoreError::Unavailable(_)))), "{at_once:?}");
    }
}
