//! A client's cursor over the events: full sync or resume, then live.

use axum::extract::ws::Utf8Bytes;
use domain::{Actor, HubId, ProjectId, Seq};
use protocol::{Change, Delta, FromHub};
use store::{Caller, StoreError};

use super::filter::Told;
use super::log::{Next, encode};
use crate::hub::Hub;

/// Approximate size of a part of a full sync.
const PART: usize = 256 * 1024;
/// How many events to read from the database at a time.
const PAGE: u32 = 1000;

/// A client's cursor.
pub(crate) struct Feed {
    actor: Actor,
    caller: Caller,
    cursor: Seq,
}

/// What to send next.
pub(crate) enum Batch {
    /// The client has everything up to the position.
    Live,
    /// These frames; call again afterwards.
    Frames(Vec<Utf8Bytes>),
}

impl Feed {
    /// The cursor of a client that has seen `since` of database `hub`; `None`: it needs a full sync.
    pub(crate) async fn resume(
        hub: &Hub,
        actor: Actor,
        caller: &Caller,
        database: Option<HubId>,
        since: Option<Seq>,
    ) -> Result<Option<Self>, StoreError> {
        let (Some(database), Some(since)) = (database, since) else { return Ok(None) };
        let extent = hub.store.extent().await?;
        if database != hub.store.hub() || since < extent.horizon || since > extent.newest {
            return Ok(None);
        }
        let cursor = if since > extent.horizon { whole(hub, since).await? } else { since };
        Ok(Some(Self { actor, caller: caller.clone(), cursor }))
    }

    /// The full state in parts, and the cursor after it.
    pub(crate) async fn sync(hub: &Hub, actor: Actor, caller: &Caller) -> Result<(Self, Vec<Utf8Bytes>), StoreError> {
        let (seq, mut changes) = hub.store.state(caller).await?;
        changes.iter_mut().for_each(|change| hub.live.complete(change));
        let parts = split(changes);
        let last = parts.len() - 1;
        let frames = parts.into_iter().enumerate().map(|(index, changes)| {
            let part = u32::try_from(index).unwrap_or(u32::MAX);
            encode(&FromHub::Sync { seq, part, last: index == last, changes })
        });
        Ok((Self { actor, caller: caller.clone(), cursor: seq }, frames.collect()))
    }

    /// The position that the client has everything up to.
    pub(crate) fn cursor(&self) -> Seq {
        self.cursor
    }

    /// What comes next. `Ok(None)`: the client is older than the log's horizon and needs a full sync.
    pub(crate) async fn next(&mut self, hub: &Hub) -> Result<Option<Batch>, StoreError> {
        let (told, upto) = match hub.live.next(&self.actor, self.cursor) {
            Next::Nothing => return Ok(Some(Batch::Live)),
            Next::Frames { told, upto } => (told, upto),
            Next::Forgotten => {
                if hub.store.extent().await?.horizon > self.cursor {
                    return Ok(None);
                }
                let mut events = hub.store.events_after(self.cursor, PAGE).await?;
                // Another hub's latest commit may have revoked rights, which we do not know yet.
                let known = hub.live.newest();
                events.retain(|event| event.seq <= known);
                let Some(last) = events.last() else { return Ok(Some(Batch::Live)) };
                (hub.live.judge(&self.actor, &events), last.seq)
            }
        };
        let mut frames = Vec::with_capacity(told.len());
        for (seq, told, frame) in told {
            match told {
                Told::Nothing => {}
                Told::Event => frames.push(frame),
                Told::Gone(project) => frames.push(self.delta(hub, seq, Change::ProjectGone { project })),
                Told::Gained(project) => frames.extend(self.gained(hub, seq, project, |_| true).await?),
                Told::Closed(project) => {
                    frames.push(frame);
                    frames.push(self.delta(hub, seq, Change::ExecutionGone { project }));
                }
                Told::Opened(project) => {
                    frames.push(frame);
                    let execution = |change: &Change| {
                        matches!(
                            change,
                            Change::Workspace { .. }
                                | Change::Overlap { .. }
                                | Change::Session { .. }
                                | Change::Activity { .. }
                                | Change::Workers { .. }
                                | Change::Escalation { .. }
                        )
                    };
                    frames.extend(self.gained(hub, seq, project, execution).await?);
                }
            }
        }
        self.cursor = upto;
        Ok(Some(Batch::Frames(frames)))
    }

    fn delta(&self, hub: &Hub, seq: Seq, change: Change) -> Utf8Bytes {
        encode(&FromHub::Delta(Delta { seq, at: hub.store.now(), change }))
    }

    async fn gained(
        &self,
        hub: &Hub,
        seq: Seq,
        project: ProjectId,
        wanted: impl Fn(&Change) -> bool,
    ) -> Result<Vec<Utf8Bytes>, StoreError> {
        let changes = hub.store.state_of(&self.caller, project).await?.into_iter().filter(wanted);
        Ok(changes.map(|change| self.delta(hub, seq, change)).collect())
    }
}

/// The last position that a client who saw `since` has completely: a change of rights may bring a project in many
/// deltas of one position, of which only some arrived. Those are sent again.
async fn whole(hub: &Hub, since: Seq) -> Result<Seq, StoreError> {
    let before = Seq(since.0.saturating_sub(1));
    let event = hub.store.events_after(before, 1).await?.pop();
    let changes_rights = event.is_some_and(|event| event.seq == since && event.facts_before.is_some());
    Ok(if changes_rights { before } else { since })
}

/// Splits the state into parts that fit a socket's buffer; at least one.
fn split(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let mut parts = vec![Vec::new()];
    let mut size = 0;
    for change in changes {
        let length = serde_json::to_string(&change).map_or(0, |text| text.len());
        size += length;
        if size > PART {
            size = length;
            parts.push(Vec::new());
        }
        parts.last_mut().expect("there is always a part").push(change);
    }
    parts
}
