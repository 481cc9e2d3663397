//! The crate from outside: files of adapters, launches, screens, and the real CLIs.

mod adapters;
mod claude;
mod codex;
mod events;
mod found;
mod gemini;
mod launches;
mod lines;
mod opencode;
mod place;
mod sandbox;
mod screens;
mod tty;
