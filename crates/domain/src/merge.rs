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
