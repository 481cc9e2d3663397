//! Terminals: one stream from the runner for all who watch, exact for each of them, and nobody's but those who may look.

mod floods;
mod keyboard;
mod rights;
mod streams;

use domain::SessionId;
use protocol::terminal::TerminalFrame;
use testkit::TestHub;

use crate::support::socket::Shown;
use crate::support::{Credential, FakeRunner, Socket};

/// A client that watches a session on channel 7.
async fn watch(hub: &TestHub, who: &Credential, session: SessionId, from: Option<u64>) -> Socket {
    let mut socket = Socket::live(hub.url(), who).await;
    socket.watch(7, session, from).await;
    match socket.shown().await {
        Shown::Watching { channel: 7, .. } => socket,
        other => panic!("{other:?}"),
    }
}

/// A screen.
fn screen(channel: u32, offset: u64, cols: u16, bytes: &str) -> TerminalFrame {
    let (title, bytes) = ("a title".to_owned(), bytes.as_bytes().to_vec());
    TerminalFrame::Snapshot { channel, offset, cols, rows: 24, title, bytes }
}

/// Output.
fn data(channel: u32, offset: u64, bytes: &str) -> TerminalFrame {
    TerminalFrame::Data { channel, offset, bytes: bytes.as_bytes().to_vec() }
}

/// Waits until everything that the runner sent before was taken in by the hub.
async fn settled(runner: &mut FakeRunner) {
    runner.sync().await;
}
