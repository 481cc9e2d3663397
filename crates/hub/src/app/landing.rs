//! Landing: work on its way to the repository.

use super::{handle, stored};

stored! { LandingLand LandingConfigure }

handle! {
    LandingList(verb, asked) { Ok(asked.hub.store.landings(asked.caller, verb.filter).await?) }

    LandingSettings(verb, asked) { Ok(asked.hub.store.landing_settings(asked.caller, verb.project).await?) }
}
