//! Branches enter and leave a queue, and people look at it.

use domain::text::plain;
use domain::{
    Action, ActivityId, CandidateId, CandidateState, MergeAdders, MergePurpose, ProjectId, TaskId, Timestamp, UserId,
    branch,
};
use protocol::{Candidate, CandidateDetail, MergePage, MergeQueue, Project, Verb, WrittenBy, verbs};

use super::rows::{self, CandidateRow, Key};
use super::{MAX_WAITING, advance, perform, settings, view};
use crate::sql::{Connection, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Caller, Command, Store, StoreError};

/// The default and maximum number of listed branches.
const PAGE: (u32, u32) = (100, 500);
/// The size of all logs in one answer, in bytes: the newest are shown.
const MAX_LOGS: usize = 1024 * 1024;
/// The target branch of a repository that names none.
const MAIN: &str = "main";

/// A branch to add.
pub(crate) struct New {
    pub(crate) branch: String,
    pub(crate) title: String,
    pub(crate) target: String,
    pub(crate) priority: u8,
    pub(crate) after: Vec<CandidateId>,
    pub(crate) fix: bool,
    pub(crate) task: Option<TaskId>,
    pub(crate) activity: Option<ActivityId>,
    /// The commit that the branch is at, if that is known; the branch must not move before it lands.
    pub(crate) head: Option<String>,
    pub(crate) by: WrittenBy,
}

/// The target branch: as asked for, else the repository's base branch, else `main`. Refuses a project without a
/// repository.
pub(crate) fn target_of(project: &Project, asked: Option<&str>) -> Result<String, StoreError> {
    let Some(repository) = project.repositories.first() else {
        let message = "the project has no repository: name one (`shopfloor project update --repository`)";
        return Err(StoreError::Conflict(message.to_owned()));
    };
    let target = asked.filter(|name| !name.is_empty()).or(repository.base_branch.as_deref()).unwrap_or(MAIN);
    branch::check(target).map_err(|error| StoreError::invalid("target", error.to_string()))?;
    Ok(target.to_owned())
}

/// Adds a branch that may be added, and lets its queue move. One that is there already stays where it is; it becomes a
/// fix if this says so, and is pinned to the commit if one was accepted.
pub(crate) async fn enter(tx: &mut Tx<'_>, project: ProjectId, new: New) -> Result<Candidate, StoreError> {
    let key = Key { project, target: new.target.clone() };
    rows::make_queue(tx, &key).await?;
    if let Some(there) = there(tx, &key, &new).await? {
        let (task, activity) = (there.task.or(new.task), there.activity.or(new.activity));
        let sql = "UPDATE merge_candidates SET fix = $1, head = $2, task = $3, activity = $4 WHERE id = $5";
        let values = args![
            there.fix || new.fix,
            new.head.or(there.head),
            task.map(|id| id.to_string()),
            activity.map(|id| id.to_string()),
            there.id.to_string(),
        ];
        tx.run(sql, values).await?;
        advance::advance(tx, &key).await?;
        return shown(tx, there.id).await;
    }
    let id = CandidateId::generate();
    let sql = "INSERT INTO merge_candidates (id, project, target, branch, title, task, activity, priority, deps, fix, \
               state, head, paths, confirmed, runs, cost_ms, added_by, author_session, by_agent, added_at) VALUES \
               ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '[]', 0, 0, 0, $13, $14, $15, $16)";
    let values = args![
        id.to_string(),
        key.project.to_string(),
        &key.target,
        &new.branch,
        &new.title,
        new.task.map(|id| id.to_string()),
        new.activity.map(|id| id.to_string()),
        u32::from(new.priority),
        to_json(&new.after),
        new.fix,
        CandidateState::Waiting.word(),
        new.head,
        new.by.user.id.to_string(),
        new.by.agent.map(|id| id.to_string()),
        new.by.by_agent,
        tx.now,
    ];
    tx.run(sql, values).await?;
    advance::advance(tx, &key).await?;
    shown(tx, id).await
}

