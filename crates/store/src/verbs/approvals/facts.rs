//! Facts behind an approval: the runner's owner, and the authors of the text that would run.

use domain::trust::is_own;
use domain::{
    ApprovalKind, Author, MergeRunId, ProjectId, ReportId, RunnerId, RunnerPolicy, SessionId, TaskId, UserId,
    WorkspaceId,
};
use protocol::link::Subject;
use protocol::{Sandbox, UserRef, WrittenBy};

use crate::StoreError;
use crate::sql::{Row, text};
use crate::tx::Tx;
use crate::verbs::merge;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::json_or_none;

/// The author in columns `{user}`, `{user}_name`, `{user}_agent` and `{session}`; `None` if there is none.
pub(crate) fn written_by(row: &Row, user: &str, session: &str) -> Result<Option<WrittenBy>, StoreError> {
    let Some(by) = person(row, user)? else { return Ok(None) };
    Ok(Some(WrittenBy { agent: id_or_none(row, session)?, by_agent: row.flag(&format!("{user}_agent"))?, ..by }))
}

/// The person in columns `{user}` and `{user}_name`, acting without an agent.
fn person(row: &Row, user: &str) -> Result<Option<WrittenBy>, StoreError> {
    let Some(id) = id_or_none::<UserId>(row, user)? else { return Ok(None) };
    let name = row.text_or_none(&format!("{user}_name"))?.unwrap_or_default();
    Ok(Some(WrittenBy { user: UserRef { id, name }, agent: None, by_agent: false }))
}

/// The author as the approval rule sees them.
pub(crate) fn author(by: &WrittenBy) -> Author {
    Author { user: by.user.id, agent: by.by_agent || by.agent.is_some() }
}

/// The author, unless it is the owner as a person.
pub(crate) fn unless_own(by: Option<WrittenBy>, owner: UserId) -> Option<WrittenBy> {
    by.filter(|by| !is_own(author(by), owner))
}

/// Authors of a workspace and of what runs in it; `None` means the runner's owner.
#[derive(Debug, Clone)]
pub(crate) struct Authors {
    /// The person who requested the session.
    pub(crate) asked: Option<WrittenBy>,
    /// The author of the acceptance commands.
    pub(crate) commands: Option<WrittenBy>,
    /// The author of the code that the checks run.
    pub(crate) code: Option<WrittenBy>,
    /// The author of the repository's address and setup.
    pub(crate) repository: Option<WrittenBy>,
}

/// The joins for the names in [`Authors::of_session`] and [`Authors::of_check`]; `p` is the project, `w` the workspace.
pub(crate) const WRITERS: &str = "JOIN users po ON po.id = p.owner LEFT JOIN users cb ON cb.id = w.code_by";
/// The columns of these joins.
pub(crate) const WRITTEN: &str = "p.owner AS project_owner, po.name AS project_owner_name, w.code_by, \
    cb.name AS code_by_name, w.start_from";

impl Authors {
    /// The authors for a session; the row has `owner`, `asked_by` with its name and agent flag, and `asked_session`.
    pub(crate) fn of_session(row: &Row) -> Result<Self, StoreError> {
        let owner: UserId = row.parsed("owner")?;
        let project = person(row, "project_owner")?;
        let code = unless_own(person(row, "code_by")?, owner);
        Ok(Self {
            asked: unless_own(written_by(row, "asked_by", "asked_session")?, owner),
            commands: None,
            code,
            repository: unless_own(project, owner),
        })
    }

    /// The authors for a check; the row also has `created_by` with its name and agent flag, `author_session` and
    /// `worker_owner`.
    pub(crate) fn of_check(row: &Row) -> Result<Self, StoreError> {
        let owner: UserId = row.parsed("owner")?;
        let project = person(row, "project_owner")?;
        // The owner of an external worker answers for what it pushed.
        let worker = person(row, "worker_owner")?;
        let code = unless_own(person(row, "code_by")?, owner).or(unless_own(worker, owner));
        Ok(Self {
            asked: None,
            commands: unless_own(written_by(row, "created_by", "author_session")?, owner),
            code,
            repository: unless_own(project, owner),
        })
    }

