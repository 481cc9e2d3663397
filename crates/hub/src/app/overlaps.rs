//! Overlaps.

use super::{handle, stored};

stored! { OverlapReserve OverlapRelease }

handle! {
    OverlapList(verb, asked) { Ok(asked.hub.store.overlaps(asked.caller, verb.filter).await?) }

    OverlapReservations(verb, asked) { Ok(asked.hub.store.reservations(asked.caller, verb.filter).await?) }

    OverlapShow(verb, asked) { Ok(asked.hub.store.overlap(asked.caller, verb.overlap).await?) }
}
