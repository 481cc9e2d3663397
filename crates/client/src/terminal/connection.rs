//! Keeps a terminal connected.

use std::time::Duration;

use domain::{HubId, Seq, SessionId};
use protocol::terminal::TerminalFrame;
use protocol::{Change, FromHub, ToHub};
use tokio::sync::mpsc;

use super::position::{Piece, Position};
use super::{Event, Saying};
use crate::socket::Frame;
use crate::url::HubUrl;
use crate::watch::{explain, is_final};
use crate::{Backoff, ClientError, Socket, Token};

const READ_BUFFER: usize = 64 * 1024;

pub(super) struct Connection {
    url: HubUrl,
    token: Option<Token>,
    session: SessionId,
    tell: mpsc::Sender<Result<Event, ClientError>>,
    heard: mpsc::UnboundedReceiver<Saying>,
    /// Increases with each channel, so that frames of an earlier one are ignored.
    channel: u32,
    position: Position,
    size: Option<(u16, u16)>,
    /// Whether the session follows this view's size.
    took: bool,
    /// The last size sent to this hub, once it knows that we own the session.
    told: Option<Option<(u16, u16)>>,
    /// With `seen`, avoids a full sync after a reconnect: nobody here reads it.
    hub: Option<HubId>,
    seen: Option<Seq>,
    backoff: Backoff,
}

/// How a connection ended.
enum End {
    /// Final: the process ended, or the receiver is gone.
    Over,
    /// A failure.
    Broken(ClientError),
}

impl From<ClientError> for End {
    fn from(error: ClientError) -> Self {
        Self::Broken(error)
    }
}

