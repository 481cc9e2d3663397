//! From the event log to what is pending for each channel.

use std::collections::HashSet;

use domain::{ChannelId, NotifyKind, ProjectId, Seq, Timestamp, UserId};
use engine::notify::concerned;
use serde::Serialize;

use super::happened::{Happened, News, happened};
use crate::sql::{Connection, args};
use crate::tx::Tx;
use crate::verbs::events::read_after;
use crate::{Command, Store, StoreError};

/// How many events to read at a time.
const PAGE: u32 = 500;
/// Events older than this are not announced, in milliseconds.
const STALE: i64 = 24 * 3_600_000;

struct Channel {
    id: ChannelId,
    user: UserId,
    kinds: Vec<NotifyKind>,
}

/// Adds what a page of the event log means for channels, unless another hub did so.
#[derive(Debug, Serialize)]
pub struct TakeNotices {
    /// The stored position before.
    from: Seq,
    /// The position afterwards.
    upto: Seq,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
enum Step {
    Add { channel: ChannelId, event: String, kind: NotifyKind, project: ProjectId, subject: String, at: Timestamp },
    Over { event: String },
}

impl TakeNotices {
    /// The position afterwards.
    pub fn upto(&self) -> Seq {
        self.upto
    }

    /// Whether it is worth a transaction: it adds something, or the stored position would fall far behind.
    pub fn is_needed(&self) -> bool {
        !self.steps.is_empty() || self.upto.0 - self.from.0 >= u64::from(PAGE)
    }
}

impl Command for TakeNotices {
    type Output = bool;
    const VERB: &'static str = "hub.notices";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        if cursor(tx.read()).await? != self.from {
            return Ok(false);
        }
        for step in &self.steps {
            match step {
                Step::Add { channel, event, kind, project, subject, at } => {
                    let sql = "INSERT INTO notices (id, channel, event, kind, project, subject, state, at) \
                               SELECT $1, id, $2, $3, $4, $5, 'pending', $6 FROM notify_channels \
                               WHERE id = $7 AND disabled IS NULL ON CONFLICT (channel, event) DO NOTHING";
                    let id = domain::NotificationId::generate().to_string();
                    let (project, channel) = (project.to_string(), channel.to_string());
                    tx.run(sql, args![id, event, kind.word(), project, subject, *at, channel]).await?;
                }
                Step::Over { event } => {
                    let sql = "UPDATE notices SET event = event || ' ' || id WHERE event = $1";
                    tx.run(sql, args![event]).await?;
                }
            }
        }
        let sql = "INSERT INTO notify_cursor (one, seq) VALUES (1, $1) \
                   ON CONFLICT (one) DO UPDATE SET seq = excluded.seq";
        tx.run(sql, args![self.upto.0]).await?;
        Ok(true)
    }
}

/// The last event that was looked at; without one, the newest.
async fn cursor(c: &mut Connection<'_>) -> Result<Seq, StoreError> {
    let sql = "SELECT COALESCE((SELECT seq FROM notify_cursor WHERE one = 1), seq) AS seq FROM ledger WHERE one = 1";
    let row = c.first(sql, args![]).await?.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
    Ok(Seq(row.integer("seq")?.cast_unsigned()))
}

async fn channels(c: &mut Connection<'_>) -> Result<Vec<Channel>, StoreError> {
    let sql = "SELECT c.id, c.user_id, c.kinds FROM notify_channels c JOIN users u ON u.id = c.user_id \
               WHERE c.disabled IS NULL AND u.disabled = 0";
    let rows = c.all(sql, args![]).await?;
    let channel = |row: &crate::sql::Row| {
        Ok(Channel { id: row.parsed("id")?, user: row.parsed("user_id")?, kinds: row.json("kinds")? })
    };
    rows.iter().map(channel).collect()
}

impl Store {
    /// What the events after `since`, which this hub has looked at before, mean for channels; `None`: there is nothing
    /// new, or nobody has a channel.
    pub async fn new_notices(&self, since: Seq) -> Result<Option<TakeNotices>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let channels = channels(&mut c).await?;
        if channels.is_empty() {
            return Ok(None);
        }
        let from = cursor(&mut c).await?;
        let events = read_after(&mut c, from.max(since), PAGE).await?;
        let Some(upto) = events.last().map(|event| event.seq) else { return Ok(None) };
        let old = self.now().plus_millis(-STALE);
        let mut steps = Vec::new();
        let mut began: HashSet<String> = HashSet::new();
        for event in events.iter().filter(|event| event.at > old) {
            for what in happened(&mut c, event).await? {
                match what {
                    Happened::News(news) => {
                        began.insert(news.event.clone());
                        steps.extend(for_channels(&channels, &news, event.at));
                    }
                    Happened::Over(event) => {
                        if began.remove(&event) || is_known(&mut c, &event).await? {
                            steps.push(Step::Over { event });
                        }
                    }
                }
            }
        }
        Ok(Some(TakeNotices { from, upto, steps }))
    }
}

fn for_channels(channels: &[Channel], news: &News, at: Timestamp) -> Vec<Step> {
    let people = concerned(news.kind, &news.involved);
    let wanted = channels.iter().filter(|one| people.contains(&one.user) && one.kinds.contains(&news.kind));
    let add = |one: &Channel| Step::Add {
        channel: one.id,
        event: news.event.clone(),
        kind: news.kind,
        project: news.project,
        subject: news.subject.clone(),
        at,
    };
    wanted.map(add).collect()
}

async fn is_known(c: &mut Connection<'_>, event: &str) -> Result<bool, StoreError> {
    Ok(c.first("SELECT id FROM notices WHERE event = $1 LIMIT 1", args![event]).await?.is_some())
}
