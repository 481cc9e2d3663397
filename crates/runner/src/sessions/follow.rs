//! Follows a running session: its agent's state, its usage, and its input, until it exits.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::{Keys, Observation, Recogniser, Secrets, Seen, State, Typist, WaitingFor};
use protocol::link::FactBody;
use terminal::{Adopted, Event, Events, HostLink};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::end::Ending;
use super::health::Health;
use super::held_up::{self, HeldUp};
use super::how::{How, how, pasted};
use super::lines::Lines;
use super::state::{At, sum, usage};
use super::stopped::{self, Stopped};
use super::{Order, Supervisor, end, progress, task};
use crate::journal::{Change, Journal, SessionRow};

/// How often to observe the screen while the agent prints.
const OBSERVE: Duration = Duration::from_secs(2);
/// How often to read the agent's own lines.
const LOOK: Duration = Duration::from_secs(1);
/// How often to report the length of the recording, at most.
const RECORDED: Duration = Duration::from_secs(10);
/// How long to wait until the agent accepts a text.
const PATIENCE: Duration = Duration::from_secs(30);
/// A screen that has not changed for longer says nothing new.
const STILL: Duration = Duration::from_secs(60);
/// Maximum length of a marker's text.
const MARK: usize = 200;
/// How long after a stop to kill a host that does not answer.
const KILL: Duration = Duration::from_secs(5);
/// How long a host may take to answer before it is killed.
const LAST_ASKED: Duration = Duration::from_secs(2);

/// A text on its way to the agent's input.
struct Typing {
    typist: Typist,
    /// Who waits for it, and until when; the first prompt waits without a limit.
    done: Option<(oneshot::Sender<Result<(), String>>, Instant)>,
}

struct Following<'a> {
    supervisor: &'a Supervisor,
    row: &'a mut SessionRow,
    host: HostLink,
    events: Events,
    how: How,
    recogniser: Option<Recogniser>,
    secrets: Secrets,
    lines: Option<Lines>,
    typing: VecDeque<Typing>,
    screen: Observation,
    seen_at: Instant,
    /// The bell rang, and nothing has changed since.
    rang: bool,
    offset: u64,
    recorded: (u64, Instant),
    log_wait: Wait,
    health: Health,
    stopped: Stopped,
    /// Why it was stopped, if the hub did not answer.
    cut_off: Option<String>,
    /// When its host must have ended it.
    kill_at: Option<Instant>,
}

/// Polls with growing intervals.
struct Wait {
    until: Instant,
    next: Duration,
}

impl Wait {
    const LONGEST: Duration = Duration::from_secs(30);

    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        let over = now >= self.until;
        if over {
            self.until = now + self.next;
            self.next = (self.next * 2).min(Self::LONGEST);
        }
        over
    }
}

/// Follows the session until it exits.
pub(super) async fn follow(
    supervisor: &Supervisor,
    row: &mut SessionRow,
    host: HostLink,
    events: Events,
    inbox: &mut mpsc::UnboundedReceiver<Order>,
) -> Ending {
    let how = how(&supervisor.machine, &supervisor.workspaces, row).await;
    let before = used_before(&supervisor.journal, row).await;
    let recogniser = how.adapter.clone().map(|adapter| Recogniser::new(adapter, how.mode).resumed(before));
    let now = Instant::now();
    let told = stopped::was_told(row.memory.state.as_ref());
    let mut following = Following {
        supervisor,
        row,
        host,
        events,
        recogniser,
        secrets: how.secrets(),
        lines: how.events.clone().map(Lines::new),
        typing: VecDeque::new(),
        screen: Observation::default(),
        seen_at: now,
        rang: false,
        offset: 0,
        recorded: (0, now),
        log_wait: Wait { until: now, next: LOOK },
        health: Health::new(now),
        stopped: Stopped::new(now, told),
        cut_off: None,
        kill_at: None,
        how,
    };
    following.attach().await;
    let ending = following.run(inbox).await;
    match (following.cut_off, ending) {
        (Some(why), Ending::Exited(exit)) => Ending::CutOff(Some(exit), why),
        (_, ending) => ending,
    }
}

/// The earlier usage of a resumed conversation: its agent may continue counting from there.
async fn used_before(journal: &Journal, row: &SessionRow) -> agents::Usage {
    let Some(conversation) = &row.desired.conversation else { return agents::Usage::default() };
    match journal.used_before(row.session, conversation).await {
        Ok(used) => sum(&used),
        Err(error) => {
            tracing::warn!(session = %row.session, %error, "could not read the earlier usage of its conversation");
            agents::Usage::default()
        }
    }
}

