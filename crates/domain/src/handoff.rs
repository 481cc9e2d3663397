//! Handoffs: how far one is.

use crate::values::words;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

words! {
    /// A step of a handoff, in order.
    HandoffStep {
        /// The document is written, by the agent or from its recording.
        Write = "write",
        /// The work is saved and committed, and the document is sealed with a hash.
        Save = "save",
        /// The saved commit is pushed to the repository, or kept on its runner.
        Publish = "publish",
        /// The session is stopped.
        Stop = "stop",
        /// A fresh session starts with the document.
        Start = "start",
        /// The fresh session quotes the hash of the document.
        Acknowledge = "acknowledge",
    }
}

words! {
    /// How far a handoff is.
    HandoffStatus {
        /// Its current step is in progress.
        Running = "running",
        /// A person edits the document before the handoff continues.
        Editing = "editing",
        /// Its current step failed: retry it, skip it or cancel the handoff.
        Failed = "failed",
        /// The fresh session has the document.
        Done = "done",
        /// A person cancelled it.
        Cancelled = "cancelled",
    }
}

impl HandoffStatus {
    /// Whether nothing more happens.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

impl HandoffStep {
    /// Whether a person may go on without it. A session that runs, a fresh one that does not, and a document that
    /// nobody has read cannot be skipped.
    pub fn can_be_skipped(self) -> bool {
        matches!(self, Self::Write | Self::Save | Self::Publish)
    }
}

words! {
    /// Who wrote the prose of a handoff's document.
    HandoffWriter {
        /// The agent of the session.
        Agent = "agent",
        /// Nobody: the last lines of its terminal.
        Recording = "recording",
        /// A person edited it.
        Person = "person",
    }
}

words! {
    /// How a step of a handoff ended.
    HandoffOutcome {
        /// It was done.
        Done = "done",
        /// It could not be done.
        Failed = "failed",
        /// A person went on without it.
        Skipped = "skipped",
    }
}
