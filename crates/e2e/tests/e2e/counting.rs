//! A way from the runner to the hub that counts what the runner says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};

/// Takes a port for the runner; counts the bytes that it sends to the hub.
pub(crate) async fn start(hub: u16, said: Arc<AtomicU64>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((runner, _)) = listener.accept().await {
            let said = said.clone();
            // The hub may not be up yet: then the runner tries again.
            let Ok(hub) = TcpStream::connect(("127.0.0.1", hub)).await else { continue };
            let (mut from_runner, mut to_runner) = runner.into_split();
            let (mut from_hub, mut to_hub) = hub.into_split();
            tokio::spawn(async move { copy(&mut from_hub, &mut to_runner).await });
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                while let Ok(length @ 1..) = from_runner.read(&mut buffer).await {
                    said.fetch_add(length as u64, Ordering::Relaxed);
                    if to_hub.write_all(&buffer[..length]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}
