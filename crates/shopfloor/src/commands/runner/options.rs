//! Options of a runner, from flags, environment and its stored registration.

use std::path::PathBuf;
use std::time::Duration;

use ::runner::CredentialHelper;
use clap::Args;

use super::hidden::hidden;
use crate::commands::words;
use crate::settings::{Origin, Setting};
use crate::{Context, Failure};

/// Options of a runner. The global --hub and --token-file name its hub and token; --data-dir is its folder.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run one on this machine (without a subcommand)")]
pub(crate) struct RunArgs {
    /// The runner's name; replaces the registered one [default: as registered; at first, this machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// A label to choose it by, such as gpu or linux; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// How many sessions it runs at once, at most [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) capacity: Option<u32>,
    /// Disk space for workspaces, such as 50G; unpushed work is never deleted to save space
    #[arg(long, value_name = "SIZE", value_parser = words::size)]
    pub(crate) disk_quota: Option<u64>,
    /// Disk space for recordings, such as 20G; recordings marked with `keep` stay [default: 20G]
    #[arg(long, value_name = "SIZE", value_parser = words::size)]
    pub(crate) recordings_limit: Option<u64>,
    /// How much to lower the priority of sessions, from 0 to 19 [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) session_nice: Option<u8>,
    /// Memory limit for all processes of one session, such as 4G; a session above it is killed [default: no limit]
    #[arg(long, value_name = "SIZE", value_parser = words::size)]
    pub(crate) session_memory: Option<u64>,
    /// How many processes one session may have; a session above it is killed [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) session_processes: Option<u32>,
    /// Processor time of one session, in seconds; a session above it is killed [default: no limit]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) session_cpu_seconds: Option<u64>,
    /// Hide this folder or file from every sandbox; may be repeated. Data of hubs and runners is always hidden
    #[arg(long, value_name = "PATH")]
    pub(crate) hide: Vec<PathBuf>,
    /// How git logs in to remote repositories: ssh, gh, glab, store, cache, libsecret, keychain, manager or none; may be
    /// repeated [default: ssh, and the credential helpers of your git settings]
    #[arg(long, value_name = "NAME")]
    pub(crate) git_login: Vec<String>,
    /// Allow repositories on hosts of a private network
    #[arg(long)]
    pub(crate) private_hosts: bool,
    /// Seconds that a stopped session may take to exit before it is killed [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) stop_grace: Option<u64>,
}

impl RunArgs {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(machine_name)
    }

    /// The runner's settings, once its token is known.
    pub(super) fn options(&self, context: &Context, hub: &str, token: String) -> Result<::runner::Options, Failure> {
        let exe = std::env::current_exe()
            .map_err(|error| Failure::other(format!("could not find the path of this program: {error}")))?;
        let mut options = ::runner::Options::new(hub, ::runner::Secret::new(token), dir(context)?, exe);
        options.name = self.name.clone();
        let layers = &context.layers;
        options.labels = layers.list("labels", self.labels.clone())?.value;
        options.version = env!("CARGO_PKG_VERSION").to_owned();
        options.disk_quota = layers.value("disk_quota", self.disk_quota, words::size)?.map(|found| found.value);
        let capacity = layers.value("capacity", self.capacity, read_capacity)?;
        options.capacity = capacity.map_or(options.capacity, |found| found.value);
        let recordings = layers.value("recordings_limit", self.recordings_limit, words::size)?;
        options.recordings_limit = recordings.map(|found| found.value).or(options.recordings_limit);
        let nice = layers.value("session_nice", self.session_nice, read_nice)?;
        options.session_nice = nice.map_or(options.session_nice, |found| found.value);
        let memory = layers.value("session_memory", self.session_memory, words::size)?;
        let processes = layers.value("session_processes", self.session_processes, read_some)?;
        let cpu_seconds = layers.value("session_cpu_seconds", self.session_cpu_seconds, read_some)?;
        options.session_limits = ::runner::SessionLimits {
            memory: memory.map(|found| found.value),
            processes: processes.map(|found| found.value),
            cpu_seconds: cpu_seconds.map(|found| found.value),
        };
        let logins = layers.list("git_login", self.git_login.clone())?;
        options.own_helpers = logins.value.is_empty();
        (options.git.ssh, options.git.helpers) = read_logins(logins)?;
        options.git.private_hosts = layers.switch("private_hosts", self.private_hosts)?.value;
        let named: Vec<PathBuf> = self.hide.iter().cloned().chain(token_file(context)).collect();
        options.hidden = hidden(context, &named)?;
        options.stop_grace = self.stop_grace.map_or(options.stop_grace, Duration::from_secs);
        if let Some(config) = context.layers.path().and_then(std::path::Path::parent) {
            options.config_dir = config.to_owned();
        }
        Ok(options)
    }
}

