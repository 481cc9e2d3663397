//! The time, as the journal and the facts write it down.

use domain::Timestamp;

/// Now.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
