//! A runner as a hub sees it: the real link, and nothing behind it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use domain::{JournalId, RunnerId, SessionId, SessionStatus, Timestamp};
use futures_util::{SinkExt, StreamExt};
use protocol::link::{DesiredSession, Fact, FactBody, FromRunner, SilentSession, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{Call, FoundAgent, NewRunner, PROTOCOL, Problem, ProblemKind, RunnerAbout, RunnerCreate, SessionState};
use testkit::TestHub;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{Credential, view};

/// How long a frame may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it says that it is there while it waits.
const BEAT: Duration = Duration::from_millis(500);

/// What a hub said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    Told(ToRunner),
    Frame(TerminalFrame),
    /// The hub closed; `None`: without saying why.
    Closed(Option<u16>),
}

/// A runner with a link to a hub.
pub(crate) struct FakeRunner {
    pub(crate) id: RunnerId,
    pub(crate) token: Credential,
    pub(crate) journal: JournalId,
    /// The number of the last fact.
    pub(crate) number: u64,
    pub(crate) stream: WebSocketStream<TcpStream>,
    pub(crate) early: VecDeque<Heard>,
}

/// What a runner with room for `capacity` sessions says of itself.
pub(crate) fn about(capacity: u32) -> RunnerAbout {
    let agent = |name: &str, version: Option<&str>| FoundAgent {
        name: name.into(),
        label: name.into(),
        version: version.map(str::to_owned),
        install: None,
        headless: true,
        modes: None,
    };
    let agents = vec![agent("codex", Some("1.0")), agent("gemini", None)];
    RunnerAbout { machine: "box".into(), version: "0.1.0".into(), labels: vec!["linux".into()], capacity, agents }
}

/// Registers a runner.
pub(crate) async fn register(hub: &TestHub, owner: &Credential, name: &str) -> NewRunner {
    view!(hub, owner, NewRunner, Call::RunnerCreate { input: RunnerCreate { name: name.into() } })
}

/// Opens a link's socket; `Err` is the status of the refusal.
pub(crate) async fn dial(url: &str, token: &Credential) -> Result<WebSocketStream<TcpStream>, u16> {
    let address = url.strip_prefix("http://").expect("a test's hub speaks plain HTTP");
    let mut request = format!("ws://{address}/api/link").into_client_request().expect("the URL is one");
    request.headers_mut().extend(token.headers(url));
    let stream = TcpStream::connect(address).await.expect("the hub listens");
    stream.set_nodelay(true).expect("no delay");
    match client_async(request, stream).await {
        Ok((stream, _)) => Ok(stream),
        Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("the handshake failed: {error}"),
    }
}

impl FakeRunner {
    /// A new runner of `owner`'s, linked.
    pub(crate) async fn start(hub: &TestHub, owner: &Credential, name: &str) -> Self {
        let made = register(hub, owner, name).await;
        let token = Credential::Token(made.secret);
        let stream = dial(hub.url(), &token).await.expect("the hub lets a runner in");
        let (id, journal) = (made.runner.id, JournalId::generate());
        let mut runner = Self { id, token, journal, number: 0, stream, early: VecDeque::new() };
        assert_eq!(runner.hello(1000).await, 0);
        runner
    }

    /// The same runner with another link; the older one is left open, and is returned.
    pub(crate) async fn again(&mut self, url: &str) -> WebSocketStream<TcpStream> {
        let stream = dial(url, &self.token).await.expect("the hub lets a runner in");
        self.early.clear();
        std::mem::replace(&mut self.stream, stream)
    }

    /// Says hello and waits until the hub shows it as connected; answers what the hub has acknowledged.
    pub(crate) async fn hello(&mut self, capacity: u32) -> u64 {
        let (protocol, journal) = (PROTOCOL, self.journal);
        self.tell(&FromRunner::Hello { protocol, journal, about: about(capacity), name: None }).await;
        let id = self.id;
        let welcome = self.told("welcome", |frame| matches!(frame, ToRunner::Welcome { .. })).await;
        let ToRunner::Welcome { runner, acknowledged, .. } = welcome else { unreachable!() };
        assert_eq!(runner, id);
        // An ack comes only after the hub has shown everybody that the runner is here.
        self.number = acknowledged;
        self.fact(nothing()).await;
        acknowledged
    }

    /// Sends a frame; that the hub has closed meanwhile shows in what comes next.
    pub(crate) async fn tell(&mut self, frame: &FromRunner) {
        let _ = self.stream.send(Message::text(serde_json::to_string(frame).expect("JSON"))).await;
    }

