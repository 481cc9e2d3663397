//! The screen of a running session as plain text, for a small picture of it.

use std::path::Path;
use std::time::Duration;

use protocol::{Problem, ProblemKind, SessionScreen};
use terminal::{Event, HostLink, Screen};

/// How long a host may take to send its screen.
const PATIENCE: Duration = Duration::from_secs(2);
/// Most lines and characters of a line.
const LARGEST: (usize, usize) = (300, 500);

/// What the terminal in this folder shows now.
pub(super) async fn screen(dir: &Path) -> Result<SessionScreen, Problem> {
    let none = || Problem::new(ProblemKind::Conflict, "the session has no live terminal");
    let (host, mut events) = HostLink::connect(dir).await.map_err(|_| none())?;
    host.watch(None).map_err(|_| none())?;
    let first = async {
        while let Some(event) = events.next().await {
            if let Event::Snapshot(snapshot) = event {
                return Some(snapshot);
            }
        }
        None
    };
    let snapshot = tokio::time::timeout(PATIENCE, first).await.ok().flatten().ok_or_else(none)?;
    let mut screen = Screen::new(snapshot.cols, snapshot.rows, 0);
    screen.feed(&snapshot.bytes);
    let line = |line: &str| line.trim_end().chars().take(LARGEST.1).collect();
    let mut lines: Vec<String> = screen.text().lines().take(LARGEST.0).map(line).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    Ok(SessionScreen { cols: snapshot.cols, rows: snapshot.rows, lines })
}
