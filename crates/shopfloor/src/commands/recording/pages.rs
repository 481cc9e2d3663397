//! A recording page by page, so that a long one is never in memory as a whole.

use std::collections::VecDeque;

use base64::Engine as _;
use client::Client;
use domain::SessionId;
use protocol::{Call, RecordedEvent, RecordingPart, RecordingRange};

use crate::Failure;

/// Reads a recording from a given time.
pub(super) struct Pages<'a> {
    client: &'a Client,
    session: SessionId,
    waiting: VecDeque<RecordedEvent>,
    next_ms: Option<u64>,
}

impl<'a> Pages<'a> {
    /// The screen at `from_ms`, and a reader of the events after it.
    pub(super) async fn open(
        client: &'a Client,
        session: SessionId,
        from_ms: u64,
    ) -> Result<(RecordingPart, Self), Failure> {
        let mut part = ask(client, session, from_ms).await?;
        let waiting = std::mem::take(&mut part.events).into();
        let next_ms = part.next_ms;
        Ok((part, Self { client, session, waiting, next_ms }))
    }

    /// The next event; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<RecordedEvent>, Failure> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            let Some(from_ms) = self.next_ms else {
                return Ok(None);
            };
            let part = ask(self.client, self.session, from_ms).await?;
            if part.next_ms.is_some_and(|next| next <= from_ms) {
                return Err(Failure::other("the hub returned no further part of the recording"));
            }
            self.next_ms = part.next_ms;
            self.waiting = part.events.into();
        }
    }
}

/// The screen at a page's start, as bytes for an empty terminal.
pub(super) fn screen(part: &RecordingPart) -> Result<Vec<u8>, Failure> {
    base64::engine::general_purpose::STANDARD
        .decode(&part.screen)
        .map_err(|error| Failure::other(format!("the recording could not be read: {error}")))
}

async fn ask(client: &Client, session: SessionId, from_ms: u64) -> Result<RecordingPart, Failure> {
    let range = RecordingRange { from_ms: Some(from_ms) };
    Ok(client.ask(Call::RecordingPart { session, range }).await?)
}
