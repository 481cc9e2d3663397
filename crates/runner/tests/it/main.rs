//! Runners as processes against a small hub, with real session hosts, killed and cut off at any point.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "these are tests, also where they only help")]

mod asks;
mod bundles;
mod checks;
mod contained;
mod expired;
mod followed;
mod hostile_merges;
mod hub;
mod isolation;
mod kept;
mod link;
mod merges;
mod overlaps;
mod pull_requests;
mod restarts;
mod sessions;
mod silent;
mod support;
mod tasks;
mod terminals;
mod workspaces;
