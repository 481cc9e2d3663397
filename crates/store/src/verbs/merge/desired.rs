//! The merge runs of a runner, as it gets them, and who wrote what they would run.

use domain::{Action, MergePurpose, MergeRunId, RunnerId, UserId};
use protocol::link::{DesiredMerge, MergeCandidate, MergeOrder};
use protocol::{Repository, Sandbox, WrittenBy};

use super::rows::{self, RunRow};
use super::settings;
use crate::sql::{Connection, text};
use crate::verbs::approvals::{Authors, check_sandbox, unless_own};
use crate::verbs::projects;
use crate::verbs::workspaces::json_or_none;
use crate::{Caller, StoreError};

/// The open runs of a runner.
pub(crate) async fn desired(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<DesiredMerge>, StoreError> {
    let mut merges = Vec::new();
    for run in rows::open_on(c, runner).await? {
        let project = projects::find(c, &Caller::hub("merge"), run.key.project, Action::See).await?;
        let Some(repository) = project.repositories.first().cloned() else { continue };
        merges.push(merge(c, run, repository).await?);
    }
    Ok(merges)
}

async fn merge(c: &mut Connection<'_>, run: RunRow, repository: Repository) -> Result<DesiredMerge, StoreError> {
    let rules = settings::rules(c, run.key.project).await?;
    let (authors, sandbox) = authors(c, &run).await?;
    let order = match (run.purpose, run.tested, run.base.clone(), run.top.clone()) {
        (MergePurpose::Land, Some(tested), Some(base), Some(commit)) => MergeOrder::Land { tested, base, commit },
        _ => MergeOrder::Test { base: run.base, candidates: candidates(c, &run.stack).await?, checks: run.checks },
    };
    Ok(DesiredMerge {
        run: run.id,
        project: run.key.project,
        repository,
        target: run.key.target,
        method: rules.settings.method,
        order,
        repository_by: authors.repository,
        commands_by: authors.commands,
        code_by: authors.code,
        sandbox,
    })
}

async fn candidates(c: &mut Connection<'_>, stack: &[rows::StackMember]) -> Result<Vec<MergeCandidate>, StoreError> {
    let mut found = Vec::with_capacity(stack.len());
    for member in stack {
        if let Some(row) = rows::find_candidate(c, member.candidate).await? {
            let head = member.head.clone();
            found.push(MergeCandidate { candidate: row.id, branch: row.branch, head, title: row.title });
        }
    }
    Ok(found)
}

/// Who wrote what a run would run, and the sandbox that it needs.
async fn authors(c: &mut Connection<'_>, run: &RunRow) -> Result<(Authors, Option<Sandbox>), StoreError> {
    let sql = "SELECT n.owner, n.policy, n.sandbox_others, p.sandbox_others AS project_sandbox, \
               CAST(NULL AS TEXT) AS sandbox, p.owner AS project_owner, po.name AS project_owner_name \
               FROM runners n JOIN projects p ON p.id = $2 JOIN users po ON po.id = p.owner WHERE n.id = $1";
    let row = c.first(sql, vec![text(run.runner), text(run.key.project)]).await?;
    let row = row.ok_or(StoreError::NotFound("runner"))?;
    let owner: UserId = row.parsed("owner")?;
    let project =
        WrittenBy { user: crate::verbs::users::reference(&row, "project_owner")?, agent: None, by_agent: false };
    let commands = settings::rules(c, run.key.project).await?.author;
    let mut code = None;
    for member in &run.stack {
        let adder = rows::find_candidate(c, member.candidate).await?.map(|row| row.added_by);
        let adder = adder.map(|user| WrittenBy { user, agent: None, by_agent: false });
        code = code.or(unless_own(adder, owner));
    }
    let authors = Authors {
        asked: None,
        commands: unless_own(commands, owner),
        code,
        repository: unless_own(Some(project), owner),
    };
    let sandbox = Sandbox::both(check_sandbox(&row, &authors)?.as_ref(), of_sessions(c, run).await?.as_ref());
    Ok((authors, sandbox))
}

/// The tightest sandbox of the sessions that wrote the branches: what they left behind runs in it, too.
async fn of_sessions(c: &mut Connection<'_>, run: &RunRow) -> Result<Option<Sandbox>, StoreError> {
    let sql = "SELECT s.sandbox FROM sessions s JOIN merge_candidates k ON k.task = s.task WHERE k.id = $1 AND \
               s.sandbox IS NOT NULL UNION SELECT s.sandbox FROM sessions s JOIN landings l ON \
               l.workspace = s.workspace WHERE l.candidate = $1 AND s.sandbox IS NOT NULL";
    let mut tightest: Option<Sandbox> = None;
    for member in &run.stack {
        for row in c.all(sql, vec![text(member.candidate)]).await? {
            tightest = Sandbox::both(tightest.as_ref(), json_or_none(&row, "sandbox")?.as_ref());
        }
    }
    Ok(tightest)
}

/// What an approval about a run of this runner is about; `None` if the run is not this runner's, or has ended.
pub(crate) async fn waits_for_approval(
    c: &mut Connection<'_>,
    runner: RunnerId,
    run: MergeRunId,
) -> Result<Option<(domain::ProjectId, Authors, String)>, StoreError> {
    let found = rows::find_run(c, run).await?;
    let found = found.filter(|row| row.runner == runner && row.state == domain::MergeRunState::Open);
    let Some(row) = found else { return Ok(None) };
    let (authors, _) = authors(c, &row).await?;
    Ok(Some((row.key.project, authors, format!("the merge queue of {}", row.key.target))))
}