impl Connection {
    pub(super) fn new(
        url: HubUrl,
        token: Option<Token>,
        session: SessionId,
        tell: mpsc::Sender<Result<Event, ClientError>>,
        heard: mpsc::UnboundedReceiver<Saying>,
    ) -> Self {
        let backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(15));
        let (position, size, hub, seen) = (Position::default(), None, None, None);
        Self {
            url,
            token,
            session,
            tell,
            heard,
            channel: 0,
            position,
            size,
            took: false,
            told: None,
            hub,
            seen,
            backoff,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let Err(end) = self.talk().await;
            match end {
                End::Over => return,
                End::Broken(error) if is_final(&error, self.token.as_ref()) => {
                    // The receiver may be gone.
                    let _ = self.tell.send(Err(error)).await;
                    return;
                }
                End::Broken(error) => {
                    let retry_in = self.backoff.next_wait();
                    let why = explain(&error);
                    if self.tell.send(Ok(Event::Lost { why, retry_in })).await.is_err() {
                        return;
                    }
                    tokio::time::sleep(retry_in).await;
                    self.forget_sayings();
                }
            }
        }
    }

    /// Drops keys typed without a connection: later they would mean something else.
    fn forget_sayings(&mut self) {
        while let Ok(saying) = self.heard.try_recv() {
            if let Saying::Resize { size, .. } = saying {
                self.size = Some(size);
            }
        }
    }

    async fn talk(&mut self) -> Result<std::convert::Infallible, End> {
        let secret = self.token.as_ref().map(Token::now).transpose()?;
        let mut socket = Socket::open_with(&self.url, secret.as_deref(), READ_BUFFER).await?;
        (self.told, self.took) = (None, false);
        socket.hello(self.hub, self.seen, "terminal").await?;
        self.watch(&mut socket).await?;
        loop {
            tokio::select! {
                frame = socket.next_frame() => match frame? {
                    Some(Frame::Hub(frame)) => self.hear_hub(&mut socket, *frame).await?,
                    Some(Frame::Terminal(frame)) => self.hear_terminal(&mut socket, frame).await?,
                    None => return Err(ClientError::unreachable(self.url.as_str(), "the hub closed the connection").into()),
                },
                saying = self.heard.recv() => match saying {
                    Some(saying) => self.say(&mut socket, saying).await?,
                    None => return Err(End::Over),
                },
            }
        }
    }

    async fn watch(&mut self, socket: &mut Socket) -> Result<(), ClientError> {
        self.channel += 1;
        let from = self.position.resume_from();
        socket.send(&ToHub::Watch { channel: self.channel, session: self.session, from }).await
    }

    async fn say(&mut self, socket: &mut Socket, saying: Saying) -> Result<(), ClientError> {
        let channel = self.channel;
        match saying {
            Saying::Took(offset) => socket.send_terminal(&TerminalFrame::Credit { channel, offset }).await,
            Saying::Input(bytes) => socket.send_terminal(&TerminalFrame::Input { channel, bytes }).await,
            Saying::Resize { size, take } => {
                self.size = Some(size);
                self.took |= take;
                // Before that, the hub would ignore a size.
                if self.told.is_some() { self.tell_size(socket).await } else { Ok(()) }
            }
            Saying::Refresh => self.restart_stream(socket).await,
        }
    }

    async fn tell_size(&mut self, socket: &mut Socket) -> Result<(), ClientError> {
        self.told = Some(self.size);
        let take = self.took;
        match self.size {
            Some((cols, rows)) => socket.send(&ToHub::Resize { channel: self.channel, cols, rows, take }).await,
            None => Ok(()),
        }
    }

    async fn hear_hub(&mut self, socket: &mut Socket, frame: FromHub) -> Result<(), End> {
        match frame {
            FromHub::Welcome { hub, .. } => self.hub = Some(hub),
            FromHub::Sync { changes, .. } => {
                for change in changes {
                    self.hear_change(change).await?;
                }
            }
            FromHub::Delta(delta) => self.hear_change(delta.change).await?,
            FromHub::Live { seq } => self.seen = Some(seq),
            FromHub::Watching { channel, may_type, reachable, .. } if channel == self.channel => {
                self.backoff.reset();
                let told = self.told.get_or_insert(None);
                if may_type && *told != self.size {
                    self.tell_size(socket).await?;
                }
                self.tell(Event::Watching { may_type, reachable }).await?;
            }
            FromHub::Unwatched { channel, problem } if channel == self.channel => {
                return Err(ClientError::Problem(problem).into());
            }
            FromHub::Error { id: None, problem } => return Err(ClientError::Problem(problem).into()),
            _ => {}
        }
        Ok(())
    }

    async fn hear_change(&self, change: Change) -> Result<(), End> {
        match change {
            Change::Session { session } if session.id == self.session => {
                self.tell(Event::State(Box::new(session))).await
            }
            _ => Ok(()),
        }
    }

    async fn hear_terminal(&mut self, socket: &mut Socket, frame: TerminalFrame) -> Result<(), End> {
        match frame {
            TerminalFrame::Snapshot { channel, offset, cols, rows, title, bytes } if channel == self.channel => {
                self.position.screen(offset);
                // Otherwise another view has taken the size.
                self.took &= self.size == Some((cols, rows));
                self.tell(Event::Snapshot { cols, rows, title, bytes, end: offset }).await
            }
            TerminalFrame::Data { channel, offset, mut bytes } if channel == self.channel => {
                let end = offset.saturating_add(bytes.len() as u64);
                match self.position.output(offset, bytes.len()) {
                    Piece::New(from) => {
                        bytes.drain(..from);
                        self.tell(Event::Data { bytes, end }).await
                    }
                    Piece::Old => Ok(()),
                    Piece::Gap => Ok(self.restart_stream(socket).await?),
                }
            }
            TerminalFrame::Exit { channel, code, signal, .. } if channel == self.channel => {
                self.tell(Event::Exit { code, signal }).await?;
                Err(End::Over)
            }
            _ => Ok(()),
        }
    }

    /// Requests the whole screen: a gap is never skipped.
    async fn restart_stream(&mut self, socket: &mut Socket) -> Result<(), ClientError> {
        tracing::debug!(session = %self.session, "requesting the whole screen");
        socket.send(&ToHub::Unwatch { channel: self.channel }).await?;
        self.position.forget();
        // It is another view to the hub.
        self.told = None;
        self.watch(socket).await
    }

    async fn tell(&self, event: Event) -> Result<(), End> {
        self.tell.send(Ok(event)).await.map_err(|_| End::Over)
    }
}
