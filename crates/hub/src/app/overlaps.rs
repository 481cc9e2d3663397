//! Overlaps.

use super::handle;

handle! {
    OverlapList(verb, asked) { Ok(asked.hub.store.overlaps(asked.caller, verb.filter).await?) }

    OverlapShow(verb, asked) { Ok(asked.hub.store.overlap(asked.caller, verb.overlap).await?) }
}
