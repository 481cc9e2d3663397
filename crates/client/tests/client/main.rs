//! The client against fakes at the network's edge.

#![allow(missing_docs, clippy::unwrap_used, reason = "tests are named after what they show, and fail by panicking")]

mod fake_http;
mod fake_socket;
mod http;
mod terminal;
mod watch;
