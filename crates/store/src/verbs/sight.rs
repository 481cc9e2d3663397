//! What a caller may see of executions, by owner and project. Every read uses these rules.

use std::collections::{HashMap, HashSet};

use domain::text::plain;
use domain::{Action, Actor, ProjectFacts, ProjectId, ReportId, Resource, TaskId, UserId, WorkerId};
use protocol::{Criterion, CriterionResult, NOT_SHARED, Report, Task, Veil};

use super::projects;
use super::work::tasks::brief;
use super::work::tasks::row::TaskRow;
use super::workspaces::sees;
use crate::sql::{Connection, args, text};
use crate::tx::Tx;
use crate::{Caller, StoreError};

/// A caller's view of executions.
pub(crate) struct Sight<'a> {
    caller: &'a Caller,
    facts: HashMap<ProjectId, ProjectFacts>,
    /// The caller's own workers, whose execution the caller sees in every visible project.
    mine: HashSet<WorkerId>,
}

impl<'a> Sight<'a> {
    /// For one project with known facts.
    pub(crate) async fn on(
        c: &mut Connection<'_>,
        caller: &'a Caller,
        facts: ProjectFacts,
    ) -> Result<Self, StoreError> {
        Self::among(c, caller, [(facts.id, facts)].into()).await
    }

    /// For every project.
    pub(crate) async fn anywhere(c: &mut Connection<'_>, caller: &'a Caller) -> Result<Self, StoreError> {
        let facts = projects::all_facts(c).await?;
        Self::among(c, caller, facts).await
    }

    async fn among(
        c: &mut Connection<'_>,
        caller: &'a Caller,
        facts: HashMap<ProjectId, ProjectFacts>,
    ) -> Result<Self, StoreError> {
        let mut mine = HashSet::new();
        if let Some(me) = caller.actor().and_then(Actor::acts_for) {
            for row in c.all("SELECT id FROM workers WHERE owner = $1", vec![text(me)]).await? {
                mine.insert(row.parsed("id")?);
            }
        }
        Ok(Self { caller, facts, mine })
    }

    /// Whether the caller may see all execution in a project.
    pub(crate) fn whole(&self, project: ProjectId) -> bool {
        let look = |facts| self.caller.may(Action::SeeExecution, Resource::Project(facts), "project").is_ok();
        self.facts.get(&project).is_some_and(look)
    }

    /// Whether the caller may see a person's execution in a project; without an owner, only those who may see
    /// everything.
    pub(crate) fn of(&self, project: ProjectId, owner: Option<UserId>) -> bool {
        match owner {
            Some(owner) => sees(self.caller, self.facts.get(&project), owner),
            None => self.whole(project),
        }
    }

    /// Whether the caller may see a worker's execution.
    pub(crate) fn by(&self, project: ProjectId, worker: Option<WorkerId>) -> bool {
        self.whole(project) || worker.is_some_and(|worker| self.mine.contains(&worker))
    }

    /// Removes from a task what the caller may not see: parts of its worker and of its author.
    pub(crate) fn task(&self, task: &mut Task) {
        if !self.by(task.project, task.assigned_to) {
            task.veil();
        }
        if !self.of(task.project, Some(task.created_by.id)) {
            task.veil_author();
        }
    }

    /// Removes from a report what the caller may not see. `checked` is set if a runner checked it, with that runner's
    /// owner.
    pub(crate) fn report(
        &self,
        project: ProjectId,
        acceptance: &[Criterion],
        report: &mut Report,
        checked: Option<Option<UserId>>,
    ) {
        if !self.by(project, Some(report.worker)) {
            report.veil_summary();
        }
        if let Some(owner) = checked
            && !self.of(project, owner)
        {
            let refused = report.reason.as_ref().map(|_| not_met(acceptance, &report.results));
            let refused = refused.map(|reason| reason.unwrap_or_else(|| NOT_SHARED.to_owned()));
            report.veil_results(|result| open_words(acceptance, result), refused);
        }
    }
}

/// A task as the caller of a verb may see it.
pub(crate) async fn seen(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Task, StoreError> {
    let mut task = row.view();
    let lines = task.reason.as_ref().is_some_and(|reason| reason.contains('\n'));
    if task.session.is_none() && task.author_session.is_none() && !lines {
        return Ok(task);
    }
    let caller = tx.caller;
    let facts = projects::facts_of(tx.read(), row.project).await?.ok_or(StoreError::NotFound("project"))?;
    Sight::on(tx.read(), caller, facts).await?.task(&mut task);
    Ok(task)
}

/// A person as a caller, to find out what they may see.
pub(crate) fn as_person(id: UserId) -> Caller {
    Caller::user(id, false, "", "")
}

/// Why a report was refused: the unmet criteria, without any output of the checks or content of files.
pub(crate) fn not_met(acceptance: &[Criterion], results: &[CriterionResult]) -> Option<String> {
    let failed = results.iter().filter(|result| result.passed == Some(false));
    let words: Vec<String> = failed.map(|result| open_words(acceptance, result)).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The result of a criterion without the output of commands and the content of files. For the other criteria, runners
/// only report which paths exist, and what git says of them.
fn open_words(acceptance: &[Criterion], result: &CriterionResult) -> String {
    let criterion = acceptance.get(result.criterion as usize);
    let words = match criterion {
        Some(criterion @ (Criterion::Command { .. } | Criterion::FileMatches { .. })) => brief::words(criterion),
        Some(_) => return plain(result.reason.lines().next().unwrap_or_default(), 300),
        None => return NOT_SHARED.to_owned(),
    };
    match result.passed {
        Some(true) => format!("met: {words}"),
        Some(false) => format!("not met: {words}"),
        None => format!("for a person to judge: {words}"),
    }
}

/// The reports of a task that runners checked, each with the runner's owner unless the runner was removed.
pub(crate) async fn checkers(
    c: &mut Connection<'_>,
    task: TaskId,
) -> Result<HashMap<ReportId, Option<UserId>>, StoreError> {
    let sql = "SELECT r.id, n.owner FROM reports r LEFT JOIN runners n ON n.id = r.runner \
               WHERE r.task = $1 AND r.runner IS NOT NULL";
    let mut found = HashMap::new();
    for row in c.all(sql, args![task.to_string()]).await? {
        found.insert(row.parsed("id")?, super::work::tasks::row::id_or_none(&row, "owner")?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_criteria_and_nothing_that_was_printed() {
        let acceptance: Vec<Criterion> = serde_json::from_value(serde_json::json!([
            { "kind": "committed" },
            { "kind": "command", "argv": ["cat", "token"] },
            { "kind": "file_exists", "path": "out" },
        ]))
        .unwrap();
        let result = |criterion, passed| CriterionResult { criterion, passed, reason: "sf_secret".into() };
        let mut results =
            vec![result(0, Some(true)), result(1, Some(false)), result(2, Some(false)), result(9, Some(false))];
        results[2].reason = "`out` is not there\nsf_secret".into();
        let told = not_met(&acceptance, &results).unwrap();
        assert!(!told.contains("sf_secret"), "{told}");
        assert!(told.starts_with("not met: `cat token` exits with 0 within 300 s; `out` is not there; "), "{told}");
        assert_eq!(not_met(&acceptance, &results[..1]), None);
    }
}
