//! A store on a new database, with two people and a clock that the test moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use domain::{Actor, ProjectId, Timestamp, Visibility};
use protocol::{InviteCreate, Message, MessageText, Project, ProjectCreate, verbs};
use store::{AcceptInvite, Caller, Command, EnterHubOwner, Event, Secret, Store, StoreError, Who};
use testkit::{Database, Postgres};

use testkit::Raw;

/// A day in milliseconds.
pub(crate) const DAY: i64 = 86_400_000;

/// A test's database; dropping it deletes the database.
pub(crate) enum Place {
    Sqlite(tempfile::TempDir),
    Postgres(Database),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A file in memory, if the system supports that.
    pub(crate) fn memory() -> Self {
        Self::Sqlite(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    pub(crate) async fn postgres() -> Self {
        Self::Postgres(Postgres::shared().database().await)
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(directory) => format!("sqlite:{}", directory.path().join("hub.db").display()),
            Self::Postgres(database) => database.url().to_owned(),
        }
    }
}

/// A store with Ada, who owns the hub, and Bo, whom she invited.
pub(crate) struct Fixture {
    pub(crate) store: Arc<Store>,
    pub(crate) ada: Caller,
    pub(crate) bo: Caller,
    pub(crate) url: String,
    clock: Arc<AtomicI64>,
    heard: Arc<Mutex<Vec<Arc<Event>>>>,
    /// How many projects it has named.
    projects: AtomicUsize,
    /// Last, so that the store is dropped before its database.
    pub(crate) place: Place,
}

impl Fixture {
    pub(crate) async fn open(place: Place) -> Self {
        Self::open_at(place.url(), place).await
    }

    /// Opens `place` by another URL, such as that of a proxy.
    pub(crate) async fn open_at(url: String, place: Place) -> Self {
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let store = Arc::new(open(&url, &clock, &heard).await);
        let ada = store.write(&Caller::hub("start"), None, EnterHubOwner { name: "Ada".into() }).await.unwrap().value;
        let ada = Caller::user(ada.id, true, "Ada", "192.0.2.1 test");
        let mut fixture = Self { store, bo: ada.clone(), ada, url, clock, heard, projects: AtomicUsize::new(0), place };
        fixture.bo = fixture.join("Bo").await;
        fixture
    }

    /// Closes the store and opens the same database again.
    pub(crate) async fn reopened(self) -> Self {
        let Self { store, ada, bo, url, clock, heard, projects, place } = self;
        store.close().await;
        drop(store);
        let store = Arc::new(open(&url, &clock, &heard).await);
        Self { store, ada, bo, url, clock, heard, projects, place }
    }

    /// Another store on the same database, like a second hub's.
    pub(crate) async fn second_store(&self) -> Arc<Store> {
        Arc::new(open(&self.url, &self.clock, &Arc::default()).await)
    }

    /// A new person, by invitation.
    pub(crate) async fn join(&self, name: &str) -> Caller {
        let invite =
            self.done(&self.ada, verbs::InviteCreate { input: InviteCreate { name: name.into(), expires_at: None } });
        let accept = AcceptInvite {
            hash: Secret::presented(&invite.await.link).hash(),
            name: name.into(),
            client: "Firefox".into(),
            address: "192.0.2.2".into(),
        };
        let user = self.done(&Caller::hub("192.0.2.2"), accept).await.user.unwrap();
        Caller::user(user.id, false, name, "192.0.2.2 test")
    }

    /// Runs a verb that must succeed.
    pub(crate) async fn done<C: Command>(&self, caller: &Caller, command: C) -> C::Output {
        self.store.write(caller, None, command).await.unwrap().value
    }

    /// Runs a verb that must be refused.
    pub(crate) async fn refused<C: Command>(&self, caller: &Caller, command: C) -> StoreError {
        match self.store.write(caller, None, command).await {
            Ok(_) => panic!("{} was not refused", C::VERB),
            Err(error) => error,
        }
    }

    /// A project of Ada's.
    pub(crate) async fn project(&self, visibility: Visibility) -> Project {
        self.done(&self.ada, self.another_project(visibility)).await
    }

    /// The creation of a project whose name is not taken.
    pub(crate) fn another_project(&self, visibility: Visibility) -> verbs::ProjectCreate {
        let name = match self.projects.fetch_add(1, Ordering::SeqCst) {
            0 => "Parser".to_owned(),
            number => format!("Parser {}", number + 1),
        };
        create_project(&format!("{name}\ngoals"), visibility)
    }

    /// Sends a message.
    pub(crate) async fn say(&self, caller: &Caller, project: ProjectId, content: &str) -> Message {
        self.done(caller, send(project, content)).await
    }

    /// Moves the clock.
    pub(crate) fn pass(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    /// All events that the listener received.
    pub(crate) fn heard(&self) -> MutexGuard<'_, Vec<Arc<Event>>> {
        self.heard.lock().unwrap()
    }

    /// Direct access to the rows.
    pub(crate) async fn raw(&self) -> Raw {
        Raw::connect(&self.url).await
    }

    /// A caller with an observer link.
    pub(crate) fn observer(project: ProjectId) -> Caller {
        let who = Who::Actor { actor: Actor::Observer { project }, name: String::new() };
        Caller { who, origin: "192.0.2.3".into(), by_agent: false }
    }
}

async fn open(url: &str, clock: &Arc<AtomicI64>, heard: &Arc<Mutex<Vec<Arc<Event>>>>) -> Store {
    let (clock, heard) = (clock.clone(), heard.clone());
    let now = move || Timestamp::from_millis(clock.load(Ordering::SeqCst));
    Store::open(url, now, move |events| heard.lock().unwrap().extend_from_slice(events)).await.unwrap()
}

/// The id of the calling person.
pub(crate) fn id(caller: &Caller) -> domain::UserId {
    caller.person().unwrap().id
}

pub(crate) fn create_project(content: &str, visibility: Visibility) -> verbs::ProjectCreate {
    let visibility = Some(visibility);
    verbs::ProjectCreate { input: ProjectCreate { content: content.into(), visibility, ..ProjectCreate::default() } }
}

pub(crate) fn send(project: ProjectId, content: &str) -> verbs::ChatSend {
    verbs::ChatSend { project, input: MessageText { content: content.into() } }
}
