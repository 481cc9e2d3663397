//! Live: distributes committed events to the clients that may see them.
//!
//! One log of recent events in memory; every client has a cursor into it. A slow client holds nothing back and costs
//! nothing: its cursor falls behind, and it reads from the database what the log no longer has. Events may be published
//! twice; a position counts once.

mod channels;
pub(crate) mod declared;
pub(crate) mod executions;
pub(crate) mod feed;
pub(crate) mod filter;
pub(crate) mod handoffs;
pub(crate) mod landings;
mod log;
pub(crate) mod presence;
pub(crate) mod socket;
pub(crate) mod terminals;
mod work;

pub(crate) use log::Live;
pub(crate) use work::Waiting;
