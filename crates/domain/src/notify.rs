//! Notifications away from the page: what they are about, and where they go.

use crate::values::words;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

words! {
    /// What a notification is about.
    NotifyKind {
        /// Something needs your approval to run on your runner.
        Approval = "approval",
        /// A question about a task or of an execution needs your answer.
        Question = "question",
        /// An agent of yours waits for input.
        Waiting = "waiting",
        /// Somebody mentions you in a chat.
        Mention = "mention",
        /// An activity of yours is blocked.
        Blocked = "blocked",
        /// A task or an execution failed.
        Failed = "failed",
        /// A worker of yours stopped taking tasks.
        Worker = "worker",
        /// A merge queue does not move.
        Merge = "merge",
        /// A task is done.
        Done = "done",
        /// Work landed on its target branch.
        Landed = "landed",
    }
}

impl NotifyKind {
    /// Whether it waits for the person: still true until they act, so that it need not be sent once they have.
    pub fn needs_you(self) -> bool {
        matches!(self, Self::Approval | Self::Question | Self::Waiting | Self::Mention | Self::Blocked)
    }

    /// What a new channel gets: everything that needs the person, and what went wrong.
    pub fn by_default() -> Vec<Self> {
        Self::ALL.iter().copied().filter(|kind| !matches!(kind, Self::Done | Self::Landed)).collect()
    }
}

words! {
    /// A kind of place that notifications go to.
    ChannelKind {
        /// A topic of ntfy, for its app on a phone or computer.
        Ntfy = "ntfy",
        /// A webhook, signed as Standard Webhooks describes.
        Webhook = "webhook",
        /// An incoming webhook of Slack, or of a program that accepts the same.
        Slack = "slack",
        /// An incoming webhook of Discord.
        Discord = "discord",
        /// A browser, through its push service.
        Push = "push",
    }
}
