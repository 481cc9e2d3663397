//! One connection to the hub's socket; stateless.

use std::time::Duration;

use domain::{HubId, Seq};
use futures_util::{SinkExt, StreamExt};
use http::HeaderValue;
use http::header::AUTHORIZATION;
use protocol::terminal::TerminalFrame;
use protocol::{CloseCode, FromHub, PROTOCOL, Problem, ProblemKind, ToHub};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async_tls_with_config};

use crate::ClientError;
use crate::url::HubUrl;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The hub pings every 40 seconds: after a longer silence it is gone, even if the network reports nothing.
const SILENCE: Duration = Duration::from_secs(100);

/// A frame of either kind.
#[derive(Debug)]
pub enum Frame {
    /// What changed, or an answer.
    Hub(Box<FromHub>),
    /// A terminal's bytes.
    Terminal(TerminalFrame),
}

/// A connected socket; `hello` must be sent first.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    url: String,
    silence: Duration,
}

impl Socket {
    /// Connects to the hub at `hub_url` with `token`.
    pub async fn connect(hub_url: &str, token: &str) -> Result<Self, ClientError> {
        Self::open(&HubUrl::parse(hub_url)?, Some(token)).await
    }

    pub(crate) async fn open(url: &HubUrl, token: Option<&str>) -> Result<Self, ClientError> {
        // A thousand idle sockets with the default buffers of 128 KiB would take too much memory.
        Self::open_with(url, token, 8 * 1024).await
    }

    /// Like [`Socket::open`], with another read buffer size.
    pub(crate) async fn open_with(url: &HubUrl, token: Option<&str>, read_buffer: usize) -> Result<Self, ClientError> {
        let config = WebSocketConfig::default().read_buffer_size(read_buffer).write_buffer_size(0);
        let stream = open(url, "/api/ws", token, config).await?;
        Ok(Self { stream, url: url.as_str().to_owned(), silence: SILENCE })
    }

    /// Counts the hub as gone after this long without a frame or ping.
    pub fn silence_limit(mut self, limit: Duration) -> Self {
        self.silence = limit;
        self
    }

    /// Sends the first frame: asks for the full state, or for changes after `since` in the database `hub`.
    pub async fn hello(&mut self, hub: Option<HubId>, since: Option<Seq>, client: &str) -> Result<(), ClientError> {
        self.send(&ToHub::Hello { protocol: PROTOCOL, hub, since, client: Some(client.to_owned()) }).await
    }

    /// Sends one frame.
    pub async fn send(&mut self, frame: &ToHub) -> Result<(), ClientError> {
        let text = serde_json::to_string(frame)
            .map_err(|error| ClientError::Protocol(format!("the frame could not be written: {error}")))?;
        self.send_raw(Message::text(text)).await
    }

    /// Sends text as it is, to test invalid frames.
    pub async fn send_text(&mut self, text: impl Into<String>) -> Result<(), ClientError> {
        self.send_raw(Message::text(text.into())).await
    }

    /// Sends one frame of a terminal.
    pub async fn send_terminal(&mut self, frame: &TerminalFrame) -> Result<(), ClientError> {
        self.send_raw(Message::binary(frame.encode())).await
    }

    /// The next frame that is not a terminal's; `None` if the hub closed the connection.
    pub async fn next(&mut self) -> Result<Option<FromHub>, ClientError> {
        loop {
            match self.next_frame().await? {
                Some(Frame::Hub(frame)) => return Ok(Some(*frame)),
                Some(Frame::Terminal(_)) => {}
                None => return Ok(None),
            }
        }
    }