    /// The author of the text that a runner asks about.
    pub(crate) fn who(&self, kind: ApprovalKind) -> Option<&WrittenBy> {
        match kind {
            ApprovalKind::Session => self.asked.as_ref(),
            ApprovalKind::Command => self.commands.as_ref(),
            ApprovalKind::Code => self.code.as_ref(),
            ApprovalKind::Settings => self.code.as_ref().or(self.repository.as_ref()),
            ApprovalKind::Repository | ApprovalKind::Copy | ApprovalKind::Setup | ApprovalKind::Teardown => {
                self.repository.as_ref()
            }
        }
    }

    /// Whether another person wrote any part.
    pub(crate) fn others(&self, owner: UserId) -> bool {
        let all = [&self.asked, &self.commands, &self.code, &self.repository];
        all.into_iter().flatten().any(|by| by.user.id != owner)
    }

    /// Whether anybody but the owner in person wrote any part.
    pub(crate) fn any(&self) -> bool {
        [&self.asked, &self.commands, &self.code, &self.repository].into_iter().any(Option::is_some)
    }
}

/// A session or check that waits for an approval.
pub(super) struct Asking {
    pub(super) owner: UserRef,
    pub(super) runner_name: String,
    pub(super) policy: RunnerPolicy,
    pub(super) project: ProjectId,
    pub(super) authors: Authors,
    pub(super) title: String,
    pub(super) session: Option<SessionId>,
    pub(super) report: Option<ReportId>,
    pub(super) task: Option<TaskId>,
    pub(super) workspace: Option<WorkspaceId>,
}

impl Asking {
    /// The session or check that this runner asks about; `None` if it is not this runner's, or has ended.
    pub(super) async fn find(tx: &mut Tx<'_>, runner: RunnerId, subject: Subject) -> Result<Option<Self>, StoreError> {
        let (sql, id) = match subject {
            Subject::Session(id) => (
                format!(
                    "SELECT s.id, s.project, s.owner, o.name AS owner_name, s.title, s.task, s.workspace, \
                     s.asked_by, ab.name AS asked_by_name, s.asked_by_agent, s.asked_session, r.name AS runner_name, r.policy, {WRITTEN} \
                     FROM sessions s JOIN workspaces w ON w.id = s.workspace JOIN projects p ON p.id = s.project \
                     JOIN runners r ON r.id = s.runner JOIN users o ON o.id = s.owner \
                     LEFT JOIN users ab ON ab.id = s.asked_by {WRITERS} \
                     WHERE s.id = $1 AND s.runner = $2 AND s.ended_at IS NULL"
                ),
                id.to_string(),
            ),
            Subject::Report(id) => (
                format!(
                    "SELECT c.id, t.project, w.owner, o.name AS owner_name, t.title, t.id AS task, \
                     w.id AS workspace, t.created_by, tc.name AS created_by_name, t.by_agent AS created_by_agent, \
                     t.author_session, \
                     k.owner AS worker_owner, ko.name AS worker_owner_name, r.name AS runner_name, r.policy, {WRITTEN} \
                     FROM reports c JOIN tasks t ON t.id = c.task JOIN workspaces w ON w.id = c.workspace \
                     JOIN projects p ON p.id = t.project JOIN runners r ON r.id = c.runner \
                     JOIN users o ON o.id = w.owner JOIN users tc ON tc.id = t.created_by \
                     LEFT JOIN workers k ON k.id = c.worker LEFT JOIN users ko ON ko.id = k.owner {WRITERS} \
                     WHERE c.id = $1 AND c.runner = $2 AND c.verdict = 'pending'"
                ),
                id.to_string(),
            ),
            Subject::Merge(id) => return Self::of_merge(tx, runner, id).await,
        };
        let Some(row) = tx.read().first(&sql, vec![text(id), text(runner)]).await? else { return Ok(None) };
        let owner = UserRef { id: row.parsed("owner")?, name: row.text("owner_name")? };
        let (authors, session, report) = match subject {
            Subject::Session(id) => (Authors::of_session(&row)?, Some(id), None),
            Subject::Report(id) => (Authors::of_check(&row)?, None, Some(id)),
            Subject::Merge(_) => return Ok(None),
        };
        Ok(Some(Self {
            owner,
            runner_name: row.text("runner_name")?,
            policy: row.parsed("policy")?,
            project: row.parsed("project")?,
            authors,
            title: row.text("title")?,
            session,
            report,
            task: id_or_none(&row, "task")?,
            workspace: Some(row.parsed("workspace")?),
        }))
    }

