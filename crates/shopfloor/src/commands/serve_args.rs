//! Options of `up` and `serve`, from flags, environment and settings file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use crate::{Failure, Layers, Setting};

/// Default address of a hub.
pub(crate) const LISTEN: &str = "127.0.0.1:4720";

/// Format of a hub's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Log {
    Human,
    Json,
}

/// Options of a hub; each can also be set in the environment (SHOPFLOOR_LISTEN, …) or in config.toml (listen, …).
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 picks a free one [default: 127.0.0.1:4720]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// The database: sqlite:FILE or postgres://… [default: shopfloor.db in the data directory]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Your name here, used at the first start [default: git's user.name, else your account's name]
    #[arg(long, value_name = "NAME")]
    owner_name: Option<String>,
    /// The URL that people use, if it differs from the listening address
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Trust a proxy in front of the hub, which terminates TLS and passes the caller's address on
    #[arg(long)]
    behind_proxy: bool,
    /// The TLS certificate chain, as a PEM file
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// The certificate's private key, as a PEM file
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Another origin whose pages may use this hub; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,
    /// Another host name of this hub; may be repeated
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// The file with the key that encrypts secrets in the database [default: the data directory's name with .key]
    #[arg(long, value_name = "FILE")]
    key_file: Option<String>,
    /// A host, or host:port, in a private network that notifications may go to; may be repeated
    #[arg(long, value_name = "HOST")]
    notify_allow_host: Vec<String>,
    /// Id of the OAuth application for logging in with GitHub
    #[arg(long, value_name = "ID")]
    github_client_id: Option<String>,
    /// The file with the OAuth application's secret
    #[arg(long, value_name = "FILE")]
    github_client_secret_file: Option<String>,
    /// Who may log in with GitHub, as user:NAME or org:NAME; may be repeated
    #[arg(long, value_name = "WHOM")]
    github_allow: Vec<String>,
    /// GitHub's address [default: github.com]
    #[arg(long, value_name = "URL")]
    github_url: Option<String>,
    /// The address of GitHub's API [default: api.github.com]
    #[arg(long, value_name = "URL")]
    github_api_url: Option<String>,
    /// Format of the log on standard error [default: human]
    #[arg(long, value_name = "FORM")]
    log: Option<Log>,
}

/// A hub's settings, each with its origin.
#[derive(Debug, Clone)]
pub(crate) struct ServeSettings {
    pub(crate) listen: Setting<SocketAddr>,
    pub(crate) database: Setting<String>,
    pub(crate) owner_name: Option<Setting<String>>,
    pub(crate) public_url: Option<Setting<String>>,
    pub(crate) behind_proxy: Setting<bool>,
    pub(crate) tls_cert: Option<Setting<String>>,
    pub(crate) tls_key: Option<Setting<String>>,
    pub(crate) allow_origin: Setting<Vec<String>>,
    pub(crate) allow_host: Setting<Vec<String>>,
    pub(crate) key_file: Setting<PathBuf>,
    pub(crate) notify_allow_host: Setting<Vec<String>>,
    pub(crate) github_client_id: Option<Setting<String>>,
    pub(crate) github_client_secret_file: Option<Setting<String>>,
    pub(crate) github_allow: Setting<Vec<String>>,
    pub(crate) github_url: Setting<String>,
    pub(crate) github_api_url: Setting<String>,
    pub(crate) log: Setting<Log>,
}

impl ServeArgs {
    /// Only the database, for commands that need nothing else.
    pub(crate) fn with_database(database: Option<String>) -> Self {
        Self { database, ..Self::default() }
    }

