//! Runners, and what their owners allow.

use domain::text::Field;
use protocol::ProblemKind;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::StoreError;

use super::execution::unexpected;
use super::{handle, stored};
use crate::AppError;

/// A path on a runner's machine.
const PATH: Field = Field { name: "path", limit: 4096, lines: false, optional: true };

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

    RunnerLook(verb, asked) {
        let runners = asked.hub.store.runners(asked.caller).await?;
        let found = runners.into_iter().find(|runner| runner.id == verb.runner).ok_or(StoreError::NotFound("runner"))?;
        if asked.caller.by_agent || found.owner.id != asked.caller.person()?.id {
            return Err(AppError::new(ProblemKind::Forbidden, "only the runner's owner may look at its folders"));
        }
        PATH.check(&verb.at.path).map_err(StoreError::from)?;
        match asked.hub.links.ask(found.id, RunnerAsk::Look { path: verb.at.path }).await? {
            RunnerAnswer::Seen(seen) => Ok(seen),
            other => Err(unexpected(&other)),
        }
    }

    ApprovalList(verb, asked) { Ok(asked.hub.store.approvals(asked.caller, verb.filter).await?) }

    ApprovalShow(verb, asked) { Ok(asked.hub.store.approval(asked.caller, verb.approval).await?) }

    GrantList(_, asked) { Ok(asked.hub.store.grants(asked.caller).await?) }
}
