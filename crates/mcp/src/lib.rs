//! The tools that agents call over MCP: take a task, report, ask, talk.
//!
//! The tools use one small trait, [`Floor`]: run a verb, get its answer. `shopfloor mcp` implements it with a client;
//! the hub runs the verb itself, and its access rule decides what a caller may do.

mod arguments;
mod desk;
mod floor;
mod keeper;
mod lines;
mod malformed;
mod misfit;
mod project;
mod schema;
mod server;
mod tools;
mod trouble;

pub use desk::{Desk, Settings};
pub use floor::{Floor, Running};
pub use malformed::malformed;
pub use server::{HttpService, Server, http_service, serve_stdio};
