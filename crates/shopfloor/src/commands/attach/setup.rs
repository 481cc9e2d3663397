//! Output of the workspace's setup, shown until the session has a terminal.

use std::time::Duration;

use client::Client;
use domain::SessionId;
use protocol::{Call, LogPage, SessionLog};
use tokio::time::{Instant, sleep_until};

use super::cut::Cut;

/// Polling interval.
const EVERY: Duration = Duration::from_secs(1);

/// Polls for the setup's output.
pub(super) struct Setup {
    client: Client,
    session: SessionId,
    next: Instant,
    shown: String,
}

impl Setup {
    pub(super) fn new(client: Client, session: SessionId) -> Self {
        Self { client, session, next: Instant::now(), shown: String::new() }
    }

    /// Waits for more output and returns its last lines. Cancel-safe.
    pub(super) async fn printed(&mut self, lines: u16) -> &str {
        loop {
            sleep_until(self.next).await;
            self.next = Instant::now() + EVERY;
            let page = LogPage { lines: Some(lines.into()), setup: None };
            let asked: Result<SessionLog, _> = self.client.ask(Call::SessionLog { session: self.session, page }).await;
            // Usually there is none, or none yet; the terminal's own connection reports other errors.
            if let Ok(log) = asked
                && log.setup
                && log.text != self.shown
            {
                self.shown = log.text;
                return &self.shown;
            }
        }
    }
}

/// Bytes that paint these lines on a terminal of this size, leaving the bottom line free.
pub(super) fn paint(lines: &str, (cols, rows): (u16, u16)) -> Vec<u8> {
    let bytes = lines.replace('\n', "\r\n").into_bytes();
    Cut::new(cols, rows, &bytes, false).paint(cols, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_painted_and_long_ones_wrap() {
        let painted = String::from_utf8(paint("one\ntwo\nthree is longer", (10, 4))).unwrap();
        let body = painted.split_once("\x1b[H").unwrap().1;
        assert_eq!(body, "two\x1b[K\r\nthree is l\r\nonger\x1b[K\r\n\x1b[J\x1b[?2026l");
    }
}
