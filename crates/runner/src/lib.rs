//! The execution plane of one machine: the link to the hub, the journal, and the sessions that the hub wants.

mod about;
mod adapters;
mod approvals;
mod asks;
mod background;
mod bundles;
mod checks;
mod clock;
mod desired;
mod desk;
mod disk;
mod folders;
mod hidden;
mod journal;
mod lease;
mod link;
mod machine;
mod merges;
mod options;
mod places;
mod programs;
mod reconcile;
mod recordings;
mod run;
mod secret;
mod sessions;
mod terminals;
mod tokens;
mod workspaces;

pub use journal::JournalError;
pub use options::{Options, Patience};
pub use places::{note_places, noted_places};
pub use run::{RunError, run};
pub use secret::Secret;
pub use terminal::Limits as SessionLimits;
pub use worktree::{CredentialHelper, Options as GitOptions};
