//! Recent events in memory, with the current access facts.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::ws::Utf8Bytes;
use domain::{
    Actor, MessageId, ProjectFacts, ProjectId, Resource, RunnerId, Seq, SessionId, TaskStatus, Timestamp, UserId,
    WorkerId,
};
use parking_lot::Mutex;
use protocol::{Change, Delta, FromHub, Runner};
use store::{Event, EventBody};
use tokio::sync::{Notify, broadcast, watch};

use super::declared::Declared;
use super::executions::Executions;
use super::filter::{self, Scope, Told, looks, told};
use super::handoffs::Handoffs;
use super::landings::Landings;
use super::presence::Presence;
use super::work::Work;

/// How many events, and bytes of events, to keep in memory.
const EVENTS: usize = 4096;
const BYTES: usize = 8 * 1024 * 1024;
/// How many events a client gets at a time.
const STRIDE: usize = 256;

/// An event for clients, encoded once for all of them.
struct Entry {
    seq: Seq,
    at: Timestamp,
    scope: Scope,
    /// The message that it is about, if any.
    message: Option<MessageId>,
    /// `None`: no client receives it.
    frame: Option<Utf8Bytes>,
    /// Its execution part, if any.
    veil: Option<Box<Veiled>>,
}

/// A change with execution details: not every receiver gets all of it.
struct Veiled {
    /// The change itself, for people who may view some of it.
    change: Change,
    /// The owners of the execution details.
    owners: Vec<UserId>,
    /// For people who may view none.
    bare: Utf8Bytes,
}

struct Log {
    entries: VecDeque<Entry>,
    bytes: usize,
    newest: Seq,
    facts: HashMap<ProjectId, ProjectFacts>,
    /// The owners of workers, who may view what their workers do.
    workers: HashMap<WorkerId, UserId>,
    /// Who has the keyboards of other people's sessions, and the runners of these.
    keyboards: Keyboards,
}

/// Sessions whose keyboards another person has: the holder, and the session's runner.
pub(crate) type Keyboards = HashMap<SessionId, (UserId, RunnerId)>;

/// What a client gets next.
pub(crate) enum Next {
    /// It has everything.
    Nothing,
    /// These, up to and including the position.
    Frames {
        /// The frames with their positions, in order.
        told: Vec<(Seq, Told, Utf8Bytes)>,
        /// The cursor afterwards.
        upto: Seq,
    },
    /// The log no longer has what comes next: read it from the database.
    Forgotten,
}

/// Distributes committed events.
pub(crate) struct Live {
    /// Who is connected; events about people and runners include it.
    pub(crate) presence: Presence,
    log: Mutex<Log>,
    newest: watch::Sender<Seq>,
    revoked: broadcast::Sender<Arc<Vec<String>>>,
    desired: broadcast::Sender<RunnerId>,
    ready: broadcast::Sender<ProjectId>,
    /// Where tasks may be assigned.
    pub(crate) work: Work,
    pub(crate) landings: Landings,
    /// What handoffs wait for.
    pub(crate) handoffs: Handoffs,
    /// What files are declared by.
    pub(crate) declared: Declared,
    /// What executions wait for.
    pub(crate) executions: Executions,
    /// Notified when somebody asks the agent of an ended session.
    pub(crate) asked: Notify,
    /// Notified when events are missing: another hub committed them.
    pub(crate) gap: Notify,
    shared: AtomicBool,
}

impl Live {
    /// An empty log; call [`Live::begin`] before publishing.
    pub(crate) fn new() -> Self {
        let log = Log {
            entries: VecDeque::new(),
            bytes: 0,
            newest: Seq(0),
            facts: HashMap::new(),
            workers: HashMap::new(),
            keyboards: Keyboards::new(),
        };
        Self {
            presence: Presence::default(),
            log: Mutex::new(log),
            newest: watch::Sender::new(Seq(0)),
            revoked: broadcast::Sender::new(256),
            desired: broadcast::Sender::new(256),
            ready: broadcast::Sender::new(256),
            work: Work::default(),
            landings: Landings::default(),
            handoffs: Handoffs::default(),
            declared: Declared::default(),
            executions: Executions::default(),
            asked: Notify::new(),
            gap: Notify::new(),
            shared: AtomicBool::new(false),
        }
    }