/// The candidate of a branch that waits already. One that is being pushed at another commit does not count.
async fn there(tx: &mut Tx<'_>, key: &Key, new: &New) -> Result<Option<CandidateRow>, StoreError> {
    let waiting = rows::waiting(tx.read(), key).await?;
    for row in waiting.into_iter().filter(|row| row.branch == new.branch) {
        let other = new.head.is_some() && new.head != row.head;
        if !other || !is_landing(tx, &row).await? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

async fn shown(tx: &mut Tx<'_>, id: CandidateId) -> Result<Candidate, StoreError> {
    let now = tx.now;
    view::one(tx.read(), id, now).await?.ok_or(StoreError::NotFound("candidate"))
}

impl Command for verbs::MergeAdd {
    type Output = Candidate;
    const VERB: &'static str = verbs::MergeAdd::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Candidate, StoreError> {
        let caller = tx.caller;
        let project = projects::find(tx.read(), caller, self.project, Action::Write).await?;
        let by = caller.writer()?;
        may_add(tx, project.id, project.owner.id).await?;
        let input = &self.input;
        if input.fix {
            tx.check(self.project, Action::Decide, "project").await?;
        }
        branch::check(&input.branch)
            .map_err(|error| StoreError::invalid("branch", format!("`{}`: {error}", input.branch.escape_debug())))?;
        let target = target_of(&project, input.target.as_deref())?;
        if target == input.branch {
            return Err(StoreError::invalid("branch", format!("`{target}` is the target branch itself")));
        }
        let priority = input.priority.unwrap_or(0);
        if priority > 9 {
            return Err(StoreError::invalid("priority", "`priority` is 0 to 9"));
        }
        let activity = match input.task {
            Some(task) => {
                let row = tx.task(task).await?.filter(|row| row.project == self.project);
                row.ok_or(StoreError::NotFound("task"))?.activity
            }
            None => None,
        };
        if input.after.len() > 50 {
            return Err(StoreError::invalid("after", "a branch builds on at most 50 others"));
        }
        for id in &input.after {
            let there = rows::find_candidate(tx.read(), *id).await?;
            there.filter(|row| row.key.project == self.project).ok_or(StoreError::NotFound("candidate"))?;
        }
        room(tx, self.project).await?;
        let title = input.title.as_deref().unwrap_or(&input.branch);
        let title = plain(title.lines().next().unwrap_or_default(), 200);
        let new = New {
            branch: input.branch.clone(),
            title: if title.is_empty() { input.branch.clone() } else { title },
            target,
            priority,
            after: input.after.clone(),
            fix: input.fix,
            task: input.task,
            activity,
            head: None,
            by,
        };
        let made = enter(tx, self.project, new).await?;
        let detail = format!("added `{}` to the merge queue of `{}`", made.branch, made.target);
        tx.audit(Self::VERB, made.id, AuditScope::Project(self.project), detail);
        Ok(made)
    }
}

/// Refuses callers whom the project's settings keep from adding branches, by whatever way.
pub(crate) async fn may_add(tx: &mut Tx<'_>, project: ProjectId, owner: UserId) -> Result<(), StoreError> {
    match settings::of(tx.read(), project).await?.adders {
        MergeAdders::Writers => Ok(()),
        // An agent may also come with its person's own token.
        MergeAdders::People if tx.caller.by_agent => {
            Err(StoreError::Forbidden("only people may add branches here: a person must do this"))
        }
        MergeAdders::People => tx.check(project, Action::Decide, "project").await.map(|_| ()),
        MergeAdders::Owner if tx.caller.person()?.id == owner => Ok(()),
        MergeAdders::Owner => Err(StoreError::Forbidden("only the owner of the project may add branches")),
    }
}

async fn room(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM merge_candidates WHERE project = $1 AND ended_at IS NULL";
    let full = || format!("{MAX_WAITING} branches wait already: remove some (`shopfloor merge remove`)");
    crate::verbs::room::room(tx, sql, vec![text(project)], MAX_WAITING, full).await
}

/// A branch that the caller may do this to.
async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: CandidateId,
    action: Action,
) -> Result<CandidateRow, StoreError> {
    let found = rows::find_candidate(c, id).await?.ok_or(StoreError::NotFound("candidate"))?;
    projects::check(c, caller, found.key.project, action, "candidate").await?;
    Ok(found)
}

impl Command for verbs::MergeRemove {
    type Output = Candidate;
    const VERB: &'static str = verbs::MergeRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Candidate, StoreError> {
        let caller = tx.caller;
        let row = find(tx.read(), caller, self.candidate, Action::Write).await?;
        if row.state == CandidateState::Removed {
            return shown(tx, self.candidate).await;
        }
        if row.ended_at.is_some() {
            return Err(StoreError::Conflict(format!("`{}` has left the queue: it {}", row.branch, past(row.state))));
        }
        if is_landing(tx, &row).await? {
            return Err(StoreError::Conflict(format!("`{}` is landing now", row.branch)));
        }
        let key = row.key.clone();
        perform::leave(tx, row, CandidateState::Removed, None, None).await?;
        advance::advance(tx, &key).await?;
        shown(tx, self.candidate).await
    }
}

