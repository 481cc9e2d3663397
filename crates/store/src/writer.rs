//! The one writer: waiting commands are grouped into one transaction and one commit.
//!
//! A command refuses before it writes. If one of a group fails in the database, or refuses after it wrote, the group is
//! rolled back and its commands are run again, each in a transaction of its own. A group whose commit may have happened
//! is never run again: only the caller can do that, with a key.

use std::sync::Arc;
use std::time::Duration;

use domain::{ProjectId, Timestamp};
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast, mpsc, oneshot};
use tokio::time::timeout;

use crate::batch::Batch;
use crate::connection::{Owned, Target};
use crate::job::{Job, Queued, Ran};
use crate::memory::Memory;
use crate::sql::Ledger;
use crate::tx::Tx;
use crate::verbs::tasks::Wanted;
use crate::{Caller, Command, Committed, Event, StoreError};

/// How many commands share a commit at most.
const GROUP: usize = 128;

/// How long a server may take over one transaction, also waiting for another hub's.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why a transaction is not known to be durable.
enum Failure {
    /// The database takes no transaction now: nothing was run.
    Away(StoreError),
    /// A command failed, and holds its own error; with the reason, if the database is in trouble.
    Spoiled(Option<StoreError>),
    /// What the commands left to be written could not be.
    Undone(StoreError),
    /// The answer to the commit was lost.
    Unknown(StoreError),
}

impl Failure {
    /// What ails the database, if it is not the command.
    fn trouble(&self) -> Option<&StoreError> {
        match self {
            Self::Away(error) | Self::Undone(error) | Self::Unknown(error) => Some(error),
            Self::Spoiled(error) => error.as_ref(),
        }
    }
}

/// Told about every commit's events, in order, before the waiters are answered.
pub(crate) type Listener = Arc<dyn Fn(&[Arc<Event>]) + Send + Sync>;

/// Tells the time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A cheap handle to the writer task.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    stop: Arc<Notify>,
    trouble: Arc<Mutex<Option<Trouble>>>,
    coming: broadcast::Sender<ProjectId>,
}

/// Why the last write failed.
#[derive(Debug, Clone)]
struct Trouble {
    why: String,
    /// The database did not answer; that it takes no changes is not known.
    away: bool,
}

/// How many announcements are kept for those who have not looked yet. Who misses one hears of what came by its event.
const COMING: usize = 64;

impl Writer {
    /// Starts the writer task; it ends when it is told to, closing `connection`.
    pub(crate) fn start(
        target: Target,
        connection: Owned,
        listener: Listener,
        clock: Clock,
    ) -> (Self, oneshot::Receiver<()>) {
        let (queue, jobs) = mpsc::channel(1024);
        let (ended, end) = oneshot::channel();
        let trouble = Arc::new(Mutex::new(None));
        let stop = Arc::new(Notify::new());
        let coming = broadcast::Sender::new(COMING);
        let task = Task {
            target,
            connection: Some(connection),
            listener,
            clock,
            trouble: trouble.clone(),
            memory: Memory::default(),
            answered: 0,
            coming: coming.clone(),
        };
        let told = stop.clone();
        tokio::spawn(async move {
            task.serve(jobs, &told).await;
            let _ = ended.send(());
        });
        (Self { queue, stop, trouble, coming }, end)
    }

    /// Runs a command and waits until it is durable.
    pub(crate) async fn write<C: Command>(
        &self,
        caller: Caller,
        key: Option<String>,
        command: C,
    ) -> Result<Committed<C::Output>, StoreError> {
        if let Some(key) = &key {
            domain::text::IDEMPOTENCY_KEY.check(key)?;
        }
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Queued { command, caller, key, result: None, reply });
        let stopped = || StoreError::Unavailable("the hub is stopping".into());
        self.queue.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Hears in which projects tasks are about to be added: who asks for one at once shares their transaction.
    pub(crate) fn coming(&self) -> broadcast::Receiver<ProjectId> {
        self.coming.subscribe()
    }

    /// Takes no more commands; those that wait are still run.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Why the last write failed, while writes fail.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().as_ref().map(|trouble| trouble.why.clone())
    }

    /// The database answers: a write that failed because it did not says nothing any more.
    pub(crate) fn reached(&self) {
        self.trouble.lock().take_if(|trouble| trouble.away);
    }
}

