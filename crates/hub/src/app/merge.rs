//! Merge queues.

use super::{handle, stored};

stored! { MergeAdd MergeRemove MergeConfirm MergePause MergeFreeze MergeThaw MergeConfigure }

handle! {
    MergeList(verb, asked) { Ok(asked.hub.store.merge_queues(asked.caller, verb.project).await?) }

    MergeHistory(verb, asked) { Ok(asked.hub.store.merge_history(asked.caller, verb.project, verb.page).await?) }

    MergeSimulate(verb, asked) { Ok(asked.hub.store.merge_forecast(asked.caller, verb.project, verb.what).await?) }

    MergeSettings(verb, asked) { Ok(asked.hub.store.merge_settings(asked.caller, verb.project).await?) }

    MergeShow(verb, asked) { Ok(asked.hub.store.merge_candidate(asked.caller, verb.candidate).await?) }
}
