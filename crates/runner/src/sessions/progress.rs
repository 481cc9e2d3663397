//! Reports the progress of a session's preparation, so that people see a long download.

use std::convert::Infallible;
use std::time::Duration;

use domain::SessionStatus;
use protocol::link::FactBody;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval_at};
use worktree::{Progress, Step};

use super::state::At;
use crate::journal::{Change, Journal, SessionRow};

/// How often to report.
const EVERY: Duration = Duration::from_secs(3);

/// A progress callback and its receiver.
pub(super) fn follow() -> (Progress, watch::Receiver<Option<Step>>) {
    let (steps, seen) = watch::channel(None);
    (Progress::new(move |step| drop(steps.send_replace(Some(step)))), seen)
}

/// Does the work and reports its progress.
pub(super) async fn telling<T>(
    journal: &Journal,
    row: &mut SessionRow,
    steps: watch::Receiver<Option<Step>>,
    work: impl Future<Output = T>,
) -> T {
    beside(work, now_and_then(journal, row, steps)).await
}

/// Does the work with something beside it. Both are always polled: both write to the journal, and the one that holds it
/// must be able to continue.
async fn beside<T>(work: impl Future<Output = T>, endless: impl Future<Output = Infallible>) -> T {
    tokio::select! {
        biased;
        done = work => done,
        never = endless => match never {},
    }
}

async fn now_and_then(journal: &Journal, row: &mut SessionRow, mut steps: watch::Receiver<Option<Step>>) -> Infallible {
    let mut ticks = interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let step = steps.borrow_and_update().clone();
        if let Some(step) = step {
            let detail = step.percent.map_or_else(|| step.what.clone(), |percent| format!("{} {percent} %", step.what));
            let at = At { status: SessionStatus::Starting, detail: Some(detail) };
            if row.memory.state.as_ref().is_none_or(|state| !at.is(state)) {
                tell(journal, row, at).await;
            }
        }
    }
}

/// Reports what a session does before it runs.
pub(super) async fn tell(journal: &Journal, row: &mut SessionRow, at: At) {
    let (session, state) = (row.session, at.since_now());
    row.memory.state = Some(state.clone());
    let change = Change::Memory(session, Box::new(row.memory.clone()));
    journal.write(&[change], &[FactBody::SessionState { session, state }]).await;
}

#[cfg(test)]
mod tests {
    use tokio::sync::{Mutex, Notify};
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn work_that_holds_the_journal_continues_while_progress_is_reported() {
        let (journal, asked, told) = (Mutex::new(()), Notify::new(), Notify::new());
        let work = async {
            let held = journal.lock().await;
            asked.notified().await;
            drop(held);
            told.notified().await;
            "done"
        };
        let telling = async {
            asked.notify_one();
            let _journal = journal.lock().await;
            told.notify_one();
            std::future::pending().await
        };
        assert_eq!(timeout(EVERY * 10, beside(work, telling)).await, Ok("done"));
    }
}
