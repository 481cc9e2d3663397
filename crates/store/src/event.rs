//! Committed changes.

use domain::{MessageId, ProjectFacts, ProjectId, RunnerId, Seq, Timestamp, UserId};
use protocol::Change;
use serde::{Deserialize, Serialize};

/// Content of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "almost every one is a change")]
pub enum EventBody {
    /// A change for clients.
    Change {
        /// The change.
        change: Change,
    },
    /// A credential ended: connections made with it close. Never shown to a client.
    Revoked {
        /// The ids of tokens, logins, observer links or users.
        ids: Vec<String>,
    },
    /// The desired state of a runner changed. Never shown to a client.
    Desired {
        /// The runner.
        runner: RunnerId,
    },
}

impl EventBody {
    /// The deletion of a project.
    pub(crate) fn gone(project: ProjectId) -> Self {
        Self::Change { change: Change::ProjectGone { project } }
    }
}

/// One committed change with its position and audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The position: gap-free, and visible in order.
    pub seq: Seq,
    /// The time of the commit.
    pub at: Timestamp,
    /// The project; `None` if every user may see the event.
    pub project: Option<ProjectId>,
    /// The only person it is for, if any.
    pub audience: Option<UserId>,
    /// The access facts before an event that may change who sees the project.
    pub facts_before: Option<ProjectFacts>,
    /// The owner of the execution that the event is about: only those who may see it receive the event.
    pub execution_of: Option<UserId>,
    /// The content.
    pub body: EventBody,
}

impl Event {
    /// The message that the event is about, if any.
    pub fn message(&self) -> Option<MessageId> {
        match &self.body {
            EventBody::Change { change: Change::Message { message, .. } } => Some(message.id),
            _ => None,
        }
    }
}

/// [`ProjectFacts`] as stored in a column.
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
