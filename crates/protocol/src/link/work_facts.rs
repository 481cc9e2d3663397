//! Facts about the work in a workspace: enough to find conflicts with other work, without any code.

use domain::ProjectId;
use serde::{Deserialize, Serialize};

/// The commits that the work of a project's workspaces is described against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectForks {
    /// The project.
    pub project: ProjectId,
    /// Where the branches of its workspaces left their base. A runner describes a workspace's work against its own fork
    /// point and against those of these that are older.
    pub forks: Vec<String>,
}

/// The changes between one commit and a workspace's work, uncommitted work included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkFacts {
    /// The commit.
    pub against: String,
    /// The changed files.
    pub files: Vec<FileFacts>,
    /// The folders of the commit that are gone, as far as their files were moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Whether files or lines were left out because there are too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// Its path; the old path if it is deleted.
    pub path: String,
    /// The old path of a moved file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its mode before, as git writes it; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What it is now; absent if it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<EntryFacts>,
    /// What happened to its content.
    pub lines: LineFacts,
    /// The functions, methods and types that it changes, as far as the runner can tell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<SymbolFacts>,
}

/// The change of a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SymbolFacts {
    /// Its qualified name, such as `Parser::next`.
    pub name: String,
    /// A keyed hash of its code before; absent if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// A keyed hash of its code now; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What a file is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryFacts {
    /// Its mode, as git writes it.
    pub mode: String,
    /// A keyed hash of its content.
    pub content: String,
}

/// What happened to the content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LineFacts {
    /// Nothing.
    Same {},
    /// These lines changed: the number of lines before the change, the number up to its end, and a keyed hash of the new
    /// lines.
    Changed {
        /// The changes, in order.
        hunks: Vec<(u32, u32, String)>,
    },
    /// It is not compared by line.
    Whole {},
}

/// Maximum number of commits that a workspace's work is described against.
pub const MAX_FORKS: usize = 8;
/// Maximum number of files in all descriptions of a workspace's work.
pub const MAX_WORK_FILES: usize = 4000;
/// Maximum number of changed places in them.
pub const MAX_WORK_HUNKS: usize = 40_000;
/// Maximum number of changed symbols in one file.
pub const MAX_FILE_SYMBOLS: usize = 200;
/// Maximum number of changed symbols in all descriptions of a workspace's work.
pub const MAX_WORK_SYMBOLS: usize = 4000;
/// Maximum length of the names and hashes of symbols in them.
pub const MAX_WORK_NAMES: usize = 256 * 1024;
/// Maximum length of a symbol's name in bytes.
pub const MAX_SYMBOL_NAME: usize = 200;
/// Maximum length of the paths and hashes of their files.
pub const MAX_WORK_BYTES: usize = 512 * 1024;
