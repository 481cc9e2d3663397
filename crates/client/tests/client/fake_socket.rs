//! A hub's socket that the test controls step by step.

use domain::{HubId, Seq, Timestamp};
use futures_util::{SinkExt, StreamExt};
use protocol::terminal::TerminalFrame;
use protocol::{Change, Delta, FromHub, Me, PROTOCOL, ToHub, decode_to_hub};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

pub(crate) struct FakeHub {
    listener: TcpListener,
    pub(crate) url: String,
    pub(crate) id: HubId,
}

impl FakeHub {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        Self { listener, url, id: HubId::generate() }
    }

    /// Accepts the next connection and its `hello`.
    pub(crate) async fn accept(&self) -> Connection {
        let (stream, _) = self.listener.accept().await.unwrap();
        let mut token = None;
        #[allow(clippy::result_large_err, reason = "the library's signature")]
        let look = |request: &Request, response: Response| {
            let shown = request.headers().get("authorization").and_then(|value| value.to_str().ok());
            token = shown.and_then(|shown| shown.strip_prefix("Bearer ")).map(str::to_owned);
            Ok(response)
        };
        let mut socket = accept_hdr_async(stream, look).await.unwrap();
        let Some(Ok(Message::Text(text))) = socket.next().await else { panic!("no hello") };
        let Ok(ToHub::Hello { protocol: PROTOCOL, hub, since, .. }) = decode_to_hub(text.as_bytes()) else {
            panic!("not a hello: {text}")
        };
        Connection { socket, hub, since, token }
    }

    /// Refuses the next connection with an HTTP response.
    pub(crate) async fn refuse(&self, response: &str) {
        let (mut stream, _) = self.listener.accept().await.unwrap();
        stream.write_all(response.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }

    pub(crate) fn welcome(&self, resumed: bool) -> FromHub {
        let me = Me { user: None, observes: None, hub: self.id, github: false, version: "0".into() };
        FromHub::Welcome { protocol: PROTOCOL, hub: self.id, me, resumed }
    }
}

pub(crate) struct Connection {
    socket: WebSocketStream<TcpStream>,
    pub(crate) hub: Option<HubId>,
    pub(crate) since: Option<Seq>,
    pub(crate) token: Option<String>,
}

/// A client's frame.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    Hub(Box<ToHub>),
    Terminal(TerminalFrame),
}

impl Connection {
    pub(crate) async fn send(&mut self, frames: &[FromHub]) {
        for frame in frames {
            self.socket.send(Message::text(serde_json::to_string(frame).unwrap())).await.unwrap();
        }
    }

    /// Sends a text as it is, for frames of a newer hub.
    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text.to_owned())).await.unwrap();
    }

    pub(crate) async fn send_terminal(&mut self, frames: &[TerminalFrame]) {
        for frame in frames {
            self.socket.send(Message::binary(frame.encode())).await.unwrap();
        }
    }

    /// The next frame of the client, in short.
    pub(crate) async fn hear(&mut self) -> Heard {
        match self.socket.next().await.unwrap().unwrap() {
            Message::Text(text) => Heard::Hub(Box::new(decode_to_hub(text.as_bytes()).unwrap())),
            Message::Binary(bytes) => Heard::Terminal(TerminalFrame::decode(&bytes).unwrap()),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn ping(&mut self) {
        self.socket.send(Message::Ping(Vec::new().into())).await.unwrap();
    }

    pub(crate) async fn close(mut self, code: u16) {
        let frame = CloseFrame { code: code.into(), reason: "".into() };
        self.socket.close(Some(frame)).await.unwrap();
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}

pub(crate) fn delta(seq: u64) -> FromHub {
    let change = Change::ProjectGone { project: domain::ProjectId::generate() };
    FromHub::Delta(Delta { seq: Seq(seq), at: Timestamp::from_millis(0), change })
}

pub(crate) fn live(seq: u64) -> FromHub {
    FromHub::Live { seq: Seq(seq) }
}

pub(crate) fn sync(seq: u64) -> FromHub {
    FromHub::Sync { seq: Seq(seq), part: 0, last: true, changes: Vec::new() }
}
