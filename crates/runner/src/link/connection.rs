//! One connection: hello, then frames in both directions until it fails.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use domain::UserId;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use protocol::link::{FromRunner, MAX_LINK_FRAME, RunnerNamed, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{CloseCode, PROTOCOL, RunnerAbout};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::sending::Outgoing;
use super::{Cut, Ear, Link, LinkError};
use crate::Options;
use crate::journal::{Change, Journal};
use crate::options::Patience;

/// How many facts to read from the journal at once.
const BATCH: u32 = 64;

/// Maximum size of the kernel's send buffer.
const IN_FLIGHT: usize = 256 * 1024;

/// Time limit of the hub's answer.
const SLACK: Duration = Duration::from_secs(1);

type Sink = SplitSink<client::RawSocket, Message>;
type Stream = SplitStream<client::RawSocket>;

/// Connects and serves the connection until it ends; always returns a reason. `welcomed` is when the hub's welcome came.
pub(super) async fn once(
    options: &Options,
    journal: &Journal,
    about: &mut watch::Receiver<RunnerAbout>,
    ear: &dyn Ear,
    welcomed: &mut Option<Instant>,
) -> Result<Infallible, LinkError> {
    let config = WebSocketConfig::default()
        .read_buffer_size(8 * 1024)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_LINK_FRAME))
        .max_frame_size(Some(MAX_LINK_FRAME));
    let socket = client::dial(&options.hub, "/api/link", options.token.expose(), config).await?;
    keep_short(&socket);
    let (mut sink, mut stream) = socket.split();
    let newest = about.borrow_and_update().clone();
    let greeted = Instant::now();
    let (owner, acknowledged) = greet(&mut sink, &mut stream, journal, &newest, options).await?;
    *welcomed = Some(Instant::now());
    tracing::info!(hub = options.hub, "linked to the hub");
    let link = Link::new();
    let _over = Over { link: &link, ear };
    ear.connected(&link, owner);
    ear.answered(greeted);
    let beats = Beats::default();
    tokio::select! {
        ended = write(&mut sink, &link) => ended,
        ended = read(&mut stream, &link, ear, &beats, options.patience) => ended,
        ended = heartbeat(&link, ear, &beats, options.patience) => ended,
        ended = tell_facts(&link, journal, acknowledged) => ended,
        ended = tell_news(&link, about) => ended,
    }
}

/// Frames in the kernel's buffer cannot be overtaken, so keep it small.
fn keep_short(socket: &client::RawSocket) {
    let stream = match socket.get_ref() {
        MaybeTlsStream::Plain(stream) => stream,
        MaybeTlsStream::Rustls(stream) => stream.get_ref().0,
        _ => return,
    };
    if let Err(error) = rustix::net::sockopt::set_socket_send_buffer_size(stream, IN_FLIGHT) {
        tracing::debug!(%error, "could not shrink the socket's buffer");
    }
}

/// Closes the link when its connection ends.
struct Over<'a> {
    link: &'a Link,
    ear: &'a dyn Ear,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.link.cut();
        self.ear.disconnected();
    }
}

/// Sends hello and receives the welcome: the runner's owner, and how many facts the hub has.
async fn greet(
    sink: &mut Sink,
    stream: &mut Stream,
    journal: &Journal,
    about: &RunnerAbout,
    options: &Options,
) -> Result<(UserId, u64), LinkError> {
    let head = journal.head().await?;
    let (about, name) = (about.clone(), options.name.clone());
    let hello = FromRunner::Hello { protocol: PROTOCOL, journal: head.journal, about, name };
    put(sink, Outgoing::Text(encode(&hello)?)).await?;
    let (version, hub, owner, acknowledged, named) = loop {
        match next(stream, options.patience).await? {
            Heard::Frame(frame) => match *frame {
                ToRunner::Welcome { protocol, hub, owner, acknowledged, named, .. } => {
                    break (protocol, hub, owner, acknowledged, named);
                }
                other => tracing::debug!(?other, "ignored a frame before the welcome"),
            },
            Heard::Terminal(_) | Heard::Answer(_) | Heard::Life => {}
        }
    };
    if version != PROTOCOL {
        return Err(LinkError::Version(version, PROTOCOL));
    }
    match head.hub {
        Some(known) if known != hub => return Err(LinkError::OtherHub(known)),
        Some(_) => {}
        None => journal.write_once(&[Change::Hub(hub)], &[]).await?,
    }
    if acknowledged > head.facts || acknowledged < head.forgotten {
        journal.start_over().await?;
        return Err(LinkError::Behind);
    }
    if let Err(error) = journal.acknowledge(acknowledged).await {
        tracing::warn!(%error, "could not delete acknowledged facts; they stay for now");
    }
    if let Some(wanted) = &options.name {
        tell_name(wanted, named);
    }
    Ok((owner, acknowledged))
}

/// Logs what became of the runner's wanted name, unless it already had it.
fn tell_name(wanted: &str, named: Option<RunnerNamed>) {
    match named {
        Some(RunnerNamed { name, refused: Some(why), .. }) => {
            tracing::warn!("this runner's name is `{name}`, not `{wanted}`: {why}");
        }
        Some(RunnerNamed { name, before: Some(before), .. }) => {
            tracing::info!("this runner was registered as `{before}`; its name is now `{name}`");
        }
        Some(_) => {}
        None => {
            tracing::warn!("this hub is older and does not support --name: the runner keeps its registered name")
        }
    }
}

async fn write(sink: &mut Sink, link: &Link) -> Result<Infallible, LinkError> {
    loop {
        let frame = link.next().await.map_err(cut)?;
        put(sink, frame).await?;
    }
}

