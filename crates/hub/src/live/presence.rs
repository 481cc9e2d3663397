//! Presence: who is connected, and what they look at. Never stored.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{Actor, RunnerId, UserId};
use parking_lot::Mutex;
use protocol::{Place, PresenceEntry};
use tokio::sync::broadcast;

use super::Live;

/// One connection, as long as it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ConnectionId(u64);

#[derive(Default)]
struct Person {
    connections: usize,
    places: HashMap<ConnectionId, Place>,
    /// Connections whose page is visible to somebody.
    visible: HashSet<ConnectionId>,
}

#[derive(Default)]
struct Here {
    people: HashMap<UserId, Person>,
    runners: HashMap<RunnerId, usize>,
    /// Why connected runners cannot record facts.
    troubles: HashMap<RunnerId, String>,
}

/// Who is connected, and what they look at.
pub(crate) struct Presence {
    here: Mutex<Here>,
    changed: broadcast::Sender<UserId>,
    ids: AtomicU64,
}

impl Default for Presence {
    fn default() -> Self {
        Self { here: Mutex::default(), changed: broadcast::Sender::new(64), ids: AtomicU64::new(0) }
    }
}

impl Presence {
    /// A new connection's id.
    pub(crate) fn id(&self) -> ConnectionId {
        ConnectionId(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    /// A person's connection begins.
    pub(crate) fn enter(&self, user: UserId) {
        let mut here = self.here.lock();
        let person = here.people.entry(user).or_default();
        person.connections += 1;
        if person.connections == 1 {
            let _ = self.changed.send(user);
        }
    }

    /// A person's connection ends. Returns whether it was the last one.
    pub(crate) fn leave(&self, user: UserId, connection: ConnectionId) -> bool {
        let mut here = self.here.lock();
        let Some(person) = here.people.get_mut(&user) else { return false };
        person.connections = person.connections.saturating_sub(1);
        person.visible.remove(&connection);
        let looked = person.places.remove(&connection).is_some();
        let last = person.connections == 0;
        if last {
            here.people.remove(&user);
        }
        if looked || last {
            let _ = self.changed.send(user);
        }
        last
    }

    /// A connection looks at something else.
    pub(crate) fn look(&self, user: UserId, connection: ConnectionId, at: Option<Place>, visible: bool) {
        let mut here = self.here.lock();
        let Some(person) = here.people.get_mut(&user) else { return };
        match visible {
            true => person.visible.insert(connection),
            false => person.visible.remove(&connection),
        };
        let before = match at {
            Some(place) => person.places.insert(connection, place),
            None => person.places.remove(&connection),
        };
        if before != at {
            let _ = self.changed.send(user);
        }
    }

    /// The people who look at a page of this hub.
    pub(crate) fn looking(&self) -> Vec<UserId> {
        let here = self.here.lock();
        here.people.iter().filter(|(_, person)| !person.visible.is_empty()).map(|(user, _)| *user).collect()
    }

    /// A runner's connection begins or ends. Returns whether others must know.
    pub(crate) fn runner(&self, runner: RunnerId, connected: bool) -> bool {
        let mut here = self.here.lock();
        let count = here.runners.entry(runner).or_default();
        if connected {
            *count += 1;
            return *count == 1;
        }
        *count = count.saturating_sub(1);
        let last = *count == 0;
        if last {
            here.runners.remove(&runner);
            here.troubles.remove(&runner);
        }
        last
    }

    /// A connected runner reports whether it can record facts, and why not.
    pub(crate) fn runner_trouble(&self, runner: RunnerId, trouble: Option<String>) {
        let mut here = self.here.lock();
        match trouble {
            Some(why) => here.troubles.insert(runner, why),
            None => here.troubles.remove(&runner),
        };
    }

    /// How many connected runners cannot record facts.
    pub(crate) fn runners_in_trouble(&self) -> u32 {
        u32::try_from(self.here.lock().troubles.len()).unwrap_or(u32::MAX)
    }

    /// Whether a runner is connected here, and if so, why it cannot record facts.
    pub(crate) fn trouble_of(&self, runner: RunnerId) -> Option<Option<String>> {
        let here = self.here.lock();
        here.runners.contains_key(&runner).then(|| here.troubles.get(&runner).cloned())
    }

    /// Whether a person has a connection.
    pub(crate) fn is_connected(&self, user: UserId) -> bool {
        self.here.lock().people.contains_key(&user)
    }

    /// Whether a runner has a connection.
    pub(crate) fn is_runner_connected(&self, runner: RunnerId) -> bool {
        self.here.lock().runners.contains_key(&runner)
    }

    /// Subscribes to changes of presence.
    pub(crate) fn watch(&self) -> broadcast::Receiver<UserId> {
        self.changed.subscribe()
    }

    /// Everybody who is connected, as far as `actor` may see.
    pub(crate) fn everybody(&self, live: &Live, actor: &Actor) -> Vec<PresenceEntry> {
        let people: Vec<UserId> = self.here.lock().people.keys().copied().collect();
        people.into_iter().map(|user| self.entry(live, actor, user)).collect()
    }

    /// One person, as far as `actor` may see: places in projects that they cannot see are left out.
    pub(crate) fn entry(&self, live: &Live, actor: &Actor, user: UserId) -> PresenceEntry {
        let (connected, mut places) = match self.here.lock().people.get(&user) {
            Some(person) => (true, person.places.values().copied().collect::<Vec<_>>()),
            None => (false, Vec::new()),
        };
        places.retain(|place| live.sees(actor, place.project));
        places.sort_by_key(|place| (place.project, place.activity));
        places.dedup();
        PresenceEntry { user, connected, places }
    }
}
