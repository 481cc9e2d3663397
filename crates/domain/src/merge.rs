//! The words of merge queues.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::values::words;

words! {
    /// How a branch is merged into the target branch.
    MergeMethod {
        /// A merge commit for each branch, always with two parents.
        Merge = "merge",
        /// One commit for each branch, with all of its changes.
        Squash = "squash",
        /// The branch's own commits, put on top one after the other.
        Rebase = "rebase",
    }
}

words! {
    /// What became of one check.
    CheckOutcome {
        /// It exited with 0.
        Passed = "passed",
        /// It exited with another status.
        Failed = "failed",
        /// It did not end in time.
        TimedOut = "timed_out",
        /// It was not started, because an earlier one did not pass.
        NotRun = "not_run",
        /// The machine could not run it: no such program, no space, killed from outside. Says nothing about the work.
        Infrastructure = "infrastructure",
    }
}

words! {
    /// What became of an order to land.
    LandOutcome {
        /// The target branch is at the tested commit, by this order or an earlier delivery of it.
        Landed = "landed",
        /// The target branch is not where it was when the commit was tested: nothing was changed.
        BaseMoved = "base_moved",
        /// The remote protects the branch against the runner's login.
        Protected = "protected",
        /// The remote refused for another reason, such as a hook.
        Refused = "refused",
        /// The target branch is checked out in the folder, with uncommitted work that the update would overwrite.
        CheckedOutDirty = "checked_out_dirty",
        /// The machine or the network failed; it can be tried again.
        Infrastructure = "infrastructure",
    }
}

words! {
    /// How far a branch in a merge queue is.
    CandidateState {
        /// It waits for its turn.
        Waiting = "waiting",
        /// It is being tested, alone or with others.
        Testing = "testing",
        /// It was red and is being tested alone, to be sure.
        Confirming = "confirming",
        /// It was tested and is being pushed to the target branch.
        Landing = "landing",
        /// A person must confirm it first.
        NeedsPerson = "needs_person",
        /// It is in the target branch.
        Landed = "landed",
        /// It was sent back.
        Ejected = "ejected",
        /// Somebody took it out of the queue.
        Removed = "removed",
    }
}

words! {
    /// Whether a merge queue moves.
    MergeGate {
        /// It moves.
        Open = "open",
        /// Nothing is tested and nothing lands.
        Paused = "paused",
        /// Only fixes move, until a person opens it.
        Frozen = "frozen",
        /// Only fixes move, until the checks pass on the target branch.
        TipRed = "tip_red",
    }
}

words! {
    /// What a merge run is for.
    MergePurpose {
        /// Builds without checks, to find conflicts.
        Look = "look",
        /// Tests the first branches of the queue together.
        Search = "search",
        /// Tests one branch alone.
        Confirm = "confirm",
        /// Tests the target branch as it is.
        Bare = "bare",
        /// Pushes a tested commit to the target branch.
        Land = "land",
    }
}

words! {
    /// What became of a merge run.
    MergeRunState {
        /// A runner has it, or will get it.
        Open = "open",
        /// The checks passed.
        Green = "green",
        /// A check failed or did not end in time.
        Red = "red",
        /// It says nothing about the work: nothing to check, a conflict, or a fault of the machine.
        Unproven = "unproven",
        /// The commit was pushed.
        Landed = "landed",
        /// The commit was not pushed.
        NotLanded = "not_landed",
        /// It was stopped, because its result would not matter.
        Cancelled = "cancelled",
        /// Its runner did not answer in time.
        Lost = "lost",
    }
}

words! {
    /// Who may add branches to a merge queue.
    MergeAdders {
        /// Everybody who may write in the project, and their agents.
        Writers = "writers",
        /// People who may write in the project.
        People = "people",
        /// The owner of the project.
        Owner = "owner",
    }
}
