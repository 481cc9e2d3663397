//! The nouns of Shopfloor: ids, values, states, limits and access rules.
//!
//! Pure: no clock, no I/O, no database, no wire format beyond ids and plain enums.

pub mod access;
pub mod address;
pub mod branch;
pub mod ids;
pub mod letters;
pub mod limits;
pub mod merge;
pub mod names;
pub mod placement;
pub mod short;
pub mod text;
pub mod time;
pub mod trust;
pub mod values;
pub mod work;

pub use access::{Action, Actor, ProjectFacts, Resource, Verdict, can, may_land};
pub use ids::*;
pub use merge::*;
pub use short::Short;
pub use time::Timestamp;
pub use trust::{Answered, ApprovalKind, Author, RunnerPolicy};
pub use values::*;
pub use work::*;
