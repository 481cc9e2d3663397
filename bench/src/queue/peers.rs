//! The other queues, each in a process of its own.

use std::process::Stdio;

use anyhow::{Context, ensure};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Another queue on PostgreSQL.
#[derive(Debug, Clone, Copy)]
pub(super) enum Peer {
    Graphile,
    Boss,
}

/// What it measured.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    /// Enqueued per second, one by one.
    pub(super) enqueue: f64,
    /// Completed per second.
    pub(super) complete: f64,
    /// From enqueue to start, in milliseconds, when nothing else goes on.
    pub(super) waits: Vec<f64>,
}

impl Peer {
    fn command(self, url: &str, tasks: usize, workers: usize, mode: &str) -> Command {
        let script = match self {
            Self::Graphile => "bench/queue/graphile.mjs",
            Self::Boss => "bench/queue/pgboss.mjs",
        };
        let mut command = Command::new("node");
        command.args([script, url, &tasks.to_string(), &workers.to_string(), mode]);
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs it to its end.
    pub(super) async fn run(self, url: &str, tasks: usize, workers: usize, mode: &str) -> anyhow::Result<Said> {
        let done = self.command(url, tasks, workers, mode).output().await.context("node runs")?;
        let error = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "{self:?} {mode} failed: {error}");
        let said = String::from_utf8(done.stdout)?;
        let last = said.lines().last().with_context(|| format!("{self:?} {mode} said nothing: {error}"))?;
        serde_json::from_str(last).with_context(|| format!("{self:?} {mode} said {last}"))
    }

    /// Starts it with nothing to do; it ends when it is dropped.
    pub(super) async fn idle(self, url: &str, workers: usize) -> anyhow::Result<Child> {
        let mut child = self.command(url, 0, workers, "idle").stdout(Stdio::piped()).spawn().context("node runs")?;
        let mut lines = BufReader::new(child.stdout.take().context("it has an output")?).lines();
        lines.next_line().await?.context("it is ready")?;
        Ok(child)
    }
}
