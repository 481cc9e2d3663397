//! Recordings: stored by runners, read through them.

use domain::Action;
use domain::text::Field;
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{RecordingDetail, Session};
use store::StoreError;

use super::execution::{look, unexpected};
use super::{handle, stored};

/// A search text.
const QUERY: Field = Field { name: "text", limit: 200, lines: false, optional: false };

stored! { RecordingKeep }

handle! {
    RecordingList(verb, asked) {
        let mut filter = verb.filter;
        filter.ended = Some(filter.ended.unwrap_or(true));
        let mut sessions = asked.hub.store.sessions(asked.caller, filter).await?;
        // A session without output has a recording; one that never started has none.
        sessions.retain(|Session { recording, .. }| recording.output_bytes > 0 || recording.disk_bytes > 0);
        Ok(sessions)
    }

    RecordingShow(verb, asked) {
        let session = verb.session;
        let found = asked.hub.store.session(asked.caller, session, Action::SeeExecution).await?;
        match asked.hub.links.ask(found.runner, RunnerAsk::RecordingShow { session }).await? {
            RunnerAnswer::Recording(summary) => Ok(RecordingDetail {
                session: found,
                cols: summary.cols,
                rows: summary.rows,
                started_at: summary.started_at,
                duration_ms: summary.duration_ms,
                markers: summary.markers,
            }),
            other => Err(unexpected(&other)),
        }
    }

    RecordingPart(verb, asked) {
        let (session, from_ms) = (verb.session, verb.range.from_ms.unwrap_or(0));
        match look(&asked, session, RunnerAsk::RecordingPart { session, from_ms }).await? {
            RunnerAnswer::Part(part) => Ok(part),
            other => Err(unexpected(&other)),
        }
    }

    RecordingSearch(verb, asked) {
        let (session, text) = (verb.session, verb.query.text);
        QUERY.check(&text).map_err(StoreError::from)?;
        match look(&asked, session, RunnerAsk::RecordingSearch { session, text }).await? {
            RunnerAnswer::Hits(hits) => Ok(hits),
            other => Err(unexpected(&other)),
        }
    }
}