/// How often the writer lets others run in vain while some of those who were just answered are not back.
const PATIENT: u32 = 16;

/// Lets those who were just answered come back with their next command, as long as they do so at once: they then share
/// one commit with those that came meanwhile, instead of taking turns with them.
async fn gather(jobs: &mpsc::Receiver<Box<dyn Job>>, answered: usize) {
    let mut in_vain = 0;
    loop {
        let before = jobs.len();
        tokio::task::yield_now().await;
        in_vain = if jobs.len() == before { in_vain + 1 } else { 0 };
        let all_back = answered < 2 || jobs.len() >= answered;
        if jobs.len() >= GROUP || (in_vain > 0 && all_back) || in_vain >= PATIENT {
            return;
        }
    }
}

/// Runs the jobs and writes everything that they leave to be written.
async fn run(
    connection: &mut Owned,
    batch: &mut Batch,
    jobs: &mut [Box<dyn Job>],
    now: Timestamp,
) -> Result<Vec<Event>, Failure> {
    let keys = jobs.iter().filter_map(|job| job.key()).collect();
    batch.known.look_up(&mut connection.borrow(), keys).await.map_err(Failure::Undone)?;
    let mut wanted = Wanted::default();
    jobs.iter().for_each(|job| job.foresee(&mut wanted));
    let hub = Caller::hub("hub");
    let mut tx = Tx::new(connection.borrow(), batch, &hub, now);
    tx.read_wanted(wanted).await.map_err(Failure::Undone)?;
    for job in jobs.iter_mut() {
        if let Ran::Spoiled(trouble) = job.run(connection.borrow(), batch, now).await {
            return Err(Failure::Spoiled(trouble));
        }
    }
    batch.write(&mut connection.borrow(), now).await.map_err(Failure::Undone)
}

/// Commits; if the answer is lost, the outcome is unknown.
async fn commit(connection: &mut Owned) -> Result<(), Failure> {
    connection.borrow().script("COMMIT").await.map_err(|error| match error {
        StoreError::Unavailable(_) => Failure::Unknown(error),
        _ => Failure::Undone(error),
    })
}

struct Task {
    target: Target,
    connection: Option<Owned>,
    listener: Listener,
    clock: Clock,
    trouble: Arc<Mutex<Option<Trouble>>>,
    memory: Memory,
    /// How many commands were answered last.
    answered: usize,
    coming: broadcast::Sender<ProjectId>,
}

