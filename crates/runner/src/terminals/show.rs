//! Shows one terminal: from its host while it runs, from its files after it exited.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::SessionId;
use protocol::link::FromRunner;
use protocol::terminal::{TerminalFrame, data};
use protocol::{Problem, ProblemKind};
use terminal::recording::{Happening, Recording};
use terminal::{Event, Events, Exit, FinalScreen, HostLink, Screen, Snapshot};
use tokio::sync::mpsc;

use super::{Sources, Wish};
use crate::link::{Cut, Lane, Link};
use crate::sessions::Stage;

/// A keystroke's echo waits for at most this much of another terminal.
const PIECE: usize = 32 * 1024;

/// How long to wait for an unknown session to become known.
const PATIENCE: Duration = Duration::from_secs(3);

/// Shows a terminal until it ends, or its watcher or the connection is gone.
pub(super) async fn show(
    sources: &Sources,
    link: &Link,
    channel: u32,
    session: SessionId,
    from: Option<u64>,
    mut wishes: mpsc::UnboundedReceiver<Wish>,
) {
    let lane = link.lane(channel);
    let dir = sources.folders.session(session);
    let asked = AtomicBool::new(false);
    if !while_it_runs(sources, &lane, channel, session, from, &mut wishes, &asked).await
        && files(&dir, &lane, channel, from).await == Ok(false)
    {
        let problem = Problem::new(ProblemKind::NotFound, "this session has no terminal");
        let _ = link.send(&FromRunner::Unwatched { channel, problem }).await;
        return;
    }
    // A watcher that fell behind still gets the final screen.
    if asked_for_screen(&asked, &mut wishes) {
        let _ = files(&dir, &lane, channel, None).await;
    }
}

/// Shows a running terminal; false: it has exited, and was not shown to its end.
async fn while_it_runs(
    sources: &Sources,
    lane: &Lane,
    channel: u32,
    session: SessionId,
    from: Option<u64>,
    wishes: &mut mpsc::UnboundedReceiver<Wish>,
    asked: &AtomicBool,
) -> bool {
    let dir = sources.folders.session(session);
    let mut stage = sources.sessions.stage(session);
    if stage.is_none() && !dir.exists() {
        stage = sources.sessions.stage_soon(session, PATIENCE).await;
    }
    let Some(mut stage) = stage else { return false };
    // A session in preparation has nothing to show yet.
    if stage.wait_for(|stage| *stage != Stage::Preparing).await.is_ok_and(|stage| *stage == Stage::Running)
        && let Ok((host, events)) = HostLink::connect(&dir).await
        && live(&host, events, lane, channel, from, wishes, asked).await != Ok(Shown::Broken)
    {
        return true;
    }
    let _ = stage.wait_for(|stage| *stage == Stage::Over).await;
    false
}

#[derive(Debug, PartialEq, Eq)]
enum Shown {
    /// To its end.
    All,
    /// The host disappeared without saying how the session ended.
    Broken,
}

async fn live(
    host: &HostLink,
    events: Events,
    lane: &Lane,
    channel: u32,
    from: Option<u64>,
    wishes: &mut mpsc::UnboundedReceiver<Wish>,
    asked: &AtomicBool,
) -> Result<Shown, Cut> {
    if host.watch(from).is_err() {
        return Ok(Shown::Broken);
    }
    tokio::select! {
        shown = send(events, lane, channel, asked) => shown,
        // Concurrently with sending: input does not wait for output.
        () = obey(host, wishes, asked) => Err(Cut),
    }
}

/// Whether a requested screen is pending; nothing can be requested after it.
fn asked_for_screen(asked: &AtomicBool, wishes: &mut mpsc::UnboundedReceiver<Wish>) -> bool {
    wishes.close();
    let unread = std::iter::from_fn(|| wishes.try_recv().ok()).any(|wish| matches!(wish, Wish::Snapshot));
    unread || asked.load(Ordering::Relaxed)
}

async fn obey(host: &HostLink, wishes: &mut mpsc::UnboundedReceiver<Wish>, asked: &AtomicBool) {
    while let Some(wish) = wishes.recv().await {
        // The reader notices a host that is gone.
        let _ = match wish {
            Wish::Input(bytes) => host.input(bytes),
            Wish::Credit(offset) => host.credit(offset),
            Wish::Snapshot => {
                asked.store(true, Ordering::Relaxed);
                host.snapshot()
            }
            Wish::Mark(text) => host.mark("keyboard", text),
            Wish::Resize { size: (cols, rows), if_fresh: false } => host.resize(cols, rows),
            Wish::Resize { size: (cols, rows), if_fresh: true } => host.resize_if_fresh(cols, rows),
        };
    }
}

