//! Waits for a state, never for a time.

use std::time::{Duration, Instant};

/// How long a state may take to come, on a busy machine: a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Polls until the answer is `Some`; panics with `reason` if it never is.
pub async fn wait_until<T, F: Future<Output = Option<T>>>(reason: &str, mut ask: impl FnMut() -> F) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "timed out waiting until {reason}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
