//! What a workspace changed, as far as it matters for conflicts.

use serde::{Deserialize, Serialize};

use crate::CheckedOut;

/// What a workspace changed against the commit that it started from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The commit that it started from.
    pub base: String,
    /// The commit that it is at.
    pub head: String,
    /// What is checked out; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_out: Option<CheckedOut>,
    /// The newest commits since the base, oldest first.
    #[serde(default)]
    pub commits: Vec<String>,
    /// How many earlier ones are left out.
    #[serde(default)]
    pub more_commits: u32,
    /// A hash of the whole worktree, uncommitted work included.
    pub tree: String,
    /// The commit with all of it that the runner keeps for dependants and for landing; absent without a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The files.
    pub files: Vec<ChangedFile>,
    /// The patch, shortened.
    pub patch: String,
}

/// The changes of one file, as far as they can conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// Its path before, when it was renamed.
    #[serde(default)]
    pub from: Option<String>,
    /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
    pub change: String,
    /// A hash of its content before; absent if it is new or unknown.
    #[serde(default)]
    pub before: Option<String>,
    /// A hash of its content now; absent if it is deleted.
    pub content: Option<String>,
    /// The lines of the base that were changed, first and last; an insertion has the line before it twice.
    pub ranges: Vec<(u32, u32)>,
}

/// Maximum number of changed files in a report's facts.
pub const MAX_CHANGED_FILES: usize = 5000;
/// Line ranges of all files together.
pub const MAX_CHANGED_RANGES: usize = 20_000;
/// Bytes of the patch.
pub const MAX_PATCH: usize = 64 * 1024;
