//! What a workspace changed.

use serde::{Deserialize, Serialize};

use super::WorkFacts;
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
    /// The changes as they are compared with those of other reports: first against the base, then against those of the
    /// named commits that are older. Empty without a repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work: Vec<WorkFacts>,
    /// The patch, shortened.
    pub patch: String,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Its path; where it was, if it is deleted.
    pub path: String,
    /// A hash of its content now; absent if it is deleted.
    pub content: Option<String>,
}

/// Maximum number of changed files in a report's facts.
pub const MAX_CHANGED_FILES: usize = 5000;
/// Maximum length of their paths together.
pub const MAX_CHANGED_BYTES: usize = 1024 * 1024;
/// Bytes of the patch.
pub const MAX_PATCH: usize = 64 * 1024;
