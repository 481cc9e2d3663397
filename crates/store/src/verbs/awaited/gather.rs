//! From the event log to the schedules and steps that wait for what happened.
//!
//! The log is read only while something waits. The position is stored in the transaction that hands the events on, so
//! that two hubs which see the same thing do it once.

use std::collections::HashMap;

use domain::{ProjectId, Seq};
use serde::Serialize;

use super::happened::{News, happened, is_new};
use super::pushes;
use crate::sql::{Connection, args};
use crate::tx::Tx;
use crate::verbs::events::read_after;
use crate::verbs::{executions, schedules};
use crate::{Command, Store, StoreError};

/// How many events to read at a time.
const PAGE: u32 = 500;

/// Hands what happened to the schedules and steps that wait for it, unless another hub did so.
#[derive(Debug, Serialize)]
pub struct TakeEvents {
    /// The stored position before.
    stored: Seq,
    /// The position afterwards.
    upto: Seq,
    news: Vec<News>,
}

impl TakeEvents {
    /// The position afterwards.
    pub fn upto(&self) -> Seq {
        self.upto
    }

    /// Whether it is worth a transaction: something happened, or the stored position would fall far behind.
    pub fn is_needed(&self) -> bool {
        !self.news.is_empty() || self.upto.0.saturating_sub(self.stored.0) >= u64::from(PAGE)
    }
}

impl Command for TakeEvents {
    type Output = bool;
    const VERB: &'static str = "hub.events";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        if cursor(tx.read()).await? != self.stored {
            return Ok(false);
        }
        let sql = "INSERT INTO execution_cursor (one, seq) VALUES (1, $1) \
                   ON CONFLICT (one) DO UPDATE SET seq = excluded.seq";
        tx.run(sql, args![self.upto.0]).await?;
        for news in &self.news {
            let mut event = news.event.clone();
            if news.kind == "push" && !pushes::landed(tx, news.project, &mut event).await? {
                continue;
            }
            executions::event_happened(tx, news.project, news.kind, &event, news.seq).await?;
            schedules::event_happened(tx, news.project, news.kind, &event, news.seq).await?;
        }
        Ok(true)
    }
}

/// The last event that was looked at.
async fn cursor(c: &mut Connection<'_>) -> Result<Seq, StoreError> {
    let row = c.first("SELECT seq FROM execution_cursor WHERE one = 1", args![]).await?;
    row.map_or(Ok(Seq(0)), |row| Ok(Seq(row.integer("seq")?.cast_unsigned())))
}

/// What is waited for in each project, and since when.
async fn waiting(c: &mut Connection<'_>) -> Result<HashMap<(ProjectId, String), Seq>, StoreError> {
    let sql = "SELECT project, awaits, MIN(awaits_after) AS since FROM (\
               SELECT project, awaits, awaits_after FROM schedules WHERE awaits IS NOT NULL UNION ALL \
               SELECT project, awaits, awaits_after FROM execution_work WHERE awaits IS NOT NULL AND state = 'running'\
               ) w GROUP BY project, awaits";
    let rows = c.all(sql, args![]).await?;
    let read = |row: &crate::sql::Row| {
        Ok(((row.parsed("project")?, row.text("awaits")?), Seq(row.integer("since")?.cast_unsigned())))
    };
    rows.iter().map(read).collect()
}

impl Store {
    /// What happened after `since`, which this hub has looked at before, that schedules and steps wait for; `None`: there
    /// is nothing new, or nothing waits.
    pub async fn awaited_events(&self, since: Seq) -> Result<Option<TakeEvents>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let waiting = waiting(&mut c).await?;
        let Some(first) = waiting.values().min().copied() else { return Ok(None) };
        let stored = cursor(&mut c).await?;
        let events = read_after(&mut c, stored.max(since).max(first), PAGE).await?;
        let Some(upto) = events.last().map(|event| event.seq) else { return Ok(None) };
        let mut news = Vec::new();
        for event in &events {
            for one in happened(event) {
                let key = (one.project, one.kind.to_owned());
                let awaited = waiting.get(&key).is_some_and(|after| *after < event.seq);
                if awaited && is_new(&mut c, &one).await? {
                    news.push(one);
                }
            }
        }
        Ok(Some(TakeEvents { stored, upto, news }))
    }
}
