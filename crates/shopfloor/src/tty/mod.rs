//! The person's own terminal: raw while a session is shown on it, and as it was before, however we leave.

mod filter;
mod keys;
mod plain;
mod read;
mod signals;

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

pub(crate) use filter::Filter;
pub(crate) use keys::{Keys, Prefix, STANDARD};
pub(crate) use plain::Plain;
pub(crate) use read::read_keys;
pub(crate) use signals::{Signals, Told};

/// Brings a terminal back from whatever a program has made of it, without clearing it.
const CALM: &str = concat!(
    "\x1b[?2026l\x1b[?1049l\x1b[!p\x1b[0m\x1b(B\x0f\x1b[r\x1b[4l\x1b[20l\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h",
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l",
    "\x1b[>4m\x1b[<16u\x1b]8;;\x1b\\",
);

/// How the terminal was, while it is not.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Holds the terminal raw; dropping it restores it.
pub(crate) struct Raw(());

impl Raw {
    /// Makes the terminal raw.
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        *held() = Some(before);
        // A panic must not leave a person without an echo, nor its message in a foreign screen.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            hook(panic);
        }));
        let entered = Self(());
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(entered)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal, once.
fn restore() {
    let Some(before) = held().take() else {
        return;
    };
    // A terminal that is gone needs nothing.
    let mut out = io::stdout().lock();
    let bottom = size().map_or(999, |(_, rows)| rows);
    let _ = out.write_all(format!("{CALM}\x1b[{bottom};1H\r\n").as_bytes()).and_then(|()| out.flush());
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
}

fn held() -> std::sync::MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether a person sits at both ends.
pub(crate) fn is_here() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Width and height.
pub(crate) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Writes to the terminal.
pub(crate) fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// What makes room for a screen of `rows` lines, so that what stands there goes into the scrollback and not away.
pub(crate) fn make_room(rows: u16) -> Vec<u8> {
    let mut bytes = vec![b'\n'; usize::from(rows)];
    bytes.extend(b"\x1b[H\x1b[2J");
    bytes
}

/// What gives back to the scrollback the lines that a terminal has taken from there because it is so many rows higher
/// now, before a fresh screen is drawn over them.
pub(crate) fn give_back(rows: u16, more: u16) -> Vec<u8> {
    let mut bytes = format!("\x1b[?1049l\x1b[r\x1b[{rows};1H").into_bytes();
    bytes.extend(std::iter::repeat_n(b'\n', usize::from(more)));
    bytes
}

/// What comes before a fresh screen.
pub(crate) fn begin_screen() -> Vec<u8> {
    format!("{CALM}\x1b[H\x1b[2J").into_bytes()
}
