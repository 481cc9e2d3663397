//! What a runner is started with, from flags, environment and what it knows from before.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::commands::words;
use crate::settings::Origin;
use crate::{Context, Failure};

/// The flags of a runner. Its hub and its token are the global --hub and --token-file; --data-dir is where it keeps everything.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Run one on this machine (without a subcommand)")]
pub(crate) struct RunArgs {
    /// What it is called; replaces what it was registered with [default: as registered; at first, this machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Something to choose it by, as gpu or linux; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// How many sessions it runs at once [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) capacity: Option<u32>,
    /// What workspaces may take on the disk, as 50G; nothing that is not pushed is ever deleted for it
    #[arg(long, value_name = "SIZE", value_parser = words::size)]
    pub(crate) disk_quota: Option<u64>,
    /// What recordings may take on the disk, as 20G; kept ones stay [default: 20G]
    #[arg(long, value_name = "SIZE", value_parser = words::size)]
    pub(crate) recordings_limit: Option<u64>,
    /// How long a session that is stopped may take to end by itself, in seconds [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) stop_grace: Option<u64>,
}

impl RunArgs {
    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(machine_name)
    }

    /// What the runner is told, once its token is known.
    pub(super) fn options(&self, context: &Context, hub: &str, token: String) -> Result<::runner::Options, Failure> {
        let exe = std::env::current_exe()
            .map_err(|error| Failure::other(format!("could not find this program's own file: {error}")))?;
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
        options.stop_grace = self.stop_grace.map_or(options.stop_grace, Duration::from_secs);
        if let Some(config) = context.layers.path().and_then(std::path::Path::parent) {
            options.config_dir = config.to_owned();
        }
        Ok(options)
    }
}

/// How many sessions a runner may be told to run at once.
fn read_capacity(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=1000).contains(number));
    number.ok_or_else(|| format!("`{text}` is not a number from 1 to 1000"))
}

/// Where the runner of this machine keeps everything: what was named for it, or a folder beside the hub's things.
pub(crate) fn dir(context: &Context) -> Result<PathBuf, Failure> {
    let data_dir = &context.settings.data_dir;
    let dir = match data_dir.origin {
        Origin::Flag => data_dir.value.clone(),
        _ => data_dir.value.join("runner"),
    };
    std::path::absolute(dir).map_err(|error| Failure::usage(format!("could not find the data directory: {error}")))
}

/// Like [`dir`], where a runner has been before.
pub(super) fn existing_dir(context: &Context) -> Result<PathBuf, Failure> {
    let dir = dir(context)?;
    let found = [dir.clone(), dir.join("runner")].into_iter().find(|dir| dir.join("journal.db").exists());
    found.ok_or_else(|| {
        Failure::not_found(format!("no runner has been in {}", dir.display()))
            .advise("name its directory with --data-dir DIR")
    })
}

/// What this machine is called.
pub(crate) fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().trim().to_owned();
    if name.is_empty() { "this machine".to_owned() } else { name }
}
