//! Somebody who watches one session's terminal through everything.

use client::terminal::Event;
use client::{Client, Terminal};
use domain::SessionId;
use terminal::Screen;
use tokio::task::JoinHandle;

/// What a watcher ends with.
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) snapshots: u32,
    pub(crate) losses: u32,
}

/// Watches until the process ends.
pub(crate) fn start(client: &Client, session: SessionId) -> JoinHandle<Seen> {
    let mut stream = client.terminal(session);
    tokio::spawn(async move { watch(&mut stream).await })
}

async fn watch(stream: &mut Terminal) -> Seen {
    let mut screen = Screen::new(80, 24, 0);
    let (mut snapshots, mut losses) = (0, 0);
    loop {
        match stream.next().await.expect("a watcher is never refused") {
            Event::Snapshot { cols, rows, bytes, end, .. } => {
                screen = Screen::new(cols, rows, 0);
                screen.feed(&bytes);
                snapshots += 1;
                stream.took(end);
            }
            Event::Data { bytes, end } => {
                screen.feed(&bytes);
                stream.took(end);
            }
            Event::Lost { .. } => losses += 1,
            Event::Watching { .. } | Event::State(_) => {}
            Event::Exit { .. } => return Seen { text: screen.text(), snapshots, losses },
        }
    }
}
