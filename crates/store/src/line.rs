//! The writer's connection to PostgreSQL, on which a whole transaction may still be on its way: what comes next is
//! decided meanwhile, and whatever needs the connection waits for it.

use sqlx::PgConnection;
use tokio::task::JoinHandle;

use crate::StoreError;
use crate::bulk::Whole;

/// How a transaction that was sent ended; `false`: a row was not as it must be, and nothing was written.
pub(crate) type Landed = Result<bool, StoreError>;

/// A connection, and what is on its way.
pub(crate) struct Line {
    /// Absent while something is on its way, and when it was lost with that.
    connection: Option<Box<PgConnection>>,
    away: Option<JoinHandle<(Box<PgConnection>, Landed)>>,
    landed: Option<Landed>,
}

impl Line {
    pub(crate) fn new(connection: PgConnection) -> Self {
        Self { connection: Some(Box::new(connection)), away: None, landed: None }
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
        self.away = Some(tokio::spawn(async move {
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

    /// The connection, to be closed.
    pub(crate) async fn into_connection(mut self) -> Option<PgConnection> {
        self.wait().await;
        self.connection.take().map(|connection| *connection)
    }
}

impl Drop for Line {
    /// What does not end is given up with its connection.
    fn drop(&mut self) {
        if let Some(away) = &self.away {
            away.abort();
        }
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("the connection was lost".into())
}
