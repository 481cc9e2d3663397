//! The witness: adds the last session's screen and changes to an escalation.
//!
//! An escalation exists as soon as it is committed. The hub that its runner is connected to then fetches the last lines
//! and the changes and adds them; while the runner is away, the escalation says so.

use std::sync::Arc;

use domain::RunnerId;
use futures_util::future::join_all;
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{DiffKind, FileDiff, Runner, WorkspaceDiff};
use store::{Caller, ShowEvidence, StoreError, Unseen};

use crate::AppError;
use crate::hub::Hub;

/// How many of the last lines to show.
const LINES: u32 = 40;

/// Runs until the hub stops: at the start, on each escalation, and when a runner connects or disconnects.
pub(super) async fn run(hub: Arc<Hub>) {
    loop {
        if let Err(error) = look(&hub).await {
            tracing::warn!(%error, "could not add screens and changes to escalations");
        }
        hub.live.work.asked().await;
    }
}

async fn look(hub: &Hub) -> Result<(), StoreError> {
    let unseen = hub.store.unseen_escalations().await?;
    if unseen.is_empty() {
        return Ok(());
    }
    let runners = hub.store.runners(&Caller::hub("witness")).await?;
    let of = |id: RunnerId| runners.iter().find(|runner| runner.id == id);
    let shown = join_all(unseen.iter().map(|one| witness(hub, one, of(one.runner)))).await;
    for evidence in shown.into_iter().flatten() {
        hub.store.write(&Caller::hub("witness"), None, evidence).await?;
    }
    Ok(())
}

/// What to add to an escalation; `None`: another hub has the runner and adds it.
async fn witness(hub: &Hub, one: &Unseen, runner: Option<&Runner>) -> Option<ShowEvidence> {
    let nothing = |why: String| ShowEvidence {
        escalation: one.escalation,
        screen: None,
        diff: None,
        missing: Some(format!("the last screen and the changes are not available: {why}")),
    };
    if hub.links.reachable(one.runner).is_err() {
        return match runner {
            Some(runner) if hub.live.is_there(runner) => None,
            Some(runner) => Some(nothing(format!("the runner `{}` is away", runner.name))),
            None => Some(nothing("their runner was removed".to_owned())),
        };
    }
    let ask = RunnerAsk::Log { session: one.session, lines: LINES, setup: false };
    let screen = match hub.links.ask(one.runner, ask).await {
        Ok(RunnerAnswer::Log(log)) => Ok(log.text.trim_end().to_owned()),
        Ok(_) => Err("unexpected answer from the runner: update it".to_owned()),
        Err(error) => Err(words(&error)),
    };
    let diff = match hub.links.ask(one.runner, RunnerAsk::Diff { workspace: one.workspace, tree: None }).await {
        Ok(RunnerAnswer::Diff(diff)) => Ok(patch(&diff)),
        Ok(_) => Err("unexpected answer from the runner: update it".to_owned()),
        Err(error) => Err(words(&error)),
    };
    let missing = match (&screen, &diff) {
        (Err(why), Err(_)) => return Some(nothing(why.clone())),
        (Err(why), Ok(_)) => Some(format!("the last screen is not available: {why}")),
        (Ok(_), Err(why)) => Some(format!("the changes are not available: {why}")),
        (Ok(_), Ok(_)) => None,
    };
    Some(ShowEvidence { escalation: one.escalation, screen: screen.ok(), diff: diff.ok(), missing })
}

fn words(error: &AppError) -> String {
    error.to_string()
}

/// A workspace's changes as a git patch.
fn patch(diff: &WorkspaceDiff) -> String {
    let mut text: String = diff.files.iter().map(patch_of).collect();
    if diff.truncated {
        text.push_str("(truncated)\n");
    }
    text
}

fn patch_of(file: &FileDiff) -> String {
    let mut text = format!("diff --git a/{} b/{}\n", file.old_path.as_ref().unwrap_or(&file.path), file.path);
    if file.binary {
        text.push_str("(binary)\n");
    }
    for hunk in &file.hunks {
        text.push_str(&format!("@@ -{} +{} @@\n", hunk.old_start, hunk.new_start));
        for line in &hunk.lines {
            let sign = match line.kind {
                DiffKind::Same => ' ',
                DiffKind::Added => '+',
                DiffKind::Removed => '-',
            };
            text.push(sign);
            text.push_str(&line.text);
            text.push('\n');
        }
    }
    text
}
