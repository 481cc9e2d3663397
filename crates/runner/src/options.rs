//! What a runner is started with.

use std::path::PathBuf;
use std::time::Duration;

use crate::Secret;

/// What a runner is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The hub's address, as `http://127.0.0.1:4720`.
    pub hub: String,
    /// The runner's own token.
    pub token: Secret,
    /// What its owner started it to be called; absent: as it is registered.
    pub name: Option<String>,
    /// Where journal, repositories, workspaces and sessions are.
    pub data_dir: PathBuf,
    /// What its owner calls it by, for choosing.
    pub labels: Vec<String>,
    /// How many sessions it runs at once.
    pub capacity: u32,
    /// Where people add adapters, under `agents/`.
    pub config_dir: PathBuf,
    /// More that nothing in a sandbox may see, such as the data directory of the hub on this machine: folders and files.
    pub hidden: Vec<PathBuf>,
    /// The `shopfloor` binary, which is also every session's host.
    pub exe: PathBuf,
    /// The version that the hub is told.
    pub version: String,
    /// What its owner allows when repositories are fetched.
    pub git: worktree::Options,
    /// What workspaces and shared object stores may take on the disk; absent: no limit.
    pub disk_quota: Option<u64>,
    /// What recordings may take on the disk; absent: no limit.
    pub recordings_limit: Option<u64>,
    /// How long a stopped session may take to end by itself.
    pub stop_grace: Duration,
    /// How much lower the priority of sessions is than that of the runner and of their hosts, from 0 to 19.
    pub session_nice: u8,
    /// What all processes of a session may use together.
    pub session_limits: terminal::Limits,
    /// How patient the link is.
    pub patience: Patience,
}

/// How patient the link is.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often the runner says that it is there.
    pub heartbeat: Duration,
    /// A hub that says nothing for this long is gone.
    pub silence: Duration,
    /// The first wait before another try.
    pub first_wait: Duration,
    /// The longest wait before another try.
    pub longest_wait: Duration,
    /// The wait when the hub does not accept the token.
    pub refused_wait: Duration,
}

impl Options {
    /// Everything by default, except what only the caller knows.
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
            disk_quota: None,
            recordings_limit: Some(20 * 1024 * 1024 * 1024),
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
