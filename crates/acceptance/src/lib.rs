//! Checks what a report must meet against a workspace's files and what git knows of them.
//!
//! Files, names and programs are an agent's: nothing here follows a link out of the workspace, opens what is not a file,
//! reads without a limit, or waits without an end. What is parsed or matched is so in a process of its own.

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
pub use command::{Commands, Contain, Mask, Runs};
pub use git::commits_for_agent;
pub use judged::Judge;
