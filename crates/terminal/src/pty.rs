//! A pseudo-terminal and its child.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use rustix::termios::{LocalModes, SpecialCodeIndex};
use tokio::net::unix::pipe;
use tokio::process::Child;

use crate::Spec;
use crate::priority::lower;

/// Our side of a pseudo-terminal.
pub(crate) struct Pty {
    fd: pipe::Sender,
}

/// A pseudo-terminal with the child in it.
pub(crate) struct Opened {
    pub(crate) pty: Pty,
    /// The terminal exists even if the child could not be started.
    pub(crate) child: io::Result<Child>,
}

/// Opens a pseudo-terminal and starts the child in it: as leader of its own session, with it as its terminal.
pub(crate) fn open(spec: &Spec) -> io::Result<Opened> {
    let (pty, inside) = pty_process::open().map_err(into_io)?;
    pty.resize(pty_process::Size::new(spec.rows, spec.cols)).map_err(into_io)?;
    let child = start(spec, inside);
    // The reader has a clone: output wakes nobody here.
    let fd = pipe::Sender::from_owned_fd_unchecked(pty.into())?;
    Ok(Opened { pty: Pty { fd }, child })
}

impl Pty {
    pub(crate) fn resize(&self, cols: u16, rows: u16) -> io::Result<()> {
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(rustix::termios::tcsetwinsize(&self.fd, size)?)
    }

    /// A clone, to read from.
    pub(crate) fn reader(&self) -> io::Result<OwnedFd> {
        self.fd.as_fd().try_clone_to_owned()
    }

    /// Writes what the terminal accepts now.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(&self.fd, bytes) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => (),
                Err(Errno::AGAIN) => return Ok(0),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Writes as soon as the terminal accepts something.
    pub(crate) async fn write_soon(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.fd.writable().await?;
            match self.fd.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
                written => return written,
            }
        }
    }

    /// The signal that a typed byte stands for, by the terminal's current settings.
    pub(crate) fn signal_of(&self, byte: u8) -> Option<Signal> {
        let termios = rustix::termios::tcgetattr(&self.fd).ok()?;
        if !termios.local_modes.contains(LocalModes::ISIG) {
            return None;
        }
        [
            (SpecialCodeIndex::VINTR, Signal::INT),
            (SpecialCodeIndex::VQUIT, Signal::QUIT),
            (SpecialCodeIndex::VSUSP, Signal::TSTP),
        ]
        .into_iter()
        .find(|(index, _)| termios.special_codes[*index] == byte && byte != 0)
        .map(|(_, signal)| signal)
    }

    /// Sends a signal to the programs in the foreground.
    pub(crate) fn signal_foreground(&self, signal: Signal) {
        if let Ok(group) = rustix::termios::tcgetpgrp(&self.fd) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

fn start(spec: &Spec, inside: pty_process::Pts) -> io::Result<Child> {
    let (program, arguments) =
        spec.argv.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program is given"))?;
    // The line discipline must know that characters have several bytes, or erasing one in a shell goes wrong.
    if let Ok(mut termios) = rustix::termios::tcgetattr(inside.as_fd()) {
        termios.input_modes.insert(rustix::termios::InputModes::IUTF8);
        let _ = rustix::termios::tcsetattr(inside.as_fd(), rustix::termios::OptionalActions::Now, &termios);
    }
    let mut command = pty_process::Command::new(program)
        .args(arguments)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)));
    if let Some(path) = &spec.stdin_file {
        command = command.stdin(File::open(path)?);
    }
    let child = command.spawn(inside).map_err(into_io)?;
    if let Some(pid) = pid(&child) {
        lower(pid, spec.nice);
    }
    Ok(child)
}

fn into_io(error: pty_process::Error) -> io::Error {
    match error {
        pty_process::Error::Io(error) => error,
        pty_process::Error::Rustix(error) => error.into(),
        error => io::Error::other(error),
    }
}

/// The process id of a child that has not been waited for.
pub(crate) fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id()? as i32)
}
