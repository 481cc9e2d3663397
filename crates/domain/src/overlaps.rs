//! The words of overlaps.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::values::words;

words! {
    /// How the work of an activity meets that of another one, or its base branch, in order of severity.
    OverlapKind {
        /// One side has declared that it will change the files, with a reservation or the files of a running task.
        Declared = "declared",
        /// Both change a file; git merges the changes.
        SameFile = "same_file",
        /// One moves a file that the other changes; git merges the changes.
        RenamedUnder = "renamed_under",
        /// Both change the same function, method or type, at different lines; git merges the changes.
        SameSymbol = "same_symbol",
        /// Both change the same lines, or lines that touch: git will report a conflict.
        SameLines = "same_lines",
        /// The changes exclude each other, as when one deletes a file that the other changes: git will report a conflict.
        Contradiction = "contradiction",
        /// The work conflicts with what has come to its base branch: git will report a conflict.
        Base = "base",
    }
}

impl OverlapKind {
    /// Whether git cannot merge the two.
    pub fn conflicts(self) -> bool {
        matches!(self, Self::SameLines | Self::Contradiction | Self::Base)
    }
}
