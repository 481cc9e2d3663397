//! The accepted work that a task builds on: a dependant starts from what its dependencies delivered.

use std::collections::HashSet;

use domain::trust::brought;
use domain::{ReportId, RunnerId, TaskId, UserId, WorkspaceId};
use protocol::link::{StartFrom, StartWork};

use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::landing;
use crate::verbs::work::tasks::reach::list;
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::workspaces::json_or_none;
use crate::{Command, Store, StoreError};

/// The maximum number of works that one workspace starts from.
const MOST: usize = 100;

/// Accepted work, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Built {
    pub(crate) work: StartWork,
    /// The runner that keeps the work.
    pub(crate) runner: RunnerId,
    /// The branch of the work, as its report names it.
    pub(crate) branch: Option<String>,
    /// The owner of the workspace that it comes from, and the author of the code if that is somebody else.
    owner: UserId,
    code_by: Option<UserId>,
}

const COLUMNS: &str = "SELECT r.id, r.kept, r.runner, t.title, w.owner, w.code_by, \
    (SELECT l.landed FROM landings l WHERE l.report = r.id AND l.state = 'landed' ORDER BY l.id DESC LIMIT 1) AS landed, \
    r.deliverables FROM reports r JOIN tasks t ON t.id = r.task JOIN workspaces w ON w.id = r.workspace \
    WHERE r.kept IS NOT NULL";

fn built(row: &Row) -> Result<Built, StoreError> {
    let work = StartWork {
        report: row.parsed("id")?,
        title: row.text("title")?,
        commit: row.text("kept")?,
        landed: row.text_or_none("landed")?,
        bundle: None,
    };
    let branch = row.json::<protocol::Deliverables>("deliverables")?.branch;
    let (owner, code_by) = (row.parsed("owner")?, id_or_none(row, "code_by")?);
    Ok(Built { work, runner: row.parsed("runner")?, branch, owner, code_by })
}

/// The accepted work of a task, if a runner keeps it.
pub(crate) async fn of_task(tx: &mut Tx<'_>, task: TaskId) -> Result<Option<Built>, StoreError> {
    let sql = format!("{COLUMNS} AND r.verdict = 'accepted' AND r.task = $1 ORDER BY r.at DESC, r.id DESC LIMIT 1");
    tx.read().first(&sql, vec![text(task)]).await?.as_ref().map(built).transpose()
}

/// The work of a report, if a runner keeps it.
pub(crate) async fn of_report(tx: &mut Tx<'_>, report: ReportId) -> Result<Option<Built>, StoreError> {
    let sql = format!("{COLUMNS} AND r.id = $1");
    tx.read().first(&sql, vec![text(report)]).await?.as_ref().map(built).transpose()
}

/// The accepted works that a task builds on, in the order of its dependencies. A dependency without work of its own
/// stands for what it builds on itself.
pub(crate) async fn works(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Vec<Built>, StoreError> {
    let mut found: Vec<Built> = Vec::new();
    let (mut seen, mut next): (HashSet<TaskId>, Vec<TaskId>) = Default::default();
    next.extend(row.deps.iter().rev());
    while let Some(dep) = next.pop() {
        if !seen.insert(dep) || found.len() == MOST {
            continue;
        }
        match of_task(tx, dep).await? {
            Some(built) => found.push(built),
            None => next.extend(tx.task(dep).await?.map(|dep| dep.deps).unwrap_or_default().iter().rev()),
        }
    }
    Ok(found)
}

/// How the workspace of a dependant starts.
pub(crate) struct Beginning {
    pub(crate) from: StartFrom,
    /// The author of the work, if it is not the owner of the new workspace.
    pub(crate) code_by: Option<UserId>,
    /// Whether works must be brought from other runners first.
    pub(crate) waits: bool,
}

/// The start of a task's workspace on a runner; `None` if it builds on nothing.
pub(crate) async fn beginning(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    runner: RunnerId,
    owner: UserId,
) -> Result<Option<Beginning>, StoreError> {
    let works = works(tx, row).await?;
    if works.is_empty() {
        return Ok(None);
    }
    let code_by = works.iter().find_map(|built| brought(built.owner, built.code_by, owner));
    let waits = works.iter().any(|built| built.runner != runner);
    let from = StartFrom::Works { works: works.into_iter().map(|built| built.work).collect() };
    Ok(Some(Beginning { from, code_by, waits }))
}

/// Marks a new workspace whose works must be brought first: its session waits.
pub(crate) async fn wait(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    tx.run("UPDATE workspaces SET awaits_works = 1 WHERE id = $1", vec![text(workspace)]).await.map(|_| ())
}

/// The tasks whose accepted dependencies are on runners that are away, each with the reason.
pub(crate) async fn out_of_reach(
    tx: &mut Tx<'_>,
    tasks: &[TaskId],
    connected: &[RunnerId],
) -> Result<Vec<(TaskId, String)>, StoreError> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let (places, values) = list(tasks);
    let sql = format!(
        "SELECT d.task, t.title, r.runner, n.name FROM task_deps d JOIN tasks t ON t.id = d.dep \
         JOIN reports r ON r.task = d.dep AND r.verdict = 'accepted' AND r.kept IS NOT NULL \
         LEFT JOIN runners n ON n.id = r.runner \
         WHERE d.task IN ({places}) AND NOT EXISTS (SELECT 1 FROM landings l WHERE l.report = r.id AND \
         l.state = 'landed') AND NOT EXISTS (SELECT 1 FROM reports m WHERE m.task = r.task AND \
         m.verdict = 'accepted' AND m.at > r.at) ORDER BY d.task, t.id"
    );
    let mut away: Vec<(TaskId, String)> = Vec::new();
    for row in tx.read().all(&sql, values).await? {
        let (task, runner): (TaskId, RunnerId) = (row.parsed("task")?, row.parsed("runner")?);
        if connected.contains(&runner) || away.iter().any(|(known, _)| *known == task) {
            continue;
        }
        let place = match row.text_or_none("name")? {
            Some(name) => format!("on runner `{name}`, which is offline"),
            None => "on a runner that was removed".to_owned(),
        };
        away.push((task, format!("the accepted work of `{}` is {place}", row.text("title")?)));
    }
    Ok(away)
}

