//! The runner that `shopfloor up` starts: a separate process, so that hub and runner can be killed independently.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use client::{Backoff, Client};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::log;
use crate::commands::runner::{Noted, Registration, machine_name};
use crate::{Failure, hub_file};

/// How long a runner may take to exit; its sessions are not affected.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to check that a runner that we did not start still runs.
const LOOK: Duration = Duration::from_secs(1);
/// A runner that ran this long was healthy.
const WELL: Duration = Duration::from_secs(60);

/// The runner's supervisor.
pub(crate) struct Beside {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Beside {
    /// Keeps a runner running for the hub at `url` with its data in `data_dir`. `hidden`: the hub's paths that
    /// sandboxes hide.
    pub(crate) fn start(url: &str, data_dir: &Path, hidden: Vec<PathBuf>) -> Self {
        let stop = CancellationToken::new();
        let place = Place { url: url.to_owned(), data_dir: data_dir.to_owned(), dir: data_dir.join("runner"), hidden };
        let task = tokio::spawn(place.supervise(stop.clone()));
        Self { stop, task }
    }

    /// Stops the runner, never its sessions.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        // The supervisor gives up well before that.
        let _ = timeout(3 * PATIENCE, self.task).await;
    }
}

struct Place {
    url: String,
    data_dir: PathBuf,
    dir: PathBuf,
    hidden: Vec<PathBuf>,
}

impl Place {
    async fn supervise(self, stop: CancellationToken) {
        let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));
        while !stop.is_cancelled() {
            let began = Instant::now();
            if let Err(failure) = self.once(&stop).await {
                tracing::warn!("the runner of this machine does not run: {}", failure.render(false));
            }
            if began.elapsed() > WELL {
                backoff.reset();
            }
            tokio::select! {
                () = sleep(backoff.next_wait()) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Starts or adopts a runner and waits until it exits.
    async fn once(&self, stop: &CancellationToken) -> Result<(), Failure> {
        if let Some(survivor) = Noted::of_running(&self.dir)? {
            return self.keep(&survivor, stop).await;
        }
        let mut child = self.spawn().await?;
        tokio::select! {
            ended = child.wait() => {
                let status = ended.map_err(|error| Failure::other(format!("it was lost: {error}")))?;
                tracing::warn!(%status, log = %self.log().display(), "the runner exited; restarting it");
                Ok(())
            }
            () = stop.cancelled() => {
                end(&mut child).await;
                Ok(())
            }
        }
    }

    /// Adopts a runner that outlived an earlier hub, if it connects to the right address.
    async fn keep(&self, survivor: &Noted, stop: &CancellationToken) -> Result<(), Failure> {
        let here = survivor.hub.trim_end_matches('/') == self.url.trim_end_matches('/');
        if here {
            tracing::info!(pid = survivor.pid, "using the runner that is already running");
            loop {
                tokio::select! {
                    () = sleep(LOOK) => {}
                    () = stop.cancelled() => break,
                }
                if Noted::of_running(&self.dir)?.is_none() {
                    return Ok(());
                }
            }
        } else {
            tracing::info!(
                pid = survivor.pid,
                hub = survivor.hub,
                "stopping a runner of another hub address; its sessions continue"
            );
        }
        self.end_survivor(survivor).await
    }

    async fn end_survivor(&self, survivor: &Noted) -> Result<(), Failure> {
        let pid = i32::try_from(survivor.pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| Failure::other("a runner of unknown process id is already running here"))?;
        for signal in [Signal::TERM, Signal::KILL] {
            // It may have exited meanwhile.
            let _ = kill_process(pid, signal);
            let asked = Instant::now();
            while asked.elapsed() < PATIENCE {
                if Noted::of_running(&self.dir)?.is_none() {
                    return Ok(());
                }
                sleep(LOOK / 10).await;
            }
        }
        Err(Failure::other(format!("the runner (process {}) does not exit", survivor.pid)))
    }

    async fn spawn(&self) -> Result<Child, Failure> {
        let token =
            hub_file::read_token(&self.data_dir)?.ok_or_else(|| Failure::other("the hub has no local owner"))?;
        let name = machine_name();
        let known = Registration::ensure(&Client::new(&self.url, &token)?, &self.dir, &name).await?;
        let failed = |error: std::io::Error| Failure::other(format!("it could not be started: {error}"));
        let file = self.write_token(&known.secret).map_err(failed)?;
        let log = self.open_log().map_err(failed)?;
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["runner", "--hub", &self.url, "--name", &known.name]);
        command.arg("--token-file").arg(file).arg("--data-dir").arg(&self.dir);
        for path in &self.hidden {
            command.arg("--hide").arg(path);
        }
        // The person's token is not the runner's, and Ctrl-C is for us to forward.
        command.env_remove("SHOPFLOOR_TOKEN").env_remove("SHOPFLOOR_TOKEN_FILE").process_group(0);
        // Nor does the runner belong to the session that `up` may run in.
        command.env_remove("SHOPFLOOR_SESSION");
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(failed)?).stderr(log);
        let child = command.spawn().map_err(failed)?;
        tracing::info!(pid = child.id(), log = %self.log().display(), "the runner of this machine started");
        Ok(child)
    }

    fn write_token(&self, secret: &str) -> std::io::Result<PathBuf> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)?;
        let path = self.dir.join("token");
        // On a full disk, rewriting an unchanged token could lose it.
        if std::fs::read_to_string(&path).is_ok_and(|known| known == secret) {
            return Ok(path);
        }
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
        file.write_all(secret.as_bytes())?;
        Ok(path)
    }

    fn log(&self) -> PathBuf {
        self.dir.join("runner.log")
    }

    fn open_log(&self) -> std::io::Result<File> {
        log::append_to(&self.log())
    }
}

async fn end(child: &mut Child) {
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have exited meanwhile.
        let _ = kill_process(pid, Signal::TERM);
    }
    if timeout(PATIENCE, child.wait()).await.is_err() {
        let _ = child.kill().await;
    }
}
