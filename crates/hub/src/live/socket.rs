//! One client's socket, from `hello` to the end.
//!
//! It exists only with a valid credential: there is no unauthenticated state to get wrong. One task reads frames, runs
//! verbs, and sends; a client that does not read is disconnected at the write deadline and resumes from its position.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use domain::{Actor, UserId};
use futures_util::SinkExt;
use protocol::{CloseCode, FromHub, PROTOCOL, Problem, ProblemKind, ToHub, decode_to_hub};
use store::{Caller, Credential};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::channels::Channels;
use super::feed::{Batch, Feed};
use super::log::encode;
use super::presence::ConnectionId;
use super::terminals;
use crate::AppError;
use crate::hub::Hub;

/// How long a client may take to send `hello`.
const HELLO: Duration = Duration::from_secs(5);
/// How often a quiet client is pinged, and how long it may take to answer.
const PING: Duration = Duration::from_secs(40);
const SILENCE: Duration = Duration::from_secs(90);
/// How long one write may take before the client counts as stalled.
const WRITE: Duration = Duration::from_secs(10);
/// How many requests of one client run at once; further ones wait in the socket.
const IN_FLIGHT: usize = 32;
/// How many unreadable frames end a connection.
const GARBAGE: u32 = 100;

/// Why a socket ends; `None`: the client disconnected.
pub(crate) type End = Option<(CloseCode, &'static str)>;

/// Subscription to ended credentials.
pub(crate) type Revocations = Receiver<Arc<Vec<String>>>;

/// Serves one client until it disconnects, its credential ends, or the hub stops.
///
/// `revoked` was subscribed before the credential was checked, so that an end in between is noticed.
pub(crate) async fn serve(
    hub: Arc<Hub>,
    credential: Credential,
    origin: String,
    revoked: Revocations,
    socket: WebSocket,
) {
    let caller = credential.caller(origin);
    let connection = hub.live.presence.id();
    let over = over(hub.clone(), credential.clone(), revoked);
    let (inner, heard) = (socket, Instant::now());
    let channels = Channels::default();
    let mut socket = Socket { hub, credential, caller, connection, inner, garbage: 0, heard, entered: false, channels };
    // The connection ends with its credential, even in the middle of a write.
    let end = tokio::select! {
        biased;
        end = over => end,
        end = socket.converse() => end,
    };
    Box::pin(socket.leave()).await;
    if let Some((code, reason)) = end {
        let frame = CloseFrame { code: code.code(), reason: Utf8Bytes::from_static(reason) };
        // The client may already be gone.
        let _ = timeout(Duration::from_secs(1), socket.inner.send(Message::Close(Some(frame)))).await;
    }
}

/// Waits until the credential is no longer valid, or the hub stops.
pub(crate) async fn over(hub: Arc<Hub>, credential: Credential, mut revoked: Revocations) -> End {
    let expired = async {
        let Some(at) = credential.expires_at else { return std::future::pending().await };
        loop {
            let left = at.as_millis() - hub.store.now().as_millis();
            match u64::try_from(left) {
                // Checked regularly: the clock may be set meanwhile.
                Ok(left) if left > 0 => tokio::time::sleep(Duration::from_millis(left).min(PING)).await,
                _ => return,
            }
        }
    };
    let ended = async {
        loop {
            match revoked.recv().await {
                Ok(ids) => {
                    if ids.iter().any(|id| *id == credential.id || *id == credential.depends_on) {
                        return Some((CloseCode::Unauthenticated, "the credential ended"));
                    }
                }
                // Too many at once to follow: the client must show its credential again.
                Err(_) => return Some((CloseCode::GoingAway, "reconnect")),
            }
        }
    };
    tokio::select! {
        biased;
        () = hub.stopping.cancelled() => Some((CloseCode::GoingAway, "the hub is stopping")),
        end = ended => end,
        () = expired => Some((CloseCode::Unauthenticated, "the credential expired")),
    }
}

struct Socket {
    hub: Arc<Hub>,
    credential: Credential,
    caller: Caller,
    connection: ConnectionId,
    inner: WebSocket,
    garbage: u32,
    heard: Instant,
    entered: bool,
    channels: Channels,
}

/// Running requests, each in its own task: while this one waits for the database, they continue and release what they
/// hold of it. They end with the connection.
type Pending = JoinSet<Utf8Bytes>;

impl Socket {
    fn user(&self) -> Option<UserId> {
        match self.credential.actor {
            Actor::User { id, .. } => Some(id),
            Actor::Observer { .. } | Actor::Agent { .. } | Actor::Runner { .. } => None,
        }
    }

    /// Rare paths are boxed here and in [`Socket::run`], so that a quiet connection stays small.
    async fn converse(&mut self) -> End {
        match Box::pin(self.greet()).await {
            Ok(feed) => {
                Box::pin(self.enter()).await;
                self.run(feed).await
            }
            Err(end) => end,
        }
    }

    /// Waits for `hello` and sends the full state or the missed changes.
    async fn greet(&mut self) -> Result<Feed, End> {
        let first = timeout(HELLO, self.inner.recv()).await;
        let bytes = match first {
            Err(_) => return Err(Some((CloseCode::Protocol, "no hello in time"))),
            Ok(Some(Ok(Message::Text(text)))) => text,
            Ok(Some(Ok(_))) => return Err(Some((CloseCode::Protocol, "the first frame must be hello"))),
            Ok(_) => return Err(None),
        };
        let (protocol, database, since) = match decode_to_hub(bytes.as_bytes()) {
            Ok(ToHub::Hello { protocol, hub, since, .. }) => (protocol, hub, since),
            Ok(_) => return Err(Some((CloseCode::Protocol, "the first frame must be hello"))),
            Err((id, problem)) => {
                self.send(encode(&FromHub::Error { id, problem })).await?;
                return Err(Some((CloseCode::Protocol, "the first frame must be hello")));
            }
        };
        if protocol != PROTOCOL {
            let detail = format!("this hub speaks protocol {PROTOCOL}, not {protocol}: update the older program");
            self.send(encode(&FromHub::Error { id: None, problem: Problem::new(ProblemKind::Protocol, detail) }))
                .await?;
            return Err(Some((CloseCode::Protocol, "another protocol version")));
        }
        let hub = self.hub.clone();
        let failed = |error: AppError| {
            tracing::warn!(%error, "could not greet a client");
            Some((CloseCode::GoingAway, "the hub cannot read its database now"))
        };
        let me = hub.me(&self.credential, &self.caller).await.map_err(failed)?;
        let actor = self.credential.actor;
        let resumed = Feed::resume(&hub, actor, &self.caller, database, since).await.map_err(|e| failed(e.into()))?;
        let welcome = FromHub::Welcome { protocol, hub: hub.store.hub(), me, resumed: resumed.is_some() };
        self.send(encode(&welcome)).await?;
        let mut feed = match resumed {
            Some(feed) => feed,
            None => self.sync().await?,
        };
        self.catch_up(&mut feed).await?;
        self.send(encode(&FromHub::Live { seq: feed.cursor() })).await?;
        Ok(feed)
    }

    async fn sync(&mut self) -> Result<Feed, End> {
        let synced = Feed::sync(&self.hub, self.credential.actor, &self.caller).await;
        let (feed, frames) = synced.map_err(|error| {
            tracing::warn!(%error, "could not sync a client");
            Some((CloseCode::GoingAway, "the hub cannot read its database now"))
        })?;
        self.send_all(frames).await?;
        Ok(feed)
    }

    /// Sends unseen changes until none is left.
    async fn catch_up(&mut self, feed: &mut Feed) -> Result<(), End> {
        while self.step(feed).await? {}
        Ok(())
    }

    /// Sends some unseen changes; `false`: none is left.
    async fn step(&mut self, feed: &mut Feed) -> Result<bool, End> {
        match feed.next(&self.hub).await {
            Ok(Some(Batch::Live)) => Ok(false),
            Ok(Some(Batch::Frames(frames))) => self.send_all(frames).await.map(|()| true),
            Ok(None) => {
                *feed = self.sync().await?;
                self.send(encode(&FromHub::Live { seq: feed.cursor() })).await?;
                Ok(true)
            }
            Err(error) => {
                tracing::warn!(%error, "could not send new changes to a client");
                Err(Some((CloseCode::GoingAway, "the hub cannot read its database now")))
            }
        }
    }

    async fn enter(&mut self) {
        self.entered = true;
        if let Some(user) = self.user() {
            self.hub.live.presence.enter(user);
            self.hub.touch(user.to_string());
        }
    }

    async fn leave(&mut self) {
        if !std::mem::take(&mut self.entered) {
            return;
        }
        if let Some(user) = self.user()
            && self.hub.live.presence.leave(user, self.connection)
        {
            self.hub.touch(user.to_string());
        }
    }

    async fn run(&mut self, mut feed: Feed) -> End {
        let mut newest = self.hub.live.watch();
        let mut presence = self.hub.live.presence.watch();
        let mut ping = interval_at(Instant::now() + PING, PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut pending = Pending::new();
        let mut behind = false;
        if let Err(end) = Box::pin(self.send_everybody()).await {
            return end;
        }
        loop {
            // In no order: neither a flood of changes nor one of requests starves the other.
            let done = tokio::select! {
                Some(answer) = pending.join_next() => match answer {
                    Ok(answer) => Box::pin(self.send(answer)).await,
                    Err(error) => {
                        tracing::error!(%error, "a request ended without an answer");
                        Err(Some((CloseCode::GoingAway, "a request ended without an answer")))
                    }
                },
                _ = newest.changed(), if !behind => {
                    behind = true;
                    self.channels.reconsider();
                    Ok(())
                }
                () = self.channels.woken() => {
                    let messages = self.channels.pump(&self.hub, &self.credential.actor);
                    Box::pin(self.write_all(messages)).await
                }
                () = std::future::ready(()), if behind => Box::pin(self.step(&mut feed)).await.map(|more| behind = more),
                frame = self.inner.recv(), if pending.len() < IN_FLIGHT => {
                    Box::pin(self.on_frame(frame, &mut pending)).await
                }
                user = presence.recv() => Box::pin(self.on_presence(user)).await,
                _ = ping.tick() => Box::pin(self.on_ping()).await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn on_frame(
        &mut self,
        frame: Option<Result<Message, axum::Error>>,
        pending: &mut Pending,
    ) -> Result<(), End> {
        self.heard = Instant::now();
        let text = match frame {
            Some(Ok(Message::Text(text))) => text,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(()),
            Some(Ok(Message::Binary(bytes))) => {
                if let Err(error) = self.hub.meter(&self.credential) {
                    return self.send(encode(&FromHub::Error { id: None, problem: error.into_problem() })).await;
                }
                return match self.channels.on_frame(&self.credential.actor, &bytes) {
                    Ok(()) => Ok(()),
                    Err(problem) => self.refuse(None, problem).await,
                };
            }
            Some(Ok(Message::Close(_))) | None => return Err(None),
            Some(Err(error)) => return Err(end_of(&error)),
        };
        match decode_to_hub(text.as_bytes()) {
            Ok(ToHub::Hello { .. }) => Err(Some((CloseCode::Protocol, "a second hello"))),
            Ok(ToHub::Look { at, visible }) => {
                if let Err(error) = self.hub.meter(&self.credential) {
                    return self.send(encode(&FromHub::Error { id: None, problem: error.into_problem() })).await;
                }
                let at = at.filter(|place| self.hub.live.sees(&self.credential.actor, place.project));
                if let Some(user) = self.user() {
                    self.hub.live.presence.look(user, self.connection, at, visible);
                }
                Ok(())
            }
            Ok(ToHub::Watch { channel, session, from }) => {
                if let Err(error) = self.hub.meter(&self.credential) {
                    let problem = error.into_problem();
                    return self.send(encode(&FromHub::Unwatched { channel, problem })).await;
                }
                let (hub, caller, wanted) = (&self.hub, &self.caller, (channel, session, from));
                let opening = async |wake| terminals::watch(hub.clone(), caller, wanted, wake).await;
                match self.channels.open(channel, opening).await {
                    Some(frame) => self.send(encode(&frame)).await,
                    None => Ok(()),
                }
            }
            Ok(ToHub::Unwatch { channel }) => {
                self.channels.close(channel);
                Ok(())
            }
            Ok(ToHub::Resize { channel, cols, rows, take }) => {
                if let Err(error) = self.hub.meter(&self.credential) {
                    return self.send(encode(&FromHub::Error { id: None, problem: error.into_problem() })).await;
                }
                self.channels.resize(channel, (cols, rows), take);
                Ok(())
            }
            Ok(ToHub::Request { id, key, call }) => {
                if let Err(error) = self.hub.meter(&self.credential) {
                    return self.send(encode(&FromHub::Error { id: Some(id), problem: error.into_problem() })).await;
                }
                let (hub, credential, caller) = (self.hub.clone(), self.credential.clone(), self.caller.clone());
                pending.spawn(async move {
                    let frame = match crate::app::run(&hub, &credential, &caller, key, call).await {
                        Ok(answer) => FromHub::Answer { id, answer },
                        Err(error) => FromHub::Error { id: Some(id), problem: error.into_problem() },
                    };
                    encode(&frame)
                });
                Ok(())
            }
            Err((id, problem)) => self.refuse(id, problem).await,
        }
    }

    /// Answers an unreadable frame; a client that sends nothing else is disconnected.
    async fn refuse(&mut self, id: Option<u32>, problem: Problem) -> Result<(), End> {
        self.garbage += 1;
        if self.garbage > GARBAGE {
            return Err(Some((CloseCode::Protocol, "too many unreadable frames")));
        }
        self.send(encode(&FromHub::Error { id, problem })).await
    }

    async fn on_presence(&mut self, user: Result<UserId, RecvError>) -> Result<(), End> {
        if self.user().is_none() {
            return Ok(());
        }
        match user {
            Ok(user) => {
                let entries = vec![self.hub.live.presence.entry(&self.hub.live, &self.credential.actor, user)];
                self.send(encode(&FromHub::Presence { reset: false, entries })).await
            }
            Err(_) => self.send_everybody().await,
        }
    }

    async fn send_everybody(&mut self) -> Result<(), End> {
        if self.user().is_none() {
            return Ok(());
        }
        let entries = self.hub.live.presence.everybody(&self.hub.live, &self.credential.actor);
        self.send(encode(&FromHub::Presence { reset: true, entries })).await
    }

    async fn on_ping(&mut self) -> Result<(), End> {
        if self.heard.elapsed() > SILENCE {
            return Err(Some((CloseCode::TooSlow, "no answer to a ping")));
        }
        self.hub.touch(self.credential.id.clone());
        self.write(vec![Message::Ping(Default::default())]).await
    }

    async fn send(&mut self, frame: Utf8Bytes) -> Result<(), End> {
        self.write(vec![Message::Text(frame)]).await
    }

    async fn send_all(&mut self, frames: Vec<Utf8Bytes>) -> Result<(), End> {
        self.write_all(frames.into_iter().map(Message::Text).collect()).await
    }

    async fn write_all(&mut self, messages: Vec<Message>) -> Result<(), End> {
        if messages.is_empty() { Ok(()) } else { self.write(messages).await }
    }

    /// Writes messages with one flush, by the deadline.
    async fn write(&mut self, messages: Vec<Message>) -> Result<(), End> {
        let inner = &mut self.inner;
        let written = timeout(WRITE, async {
            for message in messages {
                inner.feed(message).await?;
            }
            inner.flush().await
        });
        match written.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(None),
            Err(_) => Err(Some((CloseCode::TooSlow, "the client did not read in time"))),
        }
    }
}

/// Distinguishes a frame that was too large from a broken connection.
fn end_of(error: &axum::Error) -> End {
    let text = error.to_string();
    if text.contains("too long") || text.contains("too large") || text.contains("Space limit") {
        Some((CloseCode::TooLarge, "a frame was larger than 1 MiB"))
    } else if text.contains("UTF-8") || text.contains("utf-8") {
        Some((CloseCode::Protocol, "a text frame was not UTF-8"))
    } else if text.contains("protocol") {
        Some((CloseCode::Protocol, "the frame was malformed"))
    } else {
        None
    }
}
