//! Runners, and what their owners allow.

use super::{handle, stored};

stored! { RunnerCreate RunnerUpdate RunnerRemove ApprovalAnswer GrantRevoke }

handle! {
    RunnerList(_, asked) {
        let mut runners = asked.hub.store.runners(asked.caller).await?;
        let heard = asked.hub.links.last_heard();
        for runner in &mut runners {
            asked.hub.live.complete_runner(runner);
            // The links know more than the database, which is updated once a minute.
            let here = heard.iter().find(|heard| heard.runner == runner.id);
            let here = here.map(|heard| asked.hub.store.now().plus_millis(-i64::from(heard.ago_ms)));
            runner.last_seen_at = runner.last_seen_at.max(here);
        }
        Ok(runners)
    }

    ApprovalList(verb, asked) { Ok(asked.hub.store.approvals(asked.caller, verb.filter).await?) }

    ApprovalShow(verb, asked) { Ok(asked.hub.store.approval(asked.caller, verb.approval).await?) }

    GrantList(_, asked) { Ok(asked.hub.store.grants(asked.caller).await?) }
}
