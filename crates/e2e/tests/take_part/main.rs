//! Ways to take part without being managed: a real agent over MCP, a worker in Python, files; and the example projects.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod branch;
mod codex;
mod examples;
mod files;
mod folder;
mod hub;
mod newcomer;
mod python;
mod remote;
