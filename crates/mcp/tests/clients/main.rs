//! MCP clients of others against our server, over standard input and output and over HTTP, with a real hub behind it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod doors;
mod fixture;
mod http;
mod stdio;