    /// Resolves every value.
    pub(crate) fn settle(self, layers: &Layers, data_dir: &Path) -> Result<ServeSettings, Failure> {
        let text = |key: &str, flag: Option<String>| layers.text(key, flag);
        let or =
            |given: Option<Setting<String>>, standard: &str| given.unwrap_or(Setting::standard(standard.to_owned()));
        let listen = or(text("listen", self.listen)?, LISTEN).try_map("listen", |text| {
            text.parse().map_err(|_| format!("`{text}` is not an address with a port, such as 127.0.0.1:4720"))
        })?;
        let database = format!("sqlite:{}", data_dir.join("shopfloor.db").display());
        let log =
            or(text("log", self.log.and_then(|log| Some(log.to_possible_value()?.get_name().to_owned())))?, "human");
        let settings = ServeSettings {
            listen,
            database: or(text("database", self.database)?, &database),
            owner_name: text("owner_name", self.owner_name)?,
            public_url: text("public_url", self.public_url)?,
            behind_proxy: layers.switch("behind_proxy", self.behind_proxy)?,
            tls_cert: text("tls_cert", self.tls_cert)?,
            tls_key: text("tls_key", self.tls_key)?,
            allow_origin: layers.list("allow_origin", self.allow_origin)?,
            allow_host: layers.list("allow_host", self.allow_host)?,
            key_file: or(text("key_file", self.key_file)?, &hub::key_beside(data_dir).display().to_string())
                .map(PathBuf::from),
            notify_allow_host: layers.list("notify_allow_host", self.notify_allow_host)?,
            github_client_id: text("github_client_id", self.github_client_id)?,
            github_client_secret_file: text("github_client_secret_file", self.github_client_secret_file)?,
            github_allow: layers.list("github_allow", self.github_allow)?,
            github_url: or(text("github_url", self.github_url)?, "https://github.com"),
            github_api_url: or(text("github_api_url", self.github_api_url)?, "https://api.github.com"),
            log: log.try_map("log", |text| {
                Log::from_str(&text, false).map_err(|_| format!("`{text}` is neither human nor json"))
            })?,
        };
        settings.check()?;
        Ok(settings)
    }
}

/// A GitHub application's id and secret.
pub(crate) struct GithubLogin {
    pub(crate) client_id: String,
    pub(crate) client_secret: String,
}

impl ServeSettings {
    /// Certificate and key, if both are given.
    pub(crate) fn tls(&self) -> Option<(PathBuf, PathBuf)> {
        let (cert, key) = (self.tls_cert.as_ref()?, self.tls_key.as_ref()?);
        Some((PathBuf::from(&cert.value), PathBuf::from(&key.value)))
    }

    /// The GitHub application, if given; reads its secret.
    pub(crate) fn github(&self) -> Result<Option<GithubLogin>, Failure> {
        let (Some(id), Some(path)) = (&self.github_client_id, &self.github_client_secret_file) else {
            return Ok(None);
        };
        let secret = std::fs::read_to_string(&path.value)
            .map_err(|error| Failure::usage(format!("could not read {}: {error}", path.value)))?;
        Ok(Some(GithubLogin { client_id: id.value.clone(), client_secret: secret.trim().to_owned() }))
    }

    fn check(&self) -> Result<(), Failure> {
        if let Some(name) = &self.owner_name {
            domain::text::NAME.name(&name.value).map_err(|error| {
                Failure::usage(format!("`{}` ({}) cannot be a person's name: {error}", name.value, name.origin))
            })?;
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            return Err(Failure::usage("TLS needs both --tls-cert FILE and --tls-key FILE"));
        }
        if self.github_client_id.is_some() != self.github_client_secret_file.is_some() {
            return Err(Failure::usage("GitHub needs both --github-client-id ID and --github-client-secret-file FILE"));
        }
        if self.github_client_id.is_some() && self.github_allow.value.is_empty() {
            return Err(Failure::usage("GitHub login needs at least one --github-allow")
                .advise("pass --github-allow user:NAME or org:NAME"));
        }
        let wrong = |whom: &&String| {
            !["user:", "org:"].iter().any(|kind| whom.strip_prefix(kind).is_some_and(|name| !name.is_empty()))
        };
        match self.github_allow.value.iter().find(wrong) {
            Some(whom) => Err(Failure::usage(format!("`{whom}` is neither user:NAME nor org:NAME"))),
            None => Ok(()),
        }
    }
}
