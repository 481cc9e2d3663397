//! Repositories and worktrees on one machine; the only crate that runs git.
//!
//! One object store per repository is shared by all its workspaces. A workspace is a clone of the agent's own, which the
//! agent may do anything to; whatever we want to know of it is found out with repositories of ours beside it.

mod agent;
mod approval;
mod author;
mod bare;
mod beneath;
mod bundle;
mod changes;
mod clean;
mod commit;
mod copy;
mod create;
mod diff;
mod differ;
mod disk;
mod ears;
mod error;
mod eviction;
mod examine;
mod git;
mod hosts;
mod known;
mod layout;
mod location;
mod log;
mod names;
mod options;
mod pace;
mod patch;
mod ports;
mod process;
mod save;
mod saves;
mod scan;
mod script;
mod space;
mod stats;
mod store;
mod tips;
mod watch;
mod worktrees;

pub use approval::{ConfigKind, ConfigSet, ExecutableConfig};
pub use author::author;
pub use beneath::{Found, Root};
pub use bundle::Packed;
pub use clean::{Cleaned, Reason, Unfinished};
pub use copy::Copied;
pub use create::{Plan, Start, Workspace};
pub use diff::{Diff, DiffLimits, FileDiff, FileStatus, Hunk, Line};
pub use error::{Error, Result};
pub use eviction::{EvictionFacts, EvictionPlan, eviction_order};
pub use examine::{Examined, TouchedFile};
pub use layout::Facts;
pub use location::Location;
pub use names::BranchName;
pub use options::{Author, CredentialHelper, Options, Progress, Step};
pub use pace::Tempo;
pub use ports::{PortRange, Ports};
pub use save::{LeftOut, Save, Saved};
pub use saves::Into;
pub use script::{Ran, Script, port_variables, script_variable};
pub use stats::GitStats;
pub use watch::{Event, Watcher};
pub use worktrees::Worktrees;
