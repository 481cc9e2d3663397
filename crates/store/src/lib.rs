//! Memory: verbs over SQLite and PostgreSQL, one transaction each.
//!
//! A verb checks access and writes rows, the event with its sequence number and the audit entry in one transaction; it
//! returns what was committed. The store knows no HTTP, no socket and no page.

mod batch;
mod bulk;
mod caller;
mod command;
mod connection;
mod doorbell;
mod error;
mod event;
mod job;
mod known;
mod memory;
mod open;
mod outage;
mod reader;
mod seal;
mod search;
mod secret;
mod sql;
pub mod transfer;
mod tx;
mod verbs;
mod writer;

pub use caller::{Caller, Who};
pub use command::{Command, Committed, Placed};
pub use doorbell::Doorbell;
pub use error::{Spent, StoreError};
pub use event::{Event, EventBody};
pub use open::{OpenError, Store};
pub use seal::{MasterKey, SealError};
pub use secret::Secret;
pub use tx::Tx;
pub use verbs::*;
