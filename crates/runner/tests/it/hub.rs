//! A small, correct hub: stores facts once and in order, acknowledges as late as the test wants, disconnects and
//! repeats.

use std::sync::Arc;
use std::time::Duration;

use domain::{ApprovalKind, HubId, ProjectId, RunnerId, SessionId, UserId};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use protocol::link::{
    Changes, DesiredCheck, DesiredMerge, DesiredSession, Fact, FactBody, FromRunner, MergeLand, MergeTest,
    ProjectForks, Retention, RunnerAnswer, RunnerAsk, Subject, ToRunner, Wish, WishAnswer,
};
use protocol::terminal::TerminalFrame;
use protocol::{CriterionResult, PROTOCOL, Problem, RunnerAbout, SessionState};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};

/// The token that the hub accepts.
pub(crate) const TOKEN: &str = "runner-token-0123456789";
const PATIENCE: Duration = Duration::from_secs(60);

/// A small hub.
pub(crate) struct FakeHub {
    pub(crate) url: String,
    pub(crate) owner: UserId,
    shared: Arc<Shared>,
}

struct Shared {
    hub: HubId,
    owner: UserId,
    state: Mutex<State>,
    /// Notified of every change.
    changed: watch::Sender<u64>,
}

struct State {
    facts: Vec<Fact>,
    /// Facts that were already stored.
    repeated: usize,
    generation: u64,
    sessions: Vec<DesiredSession>,
    keep: Vec<SessionId>,
    checks: Vec<DesiredCheck>,
    merges: Vec<DesiredMerge>,
    forks: Vec<ProjectForks>,
    acknowledging: bool,
    acknowledged: u64,
    refusing: bool,
    frozen: bool,
    /// Frames wait here for the connection that there is.
    outgoing: Option<mpsc::UnboundedSender<Message>>,
    connections: usize,
    frames: Vec<TerminalFrame>,
    answers: Vec<(u32, Result<RunnerAnswer, Problem>)>,
    unwatched: Vec<(u32, Problem)>,
    /// For which session, and on which connection.
    tokens: Vec<(SessionId, usize)>,
    tokens_live: Option<u32>,
    asks: u32,
    heartbeat: Option<u32>,
    retention: Vec<Retention>,
    allowed: Vec<WishAnswer>,
    /// The sessions that do not answer, as the last heartbeat named them.
    silent: Vec<SessionId>,
    /// The runner's newest report about itself, after its hello.
    about: Option<RunnerAbout>,
}

