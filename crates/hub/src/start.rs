//! Starts and stops a hub.

use protocol::verbs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::Timestamp;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use store::{Bearer, Caller, CreateLoginLink, EnterHubOwner, OpenError, Secret, Store, StoreError};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::AppError;
use crate::background;
use crate::files::{is_full, private_folder, write_private};
use crate::http::doors::{self, DoorError, Doors};
use crate::http::github::Github;
use crate::http::router;
use crate::hub::Hub;
use crate::listen::{self, Gate};
use crate::live::Live;
use crate::notify::Notify;
use crate::options::{Options, TlsFiles};

/// Why a hub cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It would be reachable in an unsafe way.
    #[error(transparent)]
    Doors(#[from] DoorError),
    /// The address is in use or not ours.
    #[error("cannot listen on {0}: {1}; if another program uses it, choose another address with --listen")]
    Listen(SocketAddr, #[source] std::io::Error),
    /// The data directory is not usable.
    #[error("cannot use {0}: {1}")]
    Files(PathBuf, #[source] std::io::Error),
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificate or key is not usable.
    #[error("cannot use the certificate {0} and its key: {1}")]
    Tls(PathBuf, String),
    /// GitHub's addresses are invalid.
    #[error("cannot use these GitHub settings: {0}")]
    Github(String),
}

/// A running hub.
pub struct Running {
    hub: Arc<Hub>,
    address: SocketAddr,
    owner: Option<domain::UserId>,
    served: JoinHandle<()>,
    note: PathBuf,
}

/// Starts a hub; when this returns, it answers.
pub async fn start(options: Options) -> Result<Running, StartError> {
    doors::check(&options)?;
    // Another hub of this process may have installed a provider first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let data_dir = options.data_dir.clone();
    private_folder(&data_dir).map_err(|error| StartError::Files(data_dir.clone(), error))?;
    let tls = options.tls.as_ref().map(acceptor).transpose()?;
    let live = Arc::new(Live::new());
    let listener = live.clone();
    let store = Store::open(&options.database, now, move |events| listener.publish(events)).await?;
    let newest = store.extent().await?.newest;
    let keyboards = store.keyboards().await?.into_iter().map(|(session, holder, runner)| (session, (holder, runner)));
    let keyboards = keyboards.collect();
    live.begin(newest, store.project_facts().await?, store.worker_owners().await?, keyboards, store.is_shared());

    let socket = TcpListener::bind(options.listen).await.map_err(|error| StartError::Listen(options.listen, error))?;
    let bound = socket.local_addr().map_err(|error| StartError::Listen(options.listen, error))?;
    let doors = Doors::new(&options, bound)?;
    let url = doors.url().to_owned();
    let github = options.github.as_ref().map(|github| Github::new(github, &url)).transpose();
    let github = github.map_err(|error| StartError::Github(error.to_string()))?;
    let notify = Notify::new(options.key_file.clone(), &options.notify_allow_hosts);
    // Made before any sandbox starts, so that every sandbox hides it.
    if notify.key().is_err() {
        tracing::warn!("notifications on other devices are off until the key file can be used");
    }
    let stopping = CancellationToken::new();
    let hub = Arc::new(Hub::new(store, live, doors, options.limits.clone(), github, notify, stopping.clone()));

    let owner = match options.local_owner {
        true => Some(local_owner(&hub, &options).await?),
        false => None,
    };
    let gate = Gate::new(options.limits.strangers_per_address);
    let served = tokio::spawn(listen::serve(socket, tls, router(hub.clone()), gate, stopping));
    background::start(&hub);
    let note = data_dir.join("hub.json");
    let about = serde_json::json!({ "url": url, "pid": std::process::id(), "since": now(), "version": env!("CARGO_PKG_VERSION") });
    if let Err(error) = write_private(&note, &about.to_string()) {
        match is_full(&error) {
            true => {
                tracing::warn!(note = %note.display(), %error, "the disk is full; the CLI on this machine needs --hub")
            }
            false => return Err(StartError::Files(note, error)),
        }
    }
    Ok(Running { hub, address: bound, owner, served, note })
}

impl Running {
    /// The address that people use.
    pub fn url(&self) -> &str {
        self.hub.doors.url()
    }

    /// The listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A one-time link that logs a browser in as the hub owner.
    pub async fn login_link(&self) -> Result<String, AppError> {
        let owner =
            self.owner.ok_or_else(|| AppError::new(protocol::ProblemKind::NotFound, "this hub has no local owner"))?;
        let command = CreateLoginLink { user: Some(owner) };
        let link = self.hub.store.write(&Caller::hub("start"), None, command).await?;
        Ok(self.hub.doors.link("login", &link.value.link))
    }

    /// Closes connections, finishes running requests and closes the database.
    pub async fn stop(self) {
        self.hub.stopping.cancel();
        if let Err(error) = self.served.await {
            tracing::error!(%error, "the listener failed");
        }
        background::write_seen(&self.hub).await;
        self.hub.store.close().await;
        if let Err(error) = std::fs::remove_file(&self.note) {
            tracing::debug!(%error, "the note was already gone");
        }
    }

    /// Waits until the hub ends by itself, which it never should.
    pub async fn stopped(&mut self) {
        let _ = (&mut self.served).await;
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// Creates the first user, with a token beside the database for this machine's CLI.
async fn local_owner(hub: &Hub, options: &Options) -> Result<domain::UserId, StartError> {
    let by_hub = Caller::hub("start");
    let owner = hub.store.write(&by_hub, None, EnterHubOwner { name: options.owner_name.clone() }).await?.value;
    let path = options.data_dir.join("token");
    if !is_valid(hub, &path).await? {
        let caller = Caller::user(owner.id, true, owner.name, "start");
        let input = protocol::TokenCreate { name: "this machine".into(), expires_at: None };
        let made = hub.store.write(&caller, None, verbs::TokenCreate { input }).await?;
        write_private(&path, &made.value.secret).map_err(|error| StartError::Files(path, error))?;
    }
    Ok(owner.id)
}

async fn is_valid(hub: &Hub, path: &Path) -> Result<bool, StoreError> {
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(false) };
    let bearer = Bearer::Token(Secret::presented(text.trim()));
    Ok(hub.store.authenticate(&bearer).await?.is_some())
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, StartError> {
    let refuse = |reason: String| StartError::Tls(files.cert.clone(), reason);
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&files.cert).and_then(Iterator::collect);
    let chain = chain.map_err(|error| refuse(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| refuse(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| refuse(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
