//! Reading committed events.

use domain::Seq;

use crate::event::FactsColumn;
use crate::sql::{Connection, Row, args};
use crate::{Event, Store, StoreError};

/// Bounds of the event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Events up to this position were deleted.
    pub horizon: Seq,
    /// The newest event.
    pub newest: Seq,
}

fn event(row: &Row) -> Result<Event, StoreError> {
    let parse_project = |text: String| text.parse().map_err(|error| StoreError::Corrupt(format!("project: {error}")));
    let parse_user = |text: String| text.parse().map_err(|error| StoreError::Corrupt(format!("user: {error}")));
    let facts = match row.text_or_none("facts_before")? {
        Some(_) => Some(row.json::<FactsColumn>("facts_before")?.into()),
        None => None,
    };
    Ok(Event {
        seq: Seq(row.integer("seq")?.cast_unsigned()),
        at: row.time("at")?,
        project: row.text_or_none("project")?.map(parse_project).transpose()?,
        audience: row.text_or_none("audience")?.map(parse_user).transpose()?,
        facts_before: facts,
        execution_of: row.text_or_none("execution_of")?.map(parse_user).transpose()?,
        body: row.json("body")?,
    })
}

impl Store {
    /// The bounds of the event log.
    pub async fn extent(&self) -> Result<Extent, StoreError> {
        let mut reader = self.readers.get().await?;
        let row = reader.borrow().first("SELECT seq, horizon FROM ledger WHERE one = 1", args![]).await?;
        let row = row.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        Ok(Extent {
            horizon: Seq(row.integer("horizon")?.cast_unsigned()),
            newest: Seq(row.integer("seq")?.cast_unsigned()),
        })
    }

    /// At most `limit` events after `since`, in order.
    pub async fn events_after(&self, since: Seq, limit: u32) -> Result<Vec<Event>, StoreError> {
        read_after(&mut self.readers.get().await?.borrow(), since, limit).await
    }
}

/// At most `limit` events after `since`, in order.
pub(crate) async fn read_after(c: &mut Connection<'_>, since: Seq, limit: u32) -> Result<Vec<Event>, StoreError> {
    let sql = "SELECT seq, at, project, audience, facts_before, execution_of, body FROM events WHERE seq > $1 \
               ORDER BY seq LIMIT $2";
    c.all(sql, args![since.0, limit]).await?.iter().map(event).collect()
}
