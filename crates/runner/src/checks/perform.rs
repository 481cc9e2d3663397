//! One check: a workspace, git's facts about it, and each criterion.

use std::sync::Arc;

use acceptance::{Judge, Site, judge};
use protocol::link::{Changes, DesiredCheck, MAX_FORKS, MAX_PATCH};
use protocol::{Criterion, CriterionResult};
use worktree::{Examined, Oid, Progress, WorkFacts};

use super::{Checker, changes, commands, commit};
use crate::machine::Machine;
use crate::workspaces::{Purpose, Unmade, Workspaces};

/// The result of each criterion and the changes, or why they are unknown.
pub(super) async fn perform(
    checker: &Checker,
    check: &DesiredCheck,
    refused: Option<String>,
) -> Result<(Vec<CriterionResult>, Changes), Unmade> {
    let Checker { machine, workspaces, .. } = checker;
    let workspace = check.workspace.workspace;
    let place = workspaces.try_make(Purpose::from(check), &Progress::none()).await?;
    let has = |is: fn(&Criterion) -> bool| check.criteria.iter().any(is);
    if has(|criterion| matches!(criterion, Criterion::NoConflictWithBase {})) {
        refresh(machine, workspaces, check).await;
    }
    let trees = &workspaces.worktrees;
    let mut facts = trees.examine(workspace, MAX_PATCH).await.map_err(|error| error.to_string())?;
    if commit::for_agent(checker, check, &facts).await {
        facts = trees.examine(workspace, MAX_PATCH).await.map_err(|error| error.to_string())?;
    }
    let facts = Arc::new(facts);
    let work = described(workspaces, check, &facts).await?;
    let told = Changes { kept: keep(workspaces, check, &facts).await, ..changes::told(&facts, &work) };
    let runs = has(|criterion| matches!(criterion, Criterion::Command { .. }));
    let commands = commands::commands(checker, check, &place, runs, refused).await?;
    let repository = check.workspace.repository.is_some();
    let exe = machine.options.exe.to_string_lossy().into_owned();
    let judge = Judge::new(vec![exe, judge::COMMAND.to_owned()]);
    let site = Site { tree: &place.path, repository, facts, judge, commands };
    Ok((acceptance::check(&check.criteria, &check.files, &site).await, told))
}

/// The work as the hub compares it with that of other reports.
async fn described(workspaces: &Workspaces, check: &DesiredCheck, found: &Examined) -> Result<Vec<WorkFacts>, Unmade> {
    if check.workspace.repository.is_none() {
        return Ok(vec![]);
    }
    let forks: Vec<Oid> = check.forks.iter().take(MAX_FORKS).filter_map(|fork| fork.parse().ok()).collect();
    let work = workspaces.worktrees.describe(check.workspace.workspace, found, &forks).await;
    Ok(work.map_err(|error| error.to_string())?)
}

/// Keeps the work that is checked, for dependants and for landing; returns its commit.
async fn keep(workspaces: &Workspaces, check: &DesiredCheck, facts: &Examined) -> Option<String> {
    if check.workspace.repository.is_none() || (facts.head.is_none() && facts.files.is_empty()) {
        return None;
    }
    let (workspace, message) = (check.workspace.workspace, commit::message(check.summary.as_deref()));
    match workspaces.worktrees.keep_all(workspace, &check.report.to_string(), &message).await {
        Ok(kept) => Some(kept.commit.to_string()),
        Err(error) => {
            tracing::warn!(report = %check.report, %error, "could not keep the work of a report");
            None
        }
    }
}

/// Fetches the newest base; if that fails, the last fetched one counts.
async fn refresh(machine: &Machine, workspaces: &Workspaces, check: &DesiredCheck) {
    let Some(repository) = &check.workspace.repository else { return };
    let Ok(location) = machine.location(&repository.location).parse() else { return };
    if let Err(error) = workspaces.worktrees.refresh(&location, &Progress::none()).await {
        tracing::warn!(report = %check.report, %error, "could not fetch the newest base");
    }
}
