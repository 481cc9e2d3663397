//! Any bytes as a client's frame: no panic, a reason for every refusal, and what is read survives its text.

#![no_main]

#[path = "../../crates/protocol/tests/support/check.rs"]
mod check;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
