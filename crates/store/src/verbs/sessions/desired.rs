//! What a runner should have, as its link tells it.

use domain::{ProjectId, RunnerId, SessionId, SessionStatus, TaskStatus};
use engine::liveness::sign_seconds;
use protocol::link::{DesiredCheck, DesiredSession, DesiredTask, DesiredWorkspace, Retention, StartFrom};
use protocol::{Deliverables, EscalationContext};

use super::spawn::repository;
use crate::sql::{Connection, Row, args, text};
use crate::verbs::workers::facts::Under;
use crate::verbs::workers::settings::DEFAULTS;
use crate::verbs::workspaces::json_or_none;
use crate::{Store, StoreError};

/// What a runner should have, as of one generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Desired {
    /// Counts the changes.
    pub generation: u64,
    /// Facts up to this number are stored.
    pub acknowledged: u64,
    /// Every session that is not over.
    pub sessions: Vec<DesiredSession>,
    /// Sessions whose recordings are never thrown away.
    pub keep: Vec<SessionId>,
    /// Reports whose acceptance is to be checked.
    pub checks: Vec<DesiredCheck>,
    /// How often it is to be heard from, in seconds; absent: it has no workers that anybody would miss.
    pub heartbeat_seconds: Option<u32>,
    /// How long recordings are kept, of the projects that it has sessions of.
    pub retention: Vec<Retention>,
}

const COLUMNS: &str = "SELECT s.id, s.project, s.activity, s.workspace, s.agent, s.mode, s.model, s.prompt, s.argv, \
    s.sandbox, s.record_input, s.cols, s.rows_high, s.stop, s.status, s.conversation, s.resumes, s.owner, s.task, s.fence, \
    w.repository, w.base, w.branch, w.start_from, a.content AS activity_content, p.content AS project_content, p.owner AS project_owner, k.settings AS work \
    FROM sessions s JOIN workspaces w ON w.id = s.workspace JOIN activities a ON a.id = s.activity \
    JOIN projects p ON p.id = s.project LEFT JOIN work_settings k ON k.project = s.project";

impl Store {
    /// What a runner should have; `None`: there is no such runner any more.
    pub async fn desired(&self, runner: RunnerId) -> Result<Option<Desired>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = "SELECT generation, facts FROM runners WHERE id = $1";
        let Some(row) = c.first(sql, vec![text(runner)]).await? else { return Ok(None) };
        // A task that changes hands goes on in its workspace when whoever had it before is out; on another runner when
        // the work is there.
        let free = "NOT EXISTS (SELECT 1 FROM sessions o WHERE o.workspace = s.workspace AND o.id <> s.id AND \
                    o.ended_at IS NULL AND o.stop IS NOT NULL AND o.task IS NOT NULL)";
        let sessions = format!(
            "{COLUMNS} WHERE s.runner = $1 AND s.ended_at IS NULL AND (s.task IS NULL OR s.stop IS NOT NULL OR \
             s.status <> 'starting' OR {free}) AND (w.moves_from IS NULL OR s.stop IS NOT NULL) \
             ORDER BY s.created_at, s.id"
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
        }))
    }

    /// The runner of a project's session, for a link that asks about it.
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
    let (project, activity) = (row.text("project_content")?, row.text("activity_content")?);
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
        context: format!("# The project\n\n{project}\n\n# The activity\n\n{activity}\n"),
        argv: row.json("argv")?,
        conversation: resumed.then(|| row.text_or_none("conversation")).transpose()?.flatten(),
        sandbox: json_or_none(row, "sandbox")?,
        record_input: row.flag("record_input")?,
        cols: u16::try_from(row.count("cols")?).unwrap_or(120),
        rows: u16::try_from(row.count("rows_high")?).unwrap_or(32),
        workspace: workspace(row, row.text("project_owner")? == row.text("owner")?)?,
        task: task(row)?,
    })
}

/// The task that a session works on; its prompt is the brief.
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

/// How often a runner is to be heard from, for the least patient of the projects that its workers are in.
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

/// How long recordings are kept, of the projects that say so.
async fn retention(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<Retention>, StoreError> {
    let sql = "SELECT p.id, p.retention_days FROM projects p WHERE p.retention_days IS NOT NULL AND \
               EXISTS (SELECT 1 FROM sessions s WHERE s.project = p.id AND s.runner = $1) ORDER BY p.id";
    let rows = c.all(sql, vec![text(runner)]).await?;
    let read = |row: &Row| Ok(Retention { project: row.parsed("id")?, days: row.count("retention_days")? });
    rows.iter().map(read).collect()
}

/// The reports whose acceptance this runner is to check; those that a person was asked about because it was away, too.
async fn checks(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<DesiredCheck>, StoreError> {
    let sql = "SELECT r.id, r.task, t.project, t.activity, t.acceptance, w.id AS workspace, w.repository, w.base, \
               w.branch, w.start_from, w.owner, p.owner AS project_owner, k.owner AS worker_owner, k.sandbox, \
               t.status, r.deliverables, r.summary, e.context AS asked FROM reports r \
               JOIN tasks t ON t.id = r.task JOIN workspaces w ON w.id = r.workspace \
               JOIN projects p ON p.id = t.project LEFT JOIN workers k ON k.id = r.worker \
               LEFT JOIN escalations e ON e.task = t.id AND e.kind = 'uncheckable' AND e.answered_at IS NULL \
               WHERE r.runner = $1 AND r.verdict = 'pending' AND r.fence = t.fence AND \
               t.status IN ('reported', 'validating', 'escalated') ORDER BY r.at, r.id";
    let mut checks = Vec::new();
    for row in c.all(sql, vec![text(runner)]).await? {
        let asked: Option<EscalationContext> = json_or_none(&row, "asked")?;
        let waits = asked.is_some_and(|context| context.runner == Some(runner));
        if waits || row.text("status")? != TaskStatus::Escalated.word() {
            checks.push(check(&row)?);
        }
    }
    Ok(checks)
}

fn check(row: &Row) -> Result<DesiredCheck, StoreError> {
    let owner = row.text("owner")?;
    // What somebody else pushed is theirs: it runs on nobody's machine unasked.
    let trusted = row.text("project_owner")? == owner && row.text_or_none("worker_owner")? == Some(owner);
    Ok(DesiredCheck {
        report: row.parsed("id")?,
        task: row.parsed("task")?,
        project: row.parsed("project")?,
        activity: row.text_or_none("activity")?.and_then(|id| id.parse().ok()),
        criteria: row.json("acceptance")?,
        files: row.json::<Deliverables>("deliverables")?.files,
        workspace: workspace(row, trusted)?,
        trusted,
        sandbox: json_or_none(row, "sandbox")?,
        begin_told: true,
        summary: Some(row.text("summary")?),
    })
}

fn workspace(row: &Row, trusted: bool) -> Result<DesiredWorkspace, StoreError> {
    let from: Option<StartFrom> = json_or_none(row, "start_from")?;
    // What came from somebody else's runner is theirs: it runs on nobody's machine unasked.
    let trusted = trusted && !matches!(from, Some(StartFrom::Bundle { foreign: true, .. }));
    Ok(DesiredWorkspace {
        workspace: row.parsed("workspace")?,
        repository: repository(row.text_or_none("repository")?)?,
        base: row.text_or_none("base")?,
        branch: row.text("branch")?,
        trusted,
        from,
    })
}
