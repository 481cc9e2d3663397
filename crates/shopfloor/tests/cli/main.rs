//! The command line: as it parses, as it ends, and against a real hub.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests are named after what they show, and fail by panicking")]

mod artifacts;
mod attach;
mod background;
mod commands;
mod completions;
mod deletions;
mod demo;
mod endings;
mod files;
mod fixture;
mod handoffs;
mod merges;
mod notify;
mod process;
mod pseudo_terminal;
mod recipes;
mod recordings;
mod reservations;
mod reviews;
mod round_trips;
mod runners;
mod sandbox;
mod schedules;
mod sessions;
mod settings;
mod task_edits;
mod task_files;
mod tasks;
mod terminal_search;
mod transfer;
mod up;
mod watch;
mod workers;
mod workspaces;
