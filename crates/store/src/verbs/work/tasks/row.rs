//! The row of a task, including its lease.

use domain::text::title;
use domain::{ActivityId, AuthorKind, ProjectId, SessionId, Short, TaskId, TaskStatus, Timestamp, WorkspaceId};
use engine::tasks::life::{Hold, Life, State};
use engine::tasks::order::queue_key;
use protocol::{Criterion, Lease, Task, TaskAdd, TaskLine, UserRef, WrittenBy};

use crate::StoreError;
use crate::sql::{Row, Value, args, to_json};
use crate::verbs::approvals::author;
use crate::verbs::users;

/// The priority of a task that names none.
const PRIORITY: u8 = 5;

/// Reads tasks with their authors' names.
pub(crate) const COLUMNS: &str = "SELECT t.id, t.project, t.number, \
    (SELECT p.task_key FROM projects p WHERE p.id = t.project) AS task_key, t.activity, t.title, t.description, t.context, t.acceptance, \
    t.files, t.needs, t.labels, t.deps, t.priority, t.status, t.reason, t.waiting, t.attempt, t.fence, t.worker, t.lease_until, \
    t.session, t.workspace, t.progress, t.refusals, t.workers_tried, t.not_by, t.waits_for, t.ready_at, t.taken_at, \
    t.asked, t.edits, t.author_session, t.by_agent, t.created_by, u.name AS created_by_name, t.created_at, t.updated_at \
    FROM tasks t JOIN users u ON u.id = t.created_by";

/// The columns of [`TaskRow::inserted`].
pub(crate) const INSERT: &str = "INSERT INTO tasks (id, project, number, title, description, acceptance, files, needs, labels, deps, \
    priority, created_by, author_session, by_agent, created_at, activity, context, status, reason, waiting, attempt, \
    fence, worker, lease_until, session, workspace, progress, refusals, workers_tried, not_by, waits_for, ready_at, \
    taken_at, asked, updated_at)";

/// The columns that change, in the order of [`TaskRow::changing`].
pub(crate) const CHANGING: &[&str] = &[
    "activity",
    "context",
    "status",
    "reason",
    "waiting",
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
    "ready_at",
    "taken_at",
    "asked",
    "updated_at",
];

/// A task's row. Only [`TaskRow::with_life`] changes its life; only transitions call it.
#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    pub(crate) id: TaskId,
    pub(crate) project: ProjectId,
    pub(crate) short: Short,
    pub(crate) activity: Option<ActivityId>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) context: String,
    pub(crate) acceptance: Vec<Criterion>,
    pub(crate) files: Vec<String>,
    pub(crate) needs: Vec<String>,
    pub(crate) labels: Vec<String>,
    pub(crate) deps: Vec<TaskId>,
    pub(crate) priority: u8,
    /// How often the task was edited.
    pub(crate) edits: u32,
    /// The workspace of the last session; kept, so that the next worker can continue there.
    pub(crate) workspace: Option<WorkspaceId>,
    pub(crate) created_by: UserRef,
    /// The session whose agent added the task for its user.
    pub(crate) author_session: Option<SessionId>,
    /// Whether an agent added the task, in a session or with its user's token.
    pub(crate) by_agent: bool,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    life: Life,
}

impl std::ops::Deref for TaskRow {
    type Target = Life;

    fn deref(&self) -> &Life {
        &self.life
    }
}

/// An optional id in a text column.
pub(crate) fn id_or_none<T: std::str::FromStr<Err: std::fmt::Display>>(
    row: &Row,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let parse = |text: String| text.parse().map_err(|error| StoreError::Corrupt(format!("{column}: {error}")));
    row.text_or_none(column)?.map(parse).transpose()
}

