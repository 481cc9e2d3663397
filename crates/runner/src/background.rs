//! What goes on beside everything else, until it is done or the runner ends.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Runs futures beside everything else. Ends with the runner; the sessions go on without it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Background {
    stop: CancellationToken,
    running: TaskTracker,
}

impl Background {
    /// Runs a future until it is done or the runner ends.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.running.spawn(async move {
            tokio::select! {
                () = work => {}
                () = stop.cancelled() => {}
            }
        });
    }

    /// Ends all of it, and waits for that.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.running.close();
        self.running.wait().await;
    }
}
