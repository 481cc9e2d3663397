//! The command line: as it parses, as it ends, and against a real hub.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests are named after what they show, and fail by panicking")]

mod attach;
mod commands;
mod completions;
mod demo;
mod endings;
mod files;
mod fixture;
mod merges;
mod process;
mod pseudo_terminal;
mod recordings;
mod reviews;
mod round_trips;
mod runners;
mod sandbox;
mod sessions;
mod settings;
mod task_edits;
mod task_files;
mod tasks;
mod transfer;
mod up;
mod watch;
mod workers;
mod workspaces;