    /// The merge run that this runner asks about.
    async fn of_merge(tx: &mut Tx<'_>, runner: RunnerId, run: MergeRunId) -> Result<Option<Self>, StoreError> {
        let Some((project, authors, title)) = merge::waits_for_approval(tx.read(), runner, run).await? else {
            return Ok(None);
        };
        let sql = "SELECT n.owner, o.name AS owner_name, n.name AS runner_name, n.policy FROM runners n \
                   JOIN users o ON o.id = n.owner WHERE n.id = $1";
        let Some(row) = tx.read().first(sql, vec![text(runner)]).await? else { return Ok(None) };
        Ok(Some(Self {
            owner: UserRef { id: row.parsed("owner")?, name: row.text("owner_name")? },
            runner_name: row.text("runner_name")?,
            policy: row.parsed("policy")?,
            project,
            authors,
            title,
            session: None,
            report: None,
            task: None,
            workspace: None,
        }))
    }
}

/// The sandbox of a check: its worker's, combined with the one for other people's work. The row has `sandbox`,
/// `policy`, `sandbox_others` and `project_sandbox`.
pub(crate) fn check_sandbox(row: &Row, authors: &Authors) -> Result<Option<Sandbox>, StoreError> {
    let owner: UserId = row.parsed("owner")?;
    let chosen: Option<Sandbox> = json_or_none(row, "sandbox")?;
    let policy: RunnerPolicy = row.parsed("policy")?;
    let flags = row.flag("sandbox_others")? || row.flag("project_sandbox")?;
    Ok(Sandbox::both(chosen.as_ref(), wanted(policy, flags, authors.others(owner), authors.any()).as_ref()))
}

/// The sandbox for other people's work, if the runner or project requires one.
pub(crate) async fn others_in_sandbox(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    project: ProjectId,
    asked: Option<&WrittenBy>,
) -> Result<Option<Sandbox>, StoreError> {
    let sql = "SELECT r.owner, r.policy, r.sandbox_others, p.sandbox_others AS project_sandbox, \
               p.owner AS project_owner FROM runners r JOIN projects p ON p.id = $2 WHERE r.id = $1";
    let Some(row) = tx.read().first(sql, vec![text(runner), text(project)]).await? else { return Ok(None) };
    let owner: UserId = row.parsed("owner")?;
    let foreign_project = row.parsed::<UserId>("project_owner")? != owner;
    let others = foreign_project || asked.is_some_and(|by| by.user.id != owner);
    let any = foreign_project || asked.is_some_and(|by| !is_own(author(by), owner));
    let flags = row.flag("sandbox_others")? || row.flag("project_sandbox")?;
    Ok(wanted(row.parsed("policy")?, flags, others, any))
}

fn wanted(policy: RunnerPolicy, flags: bool, others: bool, any: bool) -> Option<Sandbox> {
    let contained = (flags && others) || (policy == RunnerPolicy::SandboxOnly && any);
    contained.then_some(Sandbox { network: true, home: false })
}
