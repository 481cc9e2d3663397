//! The approvals that a check needs, before anything of it is read or run.

use std::sync::Arc;

use domain::ApprovalKind;
use protocol::Criterion;
use protocol::link::{DesiredCheck, Subject, Wish};
use worktree::Progress;

use crate::approvals::{allowed, code, command_line, to_make, to_set_up, wish};
use crate::floor::Floor;
use crate::workspaces::{Purpose, Unmade};

/// Waits for the owner's answers. Why the commands may not run; `None` if they may.
pub(super) async fn settle(floor: &Arc<Floor>, check: &DesiredCheck) -> Result<Option<String>, Unmade> {
    let (subject, wanted) = (Subject::Report(check.report), &check.workspace);
    if floor.workspaces.row(floor, wanted.workspace).await?.is_none() {
        allowed(floor, subject, to_make(wanted), check.sandbox.as_ref()).await?;
    }
    let commands: Vec<Wish> = commands(check).collect();
    if commands.is_empty() {
        return Ok(None);
    }
    let mut wishes: Vec<Wish> = if check.commands_by.is_some() { commands } else { Vec::new() };
    let ready = floor.workspaces.row(floor, wanted.workspace).await?.is_some_and(|known| known.ready);
    if !ready {
        wishes.extend(to_set_up(wanted, None).into_iter().filter(|wish| wish.kind != ApprovalKind::Code));
    }
    if wanted.code_by.is_some() {
        // The code is identified by its commit, which is known only after fetching it.
        floor.workspaces.try_make(floor, Purpose::from(check), &Progress::none()).await?;
        let trees = &floor.workspaces.worktrees;
        let facts = trees.examine(wanted.workspace, 0).await.map_err(|error| error.to_string())?;
        wishes.extend(code(wanted, format!("{} {}", check.report, facts.tree), facts.head.as_deref()));
    }
    let sandbox = floor.workspaces.sandbox_for(floor, wanted, check.sandbox.as_ref()).await?;
    Ok(allowed(floor, subject, wishes, sandbox.as_ref()).await.err())
}

fn commands(check: &DesiredCheck) -> impl Iterator<Item = Wish> {
    check.criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Command { argv, .. } => Some(wish(ApprovalKind::Command, command_line(argv))),
        _ => None,
    })
}
