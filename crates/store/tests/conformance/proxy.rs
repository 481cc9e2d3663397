//! A proxy between the store and PostgreSQL that loses or delays a commit on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};

pub(crate) struct Proxy {
    url: String,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told {
    swallow: AtomicBool,
    freeze: AtomicBool,
}

impl Proxy {
    /// Listens on a free port; `url` is of a server on a Unix socket.
    pub(crate) async fn start(url: &str) -> Self {
        let (address, socket) = url.split_once("?host=").unwrap();
        let socket = format!("{socket}/.s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("{}?sslmode=disable", address.replace("localhost", &format!("127.0.0.1:{port}")));
        let told = Arc::new(Told::default());
        let proxy = Self { url, told: told.clone() };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = UnixStream::connect(&socket).await.unwrap();
                tokio::spawn(relay(client, server, told.clone()));
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Forwards the next commit to the server, and closes the connection instead of forwarding the answer.
    pub(crate) fn swallow_next_commit(&self) {
        self.told.swallow.store(true, Ordering::SeqCst);
    }

    /// Never forwards the next commit, with its connection open, as if the hub or the network had stopped.
    pub(crate) fn freeze_next_commit(&self) {
        self.told.freeze.store(true, Ordering::SeqCst);
    }
}

async fn relay(mut client: TcpStream, mut server: UnixStream, told: Arc<Told>) {
    let (mut asked, mut answered) = ([0; 65536], [0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let commit = asked[..length].windows(7).any(|bytes| bytes == b"COMMIT\0");
                if commit && told.freeze.swap(false, Ordering::SeqCst) {
                    std::future::pending::<()>().await;
                }
                server.write_all(&asked[..length]).await.unwrap();
                if commit && told.swallow.swap(false, Ordering::SeqCst) {
                    // The server's answer shows that the commit is durable.
                    assert_ne!(server.read(&mut answered).await.unwrap(), 0);
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                client.write_all(&answered[..length]).await.unwrap();
            }
        }
    }
}
