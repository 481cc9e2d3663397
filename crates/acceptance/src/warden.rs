//! The process that runs one command for a check: it kills the command's whole process tree when the time is up or the
//! runner is gone.
//!
//! Runs as `shopfloor check-command --seconds N -- program…`, in the workspace, with the command's environment. Its
//! standard input is a pipe from the runner: when it closes, the runner is gone. It prints one line of JSON.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tree;

/// The subcommand of this process.
pub const COMMAND: &str = "check-command";

/// How much of the output to keep.
pub(crate) const KEPT: usize = 16 << 10;
/// How long to wait for killed processes.
const DYING: Duration = Duration::from_secs(10);
/// How long to wait for output after the end.
const DRAIN: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) late: bool,
    /// Why it could not be started.
    pub(crate) fault: Option<String>,
    /// The end of its output.
    pub(crate) tail: String,
}

enum Event {
    Ended(std::io::Result<ExitStatus>),
    RunnerGone,
}

/// Runs the command in the arguments, prints how it ended, and returns an exit code.
pub fn main(args: impl IntoIterator<Item = String>) -> i32 {
    let mut args = args.into_iter();
    let ended = match (args.next().as_deref(), args.next().and_then(|text| text.parse().ok()), args.next().as_deref()) {
        (Some("--seconds"), Some(seconds), Some("--")) => run(&args.collect::<Vec<_>>(), Duration::from_secs(seconds)),
        _ => Some(Ended { fault: Some("its warden got invalid arguments".to_owned()), ..Ended::default() }),
    };
    let Some(ended) = ended else { return 1 };
    let told = serde_json::to_string(&ended).unwrap_or_default();
    let written = std::io::stdout().write_all(told.as_bytes());
    i32::from(written.is_err())
}

/// `None` if the runner is gone: nobody wants the result.
fn run(argv: &[String], patience: Duration) -> Option<Ended> {
    tree::adopt_orphans();
    let fault = |why: String| Some(Ended { fault: Some(why), ..Ended::default() });
    let Some((program, args)) = argv.split_first() else { return fault("there is no program".to_owned()) };
    let (output, pipe) = match std::io::pipe() {
        Ok(pair) => pair,
        Err(error) => return fault(error.to_string()),
    };
    let Ok(again) = pipe.try_clone() else { return fault("could not read its output".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(pipe).stderr(again).process_group(0);
    // Lower priority than hub, runner and session hosts: a build must not slow requests. Optional.
    let _ = rustix::process::nice(worktree::NICE);
    let child = command.spawn();
    // The command holds the other end of the pipe.
    drop(command);
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return fault(error.to_string()),
    };
    let (events, happens) = mpsc::channel();
    let gone = events.clone();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = gone.send(Event::RunnerGone);
    });
    std::thread::spawn(move || {
        let _ = events.send(Event::Ended(child.wait()));
    });
    let (tails, tail) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = tails.send(last(output));
    });
    let happened = happens.recv_timeout(patience);
    // Background processes end with the command.
    tree::kill_all(DYING);
    let mut ended = match happened {
        Ok(Event::RunnerGone) => return None,
        Ok(Event::Ended(Ok(status))) => Ended { code: status.code(), signal: status.signal(), ..Ended::default() },
        Ok(Event::Ended(Err(error))) => Ended { fault: Some(error.to_string()), ..Ended::default() },
        Err(_) => Ended { late: true, ..Ended::default() },
    };
    ended.tail = tail.recv_timeout(DRAIN).unwrap_or_default();
    Some(ended)
}

/// The last bytes of the stream, as text.
fn last(mut from: impl Read) -> String {
    let (mut kept, mut part) = (Vec::new(), [0_u8; 8192]);
    while let Ok(n @ 1..) = from.read(&mut part) {
        kept.extend_from_slice(&part[..n]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    let start = kept.len().saturating_sub(KEPT);
    String::from_utf8_lossy(&kept[start..]).into_owned()
}