async fn read(
    stream: &mut Stream,
    link: &Link,
    ear: &dyn Ear,
    beats: &Beats,
    patience: Patience,
) -> Result<Infallible, LinkError> {
    let every = ear.every();
    loop {
        let often = *every.borrow();
        let silence = often.map_or(patience.silence, |every| (every * 2 + SLACK).min(patience.silence));
        match next(stream, Patience { silence, ..patience }).await? {
            Heard::Frame(frame) => ear.frame(link, *frame),
            Heard::Terminal(frame) => ear.terminal(frame),
            Heard::Answer(number) => {
                if let Some(sent) = beats.answered(number) {
                    ear.answered(sent);
                }
            }
            Heard::Life => {}
        }
    }
}

async fn heartbeat(link: &Link, ear: &dyn Ear, beats: &Beats, patience: Patience) -> Result<Infallible, LinkError> {
    let (mut every, mut troubles) = (ear.every(), ear.troubles());
    loop {
        let wait = every.borrow_and_update().map_or(patience.heartbeat, |every| every.min(patience.heartbeat));
        troubles.mark_unchanged();
        let beat = FromRunner::Heartbeat { silent: ear.silent(), trouble: ear.trouble() };
        link.send(&beat).await.map_err(cut)?;
        // Every WebSocket answers pings: an answer shows that the hub received everything before it.
        link.ping(beats.next()).await.map_err(cut)?;
        tokio::select! {
            () = sleep(wait) => {}
            Ok(()) = every.changed() => {}
            Ok(()) = troubles.changed() => {}
        }
    }
}

/// When unanswered pings were sent.
#[derive(Debug, Default)]
struct Beats(Mutex<(u64, BTreeMap<u64, Instant>)>);

impl Beats {
    /// The number of the next ping, sent from now on.
    fn next(&self) -> u64 {
        let mut beats = self.0.lock();
        beats.0 += 1;
        let number = beats.0;
        beats.1.insert(number, Instant::now());
        number
    }

    /// When the answered ping was sent; forgets it and earlier ones.
    fn answered(&self, number: u64) -> Option<Instant> {
        let sent = &mut self.0.lock().1;
        let at = sent.get(&number).copied();
        *sent = sent.split_off(&number.saturating_add(1));
        at
    }
}

/// Tells the hub what is new about this runner, such as an agent's version.
async fn tell_news(link: &Link, about: &mut watch::Receiver<RunnerAbout>) -> Result<Infallible, LinkError> {
    while about.changed().await.is_ok() {
        let about = about.borrow_and_update().clone();
        link.send(&FromRunner::About { about }).await.map_err(cut)?;
    }
    // Nobody looks for news any more.
    std::future::pending().await
}

async fn tell_facts(link: &Link, journal: &Journal, acknowledged: u64) -> Result<Infallible, LinkError> {
    let mut told = acknowledged;
    loop {
        let news = journal.news();
        tokio::pin!(news);
        news.as_mut().enable();
        let facts = journal.to_send(told, BATCH).await?;
        if facts.is_empty() {
            news.await;
            continue;
        }
        for fact in facts {
            told = fact.number;
            link.send(&FromRunner::Fact(fact)).await.map_err(cut)?;
        }
    }
}

enum Heard {
    Frame(Box<ToRunner>),
    Terminal(TerminalFrame),
    /// The ping with this number was answered.
    Answer(u64),
    /// The hub sent something.
    Life,
}

async fn next(stream: &mut Stream, patience: Patience) -> Result<Heard, LinkError> {
    let Ok(message) = timeout(patience.silence, stream.next()).await else {
        return Err(LinkError::Silent(patience.silence.as_secs()));
    };
    match message {
        None => Err(LinkError::Closed),
        Some(Err(error)) => Err(LinkError::Broken(error.to_string())),
        Some(Ok(Message::Text(text))) => {
            let frame = serde_json::from_str(&text).map_err(|error| LinkError::Frame(error.to_string()))?;
            Ok(Heard::Frame(frame))
        }
        Some(Ok(Message::Binary(bytes))) => {
            let frame = TerminalFrame::decode(&bytes).map_err(|error| LinkError::Frame(error.to_string()))?;
            Ok(Heard::Terminal(frame))
        }
        Some(Ok(Message::Close(frame))) => Err(match frame {
            Some(frame) if u16::from(frame.code) == CloseCode::Unauthenticated.code() => {
                LinkError::Ended(frame.reason.to_string())
            }
            Some(frame) if u16::from(frame.code) == CloseCode::Taken.code() => {
                LinkError::Taken(frame.reason.to_string())
            }
            Some(frame) if !frame.reason.is_empty() => LinkError::Broken(frame.reason.to_string()),
            _ => LinkError::Closed,
        }),
        Some(Ok(Message::Pong(number))) => {
            let number = <[u8; 8]>::try_from(number.as_ref()).map(u64::from_be_bytes);
            Ok(number.map_or(Heard::Life, Heard::Answer))
        }
        Some(Ok(Message::Ping(_) | Message::Frame(_))) => Ok(Heard::Life),
    }
}

async fn put(sink: &mut Sink, frame: Outgoing) -> Result<(), LinkError> {
    let message = match frame {
        Outgoing::Text(text) => Message::text(text),
        Outgoing::Bytes(bytes) => Message::binary(bytes),
        Outgoing::Ping(number) => Message::Ping(Bytes::copy_from_slice(&number.to_be_bytes())),
    };
    sink.send(message).await.map_err(|error| LinkError::Broken(error.to_string()))
}

fn encode(frame: &FromRunner) -> Result<String, LinkError> {
    serde_json::to_string(frame).map_err(|error| LinkError::Frame(error.to_string()))
}

fn cut(_: Cut) -> LinkError {
    LinkError::Closed
}