    /// Says that it is there, and which sessions do not answer it.
    pub(crate) async fn beats(&mut self, silent: &[(SessionId, u64)]) {
        let silent =
            silent.iter().map(|(session, silent_ms)| SilentSession { session: *session, silent_ms: *silent_ms });
        self.tell(&FromRunner::Heartbeat { silent: silent.collect(), trouble: None }).await;
    }

    /// Sends a terminal frame.
    pub(crate) async fn frame(&mut self, frame: TerminalFrame) {
        let _ = self.stream.send(Message::binary(frame.encode())).await;
    }

    /// What the hub says next.
    pub(crate) async fn next(&mut self) -> Heard {
        match self.early.pop_front() {
            Some(heard) => heard,
            None => self.fresh().await,
        }
    }

    async fn fresh(&mut self) -> Heard {
        loop {
            match tokio::time::timeout(PATIENCE, self.stream.next()).await.expect("the hub says something") {
                Some(Ok(Message::Text(text))) => {
                    return Heard::Told(serde_json::from_str(text.as_str()).expect("the hub's frames are readable"));
                }
                Some(Ok(Message::Binary(bytes))) => {
                    return Heard::Frame(TerminalFrame::decode(&bytes).expect("the hub's frames are readable"));
                }
                Some(Ok(Message::Close(frame))) => return Heard::Closed(frame.map(|frame| frame.code.into())),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Heard::Closed(None),
            }
        }
    }

    /// The first that `wanted` accepts; what came before it is kept.
    async fn first(&mut self, what: &str, wanted: impl Fn(&Heard) -> bool) -> Heard {
        if let Some(at) = self.early.iter().position(&wanted) {
            return self.early.remove(at).expect("it is there");
        }
        let began = std::time::Instant::now();
        loop {
            // A caller that waits for long is connected anyway.
            let Ok(heard) = tokio::time::timeout(BEAT, self.fresh()).await else {
                assert!(began.elapsed() < PATIENCE, "{what} does not come");
                self.beats(&[]).await;
                continue;
            };
            match heard {
                Heard::Closed(code) => panic!("closed with {code:?} while waiting for {what}"),
                heard if wanted(&heard) => return heard,
                heard => self.early.push_back(heard),
            }
        }
    }

    /// The first frame of text that `wanted` accepts; others are kept.
    pub(crate) async fn told(&mut self, what: &str, wanted: impl Fn(&ToRunner) -> bool) -> ToRunner {
        match self.first(what, |heard| matches!(heard, Heard::Told(frame) if wanted(frame))).await {
            Heard::Told(frame) => frame,
            _ => unreachable!(),
        }
    }

    /// The first terminal frame that `wanted` accepts; others are kept.
    pub(crate) async fn sent(&mut self, what: &str, wanted: impl Fn(&TerminalFrame) -> bool) -> TerminalFrame {
        match self.first(what, |heard| matches!(heard, Heard::Frame(frame) if wanted(frame))).await {
            Heard::Frame(frame) => frame,
            _ => unreachable!(),
        }
    }

    /// Everything that the hub has said until now, but for acknowledgements and what should run.
    pub(crate) async fn sync(&mut self) -> Vec<Heard> {
        self.number += 1;
        let (number, body) = (self.number, nothing());
        let at = Timestamp::from_millis(0);
        self.tell(&FromRunner::Fact(Fact { number, at, body })).await;
        self.told("an ack", |frame| matches!(frame, ToRunner::Ack { number: acked } if *acked >= number)).await;
        let noise = |heard: &Heard| {
            matches!(heard, Heard::Told(ToRunner::Ack { .. } | ToRunner::Desired { .. } | ToRunner::Welcome { .. }))
        };
        self.early.drain(..).filter(|heard| !noise(heard)).collect()
    }

    /// What should run, as soon as it is as wanted; all that came before it is kept.
    pub(crate) async fn desired(
        &mut self,
        what: &str,
        wanted: impl Fn(&[DesiredSession]) -> bool,
    ) -> (u64, Vec<DesiredSession>, Vec<SessionId>) {
        let fits = |frame: &ToRunner| matches!(frame, ToRunner::Desired { sessions, .. } if wanted(sessions));
        match self.told(what, fits).await {
            ToRunner::Desired { generation, sessions, keep, .. } => (generation, sessions, keep),
            _ => unreachable!(),
        }
    }

    /// Tells a fact and waits until it is stored.
    pub(crate) async fn fact(&mut self, body: FactBody) {
        self.number += 1;
        let number = self.number;
        self.tell(&FromRunner::Fact(Fact { number, at: Timestamp::from_millis(0), body })).await;
        self.told("an ack", |frame| matches!(frame, ToRunner::Ack { number: acked } if *acked == number)).await;
    }