/// Whether a runner pushes the branch to its target now.
async fn is_landing(tx: &mut Tx<'_>, row: &CandidateRow) -> Result<bool, StoreError> {
    let lands = |run: &rows::RunRow| {
        run.purpose == MergePurpose::Land && run.stack.iter().any(|member| member.candidate == row.id)
    };
    Ok(rows::open_runs(tx.read(), &row.key).await?.iter().any(lands))
}

/// Takes out a branch whose task moved on, unless it is being pushed.
pub(crate) async fn withdraw_candidate(tx: &mut Tx<'_>, id: CandidateId, why: &str) -> Result<(), StoreError> {
    let waiting = rows::find_candidate(tx.read(), id).await?.filter(|row| row.ended_at.is_none());
    let Some(row) = waiting else { return Ok(()) };
    if is_landing(tx, &row).await? {
        return Ok(());
    }
    let key = row.key.clone();
    perform::leave(tx, row, CandidateState::Removed, Some(why.to_owned()), None).await?;
    advance::advance(tx, &key).await
}

fn past(state: CandidateState) -> &'static str {
    match state {
        CandidateState::Landed => "has landed",
        CandidateState::Ejected => "was sent back",
        _ => "was removed",
    }
}

impl Command for verbs::MergeConfirm {
    type Output = Candidate;
    const VERB: &'static str = verbs::MergeConfirm::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Candidate, StoreError> {
        let caller = tx.caller;
        let row = find(tx.read(), caller, self.candidate, Action::Decide).await?;
        caller.person()?;
        if row.ended_at.is_some() {
            return Err(StoreError::Conflict(format!("`{}` has left the queue: it {}", row.branch, past(row.state))));
        }
        let sql = "UPDATE merge_candidates SET confirmed = 1 WHERE id = $1";
        tx.run(sql, vec![text(row.id)]).await?;
        let detail = format!("confirmed that `{}` lands on `{}`", row.branch, row.key.target);
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.key.project), detail);
        advance::advance(tx, &row.key).await?;
        shown(tx, self.candidate).await
    }
}

/// The queues that are stopped or hold branches, for the state of a client; the others say nothing.
pub(crate) async fn not_idle(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<MergeQueue>, StoreError> {
    let mut found = Vec::new();
    for key in rows::not_idle(c, only).await? {
        found.extend(view::queue(c, &key, now).await?);
    }
    Ok(found)
}

impl Store {
    /// The merge queues of a project.
    pub async fn merge_queues(&self, caller: &Caller, project: ProjectId) -> Result<Vec<MergeQueue>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let mut found = Vec::new();
        for queue in rows::queues(&mut c, project).await? {
            found.extend(view::queue(&mut c, &queue.key, self.now()).await?);
        }
        Ok(found)
    }

    /// The branches that have left a project's queues, newest first.
    pub async fn merge_history(
        &self,
        caller: &Caller,
        project: ProjectId,
        page: MergePage,
    ) -> Result<Vec<Candidate>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let limit = page.limit.unwrap_or(PAGE.0);
        if limit == 0 || limit > PAGE.1 {
            return Err(StoreError::invalid("limit", format!("`limit` is 1 to {}", PAGE.1)));
        }
        let settings = settings::of(&mut c, project).await?;
        let ended = rows::ended(&mut c, project, limit).await?;
        Ok(ended.into_iter().map(|row| view::candidate(row, &settings)).collect())
    }

    /// A branch with its runs. What the checks printed is for those who see the project's sessions.
    pub async fn merge_candidate(&self, caller: &Caller, id: CandidateId) -> Result<CandidateDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = find(&mut c, caller, id, Action::See).await?;
        let looks = projects::check(&mut c, caller, row.key.project, Action::SeeExecution, "candidate").await.is_ok();
        let candidate = view::one(&mut c, id, self.now()).await?.ok_or(StoreError::NotFound("candidate"))?;
        let runs = rows::runs_of(&mut c, id).await?;
        let mut runs: Vec<_> = runs.into_iter().map(|run| view::run(run, looks)).collect();
        let mut room = MAX_LOGS;
        for check in runs.iter_mut().flat_map(|run| &mut run.checks) {
            match room.checked_sub(check.log.len()) {
                Some(left) => room = left,
                None => check.log.clear(),
            }
        }
        Ok(CandidateDetail { candidate, runs })
    }
}
