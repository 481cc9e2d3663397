//! The foreman: assigns tasks to workers, renews the leases of live sessions, and takes tasks from lost workers and
//! checks from lost runners.
//!
//! Woken by committed changes and by the next deadline; polls every second while something is held, otherwise rarely.
//! Every decision is its own verb, so that several hubs can do this at once.

use std::sync::Arc;
use std::time::Duration;

use domain::{ProjectId, RunnerId, Timestamp};
use store::{Caller, Dispatch, ExpireLeases, GiveUpChecks, GraceLeases, LastHeard, RenewLeases, StoreError, WorkDue};
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;
use crate::live::Waiting;

/// Polling interval while something is held, and while nothing is.
const LOOK: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_secs(10);
/// Minimum interval.
const BREATH: Duration = Duration::from_millis(20);
/// Minimum remaining lease after a start: without a hub, nobody could send a heartbeat.
const GRACE_SECONDS: u32 = 10;

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let (caller, looked) = (Caller::hub("foreman"), Timestamp::from_millis(0));
    let began = hub.store.now();
    let mut foreman = Foreman { hub, caller, began, renewed: None, looked };
    foreman.begin().await;
    let mut look = Instant::now();
    loop {
        tokio::select! {
            () = foreman.hub.live.work.woken() => {}
            () = sleep_until(look) => {}
        }
        let waiting = foreman.hub.live.work.take();
        if waiting.held {
            look = look.min(Instant::now() + LOOK);
        }
        foreman.hand_out(waiting).await;
        if look <= Instant::now() {
            look = Instant::now() + foreman.look().await;
        }
    }
}

struct Foreman {
    hub: Arc<Hub>,
    caller: Caller,
    /// Before this time, no heartbeat could arrive here.
    began: Timestamp,
    renewed: Option<Instant>,
    /// Everything due up to this time was handled.
    looked: Timestamp,
}

impl Foreman {
    async fn begin(&mut self) {
        match self.hub.store.worked_projects().await {
            Ok(projects) => self.hub.live.work.manages(projects),
            Err(error) => tracing::warn!(%error, "could not read the projects with workers"),
        }
        let command = GraceLeases { seconds: GRACE_SECONDS };
        if let Err(error) = self.hub.store.write(&self.caller, None, command).await {
            tracing::warn!(%error, "could not extend leases after the start");
        }
    }

    /// Assigns tasks wherever something may have changed.
    async fn hand_out(&mut self, waiting: Waiting) {
        let mut projects = waiting.projects;
        if waiting.anywhere {
            match self.hub.store.waiting_projects().await {
                Ok(found) => projects.extend(found),
                Err(error) => tracing::warn!(%error, "could not read the projects with ready tasks"),
            }
        }
        if projects.is_empty() {
            return;
        }
        let connected = match self.connected().await {
            Ok(connected) => connected,
            Err(error) => return self.failed("read the connected runners", &error, projects),
        };
        for project in projects {
            let (connected, heard) = (connected.clone(), self.hub.links.heard());
            let command = Dispatch { project, connected, heard };
            match self.hub.store.write(&self.caller, None, command).await {
                Ok(done) if done.value.handed > 0 => {
                    tracing::debug!(%project, handed = done.value.handed, "assigned tasks");
                }
                Ok(_) => {}
                Err(error) => self.failed("assign tasks", &error, [project]),
            }
        }
    }

    /// Retried on the next tick.
    fn failed(&self, what: &str, error: &StoreError, projects: impl IntoIterator<Item = ProjectId>) {
        tracing::warn!(%error, "could not {what}");
        projects.into_iter().for_each(|project| self.hub.live.work.again(project));
    }

    /// The runners that can work, on any hub; a silent one cannot.
    async fn connected(&self) -> Result<Vec<RunnerId>, StoreError> {
        let runners = self.hub.store.runners(&self.caller).await?.into_iter();
        let there = runners.filter(|runner| self.hub.live.can_work(runner) && !self.hub.links.is_silent(runner.id));
        Ok(there.map(|runner| runner.id).collect())
    }

    /// Does what is due; returns the time until the next deadline.
    async fn look(&mut self) -> Duration {
        let heard = self.hub.links.last_heard();
        let runners: Vec<RunnerId> = heard.iter().map(|heard| heard.runner).collect();
        // Set before reading, so that no new hold is overlooked.
        self.hub.live.work.rests(true);
        let now = self.hub.store.now();
        let due = match self.hub.store.work_due(&runners, self.looked).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "could not read what is due");
                return LOOK;
            }
        };
        let checks = self.checks(now).await;
        if due == WorkDue::default() && !checks {
            return REST;
        }
        self.hub.live.work.rests(false);
        // Before giving anybody up, count their last heartbeats.
        let late = due.lease.is_some_and(|lease| lease <= now) || due.projects.iter().any(|(_, at)| *at <= now);
        self.renew(&due, heard, late).await;
        if due.lease.is_some_and(|lease| lease <= now) {
            self.expire().await;
        }
        for (project, at) in &due.projects {
            if *at <= now {
                self.hub.live.work.now(*project);
            }
        }
        self.looked = now;
        wait(&due, now)
    }

    /// Gives up checks whose runners are away for too long; whether any check is still pending.
    async fn checks(&self, now: Timestamp) -> bool {
        let given_up = async {
            let owed = self.hub.store.owed_checks(self.began).await?;
            let late: Vec<RunnerId> = owed.iter().filter(|(_, at)| *at <= now).map(|(runner, _)| *runner).collect();
            if late.is_empty() {
                return Ok(!owed.is_empty());
            }
            let connected = self.connected().await?;
            if late.iter().any(|runner| !connected.contains(runner)) {
                let command = GiveUpChecks { connected, hub: self.began };
                let done = self.hub.store.write(&self.caller, None, command).await?;
                tracing::info!(reports = done.value.len(), "gave up checks of runners that are away");
            }
            Ok::<_, StoreError>(true)
        };
        given_up.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not give up checks of runners that are away");
            true
        })
    }

    /// Renews leases from the time that their runners were last heard.
    async fn renew(&mut self, due: &WorkDue, runners: Vec<LastHeard>, now: bool) {
        let Some(seconds) = due.renew else { return };
        let every = Duration::from_secs(u64::from(seconds));
        // A little early: rounding up a second must not cost a heartbeat.
        if !now && self.renewed.is_some_and(|renewed| renewed.elapsed() + LOOK / 2 < every) {
            return;
        }
        match self.hub.store.write(&self.caller, None, RenewLeases { runners }).await {
            Ok(_) => self.renewed = Some(Instant::now()),
            Err(error) => tracing::warn!(%error, "could not renew leases"),
        }
    }

    async fn expire(&self) {
        let command = ExpireLeases { heard: self.hub.links.heard() };
        match self.hub.store.write(&self.caller, None, command).await {
            Ok(done) if !done.value.is_empty() => tracing::info!(tasks = done.value.len(), "leases ended"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not end leases"),
        }
    }
}

/// Time to the next deadline, capped at the polling interval.
fn wait(due: &WorkDue, now: Timestamp) -> Duration {
    let next = due.lease.into_iter().chain(due.projects.iter().map(|(_, at)| *at)).min();
    let left = |at: Timestamp| u64::try_from(at.as_millis() - now.as_millis()).unwrap_or(0);
    // A deadline that has just passed was handled, or is retried; never loop tightly.
    next.map_or(LOOK, |at| Duration::from_millis(left(at)).clamp(BREATH, LOOK))
}