    /// A session is at something else.
    pub(crate) async fn at(&mut self, session: SessionId, status: SessionStatus) {
        self.fact(FactBody::SessionState { session, state: state(status) }).await;
    }

    /// Waits until a session is to be shown; its channel, and what is known already.
    pub(crate) async fn watched(&mut self, wanted: SessionId) -> (u32, Option<u64>) {
        let fits = |frame: &ToRunner| matches!(frame, ToRunner::Watch { session, .. } if *session == wanted);
        match self.told("watch", fits).await {
            ToRunner::Watch { channel, from, .. } => (channel, from),
            _ => unreachable!(),
        }
    }

    /// Reads on until the hub closes.
    pub(crate) async fn until_closed(&mut self) -> Option<u16> {
        loop {
            if let Heard::Closed(code) = self.next().await {
                return code;
            }
        }
    }
}

/// What a runner that serves by itself is to do.
enum Order {
    Fact(Box<FactBody>, oneshot::Sender<()>),
    Token(SessionId, oneshot::Sender<Credential>),
}

/// A runner that serves by itself: it refuses what it is asked, and what it is to stop ends.
pub(crate) struct Serving {
    pub(crate) id: RunnerId,
    orders: mpsc::UnboundedSender<Order>,
}

impl Serving {
    /// Tells a fact and waits until it is stored.
    pub(crate) async fn fact(&self, body: FactBody) {
        let (done, stored) = oneshot::channel();
        self.orders.send(Order::Fact(Box::new(body), done)).expect("the runner serves");
        stored.await.expect("the runner serves");
    }

    /// The token of a session's agent.
    pub(crate) async fn token(&self, session: SessionId) -> Credential {
        let (done, minted) = oneshot::channel();
        self.orders.send(Order::Token(session, done)).expect("the runner serves");
        minted.await.expect("the session has an agent")
    }
}

impl FakeRunner {
    /// Serves by itself from now on, until the test ends.
    pub(crate) fn serve(mut self) -> Serving {
        let (orders, mut queue) = mpsc::unbounded_channel();
        let id = self.id;
        tokio::spawn(async move {
            let mut over = HashSet::new();
            let mut tokens = HashMap::new();
            loop {
                let heard = tokio::select! {
                    order = queue.recv() => match order {
                        Some(Order::Fact(body, done)) => {
                            self.fact(*body).await;
                            let _ = done.send(());
                            continue;
                        }
                        Some(Order::Token(session, done)) => {
                            tokens.insert(session, done);
                            self.tell(&FromRunner::TokenWanted { session }).await;
                            continue;
                        }
                        None => return,
                    },
                    heard = self.quiet() => heard,
                };
                match heard {
                    Heard::Told(ToRunner::Ask { id, .. }) => {
                        let problem = Problem::new(ProblemKind::Unavailable, "not now");
                        self.tell(&FromRunner::Refused { id, problem }).await;
                    }
                    Heard::Told(ToRunner::Token { session, secret: Some(secret), .. }) => {
                        let waiting: Option<oneshot::Sender<Credential>> = tokens.remove(&session);
                        waiting.map(|done| done.send(Credential::Token(secret)));
                    }
                    Heard::Told(ToRunner::Desired { sessions, .. }) => {
                        for plan in sessions.iter().filter(|plan| !plan.run) {
                            if over.insert(plan.session) {
                                self.at(plan.session, SessionStatus::Exited).await;
                            }
                        }
                    }
                    Heard::Closed(_) => return,
                    _ => {}
                }
            }
        });
        Serving { id, orders }
    }

    /// What the hub says next, however long that takes.
    async fn quiet(&mut self) -> Heard {
        match self.early.pop_front() {
            Some(heard) => heard,
            None => match self.stream.next().await {
                Some(Ok(Message::Text(text))) => Heard::Told(serde_json::from_str(text.as_str()).expect("readable")),
                Some(Ok(Message::Binary(bytes))) => Heard::Frame(TerminalFrame::decode(&bytes).expect("readable")),
                Some(Ok(_)) => Heard::Told(ToRunner::Ack { number: 0 }),
                Some(Err(_)) | None => Heard::Closed(None),
            },
        }
    }
}

/// What a session is at, by a clock that is wrong.
pub(crate) fn state(status: SessionStatus) -> SessionState {
    let code = (status == SessionStatus::Exited).then_some(0);
    SessionState { status, detail: None, code, signal: None, since: Timestamp::from_millis(0) }
}

/// A fact about nothing, which changes nothing.
fn nothing() -> FactBody {
    FactBody::SessionState { session: SessionId::generate(), state: state(SessionStatus::Idle) }
}
