//! Over https, with git's own server side behind a server that wants a password.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::serve::Listener;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;
use worktree::{CredentialHelper, Error, Location};

use super::{bench, publishes_and_lands, rerun};
use crate::support::{git, write};

const CERTIFICATE: &[u8] = include_bytes!("certificate.pem");
const KEY: &[u8] = include_bytes!("key.pem");
/// `ann:secret`, as browsers and git write it.
const LOGIN: &str = "Basic YW5uOnNlY3JldA==";

/// Connections that are encrypted.
struct Encrypted(TcpListener, TlsAcceptor);

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (stream, address) = self.0.accept().await.unwrap();
            if let Ok(stream) = self.1.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

/// Serves the repositories of a folder; returns the port.
async fn serve(folder: &Path) -> u16 {
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()];
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(chain, key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let app = Router::new().fallback(backend).with_state(folder.to_owned());
    let encrypted = Encrypted(listener, TlsAcceptor::from(Arc::new(config)));
    tokio::spawn(async move { axum::serve(encrypted, app).await.unwrap() });
    port
}

/// Answers with what git's own server side says.
async fn backend(State(folder): State<PathBuf>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let of = |name: &HeaderName| head.headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    if of(&header::AUTHORIZATION) != LOGIN {
        return (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Basic realm=\"git\"")]).into_response();
    }
    let mut command = tokio::process::Command::new("git");
    command.arg("http-backend").env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("GIT_PROJECT_ROOT", folder).env("GIT_HTTP_EXPORT_ALL", "1").env("REMOTE_USER", "ann");
    command.env("REQUEST_METHOD", head.method.as_str()).env("PATH_INFO", head.uri.path());
    command.env("QUERY_STRING", head.uri.query().unwrap_or_default()).env("CONTENT_TYPE", of(&header::CONTENT_TYPE));
    command.env("HTTP_CONTENT_ENCODING", of(&header::CONTENT_ENCODING));
    command.env("GIT_PROTOCOL", of(&HeaderName::from_static("git-protocol")));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let body = to_bytes(body, 64 << 20).await.unwrap();
    let mut input = child.stdin.take().unwrap();
    let sent = tokio::spawn(async move { input.write_all(&body).await });
    let said = child.wait_with_output().await.unwrap().stdout;
    // It may have read less than it was sent.
    let _ = sent.await.unwrap();
    let split = said.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let mut answer = Response::builder();
    for line in std::str::from_utf8(&said[..split]).unwrap().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        answer = match name {
            "Status" => answer.status(value.split_once(' ').unwrap().0),
            _ => answer.header(name, value),
        };
    }
    answer.body(Body::from(said[split + 4..].to_vec())).unwrap()
}

#[test]
fn a_branch_is_published_and_lands_over_https() {
    let home = tempfile::tempdir().unwrap();
    let certificate = home.path().join("certificate.pem");
    std::fs::write(&certificate, CERTIFICATE).unwrap();
    let env = [("HOME", home.path().into()), ("GIT_SSL_CAINFO", certificate.into()), ("NO_PROXY", "127.0.0.1".into())];
    rerun("remotes::https::published_and_landed", &env);
}

#[tokio::test]
#[ignore = "run with another environment by the test above"]
async fn published_and_landed() {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let bench = bench(false, vec![CredentialHelper::Cache, CredentialHelper::Store]).await;
    let port = serve(&bench.path()).await;
    let location: Location = format!("https://127.0.0.1:{port}/origin.git").parse().unwrap();
    let main = "main".parse().unwrap();
    let error = bench.trees.fetch_tip(&location, &main).await.unwrap_err();
    assert!(matches!(error, Error::Access { .. }) && error.to_string().contains("a credential helper"), "{error}");
    write(&home, ".git-credentials", format!("https://ann:wrong@127.0.0.1:{port}\n"));
    let error = bench.trees.fetch_tip(&location, &main).await.unwrap_err();
    assert!(matches!(error, Error::Access { .. }) && !error.to_string().contains("wrong"), "{error}");
    write(&home, ".git-credentials", format!("https://ann:secret@127.0.0.1:{port}\n"));
    // git reads no settings of the home folder.
    write(&home, ".gitconfig", "[http]\n\tproxy = http://127.0.0.1:9\n");
    publishes_and_lands(&bench, &location).await;
    let seed = bench.seed();
    git(&seed, &["fetch", "-q", "origin", "main"]);
    assert_eq!(git(&seed, &["log", "--format=%s", "-1", "FETCH_HEAD^2"]), "work");
}
