//! Every message that crosses a process, defined once.
//!
//! Control messages are JSON with tagged enums; numbers stay below 2^53 and times are RFC 3339 texts.
//! This crate knows no socket, no database and no rule.

mod approvals;
mod calls;
mod execution;
mod frames;
mod inputs;
pub mod link;
mod metrics;
mod problem;
mod schema;
mod tasks;
pub mod terminal;
mod veil;
mod views;
mod workers;

pub use approvals::*;
pub use calls::{Answer, BareView, Call, FromAnswer};
pub use execution::*;
pub use frames::{Change, CloseCode, Delta, FromHub, Place, PresenceEntry, ToHub, decode_to_hub};
pub use inputs::*;
pub use metrics::*;
pub use problem::{FieldError, Problem, ProblemKind, quotable};
pub use schema::task_schema;
pub use tasks::*;
pub use veil::{NOT_SHARED, Veil, of_execution, only_first_line};
pub use views::*;
pub use workers::*;

/// The version that `hello` names; a hub refuses any other with `protocol`.
pub const PROTOCOL: u32 = 1;

/// The header of a request that an agent makes with its person's own token: what it writes counts as the agent's.
pub const BY_AGENT: &str = "shopfloor-by-agent";

/// The largest frame that a hub reads.
pub const MAX_FRAME: usize = 1024 * 1024;
