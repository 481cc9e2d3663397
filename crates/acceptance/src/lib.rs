//! Checks acceptance criteria against a workspace's files and git's facts about them.
//!
//! An agent controls the files, names and programs: nothing here follows a link out of the workspace, opens anything
//! but a file, reads without a limit, or waits forever. Parsing and matching happen in a separate process.

mod check;
mod command;
mod file;
mod format;
mod git;
pub mod judge;
mod judged;
mod matches;
mod place;
mod schema;
mod touches;
mod tree;
mod verdict;
pub mod warden;
mod xml;

pub use check::{Site, check};
pub use command::{Commands, Contain, End, Mask, Ran, Runs, run_command};
pub use git::commits_for_agent;
pub use judged::Judge;