    /// Starts after `newest`, with the access facts, the owners of workers and the holders of keyboards; `shared`: there may be other hubs.
    pub(crate) fn begin(
        &self,
        newest: Seq,
        facts: Vec<ProjectFacts>,
        workers: HashMap<WorkerId, UserId>,
        keyboards: Keyboards,
        shared: bool,
    ) {
        self.shared.store(shared, Ordering::Relaxed);
        let mut log = self.log.lock();
        log.newest = newest;
        log.facts = facts.into_iter().map(|facts| (facts.id, facts)).collect();
        log.workers = workers;
        log.keyboards = keyboards;
        self.newest.send_replace(newest);
    }

    /// Adds events in order; known ones are skipped, and the reader of the database fills gaps.
    pub(crate) fn publish(&self, events: &[Arc<Event>]) {
        self.log.lock().meet(events);
        let frames: Vec<_> = events.iter().map(|event| (self.frame(event), self.veil(event))).collect();
        let mut log = self.log.lock();
        for (event, (frame, veil)) in events.iter().zip(frames) {
            if event.seq <= log.newest {
                continue;
            }
            if event.seq.0 != log.newest.0 + 1 {
                self.gap.notify_one();
                break;
            }
            log.apply(event);
            let (seq, at, scope, message) = (event.seq, event.at, scope(event), event.message());
            log.push(Entry { seq, at, scope, message, frame, veil });
            match &event.body {
                // Without listeners there is nobody to close or to notify.
                EventBody::Revoked { ids } => drop(self.revoked.send(Arc::new(ids.clone()))),
                EventBody::Desired { runner } => drop(self.desired.send(*runner)),
                EventBody::Change { change } => {
                    if let Change::Tasks { tasks } = change
                        && let Some(task) = tasks.iter().find(|task| task.status == TaskStatus::Ready)
                    {
                        drop(self.ready.send(task.project));
                    }
                    self.work.hear(change);
                    self.landings.hear(change);
                    self.handoffs.hear(change);
                    self.declared.hear(change);
                    self.executions.hear(change);
                }
            }
        }
        self.newest.send_replace(log.newest);
    }

    /// What comes after `cursor` for `actor`.
    pub(crate) fn next(&self, actor: &Actor, cursor: Seq) -> Next {
        let log = self.log.lock();
        if cursor >= log.newest {
            return Next::Nothing;
        }
        let Some(first) = log.entries.front().map(|entry| entry.seq) else { return Next::Forgotten };
        if cursor.0 + 1 < first.0 {
            return Next::Forgotten;
        }
        let start = usize::try_from(cursor.0 + 1 - first.0).unwrap_or(usize::MAX);
        let mut upto = cursor;
        let mut found = Vec::new();
        for entry in log.entries.iter().skip(start).take(STRIDE) {
            upto = entry.seq;
            let Some(frame) = &entry.frame else { continue };
            match log.told(actor, entry.scope) {
                Told::Nothing => {}
                told => {
                    let veiled = entry.veil.as_deref().and_then(|veil| log.veiled(actor, entry, veil));
                    found.push((entry.seq, told, veiled.unwrap_or_else(|| frame.clone())));
                }
            }
        }
        Next::Frames { told: found, upto }
    }

    /// The same for events that were read from the database.
    pub(crate) fn judge(&self, actor: &Actor, events: &[Event]) -> Vec<(Seq, Told, Utf8Bytes)> {
        let judged: Vec<(Seq, Told)> = {
            let log = self.log.lock();
            events.iter().map(|event| (event.seq, log.told(actor, scope(event)))).collect()
        };
        let shown = judged.into_iter().zip(events).filter(|((_, told), _)| *told != Told::Nothing);
        let frame = |event: &Event| {
            let whole = self.frame(event)?;
            let Some(veil) = self.veil(event) else { return Some(whole) };
            let (seq, at, scope) = (event.seq, event.at, scope(event));
            let entry = Entry { seq, at, scope, message: None, frame: None, veil: None };
            Some(self.log.lock().veiled(actor, &entry, &veil).unwrap_or(whole))
        };
        shown.filter_map(|((seq, told), event)| Some((seq, told, frame(event)?))).collect()
    }

    /// Whether `actor` may see a project now.
    pub(crate) fn sees(&self, actor: &Actor, project: ProjectId) -> bool {
        let log = self.log.lock();
        let see = |facts| domain::can(actor, domain::Action::See, Resource::Project(facts)).is_allowed();
        log.facts.get(&project).is_some_and(see)
    }

