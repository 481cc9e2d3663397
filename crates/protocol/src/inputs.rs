//! What clients send with a verb.

use domain::{ActivityStatus, ProjectId, Timestamp, Visibility};
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

/// Tells `null` (present, empty) from absent.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}
