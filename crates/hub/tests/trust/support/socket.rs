//! A raw socket to a hub: any headers, any bytes, and what came back.

use std::collections::VecDeque;
use std::time::Duration;

use domain::SessionId;
use futures_util::{SinkExt, StreamExt};
use protocol::terminal::TerminalFrame;
use protocol::{Answer, Call, Change, Delta, FromHub, PROTOCOL, Problem, ProblemKind, ToHub};
use reqwest::header::HeaderMap;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Credential;

/// How long a frame may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A socket to a hub.
pub(crate) struct Socket {
    pub(crate) stream: WebSocketStream<TcpStream>,
    /// Frames that came while another one was waited for.
    pub(crate) early: VecDeque<FromHub>,
    /// What came of terminals meanwhile.
    pub(crate) shown: VecDeque<Shown>,
    next_id: u32,
}

/// What came next.
#[derive(Debug, PartialEq)]
pub(crate) enum Came {
    Frame(Box<FromHub>),
    /// The hub closed; `None`: without saying why.
    Closed(Option<u16>),
}

/// What came of a terminal.
#[derive(Debug, PartialEq)]
pub(crate) enum Shown {
    /// `watching`: the channel, and whether the client may type and the runner is there.
    Watching {
        channel: u32,
        may_type: bool,
        reachable: bool,
    },
    /// `unwatched`: the channel and the problem's kind.
    Unwatched(u32, ProblemKind),
    Frame(TerminalFrame),
}

impl Socket {
    /// Connects; `Err` is the status of the refusal.
    pub(crate) async fn connect(url: &str, credential: &Credential) -> Result<Self, u16> {
        Self::with_headers(url, credential.headers(url)).await
    }

    /// Connects with exactly these headers besides those of a handshake.
    pub(crate) async fn with_headers(url: &str, headers: HeaderMap) -> Result<Self, u16> {
        Self::with_buffer(url, headers, None).await
    }

    /// Connects with a receive buffer of a size of the test's choice.
    pub(crate) async fn with_buffer(url: &str, headers: HeaderMap, buffer: Option<u32>) -> Result<Self, u16> {
        let address = url.strip_prefix("http://").expect("a test's hub speaks plain HTTP");
        let mut request = format!("ws://{address}/api/ws").into_client_request().expect("the URL is one");
        request.headers_mut().extend(headers);
        let socket = TcpSocket::new_v4().expect("a socket can be made");
        if let Some(size) = buffer {
            socket.set_recv_buffer_size(size).expect("the buffer can be made small");
        }
        let stream = socket.connect(address.parse().expect("an address")).await.expect("the hub listens");
        stream.set_nodelay(true).expect("no delay");
        match client_async(request, stream).await {
            Ok((stream, _)) => Ok(Self { stream, early: VecDeque::new(), shown: VecDeque::new(), next_id: 0 }),
            Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("the handshake failed: {error}"),
        }
    }

    /// A socket that has said hello and has everything; its state is in `early`.
    pub(crate) async fn live(url: &str, credential: &Credential) -> Self {
        let mut socket = Self::connect(url, credential).await.expect("the hub lets in");
        socket.hello(None).await;
        socket.until_live().await;
        socket
    }

    /// Says hello, with what was seen before.
    pub(crate) async fn hello(&mut self, seen: Option<(domain::HubId, domain::Seq)>) {
        let (hub, since) = (seen.map(|(hub, _)| hub), seen.map(|(_, seq)| seq));
        self.send(&ToHub::Hello { protocol: PROTOCOL, hub, since, client: Some("test".into()) }).await;
    }

    /// Keeps frames until `live` has come, and returns it.
    pub(crate) async fn until_live(&mut self) -> domain::Seq {
        loop {
            match self.fresh().await {
                Came::Frame(frame) => {
                    let live = if let FromHub::Live { seq } = *frame { Some(seq) } else { None };
                    self.early.push_back(*frame);
                    if let Some(seq) = live {
                        return seq;
                    }
                }
                Came::Closed(code) => panic!("closed with {code:?} before live"),
            }
        }
    }

    /// Sends a frame.
    pub(crate) async fn send(&mut self, frame: &ToHub) {
        self.text(serde_json::to_string(frame).expect("frames are JSON")).await;
    }

    /// Sends text as it is.
    pub(crate) async fn text(&mut self, text: impl Into<String>) {
        self.raw(Message::text(text.into())).await;
    }

    /// Sends any message; that the hub has closed meanwhile shows in what comes next.
    pub(crate) async fn raw(&mut self, message: Message) {
        let _ = self.stream.send(message).await;
    }

    /// The next frame, whether kept or fresh.
    pub(crate) async fn next(&mut self) -> Came {
        match self.early.pop_front() {
            Some(frame) => Came::Frame(Box::new(frame)),
            None => self.fresh().await,
        }
    }

