//! A hub's start options.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// A hub's start options.
#[derive(Debug, Clone)]
pub struct Options {
    /// The listening address; port 0 picks a free one.
    pub listen: SocketAddr,
    /// `sqlite:PATH` or `postgres://…`.
    pub database: String,
    /// The folder of `hub.json` and the local token.
    pub data_dir: PathBuf,
    /// The address that people use, if it differs from the listening address.
    pub public_url: Option<String>,
    /// Trust a proxy that terminates TLS and names the client.
    pub behind_proxy: bool,
    /// Terminate TLS here.
    pub tls: Option<TlsFiles>,
    /// Further accepted origins, exactly as browsers write them.
    pub allow_origins: Vec<String>,
    /// Further accepted values of `Host`.
    pub allow_hosts: Vec<String>,
    /// Login with GitHub.
    pub github: Option<GithubOptions>,
    /// Create a first user and keep a token for the CLI beside the database.
    pub local_owner: bool,
    /// The first user's name.
    pub owner_name: String,
    /// The file with the key that encrypts secrets in the database; it is made when it is needed.
    pub key_file: PathBuf,
    /// Hosts, with or without a port, that notifications may go to although they are in a private network.
    pub notify_allow_hosts: Vec<String>,
    /// Limits.
    pub limits: Limits,
}

impl Options {
    /// A hub on loopback with a SQLite file in `data_dir`.
    pub fn new(data_dir: PathBuf) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4720)),
            database: format!("sqlite:{}", data_dir.join("shopfloor.db").display()),
            key_file: key_beside(&data_dir),
            notify_allow_hosts: Vec::new(),
            data_dir,
            public_url: None,
            behind_proxy: false,
            tls: None,
            allow_origins: Vec::new(),
            allow_hosts: Vec::new(),
            github: None,
            local_owner: true,
            owner_name: "owner".to_owned(),
            limits: Limits::default(),
        }
    }
}

/// The standard key file: beside the data directory, so that no copy of the directory contains it.
pub fn key_beside(data_dir: &std::path::Path) -> PathBuf {
    let mut name = data_dir.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// A certificate chain and its key, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The chain, leaf first.
    pub cert: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Settings of the login with GitHub.
#[derive(Clone)]
pub struct GithubOptions {
    /// The OAuth application's id.
    pub client_id: String,
    /// The OAuth application's secret.
    pub client_secret: String,
    /// Who may log in: `user:LOGIN` or `org:NAME`.
    pub allow: Vec<String>,
    /// GitHub's address, usually `https://github.com`.
    pub url: String,
    /// The API's address, usually `https://api.github.com`.
    pub api_url: String,
}

impl std::fmt::Debug for GithubOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubOptions").field("client_id", &self.client_id).field("allow", &self.allow).finish()
    }
}

/// Limits.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Attempts to log in, join or observe, per address and minute.
    pub entries_per_minute: u32,
    /// Requests per credential and second.
    pub requests_per_second: u32,
    /// Connections per address without a credential so far; one more drops the oldest.
    pub strangers_per_address: usize,
    /// How many events to keep for clients that reconnect.
    pub events_kept: u64,
    /// A runner that is silent for this long counts as gone.
    pub runner_silence_seconds: u64,
    /// Time limit of a runner's answer.
    pub runner_answer_seconds: u64,
    /// How long a search waits for runners, in milliseconds.
    pub search_milliseconds: u64,
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
            search_milliseconds: protocol::link::SEARCH_MILLISECONDS,
        }
    }
}
