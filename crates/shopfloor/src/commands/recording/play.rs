//! Plays a recording in the person's terminal.

use std::time::Duration;

use clap::Args;
use client::Client;
use domain::SessionId;
use protocol::RecordedEvent;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::pages::{self, Pages};
use crate::tty::{self, Filter, Plain, Raw, Signals, read_keys};
use crate::{Failure, Output};

/// Options of `play`.
#[derive(Debug, Args)]
pub(crate) struct Pace {
    /// Playback speed; 2 is twice as fast
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor)]
    speed: f64,
    /// Shorten pauses to this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = factor)]
    idle_limit: f64,
    /// Start this many seconds into the recording
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    from: u32,
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && (0.001..=1_000_000.0).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number above 0"))
}

impl Pace {
    fn wait(&self, millis: u64) -> Duration {
        // Pauses are shortened before the speed applies, as in asciinema.
        let seconds = (millis as f64 / 1000.0).min(self.idle_limit);
        Duration::from_secs_f64(seconds / self.speed)
    }
}

/// Plays; without a terminal, prints the text at once.
pub(super) async fn run(client: &Client, session: SessionId, pace: &Pace, out: &Output) -> Result<(), Failure> {
    let (start, pages) = Pages::open(client, session, u64::from(pace.from) * 1000).await?;
    let screen = pages::screen(&start)?;
    if out.json || !tty::is_here() {
        return print(&screen, pages, out).await;
    }
    if tty::size().is_some_and(|(cols, rows)| cols < start.cols || rows < start.rows) {
        out.note(&format!("recorded at {}×{}: lines may wrap differently here", start.cols, start.rows));
    }
    let mut signals = Signals::listen()?;
    let raw = Raw::enter().map_err(|error| Failure::other(format!("could not use the terminal: {error}")))?;
    let played = tokio::select! {
        played = play(&screen, start.from_ms, pages, pace) => played,
        () = signals.told_to_end() => Ok(()),
    };
    drop(raw);
    played
}

async fn print(screen: &[u8], mut pages: Pages<'_>, out: &Output) -> Result<(), Failure> {
    let mut plain = Plain::default();
    let text = plain.pass(screen);
    if !out.json {
        out.bytes(&text)?;
    }
    while let Some(event) = pages.next().await? {
        match (out.json, event.code.as_str()) {
            (true, _) => out.stream(&event, |_| String::new())?,
            (false, "o") => out.bytes(&plain.pass(event.data.as_bytes()))?,
            (false, _) => {}
        }
    }
    let mut rest = Vec::new();
    plain.line(&mut rest);
    if out.json { Ok(()) } else { out.bytes(&rest) }
}

async fn play(screen: &[u8], from_ms: u64, mut pages: Pages<'_>, pace: &Pace) -> Result<(), Failure> {
    let gone = |error: std::io::Error| Failure::other(format!("could not write to the terminal: {error}"));
    let (_, rows) = tty::size().unwrap_or((80, 24));
    tty::write(&tty::make_room(rows)).map_err(gone)?;
    let mut filter = Filter::default();
    tty::write(&filter.pass(screen)).map_err(gone)?;
    let (mut keys, mut last) = (read_keys(), from_ms);
    let mut due = Instant::now();
    while let Some(event) = pages.next().await? {
        due += pace.wait(event.at_ms.saturating_sub(last));
        last = event.at_ms.max(last);
        match until(due, &mut keys).await {
            Some(moved) => due = moved,
            None => return Ok(()),
        }
        if let Some(bytes) = shown(&event, &mut filter) {
            tty::write(&bytes).map_err(gone)?;
        }
    }
    Ok(())
}

fn shown(event: &RecordedEvent, filter: &mut Filter) -> Option<Vec<u8>> {
    (event.code == "o").then(|| filter.pass(event.data.as_bytes()))
}

/// Waits; space pauses and shifts everything after it. `None`: the person quits.
async fn until(mut due: Instant, keys: &mut UnboundedReceiver<Vec<u8>>) -> Option<Instant> {
    let mut paused: Option<Instant> = None;
    loop {
        tokio::select! {
            () = sleep_until(due), if paused.is_none() => return Some(due),
            typed = keys.recv() => {
                for key in typed? {
                    match (key, paused) {
                        (b'q' | 0x03 | 0x04 | 0x1c, _) => return None,
                        (b' ', None) => paused = Some(Instant::now()),
                        (b' ', Some(since)) => {
                            due += since.elapsed();
                            paused = None;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_cut_and_then_sped_up() {
        let pace = Pace { speed: 2.0, idle_limit: 3.0, from: 0 };
        assert_eq!(pace.wait(1_000), Duration::from_millis(500));
        assert_eq!(pace.wait(60_000), Duration::from_millis(1_500));
        assert!(factor("0").is_err() && factor("x").is_err() && factor("inf").is_err());
    }
}
