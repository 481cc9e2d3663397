//! The shopfloor binary.
fn main() {}