/// Reads the state with its data.
fn state(row: &Row) -> Result<State, StoreError> {
    let broken = |what: &str| StoreError::Corrupt(format!("a held task has no {what}"));
    let hold = || {
        let worker = id_or_none(row, "worker")?.ok_or_else(|| broken("worker"))?;
        let taken_at = row.time_or_none("taken_at")?.ok_or_else(|| broken("time"))?;
        let waiting = row.text_or_none("waiting")?;
        Ok::<_, StoreError>(Hold { worker, session: id_or_none(row, "session")?, taken_at, waiting })
    };
    let lease = || row.time_or_none("lease_until")?.ok_or_else(|| broken("lease"));
    Ok(match row.parsed("status")? {
        TaskStatus::Blocked => State::Blocked,
        TaskStatus::Ready => State::Ready { unassigned: row.text_or_none("waiting")? },
        TaskStatus::Assigned => State::Assigned { hold: hold()?, lease_until: lease()? },
        TaskStatus::Running => {
            State::Running { hold: hold()?, lease_until: lease()?, progress: row.text_or_none("progress")? }
        }
        TaskStatus::Reported => State::Reported { hold: hold()? },
        TaskStatus::Validating => State::Validating { hold: hold()? },
        TaskStatus::Escalated => State::Escalated,
        TaskStatus::Done => State::Done,
        TaskStatus::Failed => State::Failed,
        TaskStatus::Cancelled => State::Cancelled,
    })
}

/// Reads the short name.
pub(super) fn short(row: &Row) -> Result<Short, StoreError> {
    Ok(Short { key: row.text("task_key")?, number: row.count("number")? })
}

fn life(row: &Row) -> Result<Life, StoreError> {
    Ok(Life {
        state: state(row)?,
        reason: row.text_or_none("reason")?,
        attempt: row.count("attempt")?,
        fence: row.integer("fence")?.cast_unsigned(),
        waits_for: row.count("waits_for")?,
        ready_at: row.time_or_none("ready_at")?,
        refusals: row.count("refusals")?,
        workers_tried: row.count("workers_tried")?,
        not_by: row.json("not_by")?,
        asked: row.flag("asked")?,
    })
}

