//! The tools that agents call over MCP: take a task, report, ask, talk.
//!
//! The tools are written over one small trait, [`Verbs`]: run a verb, get its answer. `shopfloor mcp` implements it with
//! a client, the hub by running the verb itself. What a caller may do is decided there, by the hub's access rule.

mod arguments;
mod desk;
mod keeper;
mod lines;
mod malformed;
mod misfit;
mod project;
mod schema;
mod server;
mod tools;
mod trouble;
mod verbs;

pub use desk::{Desk, Settings};
pub use malformed::malformed;
pub use server::{HttpService, Server, http_service, serve_stdio};
pub use verbs::{Running, Verbs};
