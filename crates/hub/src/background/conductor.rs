//! The conductor: moves executions whose timers are due, whose work is over or can begin, and starts those of schedules.
//!
//! What there is to do is in the database, so any hub continues after a restart. Each move is a transaction that reads
//! the current state: two hubs that see the same thing do it once.

use std::sync::Arc;
use std::time::Duration;

use domain::{ExecutionId, RunnerId, Seq, Timestamp};
use futures_util::future::join_all;
use store::{AtWork, Caller, StoreError, TendExecution, TendSchedule};
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;

/// Polling interval while work waits for a runner, and while nothing does: a change may have been missed.
const LOOK: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(30);
/// The most pages of events that are handed on before executions move: one end can start the next execution.
const PAGES: usize = 20;
/// Minimum interval after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// How many milliseconds a runner is not connected before it is away: one that reconnects soon is not noted.
const AWAY: i64 = 10_000;

/// The work that waits for a runner: a look handles a part of it.
#[derive(Default)]
struct Waiting {
    /// When the last part was handled.
    looked: Option<Instant>,
    /// Where the next part begins.
    after: Option<ExecutionId>,
}

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut waiting = Waiting::default();
    let mut seen = Seq(0);
    let mut presence = Presence { began: hub.store.now(), judged: None };
    loop {
        if let Err(error) = hand_on(&hub, &mut seen).await {
            tracing::warn!(%error, "could not hand events to those who wait for them");
        }
        let wait = match look(&hub, &mut waiting, &mut presence).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::warn!(%error, "could not move executions");
                AFTER_FAILURE
            }
        };
        let until = Instant::now() + wait;
        tokio::select! {
            () = hub.live.executions.changed() => waiting.looked = None,
            () = sleep_until(until) => {}
        }
    }
}

/// Hands what happened since the last time to the schedules and steps that wait for it.
async fn hand_on(hub: &Hub, seen: &mut Seq) -> Result<(), StoreError> {
    for _ in 0..PAGES {
        let Some(found) = hub.store.awaited_events(*seen).await? else { break };
        let upto = found.upto();
        if found.is_needed() && !hub.store.write(&Caller::hub("events"), None, found).await?.value {
            // Another hub was faster: read again from its position.
            continue;
        }
        *seen = upto;
        failpoint::pass("conductor.handed_on");
    }
    Ok(())
}

/// Moves everything that can move; returns how long to wait.
async fn look(hub: &Arc<Hub>, waiting: &mut Waiting, presence: &mut Presence) -> Result<Duration, StoreError> {
    let now = hub.store.now();
    let schedules = hub.store.due_schedules(now).await?;
    let caller = Caller::hub("schedule");
    for schedule in schedules.now {
        if let Err(error) = hub.store.write(&caller, None, TendSchedule { schedule }).await {
            tracing::warn!(%error, %schedule, "could not decide about a schedule");
        }
        failpoint::pass("schedule.tended");
    }
    let due = hub.store.due_executions(now, waiting.after).await?;
    let (mut moving, again) = presence.judge(hub, now).await?;
    moving.extend(due.now);
    let waits = !due.waiting.is_empty() || waiting.after.is_some();
    if waits && waiting.looked.is_none_or(|at| at.elapsed() >= LOOK) {
        *waiting = Waiting { looked: Some(Instant::now()), after: due.after };
        moving.extend(due.waiting);
    }
    moving.sort_unstable();
    moving.dedup();
    let mut all_moved = true;
    if !moving.is_empty() {
        failpoint::pass("conductor.looked");
        let runners = presence.runners(hub, now).await?;
        // Waiting commands share a transaction, so they are handed in together.
        let moved = join_all(moving.into_iter().map(|execution| tend(hub, execution, runners.clone()))).await;
        all_moved = moved.into_iter().all(|moved| moved);
    }
    let next = [due.next, schedules.next].into_iter().flatten().min();
    let rest = if waits { LOOK } else { again };
    let wait = next.map_or(rest, |next| until(next, hub.store.now()).min(rest));
    Ok(if all_moved { wait } else { wait.max(AFTER_FAILURE) })
}

/// Moves an execution; returns whether that was possible.
async fn tend(hub: &Arc<Hub>, execution: ExecutionId, runners: Runners) -> bool {
    let Runners { connected, there, away } = runners;
    let command = TendExecution { execution, connected, there, away };
    match hub.store.write(&Caller::hub("execution"), None, command).await {
        Ok(tended) => {
            failpoint::pass("conductor.tended");
            hub.links.say(tended.value);
            true
        }
        Err(error) => {
            tracing::warn!(%error, %execution, "could not move an execution");
            false
        }
    }
}

/// Runners, on any hub.
#[derive(Clone, Default)]
struct Runners {
    /// They can work.
    connected: Vec<RunnerId>,
    /// They are connected.
    there: Vec<RunnerId>,
    /// They have not been connected for some time.
    away: Vec<RunnerId>,
}

/// Which runners are away.
struct Presence {
    /// Before this time, no runner could connect here.
    began: Timestamp,
    /// When runners at work were last looked at.
    judged: Option<Instant>,
}

impl Presence {
    async fn runners(&self, hub: &Arc<Hub>, now: Timestamp) -> Result<Runners, StoreError> {
        let mut found = Runners::default();
        for runner in hub.store.runners(&Caller::hub("execution")).await? {
            if hub.live.can_work(&runner) && !hub.links.is_silent(runner.id) {
                found.connected.push(runner.id);
            }
            let heard = runner.last_seen_at.map_or(self.began, |heard| heard.max(self.began));
            match hub.live.is_there(&runner) {
                true => found.there.push(runner.id),
                false if heard.plus_millis(AWAY) <= now => {
                    found.away.push(runner.id);
                }
                false => {}
            }
        }
        Ok(found)
    }

    /// The executions whose runners are newly away or back, and when to look again.
    async fn judge(&mut self, hub: &Arc<Hub>, now: Timestamp) -> Result<(Vec<ExecutionId>, Duration), StoreError> {
        if self.judged.is_some_and(|at| at.elapsed() < LOOK) {
            return Ok((Vec::new(), LOOK));
        }
        self.judged = Some(Instant::now());
        let at_work = hub.store.executions_at_work().await?;
        if at_work.is_empty() {
            return Ok((Vec::new(), REST));
        }
        let runners = self.runners(hub, now).await?;
        let news = |one: &&AtWork| match one.away {
            true => runners.there.contains(&one.runner),
            false => runners.away.contains(&one.runner),
        };
        let news = at_work.iter().filter(news).map(|one| one.execution).collect();
        let soon = at_work.iter().any(|one| !one.away && !runners.there.contains(&one.runner));
        Ok((news, if soon { LOOK } else { REST }))
    }
}

fn until(next: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(next.as_millis() - now.as_millis()).unwrap_or(0)).max(Duration::from_millis(5))
}
