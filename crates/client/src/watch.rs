//! A subscription that survives reconnects: resumes, and yields each change once.

use std::time::Duration;

use domain::{HubId, Seq};
use protocol::{Change, FromHub, ProblemKind};
use tokio::time::Instant;

use crate::seen::Seen;
use crate::url::HubUrl;
use crate::{Backoff, ClientError, Socket, Token};

/// Events of a watch.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time, on the stack of who reads it")]
pub enum Event {
    /// A frame of the hub, without deltas that were already yielded or that this version does not know.
    Frame(FromHub),
    /// The connection is lost; the next call waits and reconnects.
    Lost {
        /// The reason.
        why: String,
        /// How long until the next try.
        retry_in: Duration,
    },
}

/// A resuming subscription to everything that its token may see.
#[derive(Debug)]
pub struct Watch {
    url: HubUrl,
    token: Option<Token>,
    client: String,
    silence: Option<Duration>,
    socket: Option<Socket>,
    hub: Option<HubId>,
    seen: Seen,
    backoff: Backoff,
    not_before: Option<Instant>,
}

impl Watch {
    /// Watches the hub at `hub_url` with `token`, starting with its full state; connects on the first [`Watch::next`].
    pub fn new(hub_url: &str, token: &str) -> Result<Self, ClientError> {
        Ok(Self::start(HubUrl::parse(hub_url)?, Some(Token::Given(token.to_owned()))))
    }

    pub(crate) fn start(url: HubUrl, token: Option<Token>) -> Self {
        Self {
            url,
            token,
            client: "client".to_owned(),
            silence: None,
            socket: None,
            hub: None,
            seen: Seen::default(),
            backoff: Backoff::new(Duration::from_millis(200), Duration::from_secs(15)),
            not_before: None,
        }
    }

    /// Starts after change `since` of the database `hub` instead of with the full state.
    pub fn resume(mut self, hub: HubId, since: Seq) -> Self {
        self.hub = Some(hub);
        self.seen = Seen::up_to(since);
        self
    }

    /// Sets this client's name in the hub's log.
    pub fn named(mut self, client: &str) -> Self {
        client.clone_into(&mut self.client);
        self
    }

    /// Counts the hub as gone after this long without a frame or ping; 60 seconds by default.
    pub fn silence_limit(mut self, limit: Duration) -> Self {
        self.silence = Some(limit);
        self
    }

    /// The newest change that was yielded.
    pub fn position(&self) -> Option<Seq> {
        self.seen.newest()
    }

    /// The next frame, or that the connection was lost. An error is final.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        loop {
            match self.step().await {
                Ok(Some(frame)) => return Ok(Event::Frame(frame)),
                Ok(None) => {}
                Err(error) if is_final(&error, self.token.as_ref()) => {
                    self.socket = None;
                    return Err(error);
                }
                Err(error) => {
                    self.socket = None;
                    let retry_in = self.backoff.next_wait();
                    self.not_before = Some(Instant::now() + retry_in);
                    return Ok(Event::Lost { why: explain(&error), retry_in });
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<FromHub>, ClientError> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            None => {
                let socket = self.connect().await?;
                self.socket.insert(socket)
            }
        };
        match socket.next().await? {
            Some(frame) => self.take(frame),
            None => Err(ClientError::unreachable(self.url.as_str(), "the hub closed the connection")),
        }
    }

    async fn connect(&mut self) -> Result<Socket, ClientError> {
        if let Some(at) = self.not_before {
            tokio::time::sleep_until(at).await;
        }
        let secret = self.token.as_ref().map(Token::now).transpose()?;
        let mut socket = Socket::open(&self.url, secret.as_deref()).await?;
        if let Some(limit) = self.silence {
            socket = socket.silence_limit(limit);
        }
        socket.hello(self.hub, self.seen.resume_from(), &self.client).await?;
        Ok(socket)
    }

    /// Updates the position; `None`: the frame is old, or contains nothing that this version knows.
    fn take(&mut self, mut frame: FromHub) -> Result<Option<FromHub>, ClientError> {
        match &mut frame {
            FromHub::Welcome { hub, resumed, .. } => {
                self.hub = Some(*hub);
                if !*resumed {
                    self.seen = Seen::default();
                }
            }
            FromHub::Sync { seq, last, changes, .. } => {
                changes.retain(|change| *change != Change::Unknown);
                if *last {
                    self.seen = Seen::up_to(*seq);
                }
            }
            FromHub::Live { seq } => {
                self.seen.complete(*seq);
                // Only now: a hub that accepts and then fails must not be retried without a pause.
                self.backoff.reset();
            }
            // The position counts in any case, so that unknown changes are not requested again.
            FromHub::Delta(delta) if !self.seen.accept(delta) || delta.change == Change::Unknown => return Ok(None),
            FromHub::Error { id: None, problem } => return Err(ClientError::Problem(problem.clone())),
            _ => {}
        }
        Ok(Some(frame))
    }
}

pub(crate) fn is_final(error: &ClientError, token: Option<&Token>) -> bool {
    match error {
        ClientError::Unreachable { .. } => false,
        ClientError::Protocol(_) => true,
        ClientError::Problem(problem) if problem.kind == ProblemKind::Unauthenticated => {
            !token.is_some_and(Token::is_renewed)
        }
        ClientError::Problem(problem) => !matches!(
            problem.kind,
            ProblemKind::RateLimited | ProblemKind::Unavailable | ProblemKind::Storage | ProblemKind::Internal
        ),
    }
}

pub(crate) fn explain(error: &ClientError) -> String {
    match error {
        ClientError::Unreachable { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
