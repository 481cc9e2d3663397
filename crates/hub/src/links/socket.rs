//! One runner's socket, from `hello` to the end.

use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use domain::text::plain;
use domain::{Action, JournalId, RunnerId, UserId};
use futures_util::SinkExt;
use protocol::link::{Fact, FactBody, FromRunner, RunnerNamed, RunnerTrouble, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{CloseCode, PROTOCOL, Problem, RunnerAbout};
use store::{Caller, Credential, Desired, NameRunner, SeeRunner, StoreError, TakeFacts, Touch};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use super::Terminal;
use super::facts::{self, Facts};
use super::link::Link;
use super::minting::{Minting, mint};
use super::news::describe;
use super::pace::Pace;
use super::ring::{Exit, Screen};
use super::trouble::{self, remember};
use crate::hub::Hub;
use crate::live::socket::{End, Revocations, over};

/// How long a runner may take to send `hello`.
const HELLO: Duration = Duration::from_secs(5);
/// How often to send something to a runner.
const PING: Duration = Duration::from_secs(10);
/// When to request a terminal again that a runner could not show yet.
const AGAIN: Duration = Duration::from_millis(250);
/// Time limit of a write.
const WRITE: Duration = Duration::from_secs(10);
/// Serves one runner until it disconnects, its token ends, or the hub stops.
pub(crate) async fn serve(
    hub: Arc<Hub>,
    credential: Credential,
    runner: RunnerId,
    owner: UserId,
    origin: String,
    revoked: Revocations,
    mut socket: WebSocket,
) {
    let caller = Caller::hub(format!("runner {runner}, {origin}"));
    let mut ended = pin!(over(hub.clone(), credential, revoked));
    let hello = tokio::select! {
        biased;
        end = &mut ended => Err(end),
        hello = hello(&mut socket) => hello,
    };
    let end = match hello {
        Ok(Hello { journal, about, named }) => {
            let name = JournalId::generate().to_string();
            let connection = Connection { hub, caller, runner, owner, journal, name };
            connection.run(&mut socket, about, named, ended).await.err().flatten()
        }
        Err(end) => end,
    };
    if let Some((code, reason)) = end {
        let frame = CloseFrame { code: code.code(), reason: Utf8Bytes::from_static(reason) };
        // The runner may already be gone.
        let _ = timeout(Duration::from_secs(1), socket.send(Message::Close(Some(frame)))).await;
    }
}

/// A close frame has room for 123 bytes.
const TAKEN: &str = "another runner uses this token: give each its own (`shopfloor runner create NAME`)";

/// A runner's `hello`.
struct Hello {
    journal: JournalId,
    about: RunnerAbout,
    /// The name that it was started with.
    named: Option<String>,
}

async fn hello(socket: &mut WebSocket) -> Result<Hello, End> {
    let first = match timeout(HELLO, socket.recv()).await {
        Err(_) => return Err(Some((CloseCode::Protocol, "no hello in time"))),
        Ok(Some(Ok(Message::Text(text)))) => text,
        Ok(Some(Ok(_))) => return Err(Some((CloseCode::Protocol, "the first frame must be hello"))),
        Ok(_) => return Err(None),
    };
    match serde_json::from_str(&first) {
        Ok(FromRunner::Hello { protocol, journal, about, name: named }) if protocol == PROTOCOL => {
            Ok(Hello { journal, about, named })
        }
        Ok(FromRunner::Hello { .. }) => {
            Err(Some((CloseCode::Protocol, "another protocol version: update the older program")))
        }
        _ => Err(Some((CloseCode::Protocol, "the first frame must be hello"))),
    }
}

/// The bounded queues for a runner's frames.
struct Desks {
    facts: Facts,
    tokens: Minting,
    trouble: watch::Sender<trouble::Said>,
    news: watch::Sender<Option<RunnerAbout>>,
}

/// One connection of a runner.
struct Connection {
    hub: Arc<Hub>,
    caller: Caller,
    runner: RunnerId,
    owner: UserId,
    journal: JournalId,
    /// Distinguishes this link from others of the same runner.
    name: String,
}

impl Connection {
    /// Serves the link until one side ends it. In every case, clients learn that the runner is gone.
    async fn run(
        &self,
        socket: &mut WebSocket,
        about: RunnerAbout,
        named: Option<String>,
        ended: impl Future<Output = End>,
    ) -> Result<(), End> {
        if self.hub.links.is_taken(self.runner, self.journal).await {
            return Err(Some((CloseCode::Taken, TAKEN)));
        }
        // Subscribed before the state is read: nothing is missed in between.
        let mut desires = self.hub.live.desires();
        let acknowledged = self.take(Vec::new()).await.map_err(|error| unreadable(&error))?;
        let named = self.call(named).await.map_err(|error| unreadable(&error))?;
        let patience = Duration::from_secs(self.hub.limits.runner_answer_seconds);
        let (link, mut outgoing) = Link::new(self.runner, self.journal, patience);
        let link = Arc::new(link);
        link.tell(&ToRunner::Welcome {
            protocol: PROTOCOL,
            hub: self.hub.store.hub(),
            runner: self.runner,
            owner: self.owner,
            acknowledged,
            named,
        });
        self.desire(&link).await?;
        self.hub.links.begin(&link);
        crate::live::terminals::runner_is_back(&self.hub, self.runner);
        // A connecting runner is not in trouble, as far as that could be stored.
        let stored = self.seen(true, Some(about)).await.then_some(None);
        self.hub.untidy.at(self.runner);
        let (facts, queue) = Facts::new();
        let storing =
            tokio::spawn(facts::store(self.hub.clone(), self.caller.clone(), link.clone(), self.journal, queue));
        let (tokens, wanted) = Minting::new();
        let minting = tokio::spawn(mint(self.hub.clone(), self.caller.clone(), link.clone(), wanted));
        let (trouble, said) = watch::channel(None);
        let remembering = tokio::spawn(remember(self.hub.clone(), self.caller.clone(), self.runner, stored, said));
        let (news, told) = watch::channel(None);
        let describing = tokio::spawn(describe(self.hub.clone(), self.caller.clone(), self.runner, told));
        let desks = Desks { facts, tokens, trouble, news };
        let end = tokio::select! {
            biased;
            end = ended => Err(end),
            end = self.converse(socket, &link, &mut outgoing, &mut desires, &desks) => end,
        };
        link.end();
        self.hub.links.end(&link);
        storing.abort();
        minting.abort();
        remembering.abort();
        describing.abort();
        self.write_heard(&link).await;
        self.seen(false, None).await;
        end
    }

    async fn converse(
        &self,
        socket: &mut WebSocket,
        link: &Arc<Link>,
        outgoing: &mut mpsc::Receiver<Message>,
        desires: &mut tokio::sync::broadcast::Receiver<RunnerId>,
        desks: &Desks,
    ) -> Result<(), End> {
        let silence = Duration::from_secs(self.hub.limits.runner_silence_seconds);
        let mut heard = Instant::now();
        let mut pace = Pace::new(self.hub.limits.requests_per_second);
        // The runner, too, must notice that we are gone.
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                frame = async { pace.ready().await; socket.recv().await } => {
                    heard = Instant::now();
                    pace.count();
                    // The end of the connection is not a frame of the runner.
                    if matches!(frame, Some(Ok(_))) && link.hears() {
                        self.hub.live.work.anywhere();
                    }
                    if self.on_frame(frame, link, desks).await?.is_break() {
                        return Ok(());
                    }
                }
                Some(message) = outgoing.recv() => send(socket, message, outgoing).await?,
                _ = ping.tick() => send(socket, Message::Ping(Bytes::new()), outgoing).await?,
                desired = desires.recv() => match desired {
                    Ok(runner) if runner == self.runner => self.desire(link).await?,
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => self.desire(link).await?,
                    Err(RecvError::Closed) => return Ok(()),
                },
                () = link.over.cancelled() => return Err(Some((CloseCode::GoingAway, "a newer link took over"))),
                () = sleep_until(heard + silence) => return Err(Some((CloseCode::TooSlow, "no heartbeat"))),
            }
        }
    }

    async fn on_frame(
        &self,
        frame: Option<Result<Message, axum::Error>>,
        link: &Arc<Link>,
        desks: &Desks,
    ) -> Result<ControlFlow<()>, End> {
        match frame {
            Some(Ok(Message::Binary(bytes))) => self.on_terminal(bytes),
            Some(Ok(Message::Text(text))) => match serde_json::from_str::<FromRunner>(&text) {
                Ok(FromRunner::Fact(fact)) => desks.facts.hand_on(fact, text.len()).await,
                Ok(frame) => self.on_control(frame, link, desks),
                Err(error) => {
                    tracing::warn!(runner = %self.runner, %error, "a runner sent an unreadable frame");
                    return Err(Some((CloseCode::Protocol, "an unreadable frame")));
                }
            },
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(ControlFlow::Break(())),
        }
        Ok(ControlFlow::Continue(()))
    }

    fn on_control(&self, frame: FromRunner, link: &Arc<Link>, desks: &Desks) {
        match frame {
            // Queued by the caller, which knows its length.
            FromRunner::Fact(_) => {}
            FromRunner::Heartbeat { silent, trouble } => {
                link.hears_not(&silent);
                self.hears_trouble(link, trouble, desks);
                self.hub.touch(self.runner.to_string());
            }
            FromRunner::About { about } => {
                desks.news.send_replace(Some(about));
            }
            FromRunner::Hello { .. } => self.hub.touch(self.runner.to_string()),
            FromRunner::Told { id, answer } => link.answered(id, Ok(answer)),
            FromRunner::Refused { id, problem } => link.answered(id, Err(Link::refusal(&problem))),
            FromRunner::TokenWanted { session } => desks.tokens.want(session),
            FromRunner::Unwatched { channel, problem } => {
                if let Some(terminal) = self.hub.links.on_channel(self.runner, channel)
                    && terminal.refusing()
                {
                    tokio::spawn(refused(self.hub.clone(), self.caller.clone(), terminal, problem));
                }
            }
        }
    }

    fn on_terminal(&self, bytes: Bytes) {
        let frame = match TerminalFrame::decode(&bytes) {
            Ok(frame) => frame,
            Err(error) => return tracing::warn!(runner = %self.runner, %error, "a runner sent a bad terminal frame"),
        };
        let channel = match &frame {
            TerminalFrame::Snapshot { channel, .. }
            | TerminalFrame::Data { channel, .. }
            | TerminalFrame::Exit { channel, .. } => *channel,
            // Only the hub sends these.
            TerminalFrame::Input { .. } | TerminalFrame::Credit { .. } => return,
        };
        // There may be no watcher any more: the runner has not heard yet.
        let Some(terminal) = self.hub.links.on_channel(self.runner, channel) else { return };
        match frame {
            TerminalFrame::Snapshot { offset, cols, rows, title, bytes, .. } => {
                terminal.on_screen(Screen { offset, cols, rows, title, bytes });
            }
            TerminalFrame::Data { offset, bytes, .. } => terminal.on_data(offset, bytes.into()),
            TerminalFrame::Exit { offset, code, signal, .. } => terminal.on_exit(Exit { offset, code, signal }),
            TerminalFrame::Input { .. } | TerminalFrame::Credit { .. } => {}
        }
    }

    /// Stores whether the runner can record facts.
    fn hears_trouble(&self, link: &Link, trouble: Option<RunnerTrouble>, desks: &Desks) {
        let why = trouble.as_ref().map(|trouble| plain(&trouble.why.replace('\n', " "), 200));
        if link.hears_trouble(trouble.map(|trouble| Duration::from_millis(trouble.lasts_ms))) {
            self.hub.live.work.anywhere();
        }
        self.hub.live.presence.runner_trouble(self.runner, why.clone());
        desks.trouble.send_replace(why);
    }

    /// Sends the runner its desired state.
    async fn desire(&self, link: &Link) -> Result<(), End> {
        match self.hub.store.desired(self.runner).await {
            Ok(Some(desired)) => {
                let Desired {
                    generation,
                    sessions,
                    keep,
                    checks,
                    heartbeat_seconds,
                    retention,
                    answers,
                    merges,
                    forks,
                    ..
                } = desired;
                link.expects(heartbeat_seconds);
                link.tell(&ToRunner::Desired {
                    generation,
                    sessions,
                    keep,
                    checks,
                    heartbeat_seconds,
                    retention,
                    answers,
                    merges,
                    forks,
                });
                // Only now: checks that are no longer wanted are stopped before their workspaces are deleted.
                self.hub.untidy.at(self.runner);
                Ok(())
            }
            Ok(None) => Err(Some((CloseCode::Unauthenticated, "the runner was removed"))),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Gives the runner the name that it was started with.
    async fn call(&self, name: Option<String>) -> Result<Option<RunnerNamed>, StoreError> {
        let Some(name) = name else { return Ok(None) };
        let command = NameRunner { runner: self.runner, name };
        Ok(self.hub.store.write(&self.caller, None, command).await?.value)
    }

    async fn take(&self, facts: Vec<Fact>) -> Result<u64, StoreError> {
        take(&self.hub, &self.caller, self.runner, self.journal, facts).await
    }

    /// Stores when the runner was last heard, which may be long before its link ends.
    async fn write_heard(&self, link: &Link) {
        let ago = i64::try_from(link.heard_at().elapsed().as_millis()).unwrap_or(i64::MAX);
        let seen = vec![(self.runner.to_string(), self.hub.store.now().plus_millis(-ago))];
        if let Err(error) = self.hub.store.write(&self.caller, None, Touch { seen }).await {
            tracing::warn!(%error, runner = %self.runner, "could not store when a runner was last heard");
        }
    }

    /// Stores that the runner connected or disconnected; false: that failed.
    async fn seen(&self, connected: bool, about: Option<RunnerAbout>) -> bool {
        let news = self.hub.live.presence.runner(self.runner, connected);
        if !news && about.is_none() {
            return true;
        }
        let command = SeeRunner { runner: self.runner, link: self.name.clone(), about };
        if let Err(error) = self.hub.store.write(&self.caller, None, command).await {
            tracing::warn!(%error, runner = %self.runner, "could not store that a runner was seen");
            return false;
        }
        true
    }
}

/// A runner cannot show a terminal: permanently if the session has exited, otherwise only for now. Once at a time for
/// each terminal, see [`Terminal::refusing`].
async fn refused(hub: Arc<Hub>, caller: Caller, terminal: Arc<Terminal>, problem: Problem) {
    match hub.store.session(&caller, terminal.session, Action::SeeExecution).await {
        Ok(session) if !session.state.ended() => {
            tokio::time::sleep(AGAIN).await;
            terminal.again();
        }
        _ => terminal.on_refused(Link::refusal(&problem)),
    }
}

/// Stores facts, and sends live sessions the consequences.
pub(super) async fn take(
    hub: &Hub,
    caller: &Caller,
    runner: RunnerId,
    journal: JournalId,
    facts: Vec<Fact>,
) -> Result<u64, StoreError> {
    let checked = |fact: &Fact| matches!(fact.body, FactBody::Checked { .. } | FactBody::CheckFailed { .. });
    let checked = facts.iter().any(checked);
    let command = TakeFacts { runner, journal, facts };
    let seen = hub.store.write(caller, None, command).await?.value;
    if checked {
        hub.untidy.at(runner);
    }
    hub.links.say(seen.say);
    Ok(seen.acknowledged)
}

/// Sends the queued frames with one flush, by the deadline.
async fn send(socket: &mut WebSocket, first: Message, more: &mut mpsc::Receiver<Message>) -> Result<(), End> {
    let written = timeout(WRITE, async {
        socket.feed(first).await?;
        while let Ok(message) = more.try_recv() {
            socket.feed(message).await?;
        }
        socket.flush().await
    });
    match written.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(None),
        Err(_) => Err(Some((CloseCode::TooSlow, "the runner did not read in time"))),
    }
}

fn unreadable(error: &StoreError) -> End {
    tracing::warn!(%error, "could not serve a runner");
    Some((CloseCode::GoingAway, "the hub cannot read its database now"))
}
