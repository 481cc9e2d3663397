//! The delay of a tick: the same for the same tick, and shorter than the distance to the next one.

use domain::{ScheduleId, Timestamp};

/// When the tick that is planned at `planned` is due; `next`: the planned time after it.
pub fn due_at(schedule: ScheduleId, jitter_seconds: u32, planned: Timestamp, next: Option<Timestamp>) -> Timestamp {
    let distance = next.map_or(i64::MAX, |next| next.as_millis().saturating_sub(planned.as_millis()));
    let span = (i64::from(jitter_seconds) * 1000).min(distance).max(1);
    let hash = hash(&format!("{schedule}/{}", planned.as_millis()));
    // The remainder is below `span`, which is an i64.
    planned.plus_millis(i64::try_from(hash % span.unsigned_abs()).unwrap_or(0))
}

/// FNV-1a, mixed; stable across machines and versions, because hubs of two versions share a database.
fn hash(text: &str) -> u64 {
    let mixed = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}
