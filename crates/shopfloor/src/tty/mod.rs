//! The person's own terminal: raw while it shows a session, and restored afterwards, however we exit.

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

/// Resets a terminal without clearing it.
const CALM: &str = concat!(
    "\x1b[?2026l\x1b[?1049l\x1b[!p\x1b[0m\x1b(B\x0f\x1b[r\x1b[4l\x1b[20l\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?25h",
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l",
    "\x1b[>4m\x1b[<16u\x1b]8;;\x1b\\",
);

/// The terminal's original settings, while it is raw.
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
        // A panic must not leave the terminal without echo, nor print its message on a session's screen.
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
    // A terminal that is gone needs no restoring.
    let mut out = io::stdout().lock();
    let bottom = size().map_or(999, |(_, rows)| rows);
    let _ = out.write_all(format!("{CALM}\x1b[{bottom};1H\r\n").as_bytes()).and_then(|()| out.flush());
    let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
}

fn held() -> std::sync::MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Whether standard input and output are a terminal.
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

/// Bytes that scroll `rows` lines, so that the current content goes into the scrollback.
pub(crate) fn make_room(rows: u16) -> Vec<u8> {
    let mut bytes = vec![b'\n'; usize::from(rows)];
    bytes.extend(b"\x1b[H\x1b[2J");
    bytes
}

/// Bytes that move lines back into the scrollback after the terminal grew by `more` rows, before a fresh
/// screen is drawn over them; none if it did not grow.
pub(crate) fn give_back(rows: u16, more: u16) -> Vec<u8> {
    if more == 0 {
        return Vec::new();
    }
    let mut bytes = format!("\x1b[?1049l\x1b[r\x1b[{rows};1H").into_bytes();
    bytes.extend(std::iter::repeat_n(b'\n', usize::from(more)));
    bytes
}

/// Bytes before a fresh screen.
pub(crate) fn begin_screen() -> Vec<u8> {
    format!("{CALM}\x1b[H\x1b[2J").into_bytes()
}
