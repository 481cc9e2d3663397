//! The single writer: groups waiting commands into one transaction and one commit.
//!
//! A command refuses before it writes. If a command fails in the database, or refuses after it wrote, its group is
//! rolled back and each command of the group runs again in its own transaction. A group whose commit may have happened
//! never runs again: only the caller can retry, with an idempotency key.

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
use crate::verbs::work::tasks::Wanted;
use crate::{Caller, Command, Committed, Event, StoreError};

/// The maximum number of commands in one transaction.
const GROUP: usize = 128;

/// The time limit of a transaction on PostgreSQL, including the wait for another hub's transaction.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why a transaction is not known to be durable.
enum Failure {
    /// The database begins no transaction now: no command ran.
    Away(StoreError),
    /// A command failed and holds its own error; with the reason, if the database is in trouble.
    Spoiled(Option<StoreError>),
    /// The pending rows of the commands could not be written.
    Undone(StoreError),
    /// The answer to the commit was lost.
    Unknown(StoreError),
}

impl Failure {
    /// The trouble of the database, unless only a command failed.
    fn trouble(&self) -> Option<&StoreError> {
        match self {
            Self::Away(error) | Self::Undone(error) | Self::Unknown(error) => Some(error),
            Self::Spoiled(error) => error.as_ref(),
        }
    }
}

/// Receives the events of every commit, in order, before the callers get their answers.
pub(crate) type Listener = Arc<dyn Fn(&[Arc<Event>]) + Send + Sync>;

/// Returns the current time.
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
    /// The database did not answer; whether it accepts changes is unknown.
    away: bool,
}

/// The number of announcements that a slow listener may lag behind. A listener that misses one still gets the event.
const COMING: usize = 64;

impl Writer {
    /// Starts the writer task; it closes `connection` when it stops.
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

    /// Announces the projects that get new tasks: a command that takes one at once joins the same transaction.
    pub(crate) fn coming(&self) -> broadcast::Receiver<ProjectId> {
        self.coming.subscribe()
    }

    /// Accepts no more commands; queued commands still run.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Why the last write failed, while writes fail.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().as_ref().map(|trouble| trouble.why.clone())
    }

    /// Clears the trouble of an unreachable database: it answers again.
    pub(crate) fn reached(&self) {
        self.trouble.lock().take_if(|trouble| trouble.away);
    }
}

/// How often the writer yields without a new command while callers that just got an answer have not sent their next.
const PATIENT: u32 = 16;

/// Lets callers that just got an answer send their next command, so that one commit covers it and the commands that
/// arrived meanwhile.
async fn gather(jobs: &mpsc::Receiver<Box<dyn Job>>, answered: usize) {
    let mut idle = 0;
    loop {
        let before = jobs.len();
        tokio::task::yield_now().await;
        idle = if jobs.len() == before { idle + 1 } else { 0 };
        let all_back = answered < 2 || jobs.len() >= answered;
        if jobs.len() >= GROUP || (idle > 0 && all_back) || idle >= PATIENT {
            return;
        }
    }
}

/// Runs the jobs and writes their pending rows and events.
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
    /// The number of commands in the last answered group.
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

    /// Announces the projects that these jobs add tasks to; `false` if nobody listens.
    fn call(&self, jobs: &[Box<dyn Job>]) -> bool {
        if self.coming.receiver_count() == 0 {
            return false;
        }
        let mut projects: Vec<ProjectId> = jobs.iter().filter_map(|job| job.fills()).collect();
        projects.sort_unstable();
        projects.dedup();
        // A send fails when the last listener has left, which loses nothing.
        projects.into_iter().filter(|project| self.coming.send(*project).is_ok()).count() > 0
    }

    /// Runs the jobs in one transaction, or one by one if that fails, and waits until they are durable.
    async fn commit_all(&mut self, jobs: Vec<Box<dyn Job>>) {
        if let Err(rest) = self.commit(jobs).await {
            for job in rest {
                // In its own transaction, a spoiled command answers with its own error.
                let _ = self.commit(vec![job]).await;
            }
        }
    }

    /// Answers the callers of a durable group, after the listener got its events.
    fn answer(&mut self, jobs: Vec<Box<dyn Job>>, events: Vec<Event>) {
        *self.trouble.lock() = None;
        self.answered = jobs.len();
        let events: Arc<[Arc<Event>]> = events.into_iter().map(Arc::new).collect();
        if !events.is_empty() {
            (self.listener)(&events);
        }
        failpoint::pass("store.announced");
        jobs.into_iter().for_each(|job| job.finish(Ok(&events)));
    }

    /// Answers all callers that their commands failed, or that the outcome is unknown.
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

    /// Runs and commits the jobs in one transaction. `Err` returns the jobs after a rollback, to run one by one.
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

    /// Drops the connection of a server that does not answer: the state of its transaction is unknown.
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
        failpoint::pass("store.begun");
        let mut batch = Batch::new(ledger, memory);
        // Read the clock only now: another hub may have committed while we waited, and time must not run backwards.
        let events = run(connection, &mut batch, jobs, clock()).await?;
        failpoint::pass("store.before_commit");
        commit(connection).await?;
        failpoint::pass("store.after_commit");
        self.memory = batch.remember();
        Ok(events)
    }

    /// A connection with a new transaction; reconnects if the connection broke while idle.
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

    /// Rolls back; drops a connection that may be broken.
    async fn recover(&mut self, failure: &Failure) {
        if let Some(error) = failure.trouble() {
            tracing::warn!(%error, "a transaction failed");
            let away = matches!(error, StoreError::Unavailable(_));
            *self.trouble.lock() = Some(Trouble { why: error.to_string(), away });
        }
        let Some(connection) = &mut self.connection else {
            // The database is unreachable: do not spin.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return;
        };
        // SQLite rolls back by itself on some errors: then "no transaction is active" is harmless.
        let rolled_back = timeout(PATIENCE, connection.borrow().script("ROLLBACK")).await;
        let lost = matches!(failure.trouble(), Some(StoreError::Unavailable(_)))
            || matches!(rolled_back, Err(_) | Ok(Err(StoreError::Unavailable(_))));
        // A PostgreSQL session may be read-only for its lifetime, or be connected to a read-only server.
        let stale = failure.trouble().is_some() && matches!(self.target, Target::Postgres(_));
        if lost || stale {
            self.connection = None;
        }
    }
}
