//! The desired state of a runner.

use std::collections::HashMap;

use domain::{ProjectId, RunnerId, SessionId, SessionStatus, TaskStatus};
use engine::workers::liveness::sign_seconds;
use protocol::link::{
    DesiredCheck, DesiredMerge, DesiredSession, DesiredTask, DesiredWorkspace, ProjectForks, Retention, WishAnswer,
};
use protocol::{Deliverables, EscalationContext, WrittenBy};

use super::spawn::repository;
use crate::sql::{Connection, Row, args, text};
use crate::verbs::approvals::{self, Authors, WRITERS, WRITTEN, check_sandbox, unless_own, written_by};
use crate::verbs::merge;
use crate::verbs::overlaps;
use crate::verbs::work::workers::facts::Under;
use crate::verbs::work::workers::settings::DEFAULTS;
use crate::verbs::workspaces::json_or_none;
use crate::{Store, StoreError};

/// The desired state of a runner at one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desired {
    /// The number of the state.
    pub generation: u64,
    /// Facts up to this number are stored.
    pub acknowledged: u64,
    /// The live sessions.
    pub sessions: Vec<DesiredSession>,
    /// Sessions whose recordings are never deleted.
    pub keep: Vec<SessionId>,
    /// Reports to check.
    pub checks: Vec<DesiredCheck>,
    /// The heartbeat interval in seconds; absent if no worker depends on the runner.
    pub heartbeat_seconds: Option<u32>,
    /// Retention of recordings, for the projects of the runner's sessions.
    pub retention: Vec<Retention>,
    /// Answers to the runner's requests for approval.
    pub answers: Vec<WishAnswer>,
    /// Merge runs.
    pub merges: Vec<DesiredMerge>,
    /// What to describe the work in workspaces against.
    pub forks: Vec<ProjectForks>,
}

fn columns() -> String {
    format!(
        "SELECT s.id, s.project, s.activity, s.workspace, s.agent, s.mode, s.model, s.prompt, s.argv, \
         s.sandbox, s.record_input, s.cols, s.rows_high, s.stop, s.status, s.conversation, s.resumes, s.owner, s.task, \
         s.fence, s.step, s.asks, s.asked_by, ab.name AS asked_by_name, s.asked_by_agent, s.asked_session, s.asked_for, w.repository, w.base, w.branch, {WRITTEN}, \
         a.content AS activity_content, p.content AS project_content, k.settings AS work, \
         {}, {} \
         FROM sessions s JOIN workspaces w ON w.id = s.workspace JOIN activities a ON a.id = s.activity \
         JOIN projects p ON p.id = s.project LEFT JOIN work_settings k ON k.project = s.project \
         LEFT JOIN users ab ON ab.id = s.asked_by {WRITERS} {} {}",
        last_author("av", "activity_by"),
        last_author("pv", "project_by"),
        last_version("av", "a"),
        last_version("pv", "p"),
    )
}

/// The author of the current text, in the columns that [`written_by`] reads.
fn last_author(version: &str, name: &str) -> String {
    format!(
        "{version}.author AS {name}, {version}u.name AS {name}_name, {version}.author_session AS {name}_session, \
         CAST(CASE WHEN {version}.author_kind = 'agent' THEN 1 ELSE 0 END AS BIGINT) AS {name}_agent"
    )
}

/// Joins the newest version of a text.
fn last_version(version: &str, subject: &str) -> String {
    format!(
        "LEFT JOIN versions {version} ON {version}.subject = {subject}.id AND {version}.version = {subject}.version \
         LEFT JOIN users {version}u ON {version}u.id = {version}.author"
    )
}

