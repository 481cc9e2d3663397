//! Plain values that rows, messages and buttons share.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

macro_rules! words {
    ($(#[doc = $doc:literal])* $name:ident { $($(#[doc = $vdoc:literal])* $variant:ident = $word:literal,)* }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
        pub enum $name {
            $($(#[doc = $vdoc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// Every value, in the order people read them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word used from SQL to button.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// What the word means, in one or two sentences.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($vdoc),*).trim()),* }
            }
        }

        // By hand: the derive does not see names that a macro gives.
        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($word),*]));
                words.description(Some([$($doc),*].concat().trim())).into()
            }
        }

        impl ToSchema for $name {}

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(format!(
                        "`{}` is not one of: {}",
                        text.chars().take(40).collect::<String>(),
                        [$($word),*].join(", "),
                    )),
                }
            }
        }
    };
}

pub(crate) use words;

words! {
    /// What other users may do in a project.
    Visibility {
        /// Only the owner sees it.
        Private = "private",
        /// Others see intent, plan, status, blockers and chat.
        ReadOnly = "read-only",
        /// Others can also write in it.
        ReadWrite = "read-write",
    }
}

words! {
    /// An activity's status.
    ActivityStatus {
        /// Somebody works on it.
        Active = "active",
        /// It cannot continue by itself.
        Blocked = "blocked",
        /// It reached its goal.
        Completed = "completed",
        /// It will not be continued.
        Abandoned = "abandoned",
    }
}

words! {
    /// A kind of thing that a search finds.
    SearchKind {
        /// A project.
        Project = "project",
        /// An activity.
        Activity = "activity",
        /// A task.
        Task = "task",
        /// A chat message.
        Message = "message",
        /// A session that has not ended, or has no recording.
        Session = "session",
        /// The recording of an ended session.
        Recording = "recording",
    }
}

words! {
    /// What an activity's link points at.
    LinkKind {
        /// A git clone on a runner, on its own branch.
        Workspace = "workspace",
        /// One agent process in a terminal.
        Session = "session",
        /// A branch of one of the project's repositories.
        Branch = "branch",
    }
}

words! {
    /// Who wrote a message.
    AuthorKind {
        /// A person.
        User = "user",
        /// A person's floor manager.
        FloorManager = "floor_manager",
        /// A coding agent.
        Agent = "agent",
    }
}

words! {
    /// The bearer of a token.
    TokenKind {
        /// A person's own, for the CLI and programs.
        Personal = "personal",
        /// One runner's.
        Runner = "runner",
        /// One session's agent's.
        Agent = "agent",
    }
}

words! {
    /// Whether a person can talk to a session's agent.
    SessionMode {
        /// The agent's own screen, for a person to talk to.
        Interactive = "interactive",
        /// One prompt without interaction.
        Headless = "headless",
    }
}

words! {
    /// A workspace's status.
    WorkspaceStatus {
        /// The runner creates it.
        Preparing = "preparing",
        /// Sessions can work in it.
        Ready = "ready",
        /// It could not be created; the detail says why.
        Failed = "failed",
        /// It was deleted; its saves are kept.
        Cleaned = "cleaned",
    }
}

words! {
    /// A session's status.
    SessionStatus {
        /// The hub wants it; no runner has reported that it runs.
        Starting = "starting",
        /// The agent works.
        Working = "working",
        /// The agent waits for a person.
        Waiting = "waiting",
        /// The agent has nothing to do.
        Idle = "idle",
        /// The process ended.
        Exited = "exited",
        /// The process is gone, and how it ended is unknown.
        Lost = "lost",
    }
}

/// The position of a committed change: gap-free, and visible in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, TS, ToSchema)]
#[ts(type = "number")]
#[schema(value_type = u64)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl std::fmt::Display for Seq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_their_text() {
        for value in Visibility::ALL {
            assert_eq!(value.word().parse(), Ok(*value));
        }
        assert!("Private".parse::<Visibility>().unwrap_err().contains("read-only"));
    }
}
