//! The session host: a small process that owns the terminal, screen and recording of one session, and outlives its
//! runner.

mod breaks;
mod connection;
mod core;
mod intake;
mod meter;
mod output;
mod own;
mod processes;
mod run;
mod watcher;

pub(crate) use own::{alive, short_path};
pub use processes::end_left;
pub(crate) use processes::kill_host;

use std::io::{self, Write};
use std::path::Path;

/// Success.
const DONE: i32 = 0;
/// The session could not be hosted.
const FAILED: i32 = 1;
/// Another host has this session, or it has already ended.
const REFUSED: i32 = 2;

/// Hosts the session in this directory until it has ended; returns the exit code of the process.
///
/// Call it from a process that does nothing else, before any thread is started.
pub fn main(dir: &Path) -> i32 {
    let owned = match own::take(dir) {
        Ok(owned) => owned,
        Err(error) => return complain(&error, REFUSED),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
    let hosted = runtime.and_then(|runtime| {
        let local = tokio::task::LocalSet::new();
        local.block_on(&runtime, run::host(dir, owned))
    });
    match hosted {
        Ok(()) => DONE,
        Err(error) => complain(&error, FAILED),
    }
}

fn complain(error: &io::Error, code: i32) -> i32 {
    // Standard error is the host's log file.
    let _ = writeln!(io::stderr(), "{error}");
    code
}