impl Following<'_> {
    async fn run(&mut self, inbox: &mut mpsc::UnboundedReceiver<Order>) -> Ending {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = self.events.next() => match event.inspect(|_| self.health.hears()) {
                    Some(Event::Exit { offset, code, signal }) => {
                        self.offset = offset;
                        self.look().await;
                        let dir = self.dir();
                        return Ending::of(&dir, offset, code, signal);
                    }
                    Some(Event::Observed(seen)) => self.observed(seen).await,
                    Some(Event::Snapshot(_) | Event::Data { .. }) => {}
                    None => {
                        if let Some(ending) = self.find_again().await {
                            self.look().await;
                            return ending;
                        }
                    }
                },
                Some(order) = inbox.recv() => self.obey(order).await,
                _ = looks.tick() => {
                    self.look().await;
                    self.type_on().await;
                    self.still().await;
                    self.tell_recorded().await;
                    self.look_after_host().await;
                }
            }
        }
    }

    /// The session's folder.
    fn dir(&self) -> PathBuf {
        self.supervisor.machine.folders.session(self.row.session)
    }

    /// Subscribes to the screen, and delivers the first prompt if nobody has yet.
    async fn attach(&mut self) {
        let _ = self.host.observe(OBSERVE);
        if self.row.keep {
            let _ = self.host.keep();
        }
        match self.how.typist.take() {
            Some(typist) if !self.row.memory.prompted => self.typing.push_back(Typing { typist, done: None }),
            Some(_) => {}
            None if !self.row.memory.prompted => {
                self.prompted().await;
            }
            None => {}
        }
    }

    /// The connection to the host failed: it exited, or we reconnect.
    async fn find_again(&mut self) -> Option<Ending> {
        let dir = self.dir();
        match HostLink::adopt(&dir).await {
            Ok(Adopted::Running(host, events)) => {
                (self.host, self.events) = (host, events);
                let _ = self.host.observe(OBSERVE);
                None
            }
            Ok(Adopted::Ended(exit)) => {
                self.offset = exit.offset;
                Some(Ending::Exited(exit))
            }
            Ok(Adopted::Gone) | Err(_) => Some(Ending::Lost),
        }
    }

    async fn obey(&mut self, order: Order) {
        match order {
            Order::Stop { force } => {
                end::save(&self.supervisor.workspaces, self.row, force).await;
                failpoint::pass("runner.stopping");
                let grace = if force { Duration::ZERO } else { self.supervisor.machine.options.stop_grace };
                self.mark("state", if force { "stopped by force" } else { "asked to stop" });
                let _ = self.host.stop(Some(grace));
                self.kill_at = Some(Instant::now() + grace + KILL);
            }
            Order::CutOff { why, within } => {
                // What is not saved in time is saved after the agent has exited.
                let _ = tokio::time::timeout(within, end::save(&self.supervisor.workspaces, self.row, true)).await;
                self.mark("state", &why);
                let _ = self.host.stop(Some(within.min(self.supervisor.machine.options.stop_grace)));
                self.kill_at = Some(Instant::now() + within + KILL);
                self.cut_off = Some(why);
            }
            Order::Say { text, submit, done } => self.say(text, submit, done).await,
            Order::Committed(what) => self.mark("commit", &what),
            Order::Keep => {
                let _ = self.host.keep();
            }
        }
    }

    /// Checks that the host of a task's session is alive, and kills one that does not stop its session.
    async fn look_after_host(&mut self) {
        let (session, dir) = (self.row.session, self.dir());
        let every = *self.supervisor.pulse.every().borrow();
        let every = every.unwrap_or(self.supervisor.machine.options.patience.heartbeat);
        let stopped = self.look_after_agent(&dir, every).await;
        if self.row.desired.task.is_some() {
            let silent = self.health.look(&dir, every).await;
            // A stopped host works as little as one that does not answer.
            self.supervisor.sessions.answers(session, silent.or(stopped));
        }
        if self.kill_at.is_none_or(|at| at > Instant::now()) {
            return;
        }
        self.kill_at = Some(Instant::now() + KILL);
        if !HostLink::answers(&dir, LAST_ASKED).await {
            tracing::warn!(%session, "the session's host does not answer; killing it with its descendants");
            if let Err(error) = HostLink::kill(&dir).await {
                tracing::error!(%session, %error, "could not kill the session's host");
            }
        }
    }

    /// Since when the agent's process is stopped; reports stops and continuations.
    async fn look_after_agent(&mut self, dir: &Path, every: Duration) -> Option<Instant> {
        let quiet = Duration::from_millis(self.screen_now().quiet_ms);
        let since = self.stopped.look(Instant::now(), quiet, every, || stopped::is_stopped(dir));
        let told = stopped::was_told(self.row.memory.state.as_ref());
        if since.is_some() != told {
            let at = if told { self.at_now() } else { stopped::told() };
            self.mark("state", at.detail.as_deref().unwrap_or(at.status.word()));
            progress::tell(&self.supervisor.journal, self.row, at).await;
        }
        since
    }

    /// The agent's state by the current screen: a continued process may show nothing new.
    fn at_now(&mut self) -> At {
        let screen = self.screen_now();
        self.seen_in(&screen).and_then(|seen| At::of(&seen)).unwrap_or_else(At::working)
    }

    /// What is recognized in an already observed screen.
    fn seen_in(&mut self, screen: &Observation) -> Option<Seen> {
        let seen = self.recogniser.as_mut()?.observe(screen);
        Some(Seen { attention: self.rang, ..seen })
    }

    async fn say(&mut self, text: String, submit: bool, done: oneshot::Sender<Result<(), String>>) {
        match self.how.typist_for(&text).filter(|_| submit) {
            Some(typist) => {
                self.typing.push_back(Typing { typist, done: Some((done, Instant::now() + PATIENCE)) });
                self.type_on().await;
            }
            None => {
                let bytes = pasted(&text, self.how.pastes, submit);
                self.mark("prompt", &text);
                let sent = self.host.input(bytes);
                let _ = done.send(sent.map_err(|error| format!("the session did not accept it: {error}")));
            }
        }
    }

    async fn observed(&mut self, seen: terminal::Observed) {
        self.offset = seen.offset;
        self.seen_at = Instant::now();
        self.screen = Observation {
            text: seen.text,
            title: seen.title,
            bells: seen.bell + seen.notifications,
            quiet_ms: seen.quiet_ms,
        };
        self.type_on().await;
        if let Some(recogniser) = &mut self.recogniser {
            let seen = recogniser.observe(&self.screen);
            self.rang = seen.attention;
            self.recognised(seen).await;
        }
        self.look().await;
    }

    /// Examines the same screen again: that it does not change is information, too.
    async fn still(&mut self) {
        let screen = self.screen_now();
        if self.offset == 0 || screen.quiet_ms > STILL.as_millis() as u64 {
            return;
        }
        if let Some(seen) = self.seen_in(&screen) {
            self.recognised(seen).await;
        }
    }

    /// The last screen, and since when it has not changed.
    fn screen_now(&self) -> Observation {
        let still = self.seen_at.elapsed().as_millis() as u64;
        Observation { quiet_ms: self.screen.quiet_ms + still, ..self.screen.clone() }
    }

    /// Reads what the agent has written about itself.
    async fn look(&mut self) {
        let Some(recogniser) = &mut self.recogniser else { return };
        if self.lines.is_none() && self.log_wait.is_over() {
            self.lines = self.how.find_log().await.map(Lines::new);
        }
        let Some(mut lines) = self.lines.take() else { return };
        let (found, back) = blocking(lines, |lines| lines.look()).await;
        lines = back;
        self.lines = Some(lines);
        let mut seen: Option<Seen> = None;
        for line in found.0 {
            seen = Some(recogniser.line(&self.secrets.masked_text(&line)));
        }
        if let Some(seen) = seen {
            self.recognised(seen).await;
        }
    }

    /// An agent's usage, with its cost if a person has set token prices.
    fn priced(&self, used: &agents::Usage, model: &Option<String>) -> agents::Usage {
        let desired = &self.row.desired;
        let model = model.as_deref().or(desired.model.as_deref());
        let cost = || self.supervisor.machine.adapters.all().prices().cost(&desired.agent, model, used);
        agents::Usage { cost: used.cost.or_else(cost), ..*used }
    }

    /// Reports news about the agent.
    async fn recognised(&mut self, seen: Seen) {
        let session = self.row.session;
        let mut memory = self.row.memory.clone();
        let mut facts = Vec::new();
        memory.model = seen.model.clone().or(memory.model);
        let used = (seen.usage != agents::Usage::default()).then(|| usage(&self.priced(&seen.usage, &memory.model)));
        memory.usage = used.or(memory.usage);
        // A conversation that cannot be resumed is no news.
        let conversation = seen.conversation.clone().filter(|_| self.how.resumes());
        memory.conversation = conversation.or(memory.conversation);
        let before = (&self.row.memory.usage, &self.row.memory.model, &self.row.memory.conversation);
        if (&memory.usage, &memory.model, &memory.conversation) != before {
            facts.push(end::used(session, &memory));
        }
        // The screen of a stopped agent does not show its state.
        let stopped = stopped::was_told(memory.state.as_ref());
        let at = At::of(&seen).filter(|at| !stopped && memory.state.as_ref().is_none_or(|state| !at.is(state)));
        if let Some(at) = &at {
            let state = at.clone().since_now();
            memory.state = Some(state.clone());
            facts.push(FactBody::SessionState { session, state });
        }
        let waits = matches!(seen.state, Some(State::Waiting { on: WaitingFor::Limit, .. }));
        let on_screen = (waits && at.is_some()).then(|| self.limit_on_screen());
        facts.extend(HeldUp { row: self.row, adapter: self.how.adapter.as_deref() }.news(
            &mut memory,
            &seen,
            on_screen,
        ));
        if !facts.is_empty() || memory.progressed != self.row.memory.progressed {
            self.row.memory = memory;
            let change = Change::Memory(session, Box::new(self.row.memory.clone()));
            self.supervisor.journal.write(&[change], &facts).await;
        }
        if let Some(at) = at {
            let text = at.detail.map_or_else(|| at.status.to_string(), |detail| format!("{}: {detail}", at.status));
            self.mark("state", &text);
        }
    }

    /// The limit that the screen shows.
    fn limit_on_screen(&self) -> agents::Limit {
        let adapter = self.how.adapter.as_deref();
        adapter.and_then(|adapter| agents::limit(adapter, &held_up::lowest(&self.screen.text))).unwrap_or_default()
    }

    /// Types queued texts when the agent's screen is ready.
    async fn type_on(&mut self) {
        while !self.typing.is_empty() {
            let screen = self.screen_now();
            let Some(typing) = self.typing.front_mut() else { return };
            match typing.typist.observe(&screen) {
                Keys::Done => {
                    if let Some((done, _)) = self.typing.pop_front().and_then(|typing| typing.done) {
                        let _ = done.send(Ok(()));
                    }
                }
                Keys::Type(bytes) => {
                    if typing.done.is_none() && !self.row.memory.prompted {
                        self.prompted().await;
                    }
                    let _ = self.host.input(bytes);
                    return;
                }
                Keys::Wait => {
                    let late = typing.done.as_ref().is_some_and(|(_, until)| *until < Instant::now());
                    if !late {
                        return;
                    }
                    if let Some((done, _)) = self.typing.pop_front().and_then(|typing| typing.done) {
                        let _ = done.send(Err("the agent does not accept a text now".to_owned()));
                    }
                }
            }
        }
    }

    /// Stores that the prompt is delivered, before it is: it must not be delivered twice.
    async fn prompted(&mut self) {
        self.row.memory.prompted = true;
        let change = Change::Memory(self.row.session, Box::new(self.row.memory.clone()));
        self.supervisor.journal.write(&[change], &[]).await;
        let prompt = task::prompt(&self.row.desired).to_owned();
        if !prompt.is_empty() && self.how.takes_prompt() {
            self.mark("prompt", &prompt);
        }
    }

    async fn tell_recorded(&mut self) {
        let (told, at) = self.recorded;
        if self.offset != told && at.elapsed() >= RECORDED {
            self.recorded = (self.offset, Instant::now());
            let dir = self.dir();
            if let Some(fact) = end::recorded(self.row.session, dir, self.offset, true).await {
                self.supervisor.journal.tell(fact).await;
            }
        }
    }

    /// Adds a marker to the recording. A lost host is noticed where its events are awaited.
    fn mark(&self, kind: &str, text: &str) {
        let text: String = text.chars().take(MARK).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = self.host.mark(kind, text);
    }
}

/// Reads files on a blocking thread.
async fn blocking<T: Send + 'static, R: Send + Default + 'static>(
    mut value: T,
    work: impl FnOnce(&mut T) -> R + Send + 'static,
) -> (R, T) {
    // A panic in there is ours; it surfaces here.
    tokio::task::spawn_blocking(move || {
        let result = work(&mut value);
        (result, value)
    })
    .await
    .expect("reading lines does not panic")
}
