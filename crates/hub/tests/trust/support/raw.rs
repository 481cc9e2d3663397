//! Requests as bytes, for what no HTTP client sends.

use testkit::TestHub;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A fresh connection to the hub.
pub(crate) async fn connect(hub: &TestHub) -> TcpStream {
    let address = hub.url().strip_prefix("http://").expect("plain HTTP");
    TcpStream::connect(address).await.expect("the hub listens")
}

/// Sends bytes and reads until the hub closes; the status of the first answer, if there is one, and all that came.
pub(crate) async fn exchange(hub: &TestHub, bytes: &[u8]) -> (Option<u16>, String) {
    let mut stream = connect(hub).await;
    // The hub may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).and_then(|code| code.parse().ok());
    (status, text)
}
