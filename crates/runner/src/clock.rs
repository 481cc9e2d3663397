//! The time for the journal and the facts.

use domain::Timestamp;

/// Now.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
