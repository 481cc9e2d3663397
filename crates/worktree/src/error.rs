//! Errors: each says what is wrong, where, and how to fix it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::WorkspaceId;

use crate::Reason;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// git is not installed, or too old.
    #[error("git is not usable: {why}. Install git 2.38 or newer")]
    NoGit {
        /// What was found.
        why: String,
    },
    /// A branch name is invalid.
    #[error("`{name}` is not a valid branch name: {why}")]
    Branch {
        /// What was given, made printable.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It does not identify a commit.
    #[error("`{0}` is not the id of a commit")]
    Id(String),
    /// A repository's location is invalid.
    #[error("`{location}` is not a valid repository location: {why}")]
    Location {
        /// What was given, made printable.
        location: String,
        /// What is wrong with it.
        why: String,
    },
    /// The remote has no such branch.
    #[error("{location} has no branch `{branch}`{}", did_you_mean(.near))]
    NoSuchBranch {
        /// The repository's location.
        location: String,
        /// The wanted branch.
        branch: String,
        /// Branches with similar names.
        near: Vec<String>,
    },
    /// The remote's host is unknown or not trusted.
    #[error("the host of {location} cannot be reached: {why}")]
    Host {
        /// The repository's location.
        location: String,
        /// What git or ssh said.
        why: String,
    },
    /// The remote refused access.
    #[error(
        "{location} refused access: {why}. Give the runner's user access: an SSH key, or a credential helper in their git \
         settings, which are read when the runner starts"
    )]
    Access {
        /// The repository's location.
        location: String,
        /// What git or ssh said.
        why: String,
    },
    /// There is no repository.
    #[error("there is no repository at {location}: {why}")]
    NoRepository {
        /// The repository's location.
        location: String,
        /// What git said.
        why: String,
    },
    /// The repository has broken objects, or objects that look like an attack.
    #[error("{location} was refused, because it has broken or dangerous objects: {why}")]
    Unsafe {
        /// The repository's location.
        location: String,
        /// What git found.
        why: String,
    },
    /// There is no such workspace on this runner.
    #[error("workspace {0} is not on this runner")]
    NoWorkspace(WorkspaceId),
    /// There is no such save.
    #[error("workspace {workspace} has no save `{save}`; `shopfloor workspace saves` lists them")]
    NoSave {
        /// The workspace.
        workspace: WorkspaceId,
        /// The wanted save.
        save: String,
    },
    /// The id is ambiguous.
    #[error("several saves of workspace {workspace} begin with `{save}`: {}; give more digits", .found.join(", "))]
    ManySaves {
        /// The workspace.
        workspace: WorkspaceId,
        /// The wanted save.
        save: String,
        /// The first of them.
        found: Vec<String>,
    },
    /// Every save equals the workspace.
    #[error(
        "nothing was restored: no save of workspace {workspace} has a file that is missing or different there now; \
         `shopfloor workspace saves` lists them, `--save ID` restores one anyway"
    )]
    NothingBack {
        /// The workspace.
        workspace: WorkspaceId,
    },
    /// Files that are in no save would be overwritten.
    #[error(
        "nothing was restored: {} could not be saved and would be overwritten; move it out of the workspace, then \
         restore again",
        .paths.join(", ")
    )]
    Overwrites {
        /// The files.
        paths: Vec<String>,
    },
    /// The branch of a new workspace already exists.
    #[error(
        "cannot create the branch `{branch}`: {location} has {}; choose another name. To continue that branch, \
         name it as the base",
        if .branch == .there { "it already".to_owned() } else { format!("`{}`, and git cannot have both", .there) }
    )]
    BranchTaken {
        /// Where.
        location: String,
        /// The wanted branch.
        branch: String,
        /// The existing branch.
        there: String,
    },
    /// A folder that must be empty is not.
    #[error("{} is not an empty folder; choose another one", .0.display())]
    NotEmpty(PathBuf),
    /// A workspace has work that would be lost.
    #[error("workspace {workspace} was not deleted, because work would be lost: {}", crate::clean::in_words(.reasons))]
    WouldLose {
        /// Which workspace.
        workspace: WorkspaceId,
        /// Everything that would be lost.
        reasons: Vec<Reason>,
    },
    /// Something in a workspace is not as git leaves it.
    #[error("{}: {why}", .path.display())]
    Tampered {
        /// Where.
        path: PathBuf,
        /// What is odd.
        why: String,
    },
    /// A git command failed.
    #[error("git {what} failed ({status}): {said}")]
    Git {
        /// The subcommand.
        what: &'static str,
        /// How it ended.
        status: String,
        /// The end of its output.
        said: String,
    },
    /// A command took too long and was killed.
    #[error("{what} took longer than {} s and was killed", .after.as_secs())]
    TimedOut {
        /// What ran.
        what: String,
        /// How long it was given.
        after: Duration,
    },
    /// A command printed too much.
    #[error("{what} printed more than {limit} bytes and was killed")]
    TooMuch {
        /// What ran.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// A setup or teardown command failed.
    #[error("`{line}` failed ({status}); its output is in {}", .log.display())]
    Script {
        /// The command, shortened.
        line: String,
        /// How it ended.
        status: String,
        /// Where its output is.
        log: PathBuf,
    },
    /// A pattern of files to copy is invalid.
    #[error("`{pattern}` is not a valid pattern of files to copy: {why}")]
    Pattern {
        /// What was given, made printable.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// Work of another runner is not usable.
    #[error("the work of another runner ({name}) is not usable: {why}")]
    Bundle {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// Works that a workspace should start from do not fit together.
    #[error("{first} and {second} conflict{}", in_files(.paths))]
    Conflict {
        /// The base, or the work that was merged before.
        first: String,
        /// The work that does not fit.
        second: String,
        /// The files in conflict; none if their histories have nothing in common.
        paths: Vec<String>,
    },
    /// Accepted work is not on this runner.
    #[error("the work of {name} is not on this runner: {why}")]
    NoWork {
        /// Whose work.
        name: String,
        /// What is missing.
        why: String,
    },
    /// There is nothing to keep, because nothing was committed.
    #[error("workspace {0} has no commit")]
    NoCommit(WorkspaceId),
    /// A branch of this name was made by somebody else.
    #[error(
        "`{branch}` at {location} was not changed: it is at {tip}, which was not published from here; choose another \
         name, or delete it there"
    )]
    Theirs {
        /// The repository's location.
        location: String,
        /// The branch.
        branch: String,
        /// Where it is.
        tip: String,
    },
    /// The branch to move is checked out in its repository.
    #[error("`{branch}` is checked out at {location} and was not moved; check out another branch there")]
    InUse {
        /// The repository's location.
        location: String,
        /// The branch.
        branch: String,
    },
    /// The repository's rules forbid a push.
    #[error("{location} declined the push to `{branch}`: {why}")]
    Declined {
        /// The repository's location.
        location: String,
        /// The branch.
        branch: String,
        /// What it said.
        why: String,
    },
    /// All ports are taken.
    #[error("there are no {size} free ports in {first}–{last}; configure a larger range or delete a workspace")]
    NoPorts {
        /// How many were asked for.
        size: u16,
        /// The first port of the range.
        first: u16,
        /// The last port of the range.
        last: u16,
    },
    /// A file operation failed.
    #[error("{what} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// An I/O error with what was tried and where.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }

    /// The same for a system call.
    pub(crate) fn sys(what: &'static str, path: &Path) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::Io { what, path: path.to_owned(), source: errno.into() }
    }
}

/// Untrusted text, shortened and without control characters, for an error.
pub(crate) fn printable(text: &str) -> String {
    let mut short: String = text.chars().take(120).flat_map(char::escape_debug).collect();
    if text.chars().nth(120).is_some() {
        short.push('…');
    }
    short
}

fn in_files(paths: &[String]) -> String {
    match paths {
        [] => ": their histories have nothing in common".to_owned(),
        _ => format!(" in {}", paths.iter().take(10).map(|path| printable(path)).collect::<Vec<_>>().join(", ")),
    }
}

fn did_you_mean(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(", "))
}
