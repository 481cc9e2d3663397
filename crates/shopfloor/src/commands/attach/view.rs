//! A session on the person's terminal: its bytes out, the person's keys in.

use std::time::Duration;

use client::terminal::Event;
use client::{Client, Terminal};
use domain::SessionId;
use tokio::time::{Instant, sleep_until};

use super::cut::Cut;
use super::writer::Writer;
use super::{Left, banner};
use crate::Failure;
use crate::tty::{self, Filter, Keys, Prefix, Raw, Signals, Told, read_keys};

/// How often a cut screen is painted at most.
const FRAME: Duration = Duration::from_millis(50);
/// How long a banner stays.
const BANNER: Duration = Duration::from_secs(4);

/// What a person wants to do with the session.
pub(super) enum Kind {
    /// Look and type; leave with this key and `d`.
    Attach(Prefix),
    /// Look; leave with `q`.
    Watch,
}

/// Shows the session until it ends or the person leaves.
pub(super) async fn show(client: &Client, session: SessionId, kind: Kind) -> Result<Left, Failure> {
    let mut signals = Signals::listen()?;
    let terminal = client.terminal(session);
    let raw = Raw::enter().map_err(|error| Failure::other(format!("could not use the terminal: {error}")))?;
    let mut view = View::new(terminal, kind)?;
    let left = view.run(&mut signals).await;
    let banner = view.banner.is_some().then(|| banner::erase(view.size.1));
    // Nothing is written after the terminal was restored.
    match left {
        Ok(Left::Ended { .. }) => view.writer.finish(),
        _ => drop(view),
    }
    if let Some(erase) = banner {
        // A terminal that is gone needs nothing.
        let _ = tty::write(&erase);
    }
    drop(raw);
    left
}

struct View {
    terminal: Terminal,
    writer: Writer,
    filter: Filter,
    /// Instead of the filter, when the sizes differ and are not ours to change.
    cut: Option<Cut>,
    painted: Instant,
    keys: Option<Keys>,
    hint: String,
    /// Our own size, and the session's.
    size: (u16, u16),
    theirs: (u16, u16),
    may_type: bool,
    /// What the hub said last, so that it is announced when it changes.
    said: Option<(bool, bool)>,
    banner: Option<String>,
    until: Option<Instant>,
}

impl View {
    fn new(terminal: Terminal, kind: Kind) -> Result<Self, Failure> {
        let size = tty::size().unwrap_or((80, 24));
        let (keys, hint) = match kind {
            Kind::Attach(prefix) => (Some(Keys::new(prefix)), format!("leave with {prefix} then d")),
            Kind::Watch => (None, "leave with q".to_owned()),
        };
        let writer = Writer::start();
        writer.write(tty::make_room(size.1), None)?;
        if keys.is_some() {
            terminal.resize(size.0, size.1);
        }
        let (filter, banner) = (Filter::default(), Some(format!(" connecting … {hint}")));
        let mut view = Self {
            terminal,
            writer,
            filter,
            cut: None,
            painted: Instant::now(),
            keys,
            hint,
            size,
            theirs: size,
            may_type: false,
            said: None,
            banner,
            until: None,
        };
        view.draw_banner()?;
        Ok(view)
    }

    async fn run(&mut self, signals: &mut Signals) -> Result<Left, Failure> {
        let mut typed = read_keys();
        loop {
            let fade = self.until.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            tokio::select! {
                event = self.terminal.next() => {
                    if let Some(left) = self.show(event?)? {
                        return Ok(left);
                    }
                }
                end = self.writer.written() => self.terminal.took(end?),
                typed = typed.recv() => match typed {
                    Some(bytes) if self.take_keys(&bytes)? => return Ok(Left::Detached),
                    Some(_) => {}
                    None => return Ok(Left::Told),
                },
                told = signals.next() => match told {
                    Told::Resized => self.resized(),
                    Told::End => return Ok(Left::Told),
                },
                () = sleep_until(fade), if self.until.is_some() => self.remove_banner(),
                () = sleep_until(self.painted + FRAME), if self.cut.as_ref().is_some_and(|cut| cut.dirty) => self.paint()?,
            }
        }
    }

