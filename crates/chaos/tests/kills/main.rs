//! The real hub is killed at random moments under load: nothing acknowledged is lost, nothing acts twice.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
