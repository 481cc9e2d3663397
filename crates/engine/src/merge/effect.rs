//! What the store does after a decision.

use domain::{CandidateId, MergeRunId};

use super::Purpose;

/// One thing to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Start a run.
    Start {
        /// Why.
        purpose: Purpose,
        /// The tip that it needs; absent: any.
        base: Option<String>,
        /// The branches, bottom first.
        stack: Vec<CandidateId>,
    },
    /// Stop a run: its result would not matter.
    Cancel {
        /// The run.
        run: MergeRunId,
    },
    /// Land a tested commit.
    Land {
        /// The run that tested it.
        run: MergeRunId,
        /// The tip that it replaces.
        base: String,
        /// The commit.
        commit: String,
        /// What lands with it, bottom first.
        candidates: Vec<CandidateId>,
    },
    /// Send a branch back.
    Eject {
        /// The candidate.
        candidate: CandidateId,
        /// The reason.
        why: Ejected,
    },
    /// A branch needs no landing: everything in it has landed already.
    Contained {
        /// The candidate.
        candidate: CandidateId,
    },
    /// The tip is red by itself: let only fixes through.
    Freeze {
        /// The run that proved it.
        run: MergeRunId,
    },
    /// The tip is green again.
    Thaw,
    /// More or something else would land than a branch changes: pause and ask a person.
    Halt {
        /// The candidate.
        candidate: CandidateId,
        /// The paths.
        paths: Vec<String>,
    },
}

/// Why a branch was sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ejected {
    /// Its checks fail.
    Red {
        /// The run that proved it.
        run: MergeRunId,
    },
    /// It conflicts with the target branch.
    Conflict {
        /// The paths.
        paths: Vec<String>,
    },
    /// Its branch is gone.
    Missing,
    /// Its branch is no longer at the commit that was accepted.
    Moved {
        /// Where it is now.
        head: Option<String>,
    },
}
