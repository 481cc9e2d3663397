//! Versions of the texts of projects and activities.

use domain::{AuthorKind, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{queries, views};

queries! {
    /// Which versions of a text to list, newest first.
    #[derive(Copy)]
    VersionPage {
        /// Only versions with a lower number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u32>,
        /// Maximum number, at most 100; default: 100. Fewer if their texts are long: the first version is number 1,
        /// so that a page that ends above it has a next one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }

    /// Which two versions to compare.
    #[derive(Copy)]
    DiffRange {
        /// The older version; default: the one before `to`, and 0 is the empty text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u32>,
        /// The newer version; default: the current one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u32>,
    }
}

views! {
    /// One earlier or current text of a project or activity.
    Version {
        /// Counts from 1.
        version: u32,
        /// Who wrote it.
        author: UserRef,
        /// The time.
        at: Timestamp,
        /// The whole text.
        content: String,
        /// Whether the person or an agent of theirs wrote it.
        #[serde(default = "by_hand")]
        author_kind: AuthorKind,
        /// The session whose agent wrote it, for people who may see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        author_session: Option<SessionId>,
    }

    /// What changed between two versions, line by line.
    Diff {
        /// The older version; 0 is the empty text before the first.
        from: u32,
        /// The newer version.
        to: u32,
        /// The lines in order.
        lines: Vec<DiffLine>,
    }

    /// One line of a diff.
    DiffLine {
        /// Whether it stayed, came or went.
        kind: DiffKind,
        /// The line without its line break.
        text: String,
    }
}

/// What happened to a line between two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// In both.
    Same,
    /// Only in the newer.
    Added,
    /// Only in the older.
    Removed,
}

/// Who wrote what an older hub shows.
fn by_hand() -> AuthorKind {
    AuthorKind::User
}
