//! Reports and questions of workers: checks, verdicts, conflicts and people's decisions.

pub(crate) mod ask;
mod away;
mod changes;
pub(crate) mod checks;
pub(crate) mod conflicts;
pub(crate) mod evidence;
mod fill_in;
pub(crate) mod judge;
pub(crate) mod merging;
pub(crate) mod place;
pub(crate) mod questions;
mod sweep;

pub use away::GiveUpChecks;
pub use evidence::{ShowEvidence, Unseen};
pub use sweep::SweptCheck;
