//! What can go wrong: each error says what was wrong, where, and what to do.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::WorkspaceId;

use crate::Reason;

/// The result of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// git is not installed, or too old.
    #[error("git cannot be used: {why}. Install git 2.38 or newer")]
    NoGit {
        /// What was found.
        why: String,
    },
    /// A branch name is not acceptable.
    #[error("`{name}` is not a branch name that can be used: {why}")]
    Branch {
        /// What was given, made printable.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A repository's location is not acceptable.
    #[error("`{location}` is not a location of a repository that can be used: {why}")]
    Location {
        /// What was given, made printable.
        location: String,
        /// What is wrong with it.
        why: String,
    },
    /// The remote has no such branch.
    #[error("{location} has no branch `{branch}`{}", did_you_mean(.near))]
    NoSuchBranch {
        /// Where it was looked for.
        location: String,
        /// What was looked for.
        branch: String,
        /// Branches with similar names.
        near: Vec<String>,
    },
    /// The remote's host is not known, or not trusted.
    #[error("the host of {location} cannot be reached: {why}")]
    Host {
        /// The repository's location.
        location: String,
        /// What git or ssh said.
        why: String,
    },
    /// The remote did not let us in.
    #[error(
        "{location} did not let this runner in: {why}. Give the runner's user access (an ssh key in its agent, or a credential helper)"
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
    /// The repository has objects that git takes for an attack, or that are broken.
    #[error("{location} was not taken over, because it has objects that are broken or dangerous: {why}")]
    Unsafe {
        /// The repository's location.
        location: String,
        /// What git found.
        why: String,
    },
    /// There is no such workspace on this runner.
    #[error("there is no workspace {0} on this runner")]
    NoWorkspace(WorkspaceId),
    /// There is no such save.
    #[error("workspace {workspace} has no save `{save}`; `saves` lists them")]
    NoSave {
        /// Whose save.
        workspace: WorkspaceId,
        /// What was asked for.
        save: String,
    },
    /// Several saves have an id that begins like this.
    #[error("several saves of workspace {workspace} begin with `{save}`: {}; give more digits", .found.join(", "))]
    ManySaves {
        /// Whose saves.
        workspace: WorkspaceId,
        /// What was asked for.
        save: String,
        /// The first of them.
        found: Vec<String>,
    },
    /// No save has anything that is not there.
    #[error(
        "nothing was restored: no save of workspace {workspace} has a file that is missing or different there now; \
         `shopfloor workspace saves` lists them, `--save ID` brings one back all the same"
    )]
    NothingBack {
        /// Whose saves.
        workspace: WorkspaceId,
    },
    /// Files that are in no save would be overwritten.
    #[error(
        "nothing was restored: {} could not be saved and would be overwritten; move it out of the workspace, then \
         restore again",
        .paths.join(", ")
    )]
    Overwrites {
        /// Which.
        paths: Vec<String>,
    },
    /// The branch of a new workspace is there already.
    #[error(
        "the branch `{branch}` cannot be a new one: {location} has {}: choose another name; to go on from that branch, \
         name it as the base",
        if .branch == .there { "it already".to_owned() } else { format!("`{}`, and git cannot have both", .there) }
    )]
    BranchTaken {
        /// Where.
        location: String,
        /// What it was to be called.
        branch: String,
        /// What is there.
        there: String,
    },
    /// A folder that must be empty is not.
    #[error("{} is not an empty folder; choose another one", .0.display())]
    NotEmpty(PathBuf),
    /// A workspace holds work that would be lost.
    #[error("workspace {workspace} is kept, because work would be lost: {}", crate::clean::in_words(.reasons))]
    WouldLose {
        /// Which workspace.
        workspace: WorkspaceId,
        /// All that would be lost.
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
        /// The end of what it said.
        said: String,
    },
    /// A command took too long and was ended.
    #[error("{what} took longer than {} s and was ended", .after.as_secs())]
    TimedOut {
        /// What ran.
        what: String,
        /// How long it was given.
        after: Duration,
    },
    /// A command said more than can be held.
    #[error("{what} said more than {limit} bytes and was ended")]
    TooMuch {
        /// What ran.
        what: String,
        /// The limit.
        limit: usize,
    },
    /// A setup or teardown command failed.
    #[error("`{line}` ended with {status}; its output is in {}", .log.display())]
    Script {
        /// The command, shortened.
        line: String,
        /// How it ended.
        status: String,
        /// Where its output is.
        log: PathBuf,
    },
    /// A pattern of files to copy is not acceptable.
    #[error("`{pattern}` is not a pattern of files that can be copied: {why}")]
    Pattern {
        /// What was given, made printable.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
    /// Work that came from another runner cannot be used.
    #[error("the work of another runner ({name}) cannot be used: {why}")]
    Bundle {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// All ports are taken.
    #[error("no {size} free ports are left in {first}–{last}; name a larger range or clean a workspace")]
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

/// A hostile text, short and without control characters, for an error.
pub(crate) fn printable(text: &str) -> String {
    let mut short: String = text.chars().take(120).flat_map(char::escape_debug).collect();
    if text.chars().nth(120).is_some() {
        short.push('…');
    }
    short
}

fn did_you_mean(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(", "))
}
