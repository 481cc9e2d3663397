//! A terminal's bytes leave its runner only while somebody watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use client::terminal::Event;
use domain::SessionStatus;
use protocol::Session;

use crate::counting;
use crate::floor::Floor;

/// Far more than a heartbeat and facts take, far less than the output.
const LITTLE: u64 = 64 * 1024;

#[tokio::test]
async fn nobody_watching_is_no_traffic() {
    let said = Arc::new(AtomicU64::new(0));
    let counter = said.clone();
    let floor = Floor::open(&[], async move |port| counting::start(port, counter).await).await;
    let project = floor.project(&floor.repository()).await;
    let go = floor.folder.path().join("go");
    // Four megabytes, a sign, a pause, four more.
    let script = r#"seq 600000; echo "half way"; until [ -e "$1" ]; do sleep 0.1; done; seq 600000; echo "all of it""#;
    let spawn = ["session", "spawn", "--project", &project.id.to_string(), "--agent", "command", "--", "sh", "-c"];
    let args: Vec<&str> = spawn.iter().copied().chain([script, "x", go.to_str().unwrap()]).collect();
    let text = testkit::shopfloor(&floor.url, &floor.token, &[&["--json"], &args[..]].concat()).await.unwrap();
    let session: Session = serde_json::from_str(&text).unwrap();
    floor.until(session.id, "four megabytes are recorded", |s| s.recording.output_bytes > 4_000_000).await;
    let unwatched = said.load(Ordering::Relaxed);
    assert!(unwatched < LITTLE, "{unwatched} bytes left the runner while nobody watched");

    let mut terminal = floor.ann.terminal(session.id);
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
    let ended = floor.until(session.id, "it ended", |session| session.state.ended()).await;
    assert_eq!(ended.session.state.status, SessionStatus::Exited);
    floor.close().await;
}
