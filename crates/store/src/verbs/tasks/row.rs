//! The row of a task: the one truth about it, lease included.

use domain::{ActivityId, AuthorKind, ProjectId, SessionId, TaskId, TaskStatus, Timestamp, WorkerId, WorkspaceId};
use protocol::{Criterion, Lease, Task, TaskLine, UserRef, WrittenBy};

use crate::StoreError;
use crate::sql::{Row, Value, args, to_json};
use crate::verbs::approvals::author;
use crate::verbs::users;

/// Reads tasks with the name of whoever added them.
pub(crate) const COLUMNS: &str = "SELECT t.id, t.project, t.activity, t.title, t.description, t.context, t.acceptance, \
    t.files, t.needs, t.deps, t.priority, t.status, t.reason, t.attempt, t.fence, t.worker, t.lease_until, t.session, \
    t.workspace, t.progress, t.refusals, t.workers_tried, t.not_by, t.waits_for, t.queue_key, t.ready_at, t.taken_at, \
    t.asked, t.author_session, t.by_agent, t.created_by, u.name AS created_by_name, t.created_at, t.updated_at FROM tasks t JOIN users u ON u.id = t.created_by";

/// Names the columns that [`TaskRow::inserted`] gives values for.
pub(crate) const INSERT: &str = "INSERT INTO tasks (id, project, title, description, acceptance, files, needs, deps, \
    priority, created_by, author_session, by_agent, created_at, activity, context, status, reason, attempt, fence, worker, lease_until, session, \
    workspace, progress, refusals, workers_tried, not_by, waits_for, queue_key, ready_at, taken_at, asked, updated_at)";

/// The columns that change, in the order of [`TaskRow::changing`].
pub(crate) const CHANGING: &[&str] = &[
    "activity",
    "context",
    "status",
    "reason",
    "attempt",
    "fence",
    "worker",
    "lease_until",
    "session",
    "workspace",
    "progress",
    "refusals",
    "workers_tried",
    "not_by",
    "waits_for",
    "queue_key",
    "ready_at",
    "taken_at",
    "asked",
    "updated_at",
];

/// A task as it is in the database.
#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    pub(crate) id: TaskId,
    pub(crate) project: ProjectId,
    pub(crate) activity: Option<ActivityId>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) context: String,
    pub(crate) acceptance: Vec<Criterion>,
    pub(crate) files: Vec<String>,
    pub(crate) needs: Vec<String>,
    pub(crate) deps: Vec<TaskId>,
    pub(crate) priority: u8,
    pub(crate) status: TaskStatus,
    pub(crate) reason: Option<String>,
    pub(crate) attempt: u32,
    pub(crate) fence: u64,
    /// Who holds it; stays while its report is checked.
    pub(crate) worker: Option<WorkerId>,
    /// When the hold ends by itself; absent while it is the hub's turn.
    pub(crate) lease_until: Option<Timestamp>,
    pub(crate) session: Option<SessionId>,
    /// Where it was worked on last; stays, so that the next worker can go on there.
    pub(crate) workspace: Option<WorkspaceId>,
    pub(crate) progress: Option<String>,
    /// How often the current worker's work was refused.
    pub(crate) refusals: u32,
    /// How many workers gave up or were refused for good.
    pub(crate) workers_tried: u32,
    /// Who they are: others go first.
    pub(crate) not_by: Vec<WorkerId>,
    pub(crate) waits_for: u32,
    pub(crate) queue_key: i64,
    pub(crate) ready_at: Option<Timestamp>,
    pub(crate) taken_at: Option<Timestamp>,
    /// Whether anybody was ever asked about it.
    pub(crate) asked: bool,
    pub(crate) created_by: UserRef,
    /// The session whose agent added it on their behalf.
    pub(crate) author_session: Option<SessionId>,
    /// Whether an agent added it, in a session or with their own token.
    pub(crate) by_agent: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// A text column that may hold an id.
pub(crate) fn id_or_none<T: std::str::FromStr<Err: std::fmt::Display>>(
    row: &Row,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let parse = |text: String| text.parse().map_err(|error| StoreError::Corrupt(format!("{column}: {error}")));
    row.text_or_none(column)?.map(parse).transpose()
}

