//! Other people's MCP clients against our server, over standard input and output and over HTTP, with a real hub.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod conformance;
mod doors;
mod fixture;
mod http;
mod stdio;
