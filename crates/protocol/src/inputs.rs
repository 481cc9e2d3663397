//! What clients send with a verb.

use domain::{ActivityId, ActivityStatus, ProjectId, RunnerId, SessionMode, Timestamp, Visibility, WorkspaceId};
use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::{Link, Repository};

macro_rules! inputs {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema)]
        #[serde(deny_unknown_fields)]
        #[ts(optional_fields)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }
    )*};
}

pub(crate) use inputs;

inputs! {
    /// A project to be created; its creator owns it.
    ProjectCreate {
        /// Free text: name on the first line, then goals and constraints.
        content: String,
        /// What others may do in it; `private` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Whether others may look into its sessions; no when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_execution: Option<bool>,
        /// Whether the hub keeps recordings; no when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archive_recordings: Option<bool>,
        /// Recordings expire after this many days; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retention_days: Option<u32>,
        /// Whether work that others ask for runs in a sandbox; no when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
        /// The repositories it works on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Repository>>")]
        repositories: Vec<Repository>,
    }

    /// Changes to a project; what is absent stays.
    ProjectUpdate {
        /// The new text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// Refuse with `conflict` unless the content's version is still this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_version: Option<u32>,
        /// What others may do in it. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Whether others may look into its sessions. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_execution: Option<bool>,
        /// Whether the hub keeps recordings. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archive_recordings: Option<bool>,
        /// Recordings expire after this many days; `null` is never. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        #[ts(as = "Option<Option<u32>>")]
        retention_days: Option<Option<u32>>,
        /// Whether work that others ask for runs in a sandbox. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
        /// The repositories it works on. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repositories: Option<Vec<Repository>>,
    }

    /// An activity to be created; its creator owns it.
    ActivityCreate {
        /// Free text: intent on the first line, then plan and blockers.
        content: String,
        /// Where it stands; `active` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ActivityStatus>,
        /// Workspaces, sessions and branches.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Link>>")]
        links: Vec<Link>,
    }

    /// Changes to an activity; what is absent stays.
    ActivityUpdate {
        /// The new text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// Refuse with `conflict` unless the content's version is still this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_version: Option<u32>,
        /// Where it stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<ActivityStatus>,
        /// Workspaces, sessions and branches; replaces the whole list.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        links: Option<Vec<Link>>,
    }

    /// A message to be sent or its new text.
    MessageText {
        /// Markdown, with `#act_…` references and `@name` mentions.
        content: String,
    }

    /// How far a chat was read.
    MarkRead {
        /// The number of the last message that was read.
        number: u32,
    }

    /// A new name for the caller.
    Rename {
        /// Unique on this hub, ignoring case.
        name: String,
    }

    /// A token to be made.
    TokenCreate {
        /// What its owner calls it.
        name: String,
        /// When it stops working; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// A runner to be registered.
    RunnerCreate {
        /// Unique among its owner's runners.
        name: String,
    }

    /// A session to be spawned.
    SessionSpawn {
        /// The line of work that it is for; absent: one is made in `project`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
        /// The project, when no activity is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// The adapter: `codex`, `claude`, `gemini`, `opencode`, `command`, `shell`, or one of your own.
        agent: String,
        /// What the agent is to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// Whether a person talks to it; `interactive` when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<SessionMode>,
        /// The model; the agent's own choice when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The program and its arguments, for the agents `command` and `shell`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        argv: Vec<String>,
        /// Which runner; the least loaded fitting one of the caller's when absent. Another person's, where they work on
        /// the same activity: their policy decides, or they are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<RunnerId>,
        /// Labels that the runner must have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        labels: Vec<String>,
        /// A workspace of the same activity to work in; a fresh one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<WorkspaceId>,
        /// The location of the project's repository to work on; its first when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repository: Option<String>,
        /// The branch to start from; the repository's base branch when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// The name of the fresh workspace's own branch; made from the activity's name when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Keeps the session from writing outside its workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
        /// Whether what the owner types is recorded; no when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        record_input: Option<bool>,
        /// The width of the terminal; 120 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cols: Option<u16>,
        /// The height of the terminal; 32 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rows: Option<u16>,
    }

    /// What a session with its own sandbox may reach.
    Sandbox {
        /// Whether it reaches the network.
        network: bool,
        /// Whether it sees the home folder, read-only; hidden otherwise.
        home: bool,
    }

    /// Text for a session's agent, as if its owner had pasted it.
    SessionText {
        /// What to say.
        text: String,
        /// Whether it is sent, or left in the agent's input line.
        #[serde(default)]
        submit: bool,
    }

    /// How a session is to be stopped.
    SessionStop {
        /// At once, without asking it first.
        #[serde(default)]
        force: bool,
    }

    /// Which save to restore.
    WorkspaceRestore {
        /// The save's id; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        save: Option<String>,
    }

    /// Whether a recording is never thrown away.
    RecordingKeep {
        /// Whether.
        keep: bool,
    }

    /// An invitation to be made.
    InviteCreate {
        /// Whom it is for.
        name: String,
        /// When it stops working; in 7 days when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// An observer link to be made.
    ObserverCreate {
        /// Whom it is for.
        name: String,
        /// When it stops working; never when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// The secret of a one-time login link or observer link.
    LinkSecret {
        /// The part of the link after `#`.
        secret: String,
    }

    /// An invitation's secret and the name to join with.
    InviteAccept {
        /// The part of the link after `#`.
        secret: String,
        /// The new person's name.
        name: String,
    }
}

/// Which part of a chat to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct MessagePage {
    /// Only messages with a lower number; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// How many at most, up to 200; 50 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Which sessions, workspaces or recordings to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct ExecutionFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only those of this activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<ActivityId>,
    /// Those that are over, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<bool>,
}

/// Which part of a session's log to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct LogPage {
    /// Only the last lines, up to 10,000; 1,000 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// What the setup of its workspace printed instead; when absent, only if it never had a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<bool>,
}

/// Which stretch of a recording to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct RecordingRange {
    /// From when, in milliseconds from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(as = "Option<f64>")]
    pub from_ms: Option<u64>,
}

/// What to look for in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct RecordingQuery {
    /// The text, ignoring case.
    pub text: String,
}

/// Which part of the audit trail to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct AuditPage {
    /// Only entries of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only entries with a lower number; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(as = "Option<f64>")]
    pub before: Option<u64>,
    /// How many at most, up to 500; 100 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Which versions of a text to list, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct VersionPage {
    /// Only versions with a lower number; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u32>,
    /// How many at most, up to 100; 100 when absent. Fewer come when their texts are long: the first version is number 1,
    /// so that a page that ends above it has a next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Which two versions to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct DiffRange {
    /// The older version; the one before `to` when absent, and 0 is the empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// The newer version; the current one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
}

impl Sandbox {
    /// What both allow.
    pub fn and(&self, other: &Self) -> Self {
        Self { network: self.network && other.network, home: self.home && other.home }
    }

    /// What both allow; `None` is no sandbox, which allows everything.
    pub fn both(one: Option<&Self>, other: Option<&Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)),
            (one, other) => one.or(other).cloned(),
        }
    }
}

/// Tells `null` (present, empty) from absent.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}
