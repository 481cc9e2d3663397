//! Pseudo-terminal, virtual screen, recording and session host; the only crate that opens a terminal.
//!
//! - [`host::main`] is the session host: a process of its own that owns the terminal of one session.
//! - [`HostLink`] is the runner's side: [`HostLink::start`], [`HostLink::adopt`], then requests and [`Events`].
//! - [`Screen`] is the virtual screen, [`Snapshot`] what paints it elsewhere, exactly.
//! - [`recording::Recording`] reads what the host has recorded.
//! - [`Quiet`] makes output fit for a terminal that nobody may talk into answering.
//! - [`Masks`] keeps known secrets out of everything that is shown or stored.
//!
//! Positions in the stream of a session ("offsets") count the bytes of output after masking, from 0. Snapshots, data,
//! recording and `exit.json` all mean the same position by the same number.

pub mod host;
mod limit;
mod link;
mod masks;
mod priority;
mod pty;
pub mod recording;
mod ring;
mod screen;
mod spec;
mod wire;

pub use limit::Limit;
pub use link::{Adopted, Events, HostLink, LinkError};
pub use masks::Masks;
pub use screen::{MOST_COLS, MOST_ROWS, Quiet, Screen, Snapshot};
pub use spec::{Exit, Files, FinalScreen, Limits, Spec};
pub use wire::{Event, Observed, Request};
