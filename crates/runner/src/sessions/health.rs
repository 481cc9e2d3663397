//! Whether a session's host is alive: asked only after a silence.

use std::path::Path;
use std::time::Duration;

use terminal::HostLink;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Minimum and maximum time for an answer.
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);

/// When a host last answered, and whether it is being asked.
#[derive(Debug)]
pub(super) struct Health {
    heard: Instant,
    asked: Option<JoinHandle<bool>>,
    silent: bool,
}

impl Health {
    /// A host that has just answered.
    pub(super) fn new(now: Instant) -> Self {
        Self { heard: now, asked: None, silent: false }
    }

    /// It said something.
    pub(super) fn hears(&mut self) {
        self.heard = Instant::now();
        self.silent = false;
    }

    /// Since when the host in `dir` does not answer, if it does not; asked at this interval. Never blocks.
    pub(super) async fn look(&mut self, dir: &Path, every: Duration) -> Option<Instant> {
        if let Some(asked) = self.asked.take_if(|asked| asked.is_finished()) {
            match asked.await {
                Ok(true) => self.hears(),
                _ => self.silent = true,
            }
        }
        if self.asked.is_none() && self.heard.elapsed() >= every {
            let (dir, patience) = (dir.to_owned(), every.clamp(SHORTEST, LONGEST));
            let asked = tokio::spawn(async move { HostLink::answers(&dir, patience).await });
            self.asked = Some(asked);
        }
        self.silent.then_some(self.heard)
    }
}

impl Drop for Health {
    fn drop(&mut self) {
        if let Some(asked) = &self.asked {
            asked.abort();
        }
    }
}
