//! The nouns of Shopfloor: ids, values, states, limits and access rules.
//!
//! Pure: no clock, no I/O, no database, no wire format beyond ids and plain enums.

pub mod access;
pub mod address;
pub mod artifacts;
pub mod branch;
pub mod handoff;
pub mod ids;
pub mod keyboard;
pub mod labels;
pub mod letters;
pub mod limits;
pub mod merge;
pub mod names;
pub mod near;
pub mod notify;
pub mod overlaps;
pub mod placement;
pub mod questions;
pub mod recipes;
pub mod short;
pub mod text;
pub mod time;
pub mod trust;
pub mod values;
pub mod work;

pub use access::{Action, Actor, ProjectFacts, Resource, Verdict, can, may_land};
pub use artifacts::ArtifactKind;
pub use handoff::{HandoffOutcome, HandoffStatus, HandoffStep, HandoffWriter};
pub use ids::*;
pub use keyboard::{Keyboard, KeyboardDeed, KeyboardRefusal, may_type};
pub use merge::*;
pub use notify::*;
pub use overlaps::*;
pub use questions::QuestionStatus;
pub use recipes::*;
pub use short::Short;
pub use time::Timestamp;
pub use trust::{Answered, ApprovalKind, Author, RunnerPolicy};
pub use values::*;
pub use work::*;
