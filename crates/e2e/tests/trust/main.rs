//! What is promised of hostile input and of secrets, with the real hub, the real runner, the real CLI and the real git.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

#[path = "../../../protocol/tests/support/calls.rs"]
mod calls;
mod colleague;
mod fixture;
mod injection;
mod leaks;
mod mcp;
