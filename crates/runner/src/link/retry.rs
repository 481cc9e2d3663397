//! How long the runner waits before it connects again.

use std::time::Duration;

use client::Backoff;

use crate::options::Patience;

/// A connection that lasted this long after the hub's welcome worked. A hub that welcomes and then fails at once must not
/// be retried without a pause.
const WORKED: Duration = Duration::from_secs(1);

/// The waits between connections.
pub(super) struct Retry {
    backoff: Backoff,
    refused: Duration,
}

impl Retry {
    pub(super) fn new(patience: Patience) -> Self {
        Self { backoff: Backoff::new(patience.first_wait, patience.longest_wait), refused: patience.refused_wait }
    }

    /// The wait after a connection that lasted this long after the hub's welcome; `None`: there was no welcome.
    pub(super) fn after(&mut self, lasted: Option<Duration>, needs_somebody: bool) -> Duration {
        if lasted.is_some_and(|lasted| lasted >= WORKED) {
            self.backoff.reset();
        }
        match needs_somebody {
            true => Backoff::new(self.refused, self.refused).next_wait(),
            false => self.backoff.next_wait(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_worked_makes_the_next_wait_short() {
        let patience = Patience::default();
        let mut retry = Retry::new(patience);
        for lasted in [None, Some(Duration::ZERO), Some(WORKED / 2)].into_iter().cycle().take(20) {
            retry.after(lasted, false);
        }
        let long = retry.after(Some(WORKED / 2), false);
        assert!(long >= patience.longest_wait / 2, "without a connection that worked it grows: {long:?}");
        assert!(WORKED < patience.longest_wait);
        let short = retry.after(Some(WORKED), false);
        assert!(short <= patience.first_wait, "{short:?}");
        let refused = retry.after(None, true);
        assert!(refused >= patience.refused_wait / 2, "{refused:?}");
    }
}
