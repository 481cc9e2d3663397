//! The approvals that a check needs, before anything of it is read or run.

use domain::ApprovalKind;
use protocol::Criterion;
use protocol::link::{DesiredCheck, Subject, Wish};
use worktree::Progress;

use super::Checker;
use crate::approvals::{code, command_line, to_make, to_set_up, wish};
use crate::workspaces::{Purpose, Unmade};

/// Waits for the owner's answers. Why the commands may not run; `None` if they may.
pub(super) async fn settle(checker: &Checker, check: &DesiredCheck) -> Result<Option<String>, Unmade> {
    let Checker { approvals, workspaces, .. } = checker;
    let (subject, wanted) = (Subject::Report(check.report), &check.workspace);
    if workspaces.row(wanted.workspace).await?.is_none() {
        approvals.allowed(subject, to_make(wanted), check.sandbox.as_ref()).await?;
    }
    let commands: Vec<Wish> = commands(check).collect();
    if commands.is_empty() {
        return Ok(None);
    }
    let mut wishes: Vec<Wish> = if check.commands_by.is_some() { commands } else { Vec::new() };
    let ready = workspaces.row(wanted.workspace).await?.is_some_and(|known| known.ready);
    if !ready {
        wishes.extend(to_set_up(wanted, None).into_iter().filter(|wish| wish.kind != ApprovalKind::Code));
    }
    if wanted.code_by.is_some() {
        // The code is identified by its commit, which is known only after fetching it.
        workspaces.try_make(Purpose::from(check), &Progress::none()).await?;
        let trees = &workspaces.worktrees;
        let facts = trees.examine(wanted.workspace, 0).await.map_err(|error| error.to_string())?;
        wishes.extend(code(wanted, format!("{} {}", check.report, facts.tree), facts.head.as_deref()));
    }
    let sandbox = workspaces.sandbox_for(wanted, check.sandbox.as_ref()).await?;
    Ok(approvals.allowed(subject, wishes, sandbox.as_ref()).await.err())
}

fn commands(check: &DesiredCheck) -> impl Iterator<Item = Wish> {
    check.criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Command { argv, .. } => Some(wish(ApprovalKind::Command, command_line(argv))),
        _ => None,
    })
}
