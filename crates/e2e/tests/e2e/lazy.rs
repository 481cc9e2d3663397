//! A terminal's bytes leave its runner only while somebody watches.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use client::terminal::Event;
use domain::SessionStatus;
use protocol::Session;

use crate::counting;
use crate::fixture::Fixture;

/// Far more than a heartbeat and facts take, far less than the output.
const LITTLE: u64 = 64 * 1024;

/// A shell session that waits for a given file.
async fn spawn(fixture: &Fixture, script: &str, go: &Path) -> Session {
    let project = fixture.project(&fixture.repository()).await.id.to_string();
    let args = ["--json", "session", "spawn", "--project", &project, "--agent", "command", "--"];
    let args = [&args[..], &["sh", "-c", script, "x", go.to_str().unwrap()]].concat();
    let text = testkit::shopfloor(&fixture.url, &fixture.token, &args).await.unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_terminal_without_watchers_causes_no_traffic() {
    let said = Arc::new(AtomicU64::new(0));
    let counter = said.clone();
    let fixture = Fixture::open(&[], async move |port| counting::start(port, counter).await).await;
    let go = fixture.folder.path().join("go");
    // Four megabytes, a sign, a pause, four more.
    let script = r#"seq 600000; echo "half way"; until [ -e "$1" ]; do sleep 0.1; done; seq 600000; echo "all of it""#;
    let session = spawn(&fixture, script, &go).await;
    fixture.until(session.id, "four megabytes are recorded", |s| s.recording.output_bytes > 4_000_000).await;
    let unwatched = said.load(Ordering::Relaxed);
    assert!(unwatched < LITTLE, "{unwatched} bytes left the runner while nobody watched");

    let mut terminal = fixture.ann.terminal(session.id);
    let mut taken = 0;
    std::fs::write(go, "").unwrap();
    loop {
        match terminal.next().await.unwrap() {
            Event::Snapshot { bytes, end, .. } | Event::Data { bytes, end } => {
                taken += bytes.len() as u64;
                terminal.took(end);
            }
            Event::Exit { code, .. } => break assert_eq!(code, Some(0)),
            Event::Watching { .. } | Event::Lost { .. } | Event::State(_) => {}
        }
    }
    let watched = said.load(Ordering::Relaxed) - unwatched;
    assert!(taken > 1_000_000 && watched > LITTLE, "{watched} bytes for {taken} that were shown");
    let ended = fixture.until(session.id, "it ended", |session| session.state.ended()).await;
    assert_eq!(ended.session.state.status, SessionStatus::Exited);
    fixture.close().await;
}

#[tokio::test]
async fn a_watcher_that_reads_again_after_the_end_sees_it() {
    let fixture = Fixture::open(&[], async |port| port).await;
    let go = fixture.folder.path().join("go");
    // More than the hub keeps, and slow enough to be shown as bytes.
    let script = r#"until [ -e "$1" ]; do sleep 0.1; done; for i in $(seq 30); do seq 15000; sleep 0.05; done; echo "all of it""#;
    let session = spawn(&fixture, script, &go).await;
    let mut terminal = fixture.ann.terminal(session.id);
    while !matches!(terminal.next().await.unwrap(), Event::Snapshot { .. }) {}
    std::fs::write(go, "").unwrap();
    fixture.until(session.id, "it ended", |session| session.state.ended()).await;
    let mut shown = Vec::new();
    loop {
        match terminal.next().await.unwrap() {
            Event::Snapshot { bytes, end, .. } | Event::Data { bytes, end } => {
                shown.extend_from_slice(&bytes);
                terminal.took(end);
            }
            Event::Exit { code, .. } => break assert_eq!(code, Some(0)),
            Event::Watching { .. } | Event::Lost { .. } | Event::State(_) => {}
        }
    }
    assert!(String::from_utf8_lossy(&shown).contains("all of it"));
    fixture.close().await;
}