    /// The next frame from the network.
    pub(crate) async fn fresh(&mut self) -> Came {
        loop {
            if let Some(came) = self.read().await {
                return came;
            }
        }
    }

    /// Watches a session on a channel.
    pub(crate) async fn watch(&mut self, channel: u32, session: SessionId, from: Option<u64>) {
        self.send(&ToHub::Watch { channel, session, from }).await;
    }

    /// Sends a terminal frame.
    pub(crate) async fn frame(&mut self, frame: &TerminalFrame) {
        self.raw(Message::binary(frame.encode())).await;
    }

    /// What comes next of terminals; other frames are kept.
    pub(crate) async fn shown(&mut self) -> Shown {
        loop {
            if let Some(shown) = self.shown.pop_front() {
                return shown;
            }
            match self.read().await {
                Some(Came::Frame(frame)) => self.early.push_back(*frame),
                Some(Came::Closed(code)) => panic!("closed with {code:?} while waiting for a terminal"),
                None => {}
            }
        }
    }

    /// The next frame of a terminal.
    pub(crate) async fn terminal(&mut self) -> TerminalFrame {
        match self.shown().await {
            Shown::Frame(frame) => frame,
            other => panic!("no frame but {other:?}"),
        }
    }

    /// The next message; `None`: it is kept in `shown`, or is none for the test.
    async fn read(&mut self) -> Option<Came> {
        let message = tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("the hub says something");
        match message {
            Some(Ok(Message::Text(text))) => {
                let shown = match serde_json::from_str(text.as_str()).expect("the hub's frames are readable") {
                    FromHub::Watching { channel, may_type, reachable, .. } => {
                        Shown::Watching { channel, may_type, reachable }
                    }
                    FromHub::Unwatched { channel, problem } => Shown::Unwatched(channel, problem.kind),
                    frame => return Some(Came::Frame(Box::new(frame))),
                };
                self.shown.push_back(shown);
                None
            }
            Some(Ok(Message::Binary(bytes))) => {
                let frame = TerminalFrame::decode(&bytes).expect("the hub's frames are readable");
                self.shown.push_back(Shown::Frame(frame));
                None
            }
            Some(Ok(Message::Close(frame))) => Some(Came::Closed(frame.map(|frame| frame.code.into()))),
            Some(Ok(_)) => None,
            Some(Err(_)) | None => Some(Came::Closed(None)),
        }
    }

    /// Reads on until the hub closes; returns the frames and the code.
    pub(crate) async fn until_closed(&mut self) -> (Vec<FromHub>, Option<u16>) {
        let mut frames = Vec::new();
        loop {
            match self.next().await {
                Came::Frame(frame) => frames.push(*frame),
                Came::Closed(code) => return (frames, code),
            }
        }
    }

    /// Asks a verb and waits for its answer; other frames are kept.
    pub(crate) async fn ask(&mut self, call: Call) -> Result<Answer, Problem> {
        self.ask_with_key(call, None).await
    }

    /// The same with an idempotency key.
    pub(crate) async fn ask_with_key(&mut self, call: Call, key: Option<&str>) -> Result<Answer, Problem> {
        self.next_id += 1;
        let wanted = self.next_id;
        self.send(&ToHub::Request { id: wanted, key: key.map(str::to_owned), call }).await;
        loop {
            match self.fresh().await {
                Came::Frame(frame) => match *frame {
                    FromHub::Answer { id, answer } if id == wanted => return Ok(answer),
                    FromHub::Error { id, problem } if id == Some(wanted) => return Err(problem),
                    other => self.early.push_back(other),
                },
                Came::Closed(code) => panic!("closed with {code:?} before the answer"),
            }
        }
    }

    /// Takes frames up to and including the first delta that `wanted` accepts.
    pub(crate) async fn until(&mut self, what: &str, mut wanted: impl FnMut(&FromHub) -> bool) -> Vec<FromHub> {
        let mut frames = Vec::new();
        loop {
            match self.next().await {
                Came::Frame(frame) => {
                    let found = wanted(&frame);
                    frames.push(*frame);
                    if found {
                        return frames;
                    }
                }
                Came::Closed(code) => panic!("closed with {code:?} while waiting for {what}"),
            }
        }
    }

    /// Takes frames until a message with this text, which is the last.
    pub(crate) async fn until_message(&mut self, content: &str) -> Vec<FromHub> {
        self.until(content, |frame| match change(frame) {
            Some(Change::Message { message, .. }) => message.content == content,
            _ => false,
        })
        .await
    }
}

/// The change that a delta carries.
pub(crate) fn change(frame: &FromHub) -> Option<&Change> {
    match frame {
        FromHub::Delta(Delta { change, .. }) => Some(change),
        _ => None,
    }
}