impl FakeHub {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let owner = UserId::generate();
        let state = State {
            facts: Vec::new(),
            repeated: 0,
            generation: 0,
            sessions: Vec::new(),
            keep: Vec::new(),
            checks: Vec::new(),
            merges: Vec::new(),
            forks: Vec::new(),
            acknowledging: true,
            acknowledged: 0,
            refusing: false,
            frozen: false,
            outgoing: None,
            connections: 0,
            frames: Vec::new(),
            answers: Vec::new(),
            unwatched: Vec::new(),
            tokens: Vec::new(),
            tokens_live: Some(3600),
            asks: 0,
            heartbeat: None,
            retention: Vec::new(),
            allowed: Vec::new(),
            silent: Vec::new(),
            about: None,
        };
        let shared = Arc::new(Shared {
            hub: HubId::generate(),
            owner,
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
        });
        let served = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(served.clone(), stream));
            }
        });
        Self { url, owner, shared }
    }

    /// Sets the desired sessions, and sends them twice.
    pub(crate) fn desire(&self, sessions: Vec<DesiredSession>) {
        let generation = self.shared.state.lock().generation + 1;
        self.desire_from(generation, sessions, Vec::new());
    }

    /// The same with a given generation and recordings to keep.
    pub(crate) fn desire_from(&self, generation: u64, sessions: Vec<DesiredSession>, keep: Vec<SessionId>) {
        {
            let mut state = self.shared.state.lock();
            state.generation = generation;
            state.sessions = sessions;
            state.keep = keep;
        }
        for _ in 0..2 {
            self.send(&self.shared.desired());
        }
    }

    /// Sets the desired checks, and sends them twice.
    pub(crate) fn want_checked(&self, checks: Vec<DesiredCheck>) {
        let (generation, sessions, keep) = {
            let mut state = self.shared.state.lock();
            state.checks = checks;
            (state.generation + 1, state.sessions.clone(), state.keep.clone())
        };
        self.desire_from(generation, sessions, keep);
    }

    /// A check's result.
    pub(crate) async fn checked(&self, check: &DesiredCheck) -> Result<(Vec<CriterionResult>, Changes), String> {
        self.fact("a check's result", |fact| match fact {
            FactBody::Checked { report, results, changes } if *report == check.report => {
                Some(Ok((results.clone(), changes.clone().unwrap_or_default())))
            }
            FactBody::CheckFailed { report, detail, .. } if *report == check.report => Some(Err(detail.clone())),
            _ => None,
        })
        .await
    }

    /// Sets what to describe work against, and sends it twice.
    pub(crate) fn name_forks(&self, forks: Vec<ProjectForks>) {
        let (generation, sessions, keep) = {
            let mut state = self.shared.state.lock();
            state.forks = forks;
            (state.generation + 1, state.sessions.clone(), state.keep.clone())
        };
        self.desire_from(generation, sessions, keep);
    }

    /// Sets the desired merge runs, and sends them twice.
    pub(crate) fn want_merged(&self, merges: Vec<DesiredMerge>) {
        let (generation, sessions, keep) = {
            let mut state = self.shared.state.lock();
            state.merges = merges;
            (state.generation + 1, state.sessions.clone(), state.keep.clone())
        };
        self.desire_from(generation, sessions, keep);
    }

    /// The result of a test run.
    pub(crate) async fn tested(&self, merge: &DesiredMerge) -> MergeTest {
        self.fact("a test run's result", |fact| match fact {
            FactBody::MergeTested { run, test } if *run == merge.run => Some(test.clone()),
            _ => None,
        })
        .await
    }

    /// The result of a run that lands.
    pub(crate) async fn landed(&self, merge: &DesiredMerge) -> MergeLand {
        self.fact("a landing's result", |fact| match fact {
            FactBody::MergeLanded { run, land } if *run == merge.run => Some(land.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) fn send(&self, frame: &ToRunner) {
        self.put(Message::text(serde_json::to_string(frame).unwrap()));
    }

    pub(crate) fn send_terminal(&self, frame: &TerminalFrame) {
        self.put(Message::binary(frame.encode()));
    }

    fn put(&self, message: Message) {
        if let Some(outgoing) = &self.shared.state.lock().outgoing {
            let _ = outgoing.send(message);
        }
    }

    /// Cuts the current connection.
    pub(crate) fn cut(&self) {
        self.shared.state.lock().outgoing = None;
    }

    /// Acknowledges facts, or keeps silent about them; when it begins again, only with the next connection.
    pub(crate) fn acknowledge(&self, yes: bool) {
        self.shared.state.lock().acknowledging = yes;
    }

    /// Refuses everybody's token.
    pub(crate) fn refuse(&self, yes: bool) {
        self.shared.state.lock().refusing = yes;
    }

    /// Neither reads nor writes on current connections, without closing them.
    pub(crate) fn freeze(&self, yes: bool) {
        self.shared.state.lock().frozen = yes;
        self.shared.ring();
    }

    pub(crate) async fn ask(&self, ask: RunnerAsk) -> Result<RunnerAnswer, Problem> {
        let id = {
            let mut state = self.shared.state.lock();
            state.asks += 1;
            state.asks
        };
        self.send(&ToRunner::Ask { id, ask });
        self.wait("an answer", |state| {
            let at = state.answers.iter().position(|(answered, _)| *answered == id)?;
            Some(state.answers.swap_remove(at).1)
        })
        .await
    }

    pub(crate) async fn connected(&self, times: usize) {
        self.wait(&format!("{times} connections"), |state| {
            (state.connections >= times && state.outgoing.is_some()).then_some(())
        })
        .await;
    }

    /// The version of an agent that the runner told after its hello, and how many connections there were until then.
    pub(crate) async fn version_of(&self, agent: &str) -> (String, usize) {
        self.wait(&format!("the version of {agent}"), |state| {
            let found = state.about.as_ref()?.agents.iter().find(|found| found.name == agent)?.version.clone()?;
            Some((found, state.connections))
        })
        .await
    }

    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.shared.state.lock().facts.clone()
    }

    pub(crate) fn repeated(&self) -> usize {
        self.shared.state.lock().repeated
    }

    pub(crate) fn frames(&self) -> Vec<TerminalFrame> {
        self.shared.state.lock().frames.clone()
    }

    pub(crate) fn forget_frames(&self) {
        self.shared.state.lock().frames.clear();
    }

    /// The requested tokens: session and connection.
    pub(crate) fn tokens(&self) -> Vec<(SessionId, usize)> {
        self.shared.state.lock().tokens.clone()
    }

    /// Sets the lifetime of agents' tokens.
    pub(crate) fn tokens_live(&self, seconds: u32) {
        self.shared.state.lock().tokens_live = Some(seconds);
    }

    pub(crate) async fn unwatched(&self, channel: u32) -> Problem {
        self.wait("a terminal that cannot be shown", |state| {
            state.unwatched.iter().find(|(there, _)| *there == channel).map(|(_, problem)| problem.clone())
        })
        .await
    }

    /// Sets how many days recordings of a project are kept, from the next desired state on.
    pub(crate) fn keeps_for(&self, project: ProjectId, days: u32) {
        self.shared.state.lock().retention = vec![Retention { project, days }];
    }

    /// Sets the heartbeat interval, from the next desired state on.
    pub(crate) fn wants_to_hear(&self, seconds: u32) {
        self.shared.state.lock().heartbeat = Some(seconds);
    }

    /// The sessions that do not answer, as the last heartbeat named them.
    pub(crate) fn silent(&self) -> Vec<SessionId> {
        self.shared.state.lock().silent.clone()
    }

    /// Waits until the runner reports that a session does not answer.
    pub(crate) async fn misses(&self, session: SessionId) {
        self.wait("a session that does not answer", |state| state.silent.contains(&session).then_some(())).await;
    }

    /// What waits for an approval of the runner's owner.
    pub(crate) async fn wishes(&self, subject: Subject, kind: ApprovalKind) -> Vec<Wish> {
        self.fact("a request for an approval", |fact| match fact {
            FactBody::ApprovalWanted { subject: of, wishes } if *of == subject => {
                wishes.iter().any(|wish| wish.kind == kind).then(|| wishes.clone())
            }
            _ => None,
        })
        .await
    }

    /// Answers these requests.
    pub(crate) fn answer(&self, subject: Subject, wishes: &[Wish], allowed: bool) {
        let answer = |wish: &Wish| WishAnswer {
            subject,
            kind: wish.kind,
            sha256: wish.sha256.clone(),
            sandbox: wish.sandbox.clone(),
            allowed,
        };
        {
            let mut state = self.shared.state.lock();
            state.allowed.extend(wishes.iter().map(answer));
            state.generation += 1;
        }
        let frame = self.shared.desired();
        self.send(&frame);
    }

    /// The first fact of this kind.
    pub(crate) async fn fact<T>(&self, what: &str, find: impl Fn(&FactBody) -> Option<T>) -> T {
        self.wait(what, |state| state.facts.iter().find_map(|fact| find(&fact.body))).await
    }

    /// Waits for a session's status.
    pub(crate) async fn state(&self, session: SessionId, right: impl Fn(&SessionState) -> bool) -> SessionState {
        self.fact("a session's state", |fact| match fact {
            FactBody::SessionState { session: of, state } if *of == session && right(state) => Some(state.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until a session has exited.
    pub(crate) async fn over(&self, session: SessionId) -> SessionState {
        self.state(session, SessionState::ended).await
    }

    /// Waits until the frames of a channel are right.
    pub(crate) async fn shown<T>(&self, what: &str, find: impl Fn(&[TerminalFrame]) -> Option<T>) -> T {
        self.wait(what, |state| find(&state.frames)).await
    }

    async fn wait<T>(&self, what: &str, mut find: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut changed = self.shared.changed.subscribe();
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                changed.mark_unchanged();
                let found = find(&mut self.shared.state.lock());
                match found {
                    Some(found) => return found,
                    None => changed.changed().await.unwrap(),
                }
            }
        })
        .await;
        found.unwrap_or_else(|_| {
            let facts: Vec<_> = self.facts().iter().map(|fact| format!("{} {:?}", fact.number, fact.body)).collect();
            panic!("timed out waiting for {what}; the facts are:\n{}", facts.join("\n"));
        })
    }
}

impl Shared {
    fn desired(&self) -> ToRunner {
        let state = self.state.lock();
        let (generation, sessions, keep) = (state.generation, state.sessions.clone(), state.keep.clone());
        let (heartbeat_seconds, retention) = (state.heartbeat, state.retention.clone());
        let (checks, answers) = (state.checks.clone(), state.allowed.clone());
        let (merges, forks) = (state.merges.clone(), state.forks.clone());
        ToRunner::Desired { generation, sessions, keep, checks, heartbeat_seconds, retention, answers, merges, forks }
    }

    fn ring(&self) {
        self.changed.send_modify(|times| *times += 1);
    }

    fn take(&self, connection: usize, frame: FromRunner) -> Option<ToRunner> {
        let mut state = self.state.lock();
        match frame {
            FromRunner::Fact(fact) => {
                let next = state.facts.len() as u64 + 1;
                assert!(fact.number <= next, "fact {} came before {next}", fact.number);
                if fact.number == next {
                    state.facts.push(fact);
                } else {
                    let known = &state.facts[fact.number as usize - 1];
                    assert_eq!(known, &fact, "a repeated fact does not change");
                    state.repeated += 1;
                }
                let number = state.facts.len() as u64;
                if state.acknowledging {
                    state.acknowledged = number;
                }
                state.acknowledging.then_some(ToRunner::Ack { number })
            }
            FromRunner::TokenWanted { session } => {
                state.tokens.push((session, connection));
                let number = state.tokens.iter().filter(|(asked, _)| *asked == session).count();
                let secret = Some(format!("agent-token-{number}-of-{session}"));
                Some(ToRunner::Token { session, secret, lives_seconds: state.tokens_live })
            }
            FromRunner::Told { id, answer } => {
                state.answers.push((id, Ok(answer)));
                None
            }
            FromRunner::Refused { id, problem } => {
                state.answers.push((id, Err(problem)));
                None
            }
            FromRunner::Unwatched { channel, problem } => {
                state.unwatched.push((channel, problem));
                None
            }
            FromRunner::Heartbeat { silent, .. } => {
                state.silent = silent.iter().map(|silent| silent.session).collect();
                None
            }
            FromRunner::About { about } => {
                state.about = Some(about);
                None
            }
            FromRunner::Hello { .. } => None,
        }
    }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    #[allow(clippy::result_large_err, reason = "the library's signature")]
    let check = |request: &Request, response: Response| {
        let right = format!("Bearer {TOKEN}");
        let given = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let refusing = shared.state.lock().refusing;
        if request.uri().path() == "/api/link" && given == Some(right.as_str()) && !refusing {
            return Ok(response);
        }
        let mut refused = ErrorResponse::new(None);
        *refused.status_mut() = tokio_tungstenite::tungstenite::http::StatusCode::UNAUTHORIZED;
        Err(refused)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, check).await else { return };
    let (mut sink, mut stream) = socket.split();
    let Some(Ok(Message::Text(hello))) = stream.next().await else { return };
    let Ok(FromRunner::Hello { protocol: PROTOCOL, .. }) = serde_json::from_str(&hello) else { panic!("{hello}") };
    let (outgoing, mut queue) = mpsc::unbounded_channel();
    let (connection, welcome) = {
        let mut state = shared.state.lock();
        state.outgoing = Some(outgoing.clone());
        state.connections += 1;
        if state.acknowledging {
            state.acknowledged = state.facts.len() as u64;
        }
        let acknowledged = state.acknowledged;
        let (hub, owner) = (shared.hub, shared.owner);
        let runner = RunnerId::generate();
        (state.connections, ToRunner::Welcome { protocol: PROTOCOL, hub, runner, owner, acknowledged, named: None })
    };
    for frame in [&welcome, &shared.desired()] {
        let _ = outgoing.send(Message::text(serde_json::to_string(frame).unwrap()));
    }
    // Only the state holds it from now on, so that letting it go there cuts the connection.
    let answers = outgoing.downgrade();
    drop(outgoing);
    shared.ring();
    let mut changed = shared.changed.subscribe();
    loop {
        changed.mark_unchanged();
        while shared.state.lock().frozen {
            let _ = changed.changed().await;
        }
        tokio::select! {
            // To see that it is frozen.
            _ = changed.changed() => continue,
            message = queue.recv() => match message {
                Some(message) => if sink.send(message).await.is_err() { return },
                None => return,
            },
            message = stream.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let answer = shared.take(connection, serde_json::from_str(&text).unwrap());
                    if let (Some(answer), Some(outgoing)) = (answer, answers.upgrade()) {
                        let _ = outgoing.send(Message::text(serde_json::to_string(&answer).unwrap()));
                    }
                }
                Some(Ok(Message::Binary(bytes))) => {
                    let frame = TerminalFrame::decode(&bytes).unwrap();
                    shared.state.lock().frames.push(frame);
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
        shared.ring();
    }
}

impl FakeHub {
    /// The folder of a session's workspace, once it is ready.
    pub(crate) async fn workspace(&self, session: &DesiredSession) -> String {
        let wanted = session.workspace.workspace;
        self.fact("a workspace", |fact| match fact {
            FactBody::WorkspaceReady { workspace, path, .. } if *workspace == wanted => Some(path.clone()),
            _ => None,
        })
        .await
    }

    /// Waits until a session's log has a text in it.
    pub(crate) async fn log_has(&self, session: SessionId, text: &str) {
        testkit::wait_until(&format!("{text:?} is in a log"), || async {
            let answer = self.ask(RunnerAsk::Log { session, lines: 10_000, setup: false }).await;
            matches!(answer, Ok(RunnerAnswer::Log(log)) if log.text.contains(text)).then_some(())
        })
        .await;
    }
}
