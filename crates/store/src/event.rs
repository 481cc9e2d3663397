//! Committed changes as the hub passes them on.

use domain::{MessageId, ProjectFacts, ProjectId, RunnerId, Seq, Timestamp, UserId};
use protocol::Change;
use serde::{Deserialize, Serialize};

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "almost every one is a change")]
pub enum EventBody {
    /// Something that clients may be shown.
    Change {
        /// The change.
        change: Change,
    },
    /// A credential ended: connections made with it close. Never shown to a client.
    Revoked {
        /// The ids of tokens, logins, observer links or users.
        ids: Vec<String>,
    },
    /// A runner should have something else now. Never shown to a client.
    Desired {
        /// Which.
        runner: RunnerId,
    },
}

impl EventBody {
    /// Says that a project was deleted.
    pub(crate) fn gone(project: ProjectId) -> Self {
        Self::Change { change: Change::ProjectGone { project } }
    }
}

/// One committed change with its position and what decides who may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Gap-free, and visible in order.
    pub seq: Seq,
    /// When it was committed.
    pub at: Timestamp,
    /// The project it happened in; `None`: every person may see it.
    pub project: Option<ProjectId>,
    /// The only person it is for, if any.
    pub audience: Option<UserId>,
    /// Set when the event may change who sees the project: what access depended on before it.
    pub facts_before: Option<ProjectFacts>,
    /// Set when the event is about what somebody runs: only who may look into that is told.
    pub execution_of: Option<UserId>,
    /// What happened.
    pub body: EventBody,
}

impl Event {
    /// The message that it is about, if it is about one.
    pub fn message(&self) -> Option<MessageId> {
        match &self.body {
            EventBody::Change { change: Change::Message { message, .. } } => Some(message.id),
            _ => None,
        }
    }
}

/// [`ProjectFacts`] as a column holds them.
#[derive(Serialize, Deserialize)]
pub(crate) struct FactsColumn {
    id: ProjectId,
    owner: UserId,
    visibility: domain::Visibility,
    share_execution: bool,
}

impl From<ProjectFacts> for FactsColumn {
    fn from(facts: ProjectFacts) -> Self {
        let ProjectFacts { id, owner, visibility, share_execution } = facts;
        Self { id, owner, visibility, share_execution }
    }
}

impl From<FactsColumn> for ProjectFacts {
    fn from(column: FactsColumn) -> Self {
        let FactsColumn { id, owner, visibility, share_execution } = column;
        Self { id, owner, visibility, share_execution }
    }
}
