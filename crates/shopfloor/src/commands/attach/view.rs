//! A session on the person's terminal: output to the screen, keys to the session.

use std::time::Duration;

use client::terminal::Event;
use client::{Client, Terminal};
use domain::SessionId;
use tokio::time::{Instant, sleep_until};

use super::Left;
use super::banner::Banner;
use super::cut::Cut;
use super::setup::{self, Setup};
use super::standing::Standing;
use super::writer::Writer;
use crate::Failure;
use crate::tty::{self, Filter, Keys, Prefix, Raw, Signals, Told, read_keys};

/// Minimum time between two paints of a cut screen.
const FRAME: Duration = Duration::from_millis(50);

/// Attach or watch.
pub(super) enum Kind {
    /// Watch and type; this key and `d` detach.
    Attach(Prefix),
    /// Watch; `q` quits.
    Watch,
}

/// Shows the session until it exits or the person detaches.
pub(super) async fn show(client: &Client, session: SessionId, kind: Kind, colours: bool) -> Result<Left, Failure> {
    let mut signals = Signals::listen()?;
    let standing = Standing::ask(client, session).await?;
    let raw = Raw::enter().map_err(|error| Failure::other(format!("could not use the terminal: {error}")))?;
    let mut view = View::new(client.terminal(session), standing, kind, colours)?;
    let left = view.run(&mut signals, Setup::new(client.clone(), session)).await;
    let erase = view.banner.erase(view.size);
    // Write nothing after the terminal was restored.
    match left {
        Ok(Left::Ended { .. }) => view.writer.finish(),
        _ => drop(view),
    }
    // A terminal that is gone needs no restoring.
    let _ = tty::write(&erase.unwrap_or_default());
    drop(raw);
    left
}

struct View {
    terminal: Terminal,
    standing: Standing,
    writer: Writer,
    filter: Filter,
    /// Replaces the filter while the sizes differ, or if a watcher wants no colours.
    cut: Option<Cut>,
    colours: bool,
    painted: Instant,
    keys: Option<Keys>,
    hint: String,
    banner: Banner,
    /// Our own size and the session's.
    size: (u16, u16),
    theirs: (u16, u16),
    may_type: bool,
    /// Whether the session has this view's size because the person typed here.
    took: bool,
    reachable: bool,
    /// The last announcement, to announce only changes.
    announced: String,
    /// Whether anything was shown yet.
    shown: bool,
}

impl View {
    fn new(terminal: Terminal, standing: Standing, kind: Kind, colours: bool) -> Result<Self, Failure> {
        let size = tty::size().unwrap_or((80, 24));
        let (keys, hint) = match kind {
            Kind::Attach(prefix) => (Some(Keys::new(prefix)), format!("{prefix} d detaches")),
            Kind::Watch => (None, "q quits".to_owned()),
        };
        if keys.is_some() {
            terminal.resize(size.0, size.1);
        }
        let mut view = Self {
            terminal,
            standing,
            writer: Writer::start(size.1),
            filter: Filter::default(),
            cut: None,
            colours,
            painted: Instant::now(),
            keys,
            hint,
            banner: Banner::default(),
            size,
            theirs: size,
            may_type: false,
            took: false,
            reachable: true,
            announced: String::new(),
            shown: false,
        };
        view.writer.write(tty::make_room(size.1), None)?;
        view.banner.insist(format!(" connecting … · {}", view.hint));
        view.draw_banner()?;
        Ok(view)
    }

    async fn run(&mut self, signals: &mut Signals, mut setup: Setup) -> Result<Left, Failure> {
        let mut typed = read_keys();
        loop {
            let dirty = self.cut.as_ref().is_some_and(|cut| cut.dirty);
            let waits = !self.shown && self.standing.starts();
            tokio::select! {
                event = self.terminal.next() => {
                    if let Some(left) = self.hear(event?)? {
                        return Ok(left);
                    }
                }
                end = self.writer.written() => self.terminal.took(end?),
                typed = typed.recv() => match typed {
                    Some(bytes) if self.take_keys(&bytes) => return Ok(Left::Detached),
                    Some(_) => {}
                    None => return Ok(Left::Told),
                },
                told = signals.next() => match told {
                    Told::Resized => self.resized()?,
                    Told::End => return Ok(Left::Told),
                },
                () = self.standing.is_over(), if self.writer.is_idle() => return Ok(Left::Over(self.standing.words())),
                // A fresh screen restores what was under the banner.
                () = self.banner.faded() => self.terminal.refresh(),
                () = sleep_until(self.painted + FRAME), if dirty => self.paint()?,
                lines = setup.printed(self.size.1), if waits => {
                    self.writer.write(setup::paint(lines, self.size), None)?;
                    self.draw_banner()?;
                }
            }
        }
    }