async fn send(mut events: Events, lane: &Lane, channel: u32, asked: &AtomicBool) -> Result<Shown, Cut> {
    while let Some(event) = events.next().await {
        match event {
            Event::Snapshot(screen) => {
                asked.store(false, Ordering::Relaxed);
                let (offset, cols, rows, title, bytes) =
                    (screen.offset, screen.cols, screen.rows, screen.title, screen.bytes);
                lane.send(TerminalFrame::Snapshot { channel, offset, cols, rows, title, bytes }.encode()).await?;
            }
            Event::Data { offset, bytes } => {
                for (at, piece) in pieces(&bytes) {
                    lane.send(data(channel, offset + at as u64, piece)).await?;
                }
            }
            Event::Exit { offset, code, signal } => {
                lane.send(TerminalFrame::Exit { channel, offset, code, signal }.encode()).await?;
                lane.drained().await?;
                return Ok(Shown::All);
            }
            Event::Observed(_) => {}
        }
    }
    Ok(Shown::Broken)
}

/// The final screen of an exited session, and how it ended; whether there is anything to show.
async fn files(dir: &Path, lane: &Lane, channel: u32, from: Option<u64>) -> Result<bool, Cut> {
    let folder = dir.to_owned();
    let read = move || (last_screen(&folder), Exit::read(&folder).ok().flatten());
    let Ok((Some(screen), exit)) = tokio::task::spawn_blocking(read).await else { return Ok(false) };
    if from != Some(screen.offset) {
        let Snapshot { offset, cols, rows, title, bytes } = screen.clone();
        lane.send(TerminalFrame::Snapshot { channel, offset, cols, rows, title, bytes }.encode()).await?;
    }
    let (code, signal) = exit.map_or((None, None), |exit| (exit.code, exit.signal));
    lane.send(TerminalFrame::Exit { channel, offset: screen.offset, code, signal }.encode()).await?;
    lane.drained().await?;
    Ok(true)
}

/// The last screen: as its host stored it, or, if that was killed, from its recording.
fn last_screen(dir: &Path) -> Option<Snapshot> {
    if let Some(FinalScreen { offset, cols, rows, title, bytes, .. }) = FinalScreen::read(dir).ok().flatten() {
        return Some(Snapshot { offset, cols, rows, title, bytes: bytes.into_bytes() });
    }
    let recording = Recording::open(&terminal::Files::new(dir).recording()).ok()?;
    let mut play = recording.play_from(recording.duration().ok()?).ok()?;
    let start = play.start.screen.clone();
    let mut screen = Screen::new(start.cols, start.rows, 0);
    screen.feed(&start.bytes);
    let mut offset = start.offset;
    for moment in play.by_ref().map_while(Result::ok) {
        match moment.happening {
            Happening::Output(bytes) => {
                offset += bytes.len() as u64;
                screen.feed(&bytes);
            }
            Happening::Resize(cols, rows) => screen.resize(cols, rows),
            _ => {}
        }
    }
    // It counted what it was fed, not what the session wrote.
    Some(Snapshot { offset, ..screen.snapshot() })
}

/// The bytes in pieces that end with complete characters, each with its offset.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &bytes[at..];
        if rest.is_empty() {
            return None;
        }
        let (start, end) = (at, at + cut(rest));
        at = end;
        Some((start, &bytes[start..end]))
    })
}

fn cut(rest: &[u8]) -> usize {
    if rest.len() <= PIECE {
        return rest.len();
    }
    // Continuation bytes of UTF-8 begin with the bits 10; a character has at most three.
    let back = rest[PIECE - 3..=PIECE].iter().rev().take_while(|byte| **byte & 0xC0 == 0x80).count();
    if back > 3 { PIECE } else { PIECE - back }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_whole_characters_and_all_there_is(text in "[a-zé€😀]{0,30000}", tail in any::<Vec<u8>>()) {
            let whole: Vec<u8> = pieces(text.as_bytes()).flat_map(|(_, piece)| piece.to_vec()).collect();
            prop_assert_eq!(&whole, text.as_bytes());
            for (_, piece) in pieces(text.as_bytes()) {
                prop_assert!(piece.len() <= PIECE && std::str::from_utf8(piece).is_ok());
            }
            let any: Vec<u8> = text.bytes().chain(tail).collect();
            let mut expected = 0;
            for (at, piece) in pieces(&any) {
                prop_assert!(at == expected && !piece.is_empty() && piece == &any[at..at + piece.len()]);
                expected += piece.len();
            }
            prop_assert_eq!(expected, any.len());
        }
    }
}
