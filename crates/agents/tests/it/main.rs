//! The crate from outside: files of adapters, launches, screens, and the real CLIs.

mod adapters;
mod launches;