/// Works that a new workspace waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaiting {
    /// The new workspace.
    pub workspace: WorkspaceId,
    /// Its runner.
    pub to: RunnerId,
    /// The repository, as the project names it.
    pub location: String,
    /// The missing works, each with the runner that keeps it.
    pub missing: Vec<(ReportId, RunnerId)>,
    /// Whether a session still waits for the works.
    pub wanted: bool,
}

const WAITING: &str = "SELECT w.id, w.runner, w.repository, w.start_from, (SELECT COUNT(*) FROM sessions s WHERE \
    s.workspace = w.id AND s.ended_at IS NULL AND s.stop IS NULL) AS waiting FROM workspaces w WHERE w.awaits_works = 1";

async fn awaiting(c: &mut Connection<'_>, row: &Row) -> Result<Awaiting, StoreError> {
    let to: RunnerId = row.parsed("runner")?;
    let works = match json_or_none(row, "start_from")? {
        Some(StartFrom::Works { works }) => works,
        _ => Vec::new(),
    };
    let mut missing = Vec::new();
    for work in works.iter().filter(|work| work.bundle.is_none()) {
        // A published branch is fetched with the repository.
        let sql = "SELECT runner FROM reports r WHERE r.id = $1 AND NOT EXISTS (SELECT 1 FROM landings l WHERE \
                   l.report = r.id AND l.state IN ('published', 'queued', 'landed'))";
        let kept = c.first(sql, vec![text(work.report)]).await?;
        let at: Option<RunnerId> = kept.map_or(Ok(None), |row| id_or_none(&row, "runner"))?;
        missing.extend(at.filter(|at| *at != to).map(|at| (work.report, at)));
    }
    let repository: Option<protocol::Repository> = json_or_none(row, "repository")?;
    Ok(Awaiting {
        workspace: row.parsed("id")?,
        to,
        location: repository.map(|repository| repository.location).unwrap_or_default(),
        missing,
        wanted: row.count("waiting")? > 0,
    })
}

impl Store {
    /// All workspaces that wait for works.
    pub async fn awaiting(&self) -> Result<Vec<Awaiting>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let rows = c.all(&format!("{WAITING} ORDER BY w.id"), args![]).await?;
        let mut all = Vec::with_capacity(rows.len());
        for row in &rows {
            all.push(awaiting(&mut c, row).await?);
        }
        Ok(all)
    }

    /// What a workspace waits for; `None` if it does not wait.
    pub async fn awaited_by(&self, workspace: WorkspaceId) -> Result<Option<Awaiting>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        match c.first(&format!("{WAITING} AND w.id = $1"), vec![text(workspace)]).await? {
            Some(row) => awaiting(&mut c, &row).await.map(Some),
            None => Ok(None),
        }
    }
}

/// A work arrived at the runner that needs it.
#[derive(Debug, serde::Serialize)]
pub struct WorkArrived {
    /// The workspace that waits for the work.
    pub workspace: WorkspaceId,
    /// The report of the work.
    pub report: ReportId,
    /// The bundle with the work.
    pub bundle: String,
}

impl Command for WorkArrived {
    type Output = ();
    const VERB: &'static str = "work.arrived";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "SELECT start_from FROM workspaces WHERE id = $1 AND awaits_works = 1";
        let Some(row) = tx.read().first(sql, vec![text(self.workspace)]).await? else { return Ok(()) };
        let Some(StartFrom::Works { mut works }) = json_or_none(&row, "start_from")? else { return Ok(()) };
        for work in works.iter_mut().filter(|work| work.report == self.report) {
            work.bundle = Some(self.bundle.clone());
        }
        let sql = "UPDATE workspaces SET start_from = $1 WHERE id = $2";
        tx.run(sql, args![to_json(&StartFrom::Works { works }), self.workspace.to_string()]).await.map(|_| ())
    }
}

/// Publishes a work whose runner is connected to another hub: the branch brings it.
#[derive(Debug, serde::Serialize)]
pub struct PublishWorkFor {
    /// The workspace that waits for the work.
    pub workspace: WorkspaceId,
    /// The report of the work.
    pub report: ReportId,
}

impl Command for PublishWorkFor {
    type Output = ();
    const VERB: &'static str = "work.publish";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "SELECT r.task FROM reports r JOIN workspaces w ON w.id = $2 WHERE r.id = $1 AND w.awaits_works = 1";
        match tx.read().first(sql, vec![text(self.report), text(self.workspace)]).await? {
            Some(row) => landing::publish_for_others(tx, row.parsed("task")?).await.map(|_| ()),
            None => Ok(()),
        }
    }
}

/// Ends the wait of a workspace: its session starts with the works, or its task returns to the queue.
#[derive(Debug, serde::Serialize)]
pub struct EndWait {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Why the works could not be brought; absent if all arrived.
    pub failed: Option<String>,
}

impl Command for EndWait {
    type Output = ();
    const VERB: &'static str = "work.awaited";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "UPDATE workspaces SET awaits_works = 0 WHERE id = $1 AND awaits_works = 1";
        if tx.run(sql, vec![text(self.workspace)]).await? == 0 {
            return Ok(());
        }
        super::waited::ended(tx, self.workspace, self.failed.as_deref()).await
    }
}
