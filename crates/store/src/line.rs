//! The writer's connection to PostgreSQL, on which a whole transaction may still be on its way: what comes next is
//! decided meanwhile, and whatever needs the connection waits for it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use crate::StoreError;
use crate::bulk::Whole;
use crate::connection::postgres;
use crate::sql::{Connection, Row, Value};

/// How a transaction that was sent ended; `false`: a row was not as it must be, and nothing was written.
pub(crate) type Landed = Result<bool, StoreError>;

/// What was read, and the connection that it was read on.
type Read = Result<(Box<PgConnection>, Vec<Row>), StoreError>;

/// A connection, and what is on its way.
pub(crate) struct Line {
    options: Box<PgConnectOptions>,
    /// Absent while something is on its way, and when it was lost with that.
    connection: Option<Box<PgConnection>>,
    away: Option<JoinHandle<(Box<PgConnection>, Landed)>>,
    landed: Option<Landed>,
    /// To read on meanwhile; made when it is first needed, absent while it reads.
    beside: Option<Box<PgConnection>>,
    reading: Option<JoinHandle<Read>>,
    /// When that failed last.
    failed_at: Option<Instant>,
}

/// How much longer than what is on its way a read beside it may take.
const GRACE: Duration = Duration::from_millis(100);

/// After a read beside the writer failed, everything is read by the writer for so long.
const REST: Duration = Duration::from_secs(30);

impl Line {
    /// Connects.
    pub(crate) async fn connect(options: &PgConnectOptions) -> Result<Self, StoreError> {
        let options = Box::new(options.clone());
        let connected = sender().spawn({
            let options = options.clone();
            async move { postgres(&options).await }
        });
        let connection = connected.await.map_err(|error| StoreError::Unavailable(error.to_string()))??;
        Ok(Self {
            options,
            connection: Some(Box::new(connection)),
            away: None,
            landed: None,
            beside: None,
            reading: None,
            failed_at: None,
        })
    }

    /// Begins to read on a second connection while something is on its way: as the database was before that, or after, or
    /// after what follows. Whoever writes what follows from it finds out if others have written, too. `false`: nothing is
    /// on its way, or it cannot be read.
    pub(crate) async fn read_on(&mut self, sql: String, values: Vec<Value>) -> bool {
        let resting = self.failed_at.is_some_and(|failed| failed.elapsed() < REST);
        if resting || self.away.as_ref().is_none_or(JoinHandle::is_finished) {
            return false;
        }
        self.give_up_reading().await;
        let (known, options) = (self.beside.take(), self.options.clone());
        self.reading = Some(sender().spawn(async move {
            let mut connection = match known {
                Some(connection) => connection,
                None => Box::new(postgres(&options).await?),
            };
            let rows = Connection::Postgres(&mut connection).all(&sql, values).await?;
            Ok((connection, rows))
        }));
        true
    }

    /// What was read last on the second connection; `None`: it could not be, or not soon.
    pub(crate) async fn read(&mut self) -> Option<Vec<Row>> {
        let mut reading = self.reading.take()?;
        let late = async {
            self.wait().await;
            tokio::time::sleep(GRACE).await;
        };
        let read = tokio::select! {
            read = &mut reading => read.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string()))),
            () = late => {
                reading.abort();
                Err(StoreError::Unavailable(format!("no answer for {GRACE:?} longer than the writer")))
            }
        };
        match read {
            Ok((connection, rows)) => {
                self.beside = Some(connection);
                Some(rows)
            }
            Err(error) => {
                tracing::debug!(%error, "the queue could not be read beside the writer");
                self.failed_at = Some(Instant::now());
                None
            }
        }
    }

    /// Nobody wants what was read, or is being read, any more.
    async fn give_up_reading(&mut self) {
        let Some(reading) = self.reading.take() else { return };
        match reading.is_finished() {
            true => self.beside = reading.await.ok().and_then(Result::ok).map(|(connection, _)| connection),
            false => reading.abort(),
        }
    }

    /// The connection, once nothing is on its way; refuses if what was sent last was not written.
    pub(crate) async fn free(&mut self) -> Result<&mut PgConnection, StoreError> {
        self.wait().await;
        if let Some(Ok(false) | Err(_)) = self.landed {
            return Err(StoreError::Unavailable("what this builds on was not written".into()));
        }
        self.connection.as_deref_mut().ok_or_else(lost)
    }

    /// Sends a transaction, which commits if every row is as it must be.
    pub(crate) fn send(&mut self, whole: Whole) {
        let Some(mut connection) = self.connection.take() else {
            self.landed = Some(Err(lost()));
            return;
        };
        self.away = Some(sender().spawn(async move {
            let landed = whole.write(&mut connection).await;
            (connection, landed)
        }));
    }

    /// Waits until nothing is on its way.
    pub(crate) async fn wait(&mut self) {
        let Some(away) = &mut self.away else { return };
        let landed = match away.await {
            Ok((connection, landed)) => {
                self.connection = Some(connection);
                landed
            }
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        };
        self.away = None;
        self.landed = Some(landed);
    }

    /// How what was sent last ended, once: after [`Line::wait`].
    pub(crate) fn landed(&mut self) -> Option<Landed> {
        self.landed.take()
    }

    /// Closes in an orderly way, when nothing is on its way any more.
    pub(crate) async fn close(mut self) -> Result<(), sqlx::Error> {
        self.wait().await;
        self.give_up_reading().await;
        let beside = match self.beside.take() {
            Some(connection) => connection.close().await,
            None => Ok(()),
        };
        match self.connection.take() {
            Some(connection) => connection.close().await.and(beside),
            None => beside,
        }
    }
}

impl Drop for Line {
    /// What does not end is given up with its connection.
    fn drop(&mut self) {
        if let Some(away) = &self.away {
            away.abort();
        }
        if let Some(reading) = &self.reading {
            reading.abort();
        }
    }
}

/// A thread of its own for what is sent and read while the writer decides: that takes long without a pause, and would hold
/// both up.
fn sender() -> Handle {
    static SENDER: OnceLock<Option<Runtime>> = OnceLock::new();
    let own = SENDER.get_or_init(|| {
        let built = Builder::new_multi_thread().worker_threads(1).thread_name("postgres").enable_all().build();
        built.inspect_err(|error| tracing::warn!(%error, "no thread for what is sent to PostgreSQL")).ok()
    });
    own.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone())
}

fn lost() -> StoreError {
    StoreError::Unavailable("the connection was lost".into())
}