impl Store {
    /// The desired state of a runner; `None` if the runner was removed.
    pub async fn desired(&self, runner: RunnerId) -> Result<Option<Desired>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = "SELECT generation, facts FROM runners WHERE id = $1";
        let Some(row) = c.first(sql, vec![text(runner)]).await? else { return Ok(None) };
        // A task's next session starts in its workspace when the previous session has ended, and on another runner when
        // the work has arrived. One that continues a handoff starts when the document is sealed.
        let free = "NOT EXISTS (SELECT 1 FROM sessions o WHERE o.workspace = s.workspace AND o.id <> s.id AND \
                    o.ended_at IS NULL AND o.stop IS NOT NULL AND o.task IS NOT NULL) AND NOT EXISTS (SELECT 1 \
                    FROM handoffs h WHERE h.successor = s.id AND h.status IN ('running', 'editing') AND h.step IN \
                    ('write', 'save', 'publish'))";
        let sessions = format!(
            "{} WHERE s.runner = $1 AND s.ended_at IS NULL AND (s.task IS NULL OR s.stop IS NOT NULL OR \
             s.status <> 'starting' OR {free}) AND ((w.moves_from IS NULL AND w.awaits_works = 0) OR s.stop IS NOT NULL) \
             ORDER BY s.created_at, s.id",
            columns()
        );
        let sessions = c.all(&sessions, vec![text(runner)]).await?;
        let keep = c.all("SELECT id FROM sessions WHERE runner = $1 AND keep = 1", vec![text(runner)]).await?;
        Ok(Some(Desired {
            generation: row.integer("generation")?.cast_unsigned(),
            acknowledged: row.integer("facts")?.cast_unsigned(),
            sessions: sessions.iter().map(desired).collect::<Result<_, _>>()?,
            keep: keep.iter().map(|row| row.parsed("id")).collect::<Result<_, _>>()?,
            checks: checks(&mut c, runner).await?,
            heartbeat_seconds: heartbeat(&mut c, runner).await?,
            retention: retention(&mut c, runner).await?,
            answers: approvals::answers(&mut c, runner).await?,
            merges: merge::desired(&mut c, runner).await?,
            forks: overlaps::forks(&mut c, runner).await?,
        }))
    }

    /// The project of a session, for a link that asks about it.
    pub async fn project_of(&self, session: SessionId) -> Result<Option<ProjectId>, StoreError> {
        let mut reader = self.readers.get().await?;
        let row =
            reader.borrow().first("SELECT project FROM sessions WHERE id = $1", args![session.to_string()]).await?;
        row.map(|row| row.parsed("project")).transpose()
    }
}

fn desired(row: &Row) -> Result<DesiredSession, StoreError> {
    let stop = row.text_or_none("stop")?;
    let resumed = row.text_or_none("resumes")?.is_some();
    let authors = Authors::of_session(row)?;
    Ok(DesiredSession {
        session: row.parsed("id")?,
        project: row.parsed("project")?,
        activity: row.parsed("activity")?,
        run: stop.is_none(),
        begun: row.parsed::<SessionStatus>("status")? != SessionStatus::Starting,
        force: stop.as_deref() == Some("force"),
        agent: row.text("agent")?,
        mode: row.parsed("mode")?,
        model: row.text_or_none("model")?,
        prompt: row.text("prompt")?,
        asked_by: authors.asked.clone(),
        asked_for: json_or_none(row, "asked_for")?,
        context: context(row, &authors)?,
        argv: row.json("argv")?,
        conversation: resumed.then(|| row.text_or_none("conversation")).transpose()?.flatten(),
        sandbox: json_or_none(row, "sandbox")?,
        record_input: row.flag("record_input")?,
        cols: u16::try_from(row.count("cols")?).unwrap_or(120),
        rows: u16::try_from(row.count("rows_high")?).unwrap_or(32),
        workspace: workspace(row, &authors)?,
        task: task(row)?,
        step: json_or_none(row, "step")?,
        asks: row.flag("asks")?,
    })
}

/// The context for the agent; marks text that the machine's owner did not write.
fn context(row: &Row, authors: &Authors) -> Result<String, StoreError> {
    let owner = row.parsed("owner")?;
    let by = |name: &str| Ok::<_, StoreError>(unless_own(written_by(row, name, &format!("{name}_session"))?, owner));
    // The activity of a task starts with the task's text.
    let of_task = authors.asked.clone().filter(|_| matches!(row.text_or_none("task"), Ok(Some(_))));
    let (project_by, activity_by) = (by("project_by")?, by("activity_by")?.or(of_task));
    let (project, activity) = (row.text("project_content")?, row.text("activity_content")?);
    let asked = match &authors.asked {
        Some(asked) => format!("# Who asks\n\n{}", not_the_owner("The prompt", asked)),
        None => String::new(),
    };
    let told = |what: &str, by: Option<&WrittenBy>| by.map(|by| not_the_owner(what, by)).unwrap_or_default();
    let project_by = told("The project's description", project_by.as_ref());
    let activity_by = told("The activity's description", activity_by.as_ref());
    Ok(format!("{asked}# The project\n\n{project_by}{project}\n\n# The activity\n\n{activity_by}{activity}\n"))
}

/// Tells the agent who wrote the text.
fn not_the_owner(what: &str, by: &WrittenBy) -> String {
    let who = if approvals::author(by).agent { format!("an agent of {}", by.user.name) } else { by.user.name.clone() };
    format!("{what} was written by {who}, not by the owner of this machine.\n\n")
}

/// The task of a session; the prompt is its brief.
fn task(row: &Row) -> Result<Option<DesiredTask>, StoreError> {
    let Some(under) = Under::read(row)? else { return Ok(None) };
    let lease_seconds = Some(json_or_none(row, "work")?.unwrap_or(DEFAULTS).lease_seconds);
    Ok(Some(DesiredTask {
        task: under.task,
        fence: under.fence,
        brief: row.text("prompt")?,
        lease_seconds,
        progress_told: true,
    }))
}