impl TaskRow {
    /// Reads a row of [`COLUMNS`].
    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.parsed("id")?,
            project: row.parsed("project")?,
            short: short(row)?,
            activity: id_or_none(row, "activity")?,
            title: row.text("title")?,
            description: row.text("description")?,
            context: row.text("context")?,
            acceptance: row.json("acceptance")?,
            files: row.json("files")?,
            needs: row.json("needs")?,
            labels: row.json("labels")?,
            deps: row.json("deps")?,
            priority: u8::try_from(row.count("priority")?).unwrap_or(u8::MAX),
            edits: row.count("edits")?,
            workspace: id_or_none(row, "workspace")?,
            created_by: users::reference(row, "created_by")?,
            author_session: id_or_none(row, "author_session")?,
            by_agent: row.flag("by_agent")?,
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
            life: life(row)?,
        })
    }

    /// A new task of a project, with its names.
    pub(crate) fn new(
        (id, project, short): (TaskId, ProjectId, Short),
        task: &TaskAdd,
        author: WrittenBy,
        deps: Vec<TaskId>,
        life: Life,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            project,
            short,
            activity: task.activity,
            title: title(&task.description),
            description: task.description.clone(),
            context: task.context.clone(),
            acceptance: task.acceptance.clone(),
            files: task.files.clone(),
            needs: task.needs.clone(),
            labels: task.labels.clone(),
            deps,
            priority: task.priority.unwrap_or(PRIORITY),
            edits: 0,
            workspace: None,
            created_by: author.user,
            author_session: author.agent,
            by_agent: author.by_agent,
            created_at: now,
            updated_at: now,
            life,
        }
    }

    /// The task with another life.
    pub(crate) fn with_life(self, life: Life) -> Self {
        Self { life, ..self }
    }

    /// The state for the next transition.
    pub(crate) fn life(&self) -> &Life {
        &self.life
    }

    /// The author, and whether an agent wrote for them.
    pub(crate) fn writer(&self) -> WrittenBy {
        WrittenBy { user: self.created_by.clone(), agent: self.author_session, by_agent: self.by_agent }
    }

    /// The needs of the task that these abilities do not cover.
    pub(crate) fn lacks(&self, abilities: &[String]) -> Vec<&str> {
        self.needs.iter().filter(|need| !abilities.contains(need)).map(String::as_str).collect()
    }

    /// The position in the queue, if the task is ready.
    pub(crate) fn place(&self) -> Option<i64> {
        let since = self.ready_at.filter(|_| self.status() == TaskStatus::Ready)?;
        Some(queue_key(since, self.priority))
    }

    /// Values for [`INSERT`].
    pub(crate) fn inserted(&self) -> Vec<Value> {
        let mut values = args![
            self.id.to_string(),
            self.project.to_string(),
            self.short.number,
            &self.title,
            &self.description,
            to_json(&self.acceptance),
            to_json(&self.files),
            to_json(&self.needs),
            to_json(&self.labels),
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
            self.status().word(),
            self.reason.clone(),
            self.waiting().map(str::to_owned),
            self.attempt,
            self.fence,
            self.worker().map(|id| id.to_string()),
            self.lease_until(),
            self.session().map(|id| id.to_string()),
            self.workspace.map(|id| id.to_string()),
            self.progress().map(str::to_owned),
            self.refusals,
            self.workers_tried,
            to_json(&self.not_by),
            self.waits_for,
            self.ready_at,
            self.hold().map(|hold| hold.taken_at),
            self.asked,
            self.updated_at,
        ]
    }

    /// The lease, while a worker holds the task.
    pub(crate) fn lease(&self) -> Option<Lease> {
        let (worker, expires_at) = (self.worker()?, self.lease_until()?);
        Some(Lease { worker, fence: self.fence, expires_at, edits: self.edits })
    }

    /// The task for boards and lists.
    pub(crate) fn line(&self) -> TaskLine {
        TaskLine {
            id: self.id,
            short: self.short.to_string(),
            project: self.project,
            activity: self.activity,
            title: self.title.clone(),
            status: self.status(),
            reason: self.why(),
            priority: self.priority,
            labels: self.labels.clone(),
            needs: self.needs.clone(),
            attempt: self.attempt,
            assigned_to: self.worker(),
            session: self.session(),
            progress: self.progress().map(str::to_owned),
            deps: self.deps.clone(),
            waits_for: self.waits_for,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// Whether boards and lists show no difference between the two.
    pub(super) fn shows_like(&self, other: &Self) -> bool {
        self.line() == TaskLine { updated_at: self.updated_at, ..other.line() }
    }

    /// The task for its worker and its page.
    pub(crate) fn view(&self) -> Task {
        Task {
            id: self.id,
            short: self.short.to_string(),
            project: self.project,
            activity: self.activity,
            description: self.description.clone(),
            context: self.context.clone(),
            acceptance: self.acceptance.clone(),
            files: self.files.clone(),
            deps: self.deps.clone(),
            priority: self.priority,
            needs: self.needs.clone(),
            labels: self.labels.clone(),
            status: self.status(),
            reason: self.why(),
            attempt: self.attempt,
            lease: self.lease(),
            assigned_to: self.worker(),
            session: self.session(),
            progress: self.progress().map(str::to_owned),
            edits: self.edits,
            created_by: self.created_by.clone(),
            author_kind: if author(&self.writer()).agent { AuthorKind::Agent } else { AuthorKind::User },
            author_session: self.author_session,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// Title and short name, for messages to people.
    pub(crate) fn named(&self) -> String {
        format!("`{}` ({})", self.title, self.short)
    }
}

#[cfg(test)]
mod tests {
    use domain::UserId;

    use super::*;

    #[test]
    fn a_task_is_announced_if_any_part_of_its_line_changed() {
        let now = Timestamp::from_millis(1);
        let user = UserRef { id: UserId::generate(), name: "ada".into() };
        let author = WrittenBy { user, agent: None, by_agent: false };
        let life = Life::new(0, None, now);
        let short = Short { key: "P".into(), number: 1 };
        let add = TaskAdd { description: "Add sub".into(), ..Default::default() };
        let ids = (TaskId::generate(), ProjectId::generate(), short);
        let before = TaskRow::new(ids, &add, author, vec![], life, now);
        let later =
            TaskRow { updated_at: now.plus_millis(5), workspace: Some(WorkspaceId::generate()), ..before.clone() };
        assert!(before.shows_like(&later), "boards do not show the workspace");
        let activity = TaskRow { activity: Some(ActivityId::generate()), ..before.clone() };
        let labels = TaskRow { labels: vec!["ui".into()], ..before.clone() };
        let life = before.clone().with_life(Life { attempt: 1, ..before.life.clone() });
        let needs = TaskRow { needs: vec!["gpu".into()], ..before.clone() };
        for other in [activity, labels, needs, life, TaskRow { priority: 9, ..before.clone() }] {
            assert!(!before.shows_like(&other), "{other:?}");
        }
    }
}
