//! Accepts connections: small delays, small buffers, deadlines, and few strangers per address.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// Time limit of a request's head or a TLS handshake.
const HEAD: Duration = Duration::from_secs(10);
/// Maximum size of a request's head.
const HEAD_SIZE: usize = 16 * 1024;

/// Connections without a credential so far, oldest first, by address.
#[derive(Default)]
struct Strangers {
    next: u64,
    by_address: HashMap<IpAddr, VecDeque<(u64, CancellationToken)>>,
}

/// Keeps the number of strangers per address small: one more drops the oldest, so that half-open connections cannot
/// keep out somebody with a credential.
#[derive(Clone)]
pub(crate) struct Gate {
    strangers: Arc<Mutex<Strangers>>,
    most: usize,
}

impl Gate {
    pub(crate) fn new(most: usize) -> Self {
        Self { strangers: Arc::default(), most }
    }

    fn admit(&self, address: IpAddr) -> Peer {
        let mut strangers = self.strangers.lock();
        strangers.next += 1;
        let number = strangers.next;
        let dropped = CancellationToken::new();
        let queue = strangers.by_address.entry(address).or_default();
        queue.push_back((number, dropped.clone()));
        while queue.len() > self.most {
            if let Some((_, oldest)) = queue.pop_front() {
                oldest.cancel();
            }
        }
        Peer { address, number, dropped, gate: self.clone() }
    }

    fn forget(&self, address: IpAddr, number: u64) {
        let mut strangers = self.strangers.lock();
        if let Some(queue) = strangers.by_address.get_mut(&address) {
            queue.retain(|(known, _)| *known != number);
            if queue.is_empty() {
                strangers.by_address.remove(&address);
            }
        }
    }
}

/// The other end of a connection.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Its address.
    pub(crate) address: IpAddr,
    number: u64,
    dropped: CancellationToken,
    gate: Gate,
}

impl Peer {
    /// It showed a valid credential: it is no longer a stranger.
    pub(crate) fn is_known(&self) {
        self.gate.forget(self.address, self.number);
    }
}

/// Serves until `stopping`; returns when every connection has ended or was given up.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    gate: Gate,
    stopping: CancellationToken,
) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most likely out of file descriptors: wait until some are free.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let peer = gate.admit(address.ip());
        let (tls, router, stopping) = (tls.clone(), router.clone(), stopping.clone());
        connections.spawn(connection(stream, tls, router, peer, stopping));
    }
    connections.close();
    if tokio::time::timeout(Duration::from_secs(5), connections.wait()).await.is_err() {
        tracing::warn!("gave up on {} connections that did not end", connections.len());
    }
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    peer: Peer,
    stopping: CancellationToken,
) {
    // Small frames must not wait for the acknowledgement of the previous one.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not turn off a connection's delay");
    }
    let ended = peer.clone();
    match tls {
        None => http(stream, router, peer, stopping).await,
        Some(tls) => match tokio::time::timeout(HEAD, tls.accept(stream)).await {
            Ok(Ok(stream)) => http(stream, router, peer, stopping).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        },
    }
    ended.is_known();
}

async fn http<S>(stream: S, router: Router, peer: Peer, stopping: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let dropped = peer.dropped.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        router.clone().oneshot(request.map(Body::new))
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(serving);
    tokio::select! {
        done = serving.as_mut() => {
            if let Err(error) = done {
                tracing::debug!(%error, "a connection failed");
            }
        }
        () = dropped.cancelled() => tracing::debug!("a stranger's connection was dropped for a newer one"),
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            let _ = serving.await;
        }
    }
}
