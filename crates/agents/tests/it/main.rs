//! The crate from outside: files of adapters, launches, screens, and the real CLIs.

mod adapters;
mod codex;
mod events;
mod found;
mod launches;
mod lines;
mod opencode;
mod place;
mod sandbox;
mod screens;
mod tty;
