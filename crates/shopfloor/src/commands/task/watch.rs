//! `shopfloor task watch`: bars on a terminal, lines elsewhere.

mod board;
mod draw;

use std::io::IsTerminal;
use std::time::Duration;

use client::watch::{Event, Watch};
use client::{Client, ClientError};
use protocol::{FromHub, TaskFilter, TaskLine};
use tokio::sync::mpsc;

use super::args::WatchArgs;
use crate::commands::words;
use crate::output::clean;
use crate::{Context, Exit, Failure, Output, tty};
use board::{Board, End, Moved};
use draw::Screen;

/// Minimum time between two frames.
const FRAME: Duration = Duration::from_millis(100);

/// Follows tasks until a signal, or until nothing can change any more.
pub(crate) async fn run(args: WatchArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client()?;
    let filter = args.scope.filter(&client).await?;
    let out = &context.out;
    let bars = !out.json && std::io::stdout().is_terminal();
    let mut events = follow(client.watch().named("cli"));
    let mut follower = Follower {
        client,
        out,
        board: Board::new(filter.clone()),
        filter,
        screen: Screen::default(),
        bars,
        said: None,
        stood: None,
    };
    let mut frames = tokio::time::interval(FRAME);
    frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut dirty = false;
    loop {
        tokio::select! {
            event = events.recv() => {
                // The sender runs until it notices that the receiver is gone.
                let Some(event) = event else { return Ok(Exit::Other) };
                follower.take(event?).await?;
                // Draw nothing before the tasks are loaded.
                dirty = follower.board.is_loaded();
            }
            _ = frames.tick(), if dirty && bars => {
                follower.draw()?;
                dirty = false;
            }
        }
        if args.until_done
            && let Some(end) = follower.board.end()
        {
            return follower.finish(end);
        }
        if args.until_done {
            follower.say_what_stands()?;
        }
    }
}

/// Events in a channel: waiting for one can be cancelled without losing it.
fn follow(mut watch: Watch) -> mpsc::Receiver<Result<Event, ClientError>> {
    let (send, receive) = mpsc::channel(256);
    tokio::spawn(async move {
        loop {
            let event = watch.next().await;
            let over = event.is_err();
            if send.send(event).await.is_err() || over {
                return;
            }
        }
    });
    receive
}

struct Follower<'a> {
    client: Client,
    out: &'a Output,
    filter: TaskFilter,
    board: Board,
    screen: Screen,
    bars: bool,
    /// The summary, if it is the last line.
    said: Option<String>,
    /// The last reason for waiting that was printed.
    stood: Option<String>,
}

impl Follower<'_> {
    async fn take(&mut self, event: Event) -> Result<(), Failure> {
        match event {
            Event::Lost { why, retry_in } => {
                self.screen.clear(self.out)?;
                self.out.note(&format!("connection lost ({why}); reconnecting in {:.1} s", retry_in.as_secs_f64()));
            }
            Event::Frame(FromHub::Welcome { resumed: false, .. }) => self.board.forget(),
            Event::Frame(FromHub::Sync { changes, .. }) => changes.iter().for_each(|change| self.board.learn(change)),
            Event::Frame(FromHub::Live { .. }) if !self.board.is_loaded() => self.load().await?,
            Event::Frame(FromHub::Delta(delta)) => {
                let moved = self.board.apply(&delta.change);
                for moved in &moved {
                    self.say(moved, delta.at)?;
                }
            }
            Event::Frame(_) => {}
        }
        Ok(())
    }

    /// Loads the tasks: the sync does not contain them, because there may be very many.
    async fn load(&mut self) -> Result<(), Failure> {
        let tasks = super::all(&self.client, self.filter.clone()).await?;
        if self.out.json {
            for task in &tasks {
                self.out.stream(task, |_| String::new())?;
            }
        }
        self.board.load(tasks);
        if !self.bars && !self.out.json {
            self.sum_up()?;
        }
        Ok(())
    }

    /// Prints the summary, unless it is already the last line.
    fn sum_up(&mut self) -> Result<(), Failure> {
        let summary = self.board.summary();
        if self.said.as_ref() != Some(&summary) {
            self.out.line(&summary)?;
            self.said = Some(summary);
        }
        Ok(())
    }

    /// Prints once why nothing moves.
    fn say_what_stands(&mut self) -> Result<(), Failure> {
        let now = domain::Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        let stands = self.board.stands(now);
        if stands != self.stood {
            if let Some(stands) = &stands {
                self.screen.clear(self.out)?;
                self.out.note(stands);
            }
            self.stood = stands;
        }
        Ok(())
    }

    fn say(&mut self, moved: &Moved, at: domain::Timestamp) -> Result<(), Failure> {
        if self.bars {
            return Ok(());
        }
        self.said = None;
        self.out.stream(&moved.task, |_| line(moved, at))
    }

    fn draw(&mut self) -> Result<(), Failure> {
        let size = tty::size().map_or((80, 24), |(cols, rows)| (usize::from(cols), usize::from(rows)));
        self.screen.show(&draw::lines(&self.board, size, self.out), self.out)
    }

    fn finish(&mut self, end: End) -> Result<Exit, Failure> {
        if self.bars {
            self.draw()?;
        } else if !self.out.json {
            self.sum_up()?;
        }
        match end {
            End::Done => Ok(Exit::Done),
            End::Failed { failed, blocked } => {
                self.out.note(&format!("no task can make progress: {failed} failed, {blocked} blocked"));
                Ok(Exit::Other)
            }
        }
    }
}

/// One change as a line.
fn line(moved: &Moved, at: domain::Timestamp) -> String {
    let at = at.to_string();
    let clock = at.get("2026-01-31T".len().."2026-01-31T12:00:00".len()).unwrap_or(&at);
    let TaskLine { short, title, status, .. } = &moved.task;
    let before =
        moved.before.filter(|before| before != status).map(|before| format!("{before} → ")).unwrap_or_default();
    let why = words::why(&moved.task).map(|why| format!(": {why}")).unwrap_or_default();
    let text = format!("{clock}Z  {} {before}{status}  {title}{why} ({short})", words::sign(*status));
    clean(&text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
pub(crate) use board::{sample, sample_worker};
