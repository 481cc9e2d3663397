//! The crate with the real git, on real folders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

mod basics;
mod bundles;
mod cut;
mod exact;
mod examined;
mod for_agent;
mod hostile;
mod kept;
mod landing;
mod merging;
mod names;
mod overlaps;
mod publishing;
mod ready;
mod remotes;
mod stacking;
mod traps;
mod watching;
mod working;