    /// Whether `actor` may view what `owner` runs in a project now.
    pub(crate) fn looks(&self, actor: &Actor, project: ProjectId, owner: UserId) -> bool {
        self.log.lock().facts.get(&project).is_some_and(|facts| looks(actor, facts, owner))
    }

    /// Whether input of `actor` reaches a session of `owner` now.
    pub(crate) fn may_type(&self, actor: &Actor, project: ProjectId, owner: UserId, session: SessionId) -> bool {
        let log = self.log.lock();
        let holder = log.keyboards.get(&session).map(|(holder, _)| *holder);
        log.facts.get(&project).is_some_and(|facts| domain::may_type(actor, facts, owner, holder))
    }

    /// Who has the keyboard of another person's session.
    pub(crate) fn holder(&self, session: SessionId) -> Option<UserId> {
        self.log.lock().keyboards.get(&session).map(|(holder, _)| *holder)
    }

    /// The sessions of a runner whose keyboards another person has.
    pub(crate) fn lent_on(&self, runner: RunnerId) -> Vec<(SessionId, UserId)> {
        let log = self.log.lock();
        let lent = log.keyboards.iter().filter(|(_, (_, of))| *of == runner);
        lent.map(|(session, (holder, _))| (*session, *holder)).collect()
    }

    /// Subscribes to runners whose desired state changed.
    pub(crate) fn desires(&self) -> broadcast::Receiver<RunnerId> {
        self.desired.subscribe()
    }

    /// Subscribes to projects in which tasks became ready.
    pub(crate) fn ready(&self) -> broadcast::Receiver<ProjectId> {
        self.ready.subscribe()
    }

    /// The newest position.
    pub(crate) fn newest(&self) -> Seq {
        *self.newest.borrow()
    }

    /// Subscribes to new events.
    pub(crate) fn watch(&self) -> watch::Receiver<Seq> {
        self.newest.subscribe()
    }

    fn frame(&self, event: &Event) -> Option<Utf8Bytes> {
        let EventBody::Change { change } = &event.body else { return None };
        // A newer hub on the same database committed it.
        if *change == Change::Unknown {
            return None;
        }
        let mut change = change.clone();
        self.complete(&mut change);
        Some(encode(&FromHub::Delta(Delta { seq: event.seq, at: event.at, change })))
    }

    /// An event's execution part; `None` if every receiver gets all of it.
    fn veil(&self, event: &Event) -> Option<Box<Veiled>> {
        let EventBody::Change { change } = &event.body else { return None };
        if !change.has_execution() {
            return None;
        }
        let mut bare = change.clone();
        bare.veil(|_| None, |_| false);
        let owners = {
            let log = self.log.lock();
            change.executions(|worker| log.workers.get(&worker).copied())
        };
        let bare = encode(&FromHub::Delta(Delta { seq: event.seq, at: event.at, change: bare }));
        Some(Box::new(Veiled { change: change.clone(), owners, bare }))
    }

    /// Adds what only a running hub knows: who is connected.
    pub(crate) fn complete(&self, change: &mut Change) {
        match change {
            Change::User { user } => user.connected = self.presence.is_connected(user.id),
            Change::Runner { runner } => self.complete_runner(runner),
            _ => {}
        }
    }

    /// Adds a runner's live state. Its stored trouble may be outdated: on the same full disk, the hub cannot store it
    /// either.
    pub(crate) fn complete_runner(&self, runner: &mut Runner) {
        runner.connected = self.is_there(runner);
        match self.presence.trouble_of(runner.id) {
            Some(trouble) => runner.trouble = trouble,
            None if !runner.connected => runner.trouble = None,
            None => {}
        }
    }

    /// Whether a runner is connected to this hub, or to another one of the same database.
    pub(crate) fn is_there(&self, runner: &Runner) -> bool {
        let elsewhere = self.shared.load(Ordering::Relaxed) && runner.connected;
        elsewhere || self.presence.is_runner_connected(runner.id)
    }

    /// Whether a runner is connected and can record what happens.
    pub(crate) fn can_work(&self, runner: &Runner) -> bool {
        let mut runner = runner.clone();
        self.complete_runner(&mut runner);
        runner.connected && runner.trouble.is_none()
    }

    /// Subscribes to ended credentials.
    pub(crate) fn revocations(&self) -> broadcast::Receiver<Arc<Vec<String>>> {
        self.revoked.subscribe()
    }
}