/// The shortest heartbeat interval among the projects of the runner's workers.
async fn heartbeat(c: &mut Connection<'_>, runner: RunnerId) -> Result<Option<u32>, StoreError> {
    let sql = "SELECT DISTINCT w.project, s.settings FROM workers w LEFT JOIN work_settings s ON s.project = w.project \
               WHERE w.runner = $1 AND w.kind = 'managed' AND w.removed_at IS NULL";
    let mut shortest = None;
    for row in c.all(sql, vec![text(runner)]).await? {
        let known = json_or_none(&row, "settings")?.unwrap_or(DEFAULTS);
        let every = sign_seconds(known.lease_seconds, known.heartbeat_seconds, known.missed);
        shortest = Some(shortest.map_or(every, |other: u32| other.min(every)));
    }
    Ok(shortest)
}

/// Retention of recordings, for the projects that set it.
async fn retention(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<Retention>, StoreError> {
    let sql = "SELECT p.id, p.retention_days FROM projects p WHERE p.retention_days IS NOT NULL AND \
               EXISTS (SELECT 1 FROM sessions s WHERE s.project = p.id AND s.runner = $1) ORDER BY p.id";
    let rows = c.all(sql, vec![text(runner)]).await?;
    let read = |row: &Row| Ok(Retention { project: row.parsed("id")?, days: row.count("retention_days")? });
    rows.iter().map(read).collect()
}

/// The reports that this runner must check, including those that were escalated because it was offline.
async fn checks(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<DesiredCheck>, StoreError> {
    let sql = format!(
        "SELECT r.id, r.task, t.project, t.activity, t.acceptance, t.created_by, tc.name AS created_by_name, \
         t.by_agent AS created_by_agent, t.author_session, w.id AS workspace, w.repository, w.base, w.branch, w.owner, k.owner AS worker_owner, \
         ko.name AS worker_owner_name, k.sandbox, n.policy, n.sandbox_others, p.sandbox_others AS project_sandbox, \
         t.status, r.deliverables, r.summary, e.context AS asked, {WRITTEN} FROM reports r \
         JOIN tasks t ON t.id = r.task JOIN workspaces w ON w.id = r.workspace \
         JOIN projects p ON p.id = t.project JOIN runners n ON n.id = r.runner \
         JOIN users tc ON tc.id = t.created_by LEFT JOIN workers k ON k.id = r.worker \
         LEFT JOIN users ko ON ko.id = k.owner {WRITERS} \
         LEFT JOIN escalations e ON e.task = t.id AND e.kind = 'uncheckable' AND e.answered_at IS NULL \
         WHERE r.runner = $1 AND r.verdict = 'pending' AND r.fence = t.fence AND \
         t.status IN ('reported', 'validating', 'escalated') AND NOT EXISTS (SELECT 1 FROM landings l WHERE \
         l.report = r.id) ORDER BY r.at, r.id"
    );
    let (mut checks, mut forks) = (Vec::new(), HashMap::<ProjectId, Vec<String>>::new());
    for row in c.all(&sql, vec![text(runner)]).await? {
        let asked: Option<EscalationContext> = json_or_none(&row, "asked")?;
        let waits = asked.is_some_and(|context| context.runner == Some(runner));
        if waits || row.text("status")? != TaskStatus::Escalated.word() {
            let project = row.parsed("project")?;
            let known = match forks.get(&project) {
                Some(known) => Vec::clone(known),
                None => overlaps::of_reports(c, project).await?,
            };
            forks.insert(project, known.clone());
            checks.push(DesiredCheck { forks: known, ..check(&row)? });
        }
    }
    Ok(checks)
}

fn check(row: &Row) -> Result<DesiredCheck, StoreError> {
    let authors = Authors::of_check(row)?;
    Ok(DesiredCheck {
        report: row.parsed("id")?,
        task: row.parsed("task")?,
        project: row.parsed("project")?,
        activity: row.text_or_none("activity")?.and_then(|id| id.parse().ok()),
        criteria: row.json("acceptance")?,
        files: row.json::<Deliverables>("deliverables")?.files,
        workspace: workspace(row, &authors)?,
        commands_by: authors.commands.clone(),
        sandbox: check_sandbox(row, &authors)?,
        begin_told: true,
        summary: Some(row.text("summary")?),
        forks: vec![],
    })
}

fn workspace(row: &Row, authors: &Authors) -> Result<DesiredWorkspace, StoreError> {
    Ok(DesiredWorkspace {
        workspace: row.parsed("workspace")?,
        repository: repository(row.text_or_none("repository")?)?,
        base: row.text_or_none("base")?,
        branch: row.text("branch")?,
        repository_by: authors.repository.clone(),
        code_by: authors.code.clone(),
        from: json_or_none(row, "start_from")?,
    })
}
