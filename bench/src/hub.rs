//! The real binary as a child process, and what the system says about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context;
use client::{Client, Socket};
use protocol::{FromHub, Project, ProjectCreate};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// A hub of its own process; killed when let go.
pub(crate) struct Hub {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) ready_after: Duration,
}

/// The program that was built beside this one.
fn binary() -> anyhow::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name("shopfloor");
    anyhow::ensure!(beside.exists(), "{} is not built: run `make bench`", beside.display());
    Ok(beside)
}

impl Hub {
    /// Starts a hub on `folder`, and waits for its line.
    pub(crate) async fn start(folder: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let mut command = Command::new(binary()?);
        command.args(["up", "--no-open", "--no-runner", "--listen", "127.0.0.1:0", "--data-dir"]).arg(folder);
        if let Some(url) = database {
            command.args(["--database", url]);
        }
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("the child has an output")?).lines();
        let url = loop {
            let line = lines.next_line().await?.context("the hub ended before it was up")?;
            if let Some(url) = line.strip_prefix("shopfloor is up: ") {
                break url.split_whitespace().next().unwrap_or_default().to_owned();
            }
        };
        let ready_after = begun.elapsed();
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let token = fs::read_to_string(folder.join("token"))?.trim().to_owned();
        Ok(Self { child, url, token, ready_after })
    }

    /// A client with the owner's token.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(&self.url, &self.token)?)
    }

    /// A project that everybody sees.
    pub(crate) async fn project(&self) -> anyhow::Result<Project> {
        let input = ProjectCreate {
            content: "Bench".into(),
            visibility: Some(domain::Visibility::ReadWrite),
            ..ProjectCreate::default()
        };
        Ok(self.client()?.ask(protocol::Call::ProjectCreate { input }).await?)
    }

    /// A socket that is live.
    pub(crate) async fn live(&self) -> anyhow::Result<Socket> {
        let mut socket = Socket::connect(&self.url, &self.token).await?;
        socket.hello(None, None, "bench").await?;
        loop {
            match socket.next().await?.context("the hub closed")? {
                FromHub::Live { .. } => return Ok(socket),
                _ => continue,
            }
        }
    }

    fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the hub runs")
    }

    /// Resident memory in bytes.
    pub(crate) fn memory(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid()?))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("the system tells memory")?;
        let kib: f64 = line.split_whitespace().nth(1).context("VmRSS has a number")?.parse()?;
        Ok(kib * 1024.0)
    }

    /// Processor time used so far, in seconds.
    pub(crate) fn cpu(&self) -> anyhow::Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid()?))?;
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks: f64 =
            fields.get(11).context("utime")?.parse::<f64>()? + fields.get(12).context("stime")?.parse::<f64>()?;
        Ok(ticks / 100.0)
    }

    /// Kills the hub without warning, and waits for it.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        self.child.start_kill()?;
        self.child.wait().await?;
        Ok(())
    }
}