/// How many sessions a runner may run at once.
fn read_capacity(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 1 to 1000"))
}

/// How much the priority of sessions may be lowered.
fn read_nice(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|number| (0..=19).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 0 to 19"))
}

/// Whether git may log in by ssh, and with which credential helpers.
fn read_logins(given: Setting<Vec<String>>) -> Result<(bool, Vec<CredentialHelper>), Failure> {
    let read = |names: Vec<String>| {
        let (mut ssh, mut helpers) = (names.is_empty(), Vec::new());
        for name in &names {
            match name.as_str() {
                "ssh" => ssh = true,
                "none" if names.len() == 1 => {}
                name => helpers.push(CredentialHelper::named(name).ok_or_else(|| {
                    let known: Vec<&str> = CredentialHelper::names().collect();
                    format!("`{name}` is not one of ssh, {}, or none alone", known.join(", "))
                })?),
            }
        }
        Ok((ssh, helpers))
    };
    given.try_map("git_login", read).map(|found| found.value)
}

/// A limit above 0.
fn read_some<T: std::str::FromStr + Default + PartialOrd>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number > T::default());
    number.ok_or_else(|| format!("`{text}` is not a number above 0"))
}

/// The folder of this machine's runner: the given one, or a folder in the hub's data directory.
pub(crate) fn dir(context: &Context) -> Result<PathBuf, Failure> {
    let data_dir = &context.settings.data_dir;
    let dir = match data_dir.origin {
        Origin::Flag => data_dir.value.clone(),
        _ => data_dir.value.join("runner"),
    };
    std::path::absolute(dir).map_err(|error| Failure::usage(format!("could not resolve the data directory: {error}")))
}

/// The file with the token that this process was given.
pub(super) fn token_file(context: &Context) -> Option<PathBuf> {
    match &context.settings.token.as_ref()?.value {
        client::Token::File(path) => Some(path.clone()),
        client::Token::Given(_) => None,
    }
}

/// This machine's name.
pub(crate) fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().trim().to_owned();
    if name.is_empty() { "this machine".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_logs_in_by_ssh_unless_something_else_is_named() {
        let read = |names: &[&str]| read_logins(Setting::flag(names.iter().map(|&name| name.to_owned()).collect()));
        assert_eq!(read(&[]).unwrap(), (true, vec![]));
        assert_eq!(read(&["none"]).unwrap(), (false, vec![]));
        assert_eq!(read(&["gh"]).unwrap(), (false, vec![CredentialHelper::GitHub]));
        let both = vec![CredentialHelper::Store, CredentialHelper::Cache];
        assert_eq!(read(&["store", "ssh", "cache"]).unwrap(), (true, both));
        for wrong in [&["gth"] as &[&str], &["ssh", "none"], &["!evil"]] {
            let said = read(wrong).unwrap_err().render(false);
            assert!(said.contains("git_login") && said.contains("is not one of ssh, gh, glab, store"), "{said}");
        }
    }
}
