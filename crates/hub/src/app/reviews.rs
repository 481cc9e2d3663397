//! Verbs about reviews of the changes of tasks and workspaces.

use domain::Action;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{ChangesFrom, ChangesOf, Say};

use super::execution::unexpected;
use super::{handle, stored};

stored! { ReviewComment ReviewReply ReviewResolve ReviewApprove WorkspaceComment }

handle! {
    TaskDiff(verb, asked) {
        let ChangesOf { runner, from } = asked.hub.store.changes_of(asked.caller, verb.task).await?;
        let ask = match from {
            ChangesFrom::Workspace { workspace, tree } => RunnerAsk::Diff { workspace, tree },
            ChangesFrom::Kept { report, location, base } => RunnerAsk::DiffKept { location, report, base },
        };
        match asked.hub.links.ask(runner, ask).await? {
            RunnerAnswer::Diff(diff) => Ok(diff),
            other => Err(unexpected(&other)),
        }
    }

    ReviewList(verb, asked) { Ok(asked.hub.store.review(asked.caller, verb.task).await?) }

    WorkspaceReview(verb, asked) { Ok(asked.hub.store.workspace_review(asked.caller, verb.workspace).await?) }

    WorkspaceSendBack(verb, asked) {
        let hub = asked.hub;
        // Before the comments count as sent: its runner must be there to take them.
        let found = hub.store.workspace(asked.caller, verb.workspace, Action::Drive).await?;
        hub.links.reachable(found.runner)?;
        let sent = asked.commit(verb).await?;
        let Say { runner, session, text } = sent.say;
        hub.links.ask(runner, RunnerAsk::Send { session, text, submit: true }).await?;
        Ok(sent.review)
    }

    ReviewSendBack(verb, asked) {
        let hub = asked.hub;
        let sent = asked.commit(verb).await?;
        if let Some(Say { runner, session, text }) = sent.say {
            hub.links.ask(runner, RunnerAsk::Send { session, text, submit: true }).await?;
        }
        Ok(sent.task)
    }
}
