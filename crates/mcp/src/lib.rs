//! The tools that agents call over MCP: take a task, report, ask, talk.
//!
//! The tools are written over one small trait, [`Floor`]: run a verb, get its answer. `shopfloor mcp` implements it with
//! a client, the hub by running the verb itself. What a caller may do is decided there, by the hub's access rule.

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
