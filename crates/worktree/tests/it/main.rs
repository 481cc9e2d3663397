//! The crate with the real git, on real folders.

mod support;

mod basics;
