//! The foreman: hands out tasks when somebody can take one, keeps the leases of sessions that live, and takes tasks away
//! from those that are gone.
//!
//! Woken by committed changes and by the next deadline; otherwise it looks once a second. Every decision is a verb of
//! its own, so that several hubs can do this at once: what one has done the others find done.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::{ProjectId, RunnerId, Timestamp};
use store::{Caller, Dispatch, ExpireLeases, GraceLeases, RenewLeases, StoreError, WorkDue};
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;

/// How often it looks at least.
const LOOK: Duration = Duration::from_secs(1);
/// After a start, leases hold at least so long: nobody could give a sign of life while there was no hub.
const GRACE_SECONDS: u32 = 10;

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let caller = Caller::hub("foreman");
    let mut foreman = Foreman { hub, caller, worked: HashSet::new(), renewed: None };
    foreman.begin().await;
    let mut look = Instant::now();
    loop {
        tokio::select! {
            () = foreman.hub.live.work.woken() => {}
            () = sleep_until(look) => {}
        }
        foreman.hand_out().await;
        look = Instant::now() + foreman.look().await;
    }
}

struct Foreman {
    hub: Arc<Hub>,
    caller: Caller,
    /// Projects with managed workers.
    worked: HashSet<ProjectId>,
    renewed: Option<Instant>,
}

impl Foreman {
    async fn begin(&mut self) {
        match self.hub.store.worked_projects().await {
            Ok(projects) => {
                projects.iter().for_each(|project| self.hub.live.work.again(*project));
                self.worked.extend(projects);
            }
            Err(error) => tracing::warn!(%error, "could not read which projects have workers"),
        }
        let command = GraceLeases { seconds: GRACE_SECONDS };
        if let Err(error) = self.hub.store.write(&self.caller, None, command).await {
            tracing::warn!(%error, "could not lengthen leases after the start");
        }
    }

    /// Hands out wherever something may have changed.
    async fn hand_out(&mut self) {
        let waiting = self.hub.live.work.take();
        self.worked.extend(waiting.managed);
        let projects: Vec<ProjectId> = match waiting.anywhere {
            true => self.worked.iter().copied().collect(),
            false => waiting.projects.into_iter().filter(|project| self.worked.contains(project)).collect(),
        };
        if projects.is_empty() {
            return;
        }
        let connected = match self.connected().await {
            Ok(connected) => connected,
            Err(error) => return self.failed("read which runners are there", &error, &projects),
        };
        for project in projects {
            let command = Dispatch { project, connected: connected.clone() };
            match self.hub.store.write(&self.caller, None, command).await {
                Ok(done) if done.value.handed > 0 => {
                    tracing::debug!(%project, handed = done.value.handed, "handed out tasks");
                }
                Ok(_) => {}
                Err(error) => self.failed("hand out tasks", &error, &[project]),
            }
        }
    }

    /// It is tried again when it is looked again.
    fn failed(&self, what: &str, error: &StoreError, projects: &[ProjectId]) {
        tracing::warn!(%error, "could not {what}");
        projects.iter().for_each(|project| self.hub.live.work.again(*project));
    }

    /// The runners that are there, wherever they are linked.
    async fn connected(&self) -> Result<Vec<RunnerId>, StoreError> {
        let runners = self.hub.store.runners(&self.caller).await?.into_iter();
        Ok(runners.filter(|runner| self.hub.live.is_there(runner)).map(|runner| runner.id).collect())
    }

    /// Does what is due, and says how long nothing will be.
    async fn look(&mut self) -> Duration {
        let linked = self.hub.links.linked();
        let due = match self.hub.store.work_due(&linked).await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "could not read what is due");
                return LOOK;
            }
        };
        self.renew(&due, linked).await;
        let now = self.hub.store.now();
        if due.lease.is_some_and(|lease| lease <= now) {
            self.expire().await;
        }
        for (project, at) in &due.projects {
            if *at <= now {
                self.hub.live.work.again(*project);
            }
        }
        wait(&due, now)
    }

    async fn renew(&mut self, due: &WorkDue, runners: Vec<RunnerId>) {
        let Some(seconds) = due.renew else { return };
        let every = Duration::from_secs(u64::from(seconds));
        // A little early: a second that is rounded up must not cost a heartbeat.
        let fresh = self.renewed.is_some_and(|renewed| renewed.elapsed() + LOOK / 2 < every);
        if fresh {
            return;
        }
        match self.hub.store.write(&self.caller, None, RenewLeases { runners }).await {
            Ok(_) => self.renewed = Some(Instant::now()),
            Err(error) => tracing::warn!(%error, "could not renew leases"),
        }
    }

    async fn expire(&self) {
        match self.hub.store.write(&self.caller, None, ExpireLeases {}).await {
            Ok(done) if !done.value.is_empty() => tracing::info!(tasks = done.value.len(), "leases ended"),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "could not end leases"),
        }
    }
}

/// Until the next deadline, and no longer than until it is looked anyway.
fn wait(due: &WorkDue, now: Timestamp) -> Duration {
    let next = due.lease.into_iter().chain(due.projects.iter().map(|(_, at)| *at)).min();
    let left = |at: Timestamp| u64::try_from(at.as_millis() - now.as_millis()).unwrap_or(0);
    // One that has just passed was seen to, or is tried again; never in a tight loop.
    next.map_or(LOOK, |at| Duration::from_millis(left(at)).clamp(Duration::from_millis(20), LOOK))
}