impl TaskRow {
    /// Reads a row of [`COLUMNS`].
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.parsed("id")?,
            project: row.parsed("project")?,
            activity: id_or_none(row, "activity")?,
            title: row.text("title")?,
            description: row.text("description")?,
            context: row.text("context")?,
            acceptance: row.json("acceptance")?,
            files: row.json("files")?,
            needs: row.json("needs")?,
            deps: row.json("deps")?,
            priority: u8::try_from(row.count("priority")?).unwrap_or(u8::MAX),
            status: row.parsed("status")?,
            reason: row.text_or_none("reason")?,
            attempt: row.count("attempt")?,
            fence: row.integer("fence")?.cast_unsigned(),
            worker: id_or_none(row, "worker")?,
            lease_until: row.time_or_none("lease_until")?,
            session: id_or_none(row, "session")?,
            workspace: id_or_none(row, "workspace")?,
            progress: row.text_or_none("progress")?,
            refusals: row.count("refusals")?,
            workers_tried: row.count("workers_tried")?,
            not_by: row.json("not_by")?,
            waits_for: row.count("waits_for")?,
            queue_key: row.integer("queue_key")?,
            ready_at: row.time_or_none("ready_at")?,
            taken_at: row.time_or_none("taken_at")?,
            asked: row.flag("asked")?,
            created_by: users::reference(row, "created_by")?,
            author_session: id_or_none(row, "author_session")?,
            by_agent: row.flag("by_agent")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        })
    }

    /// Who added it, and with whose hand.
    pub(crate) fn writer(&self) -> WrittenBy {
        WrittenBy { user: self.created_by.clone(), agent: self.author_session, by_agent: self.by_agent }
    }

    /// What it needs and somebody with these abilities lacks.
    pub(crate) fn lacks(&self, abilities: &[String]) -> Vec<&str> {
        self.needs.iter().filter(|need| !abilities.contains(need)).map(String::as_str).collect()
    }

    /// Its place in the queue, if it is in there.
    pub(crate) fn place(&self) -> Option<i64> {
        (self.status == TaskStatus::Ready).then_some(self.queue_key)
    }

    /// Values for [`INSERT`].
    pub(crate) fn inserted(&self) -> Vec<Value> {
        let mut values = args![
            self.id.to_string(),
            self.project.to_string(),
            &self.title,
            &self.description,
            to_json(&self.acceptance),
            to_json(&self.files),
            to_json(&self.needs),
            to_json(&self.deps),
            u32::from(self.priority),
            self.created_by.id.to_string(),
            self.author_session.map(|id| id.to_string()),
            self.by_agent,
            self.created_at,
        ];
        values.extend(self.changing());
        values
    }

    /// Values for [`CHANGING`].
    pub(crate) fn changing(&self) -> Vec<Value> {
        args![
            self.activity.map(|id| id.to_string()),
            &self.context,
            self.status.word(),
            self.reason.clone(),
            self.attempt,
            self.fence,
            self.worker.map(|id| id.to_string()),
            self.lease_until,
            self.session.map(|id| id.to_string()),
            self.workspace.map(|id| id.to_string()),
            self.progress.clone(),
            self.refusals,
            self.workers_tried,
            to_json(&self.not_by),
            self.waits_for,
            self.queue_key,
            self.ready_at,
            self.taken_at,
            self.asked,
            self.updated_at,
        ]
    }

    /// The hold on it, while somebody works.
    pub(crate) fn lease(&self) -> Option<Lease> {
        let (worker, expires_at) = (self.worker?, self.lease_until?);
        Some(Lease { worker, fence: self.fence, expires_at })
    }

    /// As boards and lists show it.
    pub(crate) fn line(&self) -> TaskLine {
        TaskLine {
            id: self.id,
            project: self.project,
            activity: self.activity,
            title: self.title.clone(),
            status: self.status,
            reason: self.reason.clone(),
            priority: self.priority,
            attempt: self.attempt,
            assigned_to: self.worker,
            session: self.session,
            progress: self.progress.clone(),
            deps: self.deps.clone(),
            waits_for: self.waits_for,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// As its worker and its page see it.
    pub(crate) fn view(&self) -> Task {
        Task {
            id: self.id,
            project: self.project,
            activity: self.activity,
            description: self.description.clone(),
            context: self.context.clone(),
            acceptance: self.acceptance.clone(),
            files: self.files.clone(),
            deps: self.deps.clone(),
            priority: self.priority,
            needs: self.needs.clone(),
            status: self.status,
            reason: self.reason.clone(),
            attempt: self.attempt,
            lease: self.lease(),
            assigned_to: self.worker,
            session: self.session,
            progress: self.progress.clone(),
            created_by: self.created_by.clone(),
            author_kind: if author(&self.writer()).agent { AuthorKind::Agent } else { AuthorKind::User },
            author_session: self.author_session,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// How it is named in words for people.
    pub(crate) fn named(&self) -> String {
        format!("`{}` ({})", self.title, self.id)
    }
}
