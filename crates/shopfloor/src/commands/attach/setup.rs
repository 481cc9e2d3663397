//! What the setup of a session's workspace prints, as long as the session has no terminal that could be shown.

use std::time::Duration;

use client::Client;
use domain::SessionId;
use protocol::{Call, LogPage, SessionLog};
use tokio::time::{Instant, sleep_until};

use super::cut::Cut;

/// How often it is asked for.
const EVERY: Duration = Duration::from_secs(1);

/// Asks for what the setup prints.
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

    /// Waits until it has printed something more; its last lines. May be dropped and called again.
    pub(super) async fn printed(&mut self, lines: u16) -> &str {
        loop {
            sleep_until(self.next).await;
            self.next = Instant::now() + EVERY;
            let page = LogPage { lines: Some(lines.into()), setup: None };
            let asked: Result<SessionLog, _> = self.client.ask(Call::SessionLog { session: self.session, page }).await;
            // Mostly there is none, or none yet; whatever else is wrong the terminal's own connection says.
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

/// What paints such lines on a terminal of this size, without the line at the bottom.
pub(super) fn paint(lines: &str, (cols, rows): (u16, u16)) -> Vec<u8> {
    let bytes = lines.replace('\n', "\r\n").into_bytes();
    Cut::new(cols, rows, &bytes, false).paint(cols, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_painted_and_long_ones_go_on_below() {
        let painted = String::from_utf8(paint("one\ntwo\nthree is longer", (10, 4))).unwrap();
        let body = painted.split_once("\x1b[H").unwrap().1;
        assert_eq!(body, "two\x1b[K\r\nthree is l\r\nonger\x1b[K\r\n\x1b[J\x1b[?2026l");
    }
}