    /// The next frame; `None` if the hub closed the connection.
    pub async fn next_frame(&mut self) -> Result<Option<Frame>, ClientError> {
        loop {
            let message = match timeout(self.silence, self.stream.next()).await {
                Err(_) => {
                    let silent = format!("no data for {} seconds", self.silence.as_secs());
                    return Err(ClientError::unreachable(&self.url, silent));
                }
                Ok(None) => return Ok(None),
                Ok(Some(message)) => message.map_err(|error| ClientError::unreachable(&self.url, error))?,
            };
            match message {
                Message::Text(text) => return decode(text.as_bytes()).map(|frame| Some(Frame::Hub(Box::new(frame)))),
                Message::Binary(bytes) => {
                    let frame =
                        TerminalFrame::decode(&bytes).map_err(|error| ClientError::Protocol(error.to_string()))?;
                    return Ok(Some(Frame::Terminal(frame)));
                }
                Message::Close(frame) => return goodbye(frame).map(|()| None),
                // The library answers pings; receiving one is enough.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Closes the connection.
    pub async fn close(mut self) {
        // The hub notices in any case.
        let _ = timeout(WRITE_TIMEOUT, self.stream.close(None)).await;
    }

    async fn send_raw(&mut self, message: Message) -> Result<(), ClientError> {
        match timeout(WRITE_TIMEOUT, self.stream.send(message)).await {
            Ok(sent) => sent.map_err(|error| ClientError::unreachable(&self.url, error)),
            Err(_) => Err(ClientError::unreachable(&self.url, "the hub does not read")),
        }
    }
}

/// A WebSocket before the first frame.
pub type RawSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens one of the hub's sockets for a protocol other than [`Socket`]'s.
pub async fn dial(hub_url: &str, path: &str, token: &str, config: WebSocketConfig) -> Result<RawSocket, ClientError> {
    open(&HubUrl::parse(hub_url)?, path, Some(token), config).await
}

async fn open(
    url: &HubUrl,
    path: &str,
    token: Option<&str>,
    config: WebSocketConfig,
) -> Result<RawSocket, ClientError> {
    let connected = timeout(CONNECT_TIMEOUT, handshake(url, path, token, config)).await;
    connected.map_err(|_| ClientError::unreachable(url.as_str(), "no answer in time"))?
}

async fn handshake(
    url: &HubUrl,
    path: &str,
    token: Option<&str>,
    config: WebSocketConfig,
) -> Result<RawSocket, ClientError> {
    let lost = |error: std::io::Error| ClientError::unreachable(url.as_str(), error);
    let mut request = url
        .socket(path)
        .into_client_request()
        .map_err(|error| ClientError::Protocol(format!("could not prepare the socket: {error}")))?;
    if let Some(token) = token {
        let value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
            let detail = "the token contains invalid characters: copy it again";
            ClientError::Problem(Problem::new(ProblemKind::Unauthenticated, detail))
        })?;
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    crate::tls::choose_provider();
    let stream = TcpStream::connect(url.address()).await.map_err(lost)?;
    stream.set_nodelay(true).map_err(lost)?;
    let connected = client_async_tls_with_config(request, stream, Some(config), None).await;
    connected.map(|(stream, _)| stream).map_err(|error| refused(url, error))
}

fn refused(url: &HubUrl, error: tungstenite::Error) -> ClientError {
    let tungstenite::Error::Http(response) = error else {
        return ClientError::unreachable(url.as_str(), error);
    };
    let body = response.body().as_deref().unwrap_or_default();
    match (serde_json::from_slice::<Problem>(body), response.status().as_u16()) {
        (Ok(problem), _) => ClientError::Problem(problem),
        (Err(_), 401) => ended(),
        (Err(_), status @ 502..=504) => ClientError::unreachable(url.as_str(), format!("it answered {status}")),
        (Err(_), status) => {
            ClientError::Protocol(format!("{} answered {status}: is it a Shopfloor hub?", url.as_str()))
        }
    }
}

fn decode(bytes: &[u8]) -> Result<FromHub, ClientError> {
    serde_json::from_slice(bytes)
        .map_err(|error| ClientError::Protocol(format!("a frame of the hub could not be read: {error}")))
}

fn goodbye(frame: Option<CloseFrame>) -> Result<(), ClientError> {
    match frame {
        Some(frame) if u16::from(frame.code) == CloseCode::Unauthenticated.code() => Err(ended()),
        _ => Ok(()),
    }
}

fn ended() -> ClientError {
    let detail = "the hub refused this token: it was revoked, has expired, or belongs to another hub";
    ClientError::Problem(Problem::new(ProblemKind::Unauthenticated, detail))
}