    fn hear(&mut self, event: Event) -> Result<Option<Left>, Failure> {
        match event {
            Event::Watching { may_type, reachable } => {
                self.may_type = may_type && self.keys.is_some();
                self.reachable = reachable;
                self.announce()?;
            }
            Event::State(session) => {
                self.standing.hear(session);
                if !self.shown {
                    self.announce()?;
                }
            }
            Event::Snapshot { cols, rows, bytes, end, .. } => {
                self.standing.shows();
                self.theirs = (cols, rows);
                // Another view has taken the size.
                self.took &= self.theirs == self.size;
                self.show_screen(&bytes, end)?;
                self.shown = true;
                self.announce()?;
            }
            Event::Data { bytes, end } => {
                self.standing.shows();
                self.show_output(&bytes, end)?;
            }
            Event::Exit { code, signal } => {
                self.paint()?;
                let how = self.standing.exited(code, signal);
                return Ok(Some(Left::Ended { code, signal, how }));
            }
            Event::Lost { why, .. } => {
                self.took = false;
                self.announced.clear();
                self.banner.insist(format!(" connection lost ({why}); reconnecting · {}", self.hint));
                self.draw_banner()?;
            }
        }
        Ok(None)
    }

    fn show_screen(&mut self, bytes: &[u8], end: u64) -> Result<(), Failure> {
        self.resized()?;
        if self.theirs != self.size || (!self.may_type && !self.colours) {
            self.cut = Some(Cut::new(self.theirs.0, self.theirs.1, bytes, self.colours));
            self.terminal.took(end);
            self.writer.write_screen(tty::begin_screen(), None)?;
            return self.paint();
        }
        self.cut = None;
        self.filter = Filter::default();
        let mut screen = tty::begin_screen();
        screen.extend(self.filter.pass(bytes));
        self.writer.write_screen(screen, Some(end))?;
        self.draw_banner()
    }

    fn show_output(&mut self, bytes: &[u8], end: u64) -> Result<(), Failure> {
        match &mut self.cut {
            Some(cut) => {
                cut.feed(bytes);
                self.terminal.took(end);
                Ok(())
            }
            None => self.writer.write(self.filter.pass(bytes), Some(end)),
        }
    }

    fn paint(&mut self) -> Result<(), Failure> {
        self.painted = Instant::now();
        // A slow terminal gets the next frame.
        let Some(cut) = self.cut.as_mut().filter(|_| self.writer.is_idle()) else {
            return Ok(());
        };
        let painted = cut.paint(self.size.0, self.size.1);
        self.writer.write(painted, None)?;
        self.draw_banner()
    }

    /// Announces the status if it changed.
    fn announce(&mut self) -> Result<(), Failure> {
        let ((cols, rows), (ours, lines)) = (self.theirs, self.size);
        let (text, stays) = match self.standing.hindrance().filter(|_| !self.shown) {
            Some(why) => (why, true),
            None if !self.reachable => ("the session's runner is unreachable; waiting".to_owned(), true),
            None if self.cut.is_some() => {
                let cut = if cols > ours || rows >= lines { ", cut to fit" } else { "" };
                let what = if self.may_type { "attached to" } else { "watching" };
                let fits = if self.may_type { "; type to resize the session" } else { "" };
                (format!("{what} {cols}×{rows} in {ours}×{lines}{cut}{fits}"), true)
            }
            None if self.may_type => ("attached".to_owned(), false),
            None if self.keys.is_some() => (self.standing.watchers_hint(), false),
            None => ("watching".to_owned(), false),
        };
        if self.announced == text {
            return Ok(());
        }
        let line = format!(" {text} · {}", self.hint);
        self.announced = text;
        match stays {
            true => self.banner.insist(line),
            false => self.banner.say(line),
        }
        self.draw_banner()
    }

    fn draw_banner(&self) -> Result<(), Failure> {
        self.banner.draw(self.size).map_or(Ok(()), |drawn| self.writer.write(drawn, None))
    }

    /// Forwards keys; true: the person detaches.
    fn take_keys(&mut self, bytes: &[u8]) -> bool {
        let Some(keys) = &mut self.keys else {
            return bytes.iter().any(|key| matches!(key, b'q' | 0x03 | 0x04 | 0x1c));
        };
        let typed = keys.read(bytes);
        if !typed.bytes.is_empty() && self.may_type {
            // The size belongs to the view that types.
            if !std::mem::replace(&mut self.took, true) || self.theirs != self.size {
                self.theirs = self.size;
                self.terminal.take_size(self.size.0, self.size.1);
            }
            self.terminal.input(typed.bytes);
        } else if !typed.bytes.is_empty() && self.reachable && self.shown {
            // Typing does nothing here: say why.
            self.banner.say(format!(" {} · {}", self.standing.watchers_hint(), self.hint));
            let _ = self.draw_banner();
        }
        typed.leave
    }

    fn resized(&mut self) -> Result<(), Failure> {
        let Some(size) = tty::size().filter(|size| *size != self.size) else {
            return Ok(());
        };
        self.size = size;
        self.writer.write_screen(Vec::new(), None)?;
        if self.may_type {
            self.terminal.resize(size.0, size.1);
        }
        if !self.took {
            self.terminal.refresh();
        }
        Ok(())
    }
}