impl Task {
    async fn serve(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>, stop: &Notify) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            gather(&jobs, std::mem::take(&mut self.answered)).await;
            let count = tokio::select! {
                count = jobs.recv_many(&mut group, GROUP) => count,
                () = stop.notified() => {
                    jobs.close();
                    continue;
                }
            };
            if count == 0 {
                break;
            }
            if self.call(&group) {
                gather(&jobs, 0).await;
                while group.len() < GROUP
                    && let Ok(job) = jobs.try_recv()
                {
                    group.push(job);
                }
            }
            self.commit_all(std::mem::take(&mut group)).await;
        }
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }

    /// Tells who waits for tasks where these jobs add some; `false`: nobody waits there.
    fn call(&self, jobs: &[Box<dyn Job>]) -> bool {
        if self.coming.receiver_count() == 0 {
            return false;
        }
        let mut projects: Vec<ProjectId> = jobs.iter().filter_map(|job| job.fills()).collect();
        projects.sort_unstable();
        projects.dedup();
        // Whoever waited has gone: nothing is lost by it.
        projects.into_iter().filter(|project| self.coming.send(*project).is_ok()).count() > 0
    }

    /// Runs the jobs together, or one by one if that fails, and waits until they are durable.
    async fn commit_all(&mut self, jobs: Vec<Box<dyn Job>>) {
        if let Err(rest) = self.commit(jobs).await {
            for job in rest {
                // Alone, a spoiled command answers for itself.
                let _ = self.commit(vec![job]).await;
            }
        }
    }

    /// Tells of what is durable.
    fn answer(&mut self, jobs: Vec<Box<dyn Job>>, events: Vec<Event>) {
        *self.trouble.lock() = None;
        self.answered = jobs.len();
        let events: Arc<[Arc<Event>]> = events.into_iter().map(Arc::new).collect();
        if !events.is_empty() {
            (self.listener)(&events);
        }
        jobs.into_iter().for_each(|job| job.finish(Ok(&events)));
    }

    /// Tells everybody why it is not known whether it was done, or that it was not.
    async fn give_up(&mut self, failure: Failure, mut jobs: Vec<Box<dyn Job>>) {
        self.recover(&failure).await;
        let error = match failure {
            Failure::Spoiled(_) => None,
            Failure::Away(error) | Failure::Undone(error) | Failure::Unknown(error) => Some(error),
        };
        let last = jobs.pop();
        jobs.into_iter().for_each(|job| job.finish(Err(error.as_ref().map(StoreError::repeat))));
        if let Some(last) = last {
            last.finish(Err(error));
        }
    }

    /// Runs and commits the jobs together. `Err` gives them back, rolled back, to be run one by one.
    async fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) -> Result<(), Vec<Box<dyn Job>>> {
        match self.attempt_in_time(&mut jobs).await {
            Ok(events) => self.answer(jobs, events),
            Err(failure @ (Failure::Spoiled(_) | Failure::Undone(_))) if jobs.len() > 1 => {
                self.recover(&failure).await;
                return Err(jobs);
            }
            Err(failure) => self.give_up(failure, jobs).await,
        }
        Ok(())
    }

    /// A server that does not answer is given up: its connection is in nobody knows what state.
    async fn attempt_in_time(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Event>, Failure> {
        if let Target::Sqlite(_) = self.target {
            return self.attempt(jobs).await;
        }
        if let Ok(outcome) = timeout(PATIENCE, self.attempt(jobs)).await {
            return outcome;
        }
        self.connection = None;
        Err(Failure::Unknown(StoreError::Unavailable(format!("no answer for {PATIENCE:?}"))))
    }

    async fn attempt(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Event>, Failure> {
        let clock = self.clock.clone();
        let memory = self.memory.take();
        let (connection, ledger) = self.begin().await.map_err(Failure::Away)?;
        let mut batch = Batch::new(ledger, memory);
        // Only now: another hub may have committed while we waited to begin, and time does not run backwards.
        let events = run(connection, &mut batch, jobs, clock()).await?;
        commit(connection).await?;
        self.memory = batch.remember();
        Ok(events)
    }

    /// A connection in a fresh transaction; made again if the old one broke while nothing was going on.
    async fn begin(&mut self) -> Result<(&mut Owned, Option<Ledger>), StoreError> {
        if let Some(connection) = &mut self.connection {
            match connection.borrow().begin_write().await {
                Err(StoreError::Unavailable(error)) => {
                    tracing::info!(error, "the database connection broke; connecting again");
                    self.connection = None;
                }
                Err(error) => return Err(error),
                Ok(ledger) => return Ok((self.connection.as_mut().expect("it has just begun"), ledger)),
            }
        }
        let mut fresh = Owned::connect(&self.target).await?;
        let ledger = fresh.borrow().begin_write().await?;
        Ok((self.connection.insert(fresh), ledger))
    }

    /// Rolls back; drops a connection that may be no good any more.
    async fn recover(&mut self, failure: &Failure) {
        if let Some(error) = failure.trouble() {
            tracing::warn!(%error, "a transaction failed");
            let away = matches!(error, StoreError::Unavailable(_));
            *self.trouble.lock() = Some(Trouble { why: error.to_string(), away });
        }
        let Some(connection) = &mut self.connection else {
            // The database cannot be reached: do not spin while it is away.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return;
        };
        // SQLite rolls back by itself on some errors; "no transaction is active" is then no trouble.
        let rolled_back = timeout(PATIENCE, connection.borrow().script("ROLLBACK")).await;
        let lost = matches!(failure.trouble(), Some(StoreError::Unavailable(_)))
            || matches!(rolled_back, Err(_) | Ok(Err(StoreError::Unavailable(_))));
        // Whether a session of PostgreSQL may write is decided when it begins, or by the server that it is on.
        let stale = failure.trouble().is_some() && matches!(self.target, Target::Postgres(_));
        if lost || stale {
            self.connection = None;
        }
    }
}
