//! The hub of a data directory on this machine: whether it answers, and which process it is.

use std::path::Path;
use std::time::Duration;

use client::Client;
use protocol::Health;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use crate::hub_file::{self, HubFile};
use crate::{Failure, Setting};

/// How often to look whether a process still runs.
const LOOK: Duration = Duration::from_millis(50);

/// A hub that runs.
#[derive(Debug)]
pub(crate) struct Here {
    /// What it wrote about itself.
    pub(crate) file: HubFile,
    /// Whether its process runs on this machine; a hub in a container has ids of its own.
    pub(crate) has_process: bool,
    /// What it answered.
    pub(crate) health: Option<Health>,
}

impl Here {
    /// The hub of `data_dir`, if it answers or its process runs.
    pub(crate) async fn look(data_dir: &Path) -> Result<Option<Self>, Failure> {
        let Some(file) = hub_file::read_hub(data_dir)? else {
            return Ok(None);
        };
        let health = match Client::anonymous(&file.url) {
            Ok(client) => client.health().await.ok(),
            Err(_) => None,
        };
        let has_process = is_hub(file.pid);
        Ok((has_process || health.is_some()).then_some(Self { file, has_process, health }))
    }

    /// A client with the local owner's token.
    pub(crate) fn client(&self, data_dir: &Path) -> Result<Client, Failure> {
        let token = hub_file::read_token(data_dir)?;
        let token = token.ok_or_else(|| Failure::not_allowed("the data directory has no token of the hub's owner"))?;
        Ok(Client::new(&self.file.url, &token)?)
    }

    /// Whether `hub` is this hub's address.
    pub(crate) fn is_at(&self, hub: Option<&Setting<String>>) -> bool {
        hub.is_none_or(|hub| hub.value.trim_end_matches('/') == self.file.url.trim_end_matches('/'))
    }
}

/// Whether the process is a hub: an id may have been reused.
pub(crate) fn is_hub(pid: u32) -> bool {
    command_line(pid).is_some_and(|words| is_hubs(&words))
}

fn is_hubs(words: &[String]) -> bool {
    let program = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
    program.is_some_and(|name| name.contains("shopfloor"))
        && words.iter().skip(1).any(|word| word == "up" || word == "serve")
}

#[cfg(target_os = "linux")]
fn command_line(pid: u32) -> Option<Vec<String>> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

#[cfg(not(target_os = "linux"))]
fn command_line(pid: u32) -> Option<Vec<String>> {
    let shown = std::process::Command::new("ps").args(["-o", "command=", "-p", &pid.to_string()]).output().ok()?;
    Some(String::from_utf8_lossy(&shown.stdout).split_whitespace().map(str::to_owned).collect())
}

/// Asks a process to end and waits until it has ended.
pub(crate) async fn end(
    pid: u32,
    patience: Duration,
    mut runs: impl FnMut() -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let id = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let id = id.ok_or_else(|| Failure::other("its process id is not known"))?;
    if let Err(error) = kill_process(id, Signal::TERM)
        && error != rustix::io::Errno::SRCH
    {
        return Err(Failure::other(format!("could not end process {pid}: {error}"))
            .advise("it belongs to another user: run this as that user"));
    }
    let asked = Instant::now();
    while runs()? {
        if asked.elapsed() > patience {
            return Ok(false);
        }
        sleep(LOOK).await;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hub_is_taken_for_one() {
        let is = |line: &str| is_hubs(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(is("/usr/bin/shopfloor up --no-open") && is("shopfloor --data-dir /x serve"));
        assert!(!is("/usr/bin/shopfloor runner --hub x") && !is("vi up") && !is("/usr/bin/shopfloor") && !is_hubs(&[]));
        assert!(!is_hub(std::process::id()), "a test is no hub");
    }
}
