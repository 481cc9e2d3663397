//! The baseline of fan-out: a bare axum broadcast that only relays. No database, no access, no order to keep.

use axum::Router;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use axum::routing::get;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use crate::report::say;

type Relay = broadcast::Sender<Message>;

/// Serves until it is killed; prints its address.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let relay: Relay = broadcast::Sender::new(65_536);
    let router = Router::new().route("/write", get(write)).route("/read", get(read)).with_state(relay);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("relay {}", listener.local_addr()?));
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, router).await?)
}

fn small(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.read_buffer_size(4096).write_buffer_size(0).max_write_buffer_size(1 << 20)
}

async fn write(State(relay): State<Relay>, upgrade: WebSocketUpgrade) -> Response {
    small(upgrade).on_upgrade(|mut socket: WebSocket| async move {
        while let Some(Ok(message)) = socket.recv().await {
            let _ = relay.send(message);
            if socket.send(Message::Text("ok".into())).await.is_err() {
                break;
            }
        }
    })
}

async fn read(State(relay): State<Relay>, upgrade: WebSocketUpgrade) -> Response {
    let mut messages = relay.subscribe();
    small(upgrade).on_upgrade(|mut socket: WebSocket| async move {
        while let Ok(message) = messages.recv().await {
            if socket.send(message).await.is_err() {
                break;
            }
        }
    })
}
