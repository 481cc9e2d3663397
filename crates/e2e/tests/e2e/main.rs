//! The real hub, the real runner and real agents, together.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod agents;
mod builds_on;

mod counting;
mod crowd;
mod fixture;
mod forward;
mod full_disk;
mod full_up;
mod lazy;
mod outages;
mod silent;
mod take_over;
