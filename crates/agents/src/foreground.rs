//! Becomes a program that has the terminal's foreground for itself, so that keys such as Ctrl-C reach it and what it
//! starts, but not the programs around it.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::signal::{SigSet, Signal};

/// Never returns if all is well.
pub(crate) fn become_child(argv: &[String]) -> Result<i32, String> {
    // Without a terminal there are no keys to be told of.
    if let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty") {
        take(&terminal).map_err(|error| format!("cannot take the terminal: {error}"))?;
    }
    close_others().map_err(|error| format!("cannot close the files of others: {error}"))?;
    let error = Command::new(&argv[0]).args(&argv[1..]).exec();
    Err(format!("cannot start {}: {error}", argv[0]))
}

/// Closes what was open where the runner was started: with a folder of outside, nothing is out of reach.
fn close_others() -> std::io::Result<()> {
    let mut open: Vec<i32> = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        open.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()).filter(|fd| *fd > 2));
    }
    for fd in open {
        // The list itself was open while it was read, and is closed already.
        let _ = nix::unistd::close(fd);
    }
    Ok(())
}

fn take(terminal: &File) -> std::io::Result<()> {
    rustix::process::setpgid(None, None)?;
    // Who is not in the foreground and reaches for it is stopped by this signal, unless it is held back.
    let mut held = SigSet::empty();
    held.add(Signal::SIGTTOU);
    held.thread_block()?;
    let taken = rustix::termios::tcsetpgrp(terminal, rustix::process::getpid());
    held.thread_unblock()?;
    Ok(taken?)
}