    fn show(&mut self, event: Event) -> Result<Option<Left>, Failure> {
        match event {
            Event::Watching { may_type, reachable } => {
                self.may_type = may_type && self.keys.is_some();
                if self.said.replace((may_type, reachable)) == Some((may_type, reachable)) {
                    return Ok(None);
                }
                let text = match (reachable, self.may_type, self.keys.is_some()) {
                    (false, ..) => format!(" its runner is not reachable; waiting for it · {}", self.hint),
                    (true, false, true) => format!(" watching: only its owner types here · {}", self.hint),
                    (true, false, false) => format!(" watching · {}", self.hint),
                    (true, true, _) => format!(" attached · {}", self.hint),
                };
                self.announce(text, reachable)?;
            }
            Event::Snapshot { cols, rows, bytes, end, .. } => {
                self.theirs = (cols, rows);
                if !self.may_type && self.theirs != self.size {
                    return self.begin_cut(&bytes, end).map(|()| None);
                }
                self.cut = None;
                self.filter = Filter::default();
                let mut screen = tty::begin_screen();
                screen.extend(self.filter.pass(&bytes));
                self.writer.write(screen, Some(end))?;
                self.draw_banner()?;
            }
            Event::Data { bytes, end } => match &mut self.cut {
                Some(cut) => {
                    cut.feed(&bytes);
                    self.terminal.took(end);
                }
                None => {
                    let shown = self.filter.pass(&bytes);
                    self.writer.write(shown, Some(end))?;
                }
            },
            Event::Exit { code, signal } => {
                self.paint()?;
                return Ok(Some(Left::Ended { code, signal }));
            }
            Event::Lost { why, .. } => {
                self.said = None;
                self.announce(format!(" connection lost ({why}); trying again · {}", self.hint), false)?;
            }
        }
        Ok(None)
    }

    fn begin_cut(&mut self, bytes: &[u8], end: u64) -> Result<(), Failure> {
        let (cols, rows) = self.theirs;
        self.cut = Some(Cut::new(cols, rows, bytes));
        self.terminal.took(end);
        self.writer.write(tty::begin_screen(), None)?;
        let text = format!(" watching a terminal of {cols}×{rows} in one of {}×{}", self.size.0, self.size.1);
        self.announce(format!("{text}: without colours, cut to fit · {}", self.hint), false)?;
        self.paint()
    }

    fn paint(&mut self) -> Result<(), Failure> {
        self.painted = Instant::now();
        // A terminal that is slow gets the next one.
        let Some(cut) = self.cut.as_mut().filter(|_| self.writer.is_idle()) else {
            return Ok(());
        };
        let painted = cut.paint(self.size.0, self.size.1);
        self.writer.write(painted, None)?;
        self.draw_banner()
    }

    /// Sends the keys on; true when they say to leave.
    fn take_keys(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        let Some(keys) = &mut self.keys else {
            return Ok(bytes.iter().any(|key| matches!(key, b'q' | 0x03 | 0x04 | 0x1c)));
        };
        let typed = keys.read(bytes);
        if !typed.bytes.is_empty() && self.may_type {
            // Another window of the owner may have had another size: the one that types is the one that counts.
            if self.theirs != self.size {
                self.theirs = self.size;
                self.terminal.resize(self.size.0, self.size.1);
            }
            self.terminal.input(typed.bytes);
        }
        Ok(typed.leave)
    }

    fn resized(&mut self) {
        let Some(size) = tty::size().filter(|size| *size != self.size) else {
            return;
        };
        self.size = size;
        match self.may_type {
            true => self.terminal.resize(size.0, size.1),
            false => self.terminal.refresh(),
        }
    }

    fn announce(&mut self, text: String, fades: bool) -> Result<(), Failure> {
        self.banner = Some(text);
        self.until = fades.then(|| Instant::now() + BANNER);
        self.draw_banner()
    }

    fn draw_banner(&mut self) -> Result<(), Failure> {
        match &self.banner {
            Some(text) => self.writer.write(banner::draw(text, self.size.0, self.size.1), None),
            None => Ok(()),
        }
    }

    /// What the banner stood on comes back with a fresh screen.
    fn remove_banner(&mut self) {
        self.until = None;
        if self.banner.take().is_some() {
            self.terminal.refresh();
        }
    }
}
