//! A child process with a clean environment and limits, whose whole group is killed at the end.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpriority_process, kill_process_group, setpriority_pgrp};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use crate::log::Log;
use crate::{Error, Result};

const STDERR_LIMIT: usize = 64 * 1024;
/// How often to check whether a log is too large.
const LOOK_AT_LOG: Duration = Duration::from_millis(200);

/// How much to lower the priority of people's commands below the runner's.
pub const NICE: i32 = 10;

/// A process's environment, input and limits.
pub(crate) struct Process {
    pub(crate) what: String,
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) timeout: Duration,
    pub(crate) limit: usize,
    /// Whether output above the limit is cut instead of being an error.
    pub(crate) cut: bool,
}

/// The input: nothing, bytes, or a stream.
pub(crate) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Stream(mpsc::Receiver<Vec<u8>>),
}

/// How a process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: std::process::ExitStatus,
    pub(crate) stdout: Vec<u8>,
    /// Whether the output is complete.
    pub(crate) whole: bool,
    pub(crate) stderr: String,
}

/// Kills the whole group when dropped before the process has ended: helpers of git must not outlive a cancel.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Process {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(k, v)| (k, v))).current_dir(&self.cwd);
        command.process_group(0).kill_on_drop(true);
        command
    }

    /// Runs it to its end; `said` gets each line of its standard error as it comes.
    pub(crate) async fn run(self, input: Input, said: impl FnMut(&str) + Send) -> Result<Ended> {
        let mut command = self.command();
        command.stdin(if matches!(input, Input::Nothing) { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.spawn(&mut command)?;
        let group = Group::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let limit = self.limit;
        let work = async {
            let feed = async {
                if let Some(mut stdin) = stdin {
                    // A child that exits early closes its input: its exit status says why.
                    match input {
                        Input::Nothing => {}
                        Input::Bytes(bytes) => drop(stdin.write_all(&bytes).await),
                        Input::Stream(mut parts) => {
                            while let Some(part) = parts.recv().await {
                                if stdin.write_all(&part).await.is_err() {
                                    break;
                                }
                            }
                        }
                    }
                    let _ = stdin.shutdown().await;
                }
            };
            let ((), out, err) = tokio::join!(feed, all(stdout, limit), lines(stderr, said));
            (child.wait().await, out, err)
        };
        let done = tokio::time::timeout(self.timeout, work).await;
        let (status, stdout, stderr) =
            done.map_err(|_| Error::TimedOut { what: self.what.clone(), after: self.timeout })?;
        let status = status.map_err(Error::io("wait for", Path::new(&self.program)))?;
        group.ended();
        let (stdout, whole) = stdout;
        if !whole && !self.cut {
            return Err(Error::TooMuch { what: self.what, limit });
        }
        Ok(Ended { status, stdout, whole, stderr })
    }

    /// Starts it with pipes; it is killed when dropped.
    pub(crate) fn talk(&self) -> Result<Child> {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.spawn(&mut command)
    }

    /// Runs it with its output in a file; returns its status.
    pub(crate) async fn run_into(self, log: &Log) -> Result<std::process::ExitStatus> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(log.file()?).stderr(log.file()?);
        let mut child = self.spawn(&mut command)?;
        lower(&child);
        let group = Group::of(&child);
        let mut looks = tokio::time::interval(LOOK_AT_LOG);
        let ended = async {
            loop {
                tokio::select! {
                    status = child.wait() => return status.map_err(Error::io("wait for", Path::new(&self.program))),
                    _ = looks.tick() => log.cut()?,
                }
            }
        };
        let status = tokio::time::timeout(self.timeout, ended).await;
        let status = status.map_err(|_| Error::TimedOut { what: self.what, after: self.timeout })??;
        log.cut()?;
        // Background processes of a shell command end with it.
        drop(group);
        Ok(status)
    }

    fn spawn(&self, command: &mut Command) -> Result<Child> {
        command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if self.cwd.is_dir() => {
                Error::NoGit { why: format!("`{}` was not found in PATH", OsStr::new(&self.program).to_string_lossy()) }
            }
            _ => Error::Io { what: "start a process in", path: self.cwd.clone(), source: error },
        })
    }
}

/// Lowers the priority of a group that was just started, and of its descendants. Not from a low-priority thread:
/// bubblewrap (`--die-with-parent`) ends with the *thread* that started it.
fn lower(child: &Child) {
    let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    if let Some(leader) = leader {
        // If even that is forbidden, it runs with normal priority.
        let own = getpriority_process(None).unwrap_or(0);
        let _ = setpriority_pgrp(Some(leader), (own + NICE).min(19));
    }
}

/// The bytes up to the limit, and whether those are all.
async fn all(from: Option<impl AsyncRead + Unpin>, limit: usize) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let _ = from.take(limit as u64 + 1).read_to_end(&mut bytes).await;
    }
    let whole = bytes.len() <= limit;
    bytes.truncate(limit);
    (bytes, whole)
}

async fn lines(from: Option<impl AsyncRead + Unpin>, mut said: impl FnMut(&str)) -> String {
    let Some(mut from) = from else { return String::new() };
    let (mut kept, mut line, mut part) = (Vec::new(), Vec::new(), [0_u8; 4096]);
    while let Ok(n) = from.read(&mut part).await {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&part[..n]);
        if kept.len() > 2 * STDERR_LIMIT {
            kept.drain(..kept.len() - STDERR_LIMIT);
        }
        for byte in &part[..n] {
            match byte {
                b'\r' | b'\n' => {
                    said(&String::from_utf8_lossy(&line));
                    line.clear();
                }
                byte if line.len() < 1024 => line.push(*byte),
                _ => {}
            }
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}
