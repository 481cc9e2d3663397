//! Runners as processes against a small hub, with real session hosts, killed and cut off at any point.

mod hub;
mod sessions;
mod support;
