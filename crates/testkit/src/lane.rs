//! Which of the two lanes the tests run in: `make test` has samples where `make test-long` has everything.

/// Whether this is `make test-long`.
pub fn long_lane() -> bool {
    std::env::var_os("SHOPFLOOR_LONG").is_some()
}
