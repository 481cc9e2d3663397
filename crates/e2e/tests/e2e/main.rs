//! The real hub, the real runner and real agents, together.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod agents;
mod builds_on;
mod counting;
mod crowd;
mod fixture;
mod follow_up;
mod forward;
mod full_disk;
mod full_up;
mod handoff;
mod handoff_agents;
mod lazy;
mod outages;
mod overlaps;
mod recipes;
mod remote_repository;
mod silent;
mod take_over;
mod taken_over;
