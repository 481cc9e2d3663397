//! Adapters: how each coding-agent CLI is started, understood and resumed.
//!
//! An adapter is data (TOML): no line of code here knows an agent by its name.

mod adapter;
mod adapters;
mod cause;
mod environment;
mod error;
mod event;
mod find;
mod foreground;
mod json;
mod launch;
mod limit;
pub mod lines;
mod log;
mod price;
mod recogniser;
mod render;
mod sandbox;
mod screen;
mod secrets;
mod shape;
mod template;
mod text;
mod typist;
mod values;

pub use adapter::{Adapter, Mode, Name};
pub use adapters::Adapters;
pub use cause::{Cause, HoldUp, hold_up, own_hold_up};
pub use environment::{environment, merge};
pub use error::AdapterError;
pub use find::FoundAgent;
pub use launch::{Autonomy, File, Launch, LaunchError, McpServer, Paste, Prompt, Request, launch};
pub use limit::{Limit, Retry, limit};
pub use log::{find_log, find_log_in_sandbox};
pub use price::Prices;
pub use recogniser::{Observation, Recogniser, Seen, State, Usage, WaitingFor};
pub use sandbox::{
    Home, Reach, SandboxError, SandboxSpec, Tries, account_home, homes, sandbox, sandbox_reach, sandbox_works,
};
pub use secrets::{Secrets, secrets_in};
pub use typist::{Keys, Typist};
