//! Every message that crosses a process, defined once.
//!
//! Control messages are JSON with tagged enums; numbers stay below 2^53 and times are RFC 3339 texts.
//! This crate knows no socket, no database and no rule.

mod activities;
mod approvals;
mod artifacts;
mod audit;
pub mod channels;
mod chat;
mod credentials;
mod executions;
mod frames;
mod handoff;
mod health;
mod hooks;
mod landing;
pub mod link;
mod merge;
mod metrics;
mod notify;
mod overlaps;
mod people;
mod problem;
mod projects;
mod questions;
mod recipes;
mod recordings;
mod reviews;
mod runners;
mod schedules;
mod schema;
mod search;
mod sessions;
mod shapes;
mod tasks;
pub mod terminal;
mod veil;
pub mod verbs;
mod versions;
mod work;
mod workers;
mod workspaces;

pub use activities::*;
pub use approvals::*;
pub use artifacts::*;
pub use audit::*;
pub use chat::*;
pub use credentials::*;
pub use executions::*;
pub use frames::{CloseCode, Delta, FromHub, ToHub, decode_to_hub};
pub use handoff::*;
pub use health::*;
pub use hooks::*;
pub use landing::*;
pub use merge::*;
pub use metrics::*;
pub use notify::*;
pub use overlaps::*;
pub use people::*;
pub use problem::{FieldError, Problem, ProblemKind, quotable};
pub use projects::*;
pub use questions::*;
pub use recipes::*;
pub use recordings::*;
pub use reviews::*;
pub use runners::*;
pub use schedules::*;
pub use schema::task_schema;
pub use search::*;
pub use sessions::*;
pub use tasks::*;
pub use veil::{NOT_SHARED, Veil, of_execution, only_first_line};
pub use verbs::{Access, Answer, BareView, Call, Change, Parts, Spec, Verb, View};
pub use versions::*;
pub use work::*;
pub use workers::*;
pub use workspaces::*;

/// The version that `hello` names; a hub refuses any other with `protocol`.
pub const PROTOCOL: u32 = 1;

/// The header of a request that an agent makes with its person's own token: what it writes counts as the agent's.
pub const BY_AGENT: &str = "shopfloor-by-agent";

/// The largest frame that a hub reads.
pub const MAX_FRAME: usize = 1024 * 1024;
