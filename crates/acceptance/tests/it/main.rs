//! Bad and good outputs in real workspaces of a real git.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking, and says what it saw")]

mod bad;
mod commands;
mod good;
mod hostile;
mod support;
