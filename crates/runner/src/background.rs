//! Background tasks of the runner.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Runs futures in the background, until the runner stops; sessions continue without it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Background {
    stop: CancellationToken,
    running: TaskTracker,
}

impl Background {
    /// Runs a future until it completes or the runner stops.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.running.spawn(async move {
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// Cancels all futures, and waits until they are dropped.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.running.close();
        self.running.wait().await;
    }
}
