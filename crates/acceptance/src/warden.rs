//! The process that runs one command for a check: it ends the command's whole tree, when the time is over and when its
//! own runner is gone.
//!
//! Runs as `shopfloor check-command --seconds N -- program…`, in the workspace, with the command's environment. Its
//! standard input is a pipe of the runner's: when that closes, the runner is gone. It prints one line of JSON.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tree;

/// The word after our program's name that stands for this process.
pub const COMMAND: &str = "check-command";

/// How much of the output is kept.
const KEPT: usize = 16 << 10;
/// How long killed processes may take to be gone.
const DYING: Duration = Duration::from_secs(10);
/// How long the output may take to come after the end.
const DRAIN: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) late: bool,
    /// Why it could not be started.
    pub(crate) fault: Option<String>,
    /// The end of what it printed.
    pub(crate) tail: String,
}

enum Event {
    Ended(std::io::Result<ExitStatus>),
    RunnerGone,
}

/// Runs the command that the arguments name, tells how it ended, and returns an exit code.
pub fn main(args: impl IntoIterator<Item = String>) -> i32 {
    let mut args = args.into_iter();
    let ended = match (args.next().as_deref(), args.next().and_then(|text| text.parse().ok()), args.next().as_deref()) {
        (Some("--seconds"), Some(seconds), Some("--")) => run(&args.collect::<Vec<_>>(), Duration::from_secs(seconds)),
        _ => Some(Ended { fault: Some("its warden was started wrongly".to_owned()), ..Ended::default() }),
    };
    let Some(ended) = ended else { return 1 };
    let told = serde_json::to_string(&ended).unwrap_or_default();
    let written = std::io::stdout().write_all(told.as_bytes());
    i32::from(written.is_err())
}

/// Nothing when the runner is gone: then nobody wants to know.
fn run(argv: &[String], patience: Duration) -> Option<Ended> {
    tree::adopt_orphans();
    let fault = |why: String| Some(Ended { fault: Some(why), ..Ended::default() });
    let Some((program, args)) = argv.split_first() else { return fault("there is nothing to run".to_owned()) };
    let (output, pipe) = match std::io::pipe() {
        Ok(pair) => pair,
        Err(error) => return fault(error.to_string()),
    };
    let Ok(again) = pipe.try_clone() else { return fault("its output cannot be read".to_owned()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(pipe).stderr(again).process_group(0);
    // Below hub, runner and session hosts: a build must not slow everybody's requests. It is not needed for being right.
    let _ = rustix::process::nice(worktree::NICE);
    let child = command.spawn();
    // It holds the other end of the pipe.
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
    // What it leaves in the background ends with it.
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

/// The last bytes of all that comes, as text.
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
