//! The other engines, each in a process of its own.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, ensure};
use serde::Deserialize;
use tokio::process::Command;

/// What an engine measured.
#[derive(Debug, Deserialize)]
struct Said {
    /// Executions per second.
    rate: f64,
}

/// DBOS, as `make bench-recipes` has built it.
pub(super) async fn dbos(url: &str, count: usize, at_once: usize) -> anyhow::Result<f64> {
    let mut command = Command::new("bench/recipes/dbos/target/release/dbos-bench");
    command.args([url, &count.to_string(), &at_once.to_string()]);
    run("DBOS", command).await
}

/// Restate, with its data in this folder.
pub(super) async fn restate(folder: &Path, count: usize, at_once: usize) -> anyhow::Result<f64> {
    let mut command = Command::new("node");
    command.arg("bench/recipes/restate.mjs").arg(folder).args([count.to_string(), at_once.to_string()]);
    command.env("RESTATE_LOGGING", "ERROR");
    run("Restate", command).await
}

async fn run(name: &str, mut command: Command) -> anyhow::Result<f64> {
    let done = command.stdin(Stdio::null()).kill_on_drop(true).output().await;
    let done = done.with_context(|| format!("{name} is not there: run `make bench-recipes`"))?;
    let error = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{name} failed: {error}");
    let said = String::from_utf8(done.stdout)?;
    let last = said.lines().last().with_context(|| format!("{name} said nothing: {error}"))?;
    let said: Said = serde_json::from_str(last).with_context(|| format!("{name} said {last}"))?;
    Ok(said.rate)
}
