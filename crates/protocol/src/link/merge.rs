//! Merge runs: the hub orders, the runner runs git and the checks, and reports facts.
//!
//! A run is listed in the desired state until the hub has its result; a run that is no longer listed is stopped. A run
//! has one result, so everything here is safe to deliver twice.
//!
//! Commits that a run makes are a function of its order: the same base, heads, titles and method give the same commits
//! on every runner. So when a part of a stack has landed, a result of the whole stack still stands on the new tip.

use domain::{CandidateId, CheckOutcome, LandOutcome, MergeMethod, MergeRunId, ProjectId};
use serde::{Deserialize, Serialize};

use crate::{Repository, Sandbox, WrittenBy};

/// A merge run as the hub wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredMerge {
    /// The run.
    pub run: MergeRunId,
    /// The project that it is in.
    pub project: ProjectId,
    /// The repository; its location is where branches come from and where the target branch is.
    pub repository: Repository,
    /// The branch to land on.
    pub target: String,
    /// How branches are merged into it.
    pub method: MergeMethod,
    /// What to do.
    pub order: MergeOrder,
    /// Who chose the repository, if not the runner's owner.
    pub repository_by: Option<WrittenBy>,
    /// Who wrote the checks, if not the runner's owner.
    pub commands_by: Option<WrittenBy>,
    /// Whose code the checks would run, if not the runner's owner's.
    pub code_by: Option<WrittenBy>,
    /// The sandbox of the checks.
    pub sandbox: Option<Sandbox>,
}

/// What a merge run does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum MergeOrder {
    /// Builds a stack on the tip of the target branch and runs the checks on the last level; answered by `merge_tested`.
    ///
    /// A candidate that cannot be built is left out of the stack and reported. The checks run only if every candidate
    /// was built. Without candidates, the checks run on the bare tip.
    Test {
        /// Where the target branch must be: if it is elsewhere, the run ends and reports only that tip. Absent: anywhere.
        base: Option<String>,
        /// The branches, in the order in which they are merged.
        candidates: Vec<MergeCandidate>,
        /// The checks, in order. The first that does not pass ends the run. Empty: only build.
        checks: Vec<MergeCheck>,
    },
    /// Pushes a commit that this runner has built in an earlier run to the target branch; answered by `merge_landed`.
    Land {
        /// The run that built the commit.
        tested: MergeRunId,
        /// Where the target branch must be, or nothing is pushed; an ancestor of the commit.
        base: String,
        /// The commit.
        commit: String,
    },
}

/// A branch to merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeCandidate {
    /// The candidate.
    pub candidate: CandidateId,
    /// The branch at the repository's location.
    pub branch: String,
    /// The commit that it must be at; absent: any.
    pub head: Option<String>,
    /// The subject of its merge or squash commit.
    pub title: String,
}

/// A command that must exit with 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeCheck {
    /// The program and its arguments; run in the root of the repository.
    pub argv: Vec<String>,
    /// The time limit.
    pub seconds: u32,
}

/// The result of a test run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeTest {
    /// The tip of the target branch that the stack was built on; absent if there is none, or it could not be read.
    pub base: Option<String>,
    /// One for each candidate, in order; empty if the base was not as expected.
    pub levels: Vec<MergeLevel>,
    /// One for each check, in order; empty if they did not run at all.
    pub checks: Vec<MergeChecked>,
    /// Why the machine could not do it; absent if it could. Then nothing else here counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A candidate in a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeLevel {
    /// The candidate.
    pub candidate: CandidateId,
    /// The commit that its branch is at; absent if the branch does not exist.
    pub head: Option<String>,
    /// What became of it.
    pub built: LevelBuilt,
}

/// What became of a candidate in a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "built", rename_all = "snake_case")]
pub enum LevelBuilt {
    /// It was merged.
    Merged {
        /// The commit with this candidate on top of those before it.
        commit: String,
        /// The commit's tree.
        tree: String,
        /// The paths that the candidate changes; at most `MAX_MERGE_PATHS`.
        paths: Vec<String>,
        /// The paths where this level changes something else than the candidate itself does. Empty: none.
        differs: Vec<String>,
    },
    /// It was left out: it conflicts.
    Conflict {
        /// The paths in conflict; at most `MAX_MERGE_PATHS`.
        paths: Vec<String>,
        /// Whether it conflicts with the tip already, and not only with candidates before it.
        with_tip: bool,
        /// Both sides of its conflict with the tip, as plain text; at most `MAX_MERGE_LOG` bytes.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sides: String,
    },
    /// It was left out: everything in it is in the target branch already.
    Contained,
    /// It was left out: its branch is not at the expected commit.
    Moved,
    /// It was left out: its branch does not exist.
    Missing,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeChecked {
    /// What became of it.
    pub outcome: CheckOutcome,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// The exit status, if it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The end of its output, as plain text; at most `MAX_MERGE_LOG` bytes.
    pub log: String,
}

/// The result of an order to land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeLand {
    /// What became of it.
    pub outcome: LandOutcome,
    /// Where the target branch is now, if that is known.
    pub tip: Option<String>,
    /// For people: what git or the remote said.
    pub detail: String,
}

/// Maximum number of paths of a level.
pub const MAX_MERGE_PATHS: usize = 200;

/// Maximum size of a check's log, in bytes.
pub const MAX_MERGE_LOG: usize = 32 * 1024;

/// Maximum number of candidates in one run.
pub const MAX_MERGE_CANDIDATES: usize = 50;
