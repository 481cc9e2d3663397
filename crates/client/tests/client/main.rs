//! The client against fakes at the network's edge.

#![allow(missing_docs, reason = "tests are named after what they show")]

mod fake_http;
mod fake_socket;
mod http;
mod watch;
