//! Tells how far a session's preparation is, so that nobody wonders during a long download.

use std::sync::Arc;
use std::time::Duration;

use domain::SessionStatus;
use protocol::link::FactBody;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval_at};
use worktree::{Progress, Step};

use super::state::At;
use crate::floor::Floor;
use crate::journal::{Change, SessionRow};

/// How often it is told.
const EVERY: Duration = Duration::from_secs(3);

/// Something that is told of progress, and where that comes out.
pub(super) fn follow() -> (Progress, watch::Receiver<Option<Step>>) {
    let (steps, seen) = watch::channel(None);
    (Progress::new(move |step| drop(steps.send_replace(Some(step)))), seen)
}

/// Does the work and tells the hub how far it is.
pub(super) async fn telling<T>(
    floor: &Arc<Floor>,
    row: &mut SessionRow,
    mut steps: watch::Receiver<Option<Step>>,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);
    let mut ticks = interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            done = &mut work => return done,
            _ = ticks.tick() => {}
        }
        let step = steps.borrow_and_update().clone();
        if let Some(step) = step {
            let detail = step.percent.map_or_else(|| step.what.clone(), |percent| format!("{} {percent} %", step.what));
            let at = At { status: SessionStatus::Starting, detail: Some(detail) };
            if row.memory.state.as_ref().is_none_or(|state| !at.is(state)) {
                tell(floor, row, at).await;
            }
        }
    }
}

/// Tells what a session that does not run yet is at.
pub(super) async fn tell(floor: &Floor, row: &mut SessionRow, at: At) {
    let (session, state) = (row.session, at.since_now());
    row.memory.state = Some(state.clone());
    let change = Change::Memory(session, Box::new(row.memory.clone()));
    floor.journal.write(&[change], &[FactBody::SessionState { session, state }]).await;
}
