//! The tools that agents call over MCP: take a task, report, ask, talk.
//!
//! The tools use one small trait, [`Verbs`]: run a verb, get its answer. `shopfloor mcp` implements it with a client;
//! the hub runs the verb itself, and its access rule decides what a caller may do.

mod arguments;
mod criteria;
mod desk;
mod keeper;
mod lines;
mod malformed;
mod misfit;
mod project;
mod schema;
mod server;
mod task;
mod tools;
mod trouble;
mod verbs;

pub use desk::{Desk, Settings};
pub use malformed::malformed;
pub use server::{HttpService, Server, http_service, serve_stdio};
pub use verbs::{Running, Verbs};