impl Log {
    /// Learns the owners of the workers in events.
    fn meet(&mut self, events: &[Arc<Event>]) {
        for event in events {
            if let EventBody::Change { change: Change::Workers { workers } } = &event.body {
                self.workers.extend(workers.iter().map(|worker| (worker.id, worker.owner.id)));
            }
        }
    }

    /// What a receiver gets of a change with execution details; `None`: all of it.
    fn veiled(&self, actor: &Actor, entry: &Entry, veil: &Veiled) -> Option<Utf8Bytes> {
        let facts = entry.scope.project.and_then(|id| self.facts.get(&id));
        let may = |owner: Option<UserId>| facts.is_some_and(|facts| filter::may_look(actor, facts, owner));
        if may(None) {
            return None;
        }
        if !veil.owners.iter().any(|owner| may(Some(*owner))) {
            return Some(veil.bare.clone());
        }
        let mut change = veil.change.clone();
        change.veil(|worker| self.workers.get(&worker).copied(), may);
        Some(encode(&FromHub::Delta(Delta { seq: entry.seq, at: entry.at, change })))
    }

    fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::Change { change: Change::Project { project } } => {
                self.facts.insert(project.id, project.facts());
            }
            EventBody::Change { change: Change::Session { session } } => match &session.keyboard.holder {
                Some(holder) if !session.state.ended() => {
                    self.keyboards.insert(session.id, (holder.id, session.runner));
                }
                _ => drop(self.keyboards.remove(&session.id)),
            },
            EventBody::Change { change: Change::ProjectGone { project } } => {
                self.facts.remove(project);
            }
            EventBody::Change { change: change @ Change::Message { message, .. } }
                if message.edited_at.is_some() || message.deleted_at.is_some() =>
            {
                self.replace(message.id, change);
            }
            _ => {}
        }
        self.newest = event.seq;
    }

    /// Updates a message wherever it occurred before: a deleted text must not reach a client that reconnects. The
    /// database does the same.
    fn replace(&mut self, message: MessageId, now: &Change) {
        let mut now = now.clone();
        // Everybody receives it: only people with access get the author's session in answers.
        now.veil(|_| None, |_| false);
        for entry in self.entries.iter_mut().filter(|entry| entry.message == Some(message)) {
            self.bytes -= entry.size();
            let delta = Delta { seq: entry.seq, at: entry.at, change: now.clone() };
            entry.frame = Some(encode(&FromHub::Delta(delta)));
            entry.veil = None;
            self.bytes += entry.size();
        }
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += entry.size();
        self.entries.push_back(entry);
        while self.entries.len() > EVENTS || self.bytes > BYTES {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= oldest.size();
        }
    }

    fn told(&self, actor: &Actor, scope: Scope) -> Told {
        told(actor, scope, scope.project.and_then(|id| self.facts.get(&id)))
    }
}

impl Entry {
    fn size(&self) -> usize {
        let frame = self.frame.as_ref().map_or(0, |frame| frame.len());
        // The kept change takes about as much memory as its text.
        size_of::<Self>() + frame + self.veil.as_ref().map_or(0, |veil| frame + veil.bare.len())
    }
}

fn scope(event: &Event) -> Scope {
    Scope {
        project: event.project,
        audience: event.audience,
        facts_before: event.facts_before,
        execution_of: event.execution_of,
    }
}

/// A frame's text.
pub(crate) fn encode(frame: &FromHub) -> Utf8Bytes {
    serde_json::to_string(frame).expect("frames have string keys and no fallible serializer").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::WorkerId;

    #[test]
    fn an_unknown_change_reaches_nobody_and_keeps_its_position() {
        let live = Live::new();
        live.begin(Seq(6), Vec::new(), HashMap::new(), Keyboards::new(), true);
        let event = |seq: u64, change: Change| {
            let (seq, at, body) = (Seq(seq), Timestamp::from_millis(0), EventBody::Change { change });
            let (project, audience, facts_before, execution_of) = (None, None, None, None);
            Arc::new(Event { seq, at, project, audience, facts_before, execution_of, body })
        };
        live.publish(&[event(7, Change::Unknown), event(8, Change::WorkerGone { worker: WorkerId::generate() })]);
        let actor = Actor::User { id: UserId::generate(), hub_owner: false };
        let Next::Frames { told, upto } = live.next(&actor, Seq(6)) else { panic!("there is something") };
        assert_eq!((told.len(), told[0].0, upto), (1, Seq(8), Seq(8)));
    }
}
