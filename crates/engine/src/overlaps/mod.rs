//! Overlaps: which changes of two branches meet, told from facts about the changes, without any code.
//!
//! Both branches describe their changes against the same commit, their merge base. What [`overlaps`] calls a conflict is
//! what `git merge-tree` calls one.

mod base;
mod change;
mod compare;
mod declared;
mod folders;
#[cfg(test)]
mod hostile;
mod lines;
mod pair;
mod patterns;
mod symbols;

pub use base::with_base;
pub use change::{Branch, Change, Content, Entry, EntryKind, Hunk, Symbol};
pub use compare::{Meeting, MeetingKind, overlaps};
pub use declared::{Claim, Files, Pair, Place, declared, declared_by};
pub use pair::{Prepared, Work, between, tells};
pub use patterns::{MAX_ALTERNATIVES, MAX_PATTERN, Pattern, PatternError};
