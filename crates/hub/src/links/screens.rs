//! Small pictures of terminals: each is requested from its runner at most every two seconds, for all who look.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{RunnerId, SessionId};
use protocol::ProblemKind;
use protocol::SessionScreen;
use protocol::link::{RunnerAnswer, RunnerAsk};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Links;
use crate::AppError;

/// How long a picture is shown to others, too.
const FRESH: Duration = Duration::from_secs(2);
/// Forgotten after this time.
const OLD: Duration = Duration::from_secs(60);

/// When a picture was taken, and the picture; empty while the first one is requested.
type Taken = Arc<Mutex<Option<(Instant, SessionScreen)>>>;

/// The newest pictures.
#[derive(Default)]
pub(super) struct Screens {
    taken: parking_lot::Mutex<HashMap<SessionId, (Instant, Taken)>>,
}

impl Screens {
    fn of(&self, session: SessionId) -> Taken {
        let (now, mut taken) = (Instant::now(), self.taken.lock());
        taken.retain(|_, (asked, _)| now.duration_since(*asked) < OLD);
        let entry = taken.entry(session).or_insert_with(|| (now, Taken::default()));
        entry.0 = now;
        entry.1.clone()
    }
}

impl Links {
    /// What a session's terminal shows, or showed less than two seconds ago.
    pub(crate) async fn screen(&self, runner: RunnerId, session: SessionId) -> Result<SessionScreen, AppError> {
        let taken = self.screens.of(session);
        // Others who want the same picture wait for this request instead of sending their own.
        let mut taken = taken.lock().await;
        if let Some((at, screen)) = &*taken
            && at.elapsed() < FRESH
        {
            return Ok(screen.clone());
        }
        match self.ask(runner, RunnerAsk::Screen { session }).await? {
            RunnerAnswer::Screen(screen) => {
                *taken = Some((Instant::now(), screen.clone()));
                Ok(screen)
            }
            _ => Err(AppError::new(
                ProblemKind::Unavailable,
                "its runner answered something else: update the older program",
            )),
        }
    }
}
