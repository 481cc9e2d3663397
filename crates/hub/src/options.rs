//! What a hub is told when it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// What a hub is told when it starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// `sqlite:PATH` or `postgres://…`.
    pub database: String,
    /// Where `hub.json` and the local credential are kept.
    pub data_dir: PathBuf,
    /// The address that people use, when it is not the one listened on.
    pub public_url: Option<String>,
    /// A proxy in front does TLS and says who is asking.
    pub behind_proxy: bool,
    /// Do TLS ourselves.
    pub tls: Option<TlsFiles>,
    /// Further origins whose pages may use the hub, exactly as browsers write them.
    pub allow_origins: Vec<String>,
    /// Further values of `Host` to answer to.
    pub allow_hosts: Vec<String>,
    /// Let people in whom GitHub vouches for.
    pub github: Option<GithubOptions>,
    /// Make a first person and keep a token for the CLI beside the database.
    pub local_owner: bool,
    /// The first person's name.
    pub owner_name: String,
    /// How much is accepted from whom.
    pub limits: Limits,
}

impl Options {
    /// A hub on loopback with a SQLite file in `data_dir`.
    pub fn new(data_dir: PathBuf) -> Self {
        let owner = std::env::var("USER").ok().filter(|name| domain::text::NAME.name(name).is_ok());
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4720)),
            database: format!("sqlite:{}", data_dir.join("shopfloor.db").display()),
            data_dir,
            public_url: None,
            behind_proxy: false,
            tls: None,
            allow_origins: Vec::new(),
            allow_hosts: Vec::new(),
            github: None,
            local_owner: true,
            owner_name: owner.unwrap_or_else(|| "owner".to_owned()),
            limits: Limits::default(),
        }
    }
}

/// A certificate chain and its key, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// How to ask GitHub who somebody is.
#[derive(Clone)]
pub struct GithubOptions {
    /// The OAuth application's id.
    pub client_id: String,
    /// The OAuth application's secret.
    pub client_secret: String,
    /// Who may come in: `user:LOGIN` or `org:NAME`.
    pub allow: Vec<String>,
    /// Where people log in, usually `https://github.com`.
    pub url: String,
    /// Where the API is, usually `https://api.github.com`.
    pub api_url: String,
}

impl std::fmt::Debug for GithubOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubOptions").field("client_id", &self.client_id).field("allow", &self.allow).finish()
    }
}

/// How much is accepted from whom.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Attempts to log in, join or observe, per address and minute.
    pub entries_per_minute: u32,
    /// Requests per credential and second.
    pub requests_per_second: u32,
    /// Connections of one address that have not shown a credential yet; one more drops the oldest.
    pub strangers_per_address: usize,
    /// How many events are kept for clients that come back.
    pub events_kept: u64,
    /// A runner that said nothing for this long is not there.
    pub runner_silence_seconds: u64,
    /// How long somebody waits for a runner's answer.
    pub runner_answer_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries_per_minute: 30,
            requests_per_second: 10_000,
            strangers_per_address: 64,
            events_kept: 100_000,
            runner_silence_seconds: 30,
            runner_answer_seconds: 25,
        }
    }
}
