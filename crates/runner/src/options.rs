//! A runner's start options.

use std::path::PathBuf;
use std::time::Duration;

use crate::Secret;

/// A runner's start options.
#[derive(Debug, Clone)]
pub struct Options {
    /// The hub's address, such as `http://127.0.0.1:4720`.
    pub hub: String,
    /// The runner's own token.
    pub token: Secret,
    /// The name that its owner gave at the start; `None`: as registered.
    pub name: Option<String>,
    /// The folder of journal, repositories, workspaces and sessions.
    pub data_dir: PathBuf,
    /// Labels for choosing it.
    pub labels: Vec<String>,
    /// How many sessions it runs at once.
    pub capacity: u32,
    /// The folder of people's own adapters, under `agents/`.
    pub config_dir: PathBuf,
    /// Further folders and files to hide from sandboxes, such as the data directory of a hub on this machine.
    pub hidden: Vec<PathBuf>,
    /// The `shopfloor` binary, which is also every session's host.
    pub exe: PathBuf,
    /// The version to report.
    pub version: String,
    /// Rules for fetching repositories.
    pub git: worktree::Options,
    /// Whether git also uses the credential helpers that the person's own git settings name.
    pub own_helpers: bool,
    /// Disk quota of workspaces and shared object stores; `None`: no limit.
    pub disk_quota: Option<u64>,
    /// Disk quota of recordings; `None`: no limit.
    pub recordings_limit: Option<u64>,
    /// Maximum size of the text of terminals that searches find, in bytes.
    pub search_limit: u64,
    /// How long a stopped session may take to exit.
    pub stop_grace: Duration,
    /// How much to lower the priority of sessions below that of the runner and the hosts, from 0 to 19.
    pub session_nice: u8,
    /// Resource limits for all processes of a session.
    pub session_limits: terminal::Limits,
    /// Timings of the link.
    pub patience: Patience,
}

/// Timings of the link.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The heartbeat interval.
    pub heartbeat: Duration,
    /// A hub that is silent for this long counts as gone.
    pub silence: Duration,
    /// The first wait before a retry.
    pub first_wait: Duration,
    /// The longest wait before a retry.
    pub longest_wait: Duration,
    /// The wait after the hub refused the token.
    pub refused_wait: Duration,
}

impl Options {
    /// Defaults for everything that the caller does not have to know.
    pub fn new(hub: impl Into<String>, token: Secret, data_dir: impl Into<PathBuf>, exe: impl Into<PathBuf>) -> Self {
        let data_dir = data_dir.into();
        Self {
            hub: hub.into(),
            token,
            name: None,
            config_dir: data_dir.clone(),
            data_dir,
            labels: Vec::new(),
            capacity: 64,
            hidden: Vec::new(),
            exe: exe.into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git: worktree::Options::default(),
            own_helpers: false,
            disk_quota: None,
            recordings_limit: Some(20 * 1024 * 1024 * 1024),
            search_limit: 32 * 1024 * 1024,
            stop_grace: Duration::from_secs(10),
            session_nice: 10,
            session_limits: terminal::Limits::default(),
            patience: Patience::default(),
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(protocol::link::HEARTBEAT_SECONDS),
            silence: Duration::from_secs(3 * protocol::link::HEARTBEAT_SECONDS),
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(15),
            refused_wait: Duration::from_secs(60),
        }
    }
}
