//! Kills the real hub at random moments; see `tests/kills`. There is nothing to use here.
