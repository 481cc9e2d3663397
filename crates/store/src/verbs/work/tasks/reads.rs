//! Reading tasks and escalations.

use domain::limits::{MAX_LISTED, MAX_OF_ONE_TASK};
use domain::short::ShortError;
use domain::{Action, EscalationId, ProjectId, Short, TaskId};
use engine::tasks::life::why;
use protocol::{Attempt, Escalation, EscalationFilter, Report, Task, TaskDetail, TaskFilter, TaskLine, Usage, Veil};

use super::reach::list;
use super::row::{self, TaskRow, id_or_none};
use super::tried::tried;
use crate::sql::{Connection, Row, Value, args, text, to_json};
use crate::verbs::chat::page_size;
use crate::verbs::fitting::Fitting;
use crate::verbs::projects;
use crate::verbs::sight::{self, Sight};
use crate::verbs::work::review::{ask, evidence, judge};
use crate::{Caller, Store, StoreError};

/// The default and maximum number of listed tasks.
const PAGE: (u32, u32) = (200, 1000);

/// The default and maximum number of whole tasks, each of which may be long.
const WHOLE_PAGE: (u32, u32) = (100, 200);

/// The maximum number of dependants in a task's detail.
const DEPENDANTS: u32 = 500;

/// SQL for the length of a report and of a question.
const REPORT: &str = "LENGTH(summary) + LENGTH(deliverables) + LENGTH(results)";
const QUESTION: &str = "LENGTH(question) + LENGTH(options) + LENGTH(context)";

/// The newest rows of a table for one task, whose id is `$1`.
fn of_task(table: &str) -> Fitting<'_> {
    Fitting { table, size: "1", newest: "id", among: "task = $1", most: MAX_OF_ONE_TASK }
}

const LINE: &str = "SELECT id, project, number, \
    (SELECT p.task_key FROM projects p WHERE p.id = t.project) AS task_key, activity, title, status, reason, waiting, priority, labels, needs, attempt, worker, session, progress, \
    deps, waits_for, created_at, updated_at FROM tasks t";

fn line(row: &Row) -> Result<TaskLine, StoreError> {
    let status = row.parsed("status")?;
    Ok(TaskLine {
        id: row.parsed("id")?,
        short: row::short(row)?.to_string(),
        project: row.parsed("project")?,
        activity: id_or_none(row, "activity")?,
        title: row.text("title")?,
        status,
        reason: why(status, row.text_or_none("reason")?.as_deref(), row.text_or_none("waiting")?.as_deref()),
        priority: u8::try_from(row.count("priority")?).unwrap_or(u8::MAX),
        labels: row.json("labels")?,
        needs: row.json("needs")?,
        attempt: row.count("attempt")?,
        assigned_to: id_or_none(row, "worker")?,
        session: id_or_none(row, "session")?,
        progress: row.text_or_none("progress")?,
        deps: row.json("deps")?,
        waits_for: row.count("waits_for")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

pub(crate) fn attempt(row: &Row) -> Result<Attempt, StoreError> {
    Ok(Attempt {
        number: row.count("number")?,
        fence: row.integer("fence")?.cast_unsigned(),
        worker: row.parsed("worker")?,
        worker_name: row.text("worker_name")?,
        agent: row.text("agent")?,
        sessions: row.json("sessions")?,
        workspace: id_or_none(row, "workspace")?,
        branch: row.text_or_none("branch")?,
        started_at: row.time("started_at")?,
        ended_at: row.time_or_none("ended_at")?,
        outcome: row.parsed("outcome")?,
        reason: row.text_or_none("reason")?,
        usage: row.json::<Usage>("usage")?,
    })
}

/// Restricts a query to projects that the caller may see; `None` if there are none.
async fn among(
    c: &mut Connection<'_>,
    caller: &Caller,
    only: Option<ProjectId>,
    values: &mut Vec<Value>,
) -> Result<Option<String>, StoreError> {
    if let Some(project) = only {
        projects::check(c, caller, project, Action::See, "project").await?;
        values.push(text(project));
        return Ok(Some(format!("= ${}", values.len())));
    }
    let visible: Vec<ProjectId> = projects::seen(c, caller).await?.into_keys().collect();
    if visible.is_empty() {
        return Ok(None);
    }
    let first = values.len();
    let (_, ids) = list(&visible);
    let places: Vec<String> = (1..=ids.len()).map(|at| format!("${}", first + at)).collect();
    values.extend(ids);
    Ok(Some(format!("IN ({})", places.join(", "))))
}

impl Store {
    /// Whether the caller may add tasks to a project.
    pub async fn may_add_tasks(&self, caller: &Caller, project: ProjectId) -> Result<(), StoreError> {
        let mut reader = self.readers.get().await?;
        projects::check(&mut reader.borrow(), caller, project, Action::Write, "project").await.map(drop)
    }

    /// The tasks that the caller may see, ordered by id.
    pub async fn tasks(&self, caller: &Caller, filter: &TaskFilter) -> Result<Vec<TaskLine>, StoreError> {
        let limit = page_size(filter.limit, PAGE)?;
        let veil = |sight: &Sight<'_>, line: &mut TaskLine| {
            if !sight.by(line.project, line.assigned_to) {
                line.veil();
            }
        };
        self.listed(caller, filter, limit, LINE, line, veil).await
    }

    /// The tasks that the caller may see, with all their fields.
    pub async fn whole_tasks(&self, caller: &Caller, filter: &TaskFilter) -> Result<Vec<Task>, StoreError> {
        let limit = page_size(filter.limit, WHOLE_PAGE)?;
        let veil = |sight: &Sight<'_>, task: &mut Task| sight.task(task);
        self.listed(caller, filter, limit, row::COLUMNS, |row| Ok(TaskRow::read(row)?.view()), veil).await
    }

    /// The tasks that match a filter; `columns` selects from `tasks t`.
    async fn listed<T>(
        &self,
        caller: &Caller,
        filter: &TaskFilter,
        limit: u32,
        columns: &str,
        read: impl Fn(&Row) -> Result<T, StoreError>,
        veil: impl Fn(&Sight<'_>, &mut T),
    ) -> Result<Vec<T>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let mut values = Vec::new();
        let Some(among) = among(&mut c, caller, filter.project, &mut values).await? else { return Ok(Vec::new()) };
        let mut sql = format!("{columns} WHERE t.project {among}");
        let narrowed = [
            ("t.status =", filter.status.map(text)),
            ("t.activity =", filter.activity.map(text)),
            ("t.worker =", filter.worker.map(text)),
            ("t.id >", filter.after.map(text)),
        ];
        for (condition, value) in narrowed {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {condition} ${}", values.len()));
            }
        }
        if let Some(label) = &filter.label {
            // The column is a JSON list: a label in its quotes is in the text only as a whole.
            values.push(text(to_json(label)));
            sql.push_str(&format!(" AND REPLACE(t.labels, ${}, '') <> t.labels", values.len()));
        }
        if let Some(short) = &filter.short {
            let short: Short =
                short.parse().map_err(|error: ShortError| StoreError::invalid("short", error.to_string()))?;
            values.extend(args![short.key, short.number]);
            let (key, number) = (values.len() - 1, values.len());
            let of_key = format!("SELECT p.id FROM projects p WHERE p.task_key = ${key}");
            sql.push_str(&format!(" AND t.number = ${number} AND t.project IN ({of_key})"));
        }
        values.extend(args![limit]);
        sql.push_str(&format!(" ORDER BY t.id LIMIT ${}", values.len()));
        let mut listed = c.all(&sql, values).await?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let sight = Sight::anywhere(&mut c, caller).await?;
        listed.iter_mut().for_each(|one| veil(&sight, one));
        Ok(listed)
    }

    /// One task with its recent history.
    pub async fn task_detail(&self, caller: &Caller, id: TaskId) -> Result<TaskDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let found = c.first(&format!("{} WHERE t.id = $1", row::COLUMNS), vec![text(id)]).await?;
        let task = TaskRow::read(&found.ok_or(StoreError::NotFound("task"))?)?;
        let facts = projects::check(&mut c, caller, task.project, Action::See, "task").await?;
        let mut deps = Vec::with_capacity(task.deps.len());
        for some in task.deps.chunks(128) {
            let (places, values) = list(some);
            let rows = c.all(&format!("{LINE} WHERE id IN ({places}) ORDER BY id"), values).await?;
            deps.extend(rows.iter().map(line).collect::<Result<Vec<_>, _>>()?);
        }
        let sql =
            format!("{LINE} WHERE id IN (SELECT task FROM task_deps WHERE dep = $1) ORDER BY id LIMIT {DEPENDANTS}");
        let dependants = c.all(&sql, vec![text(id)]).await?.iter().map(line).collect::<Result<_, _>>()?;
        let sql = format!(
            "SELECT * FROM attempts WHERE task = $1 AND number > (SELECT COALESCE(MAX(number), 0) - {MAX_OF_ONE_TASK} \
             FROM attempts WHERE task = $1) ORDER BY number"
        );
        let mut attempts = c.all(&sql, vec![text(id)]).await?.iter().map(attempt).collect::<Result<Vec<_>, _>>()?;
        let listed = Fitting { size: REPORT, newest: "at", ..of_task("reports") };
        let sql = format!("{} WHERE r.id IN ({}) ORDER BY r.at, r.id", judge::COLUMNS, listed.ids());
        let rows = c.all(&sql, vec![text(id)]).await?;
        let mut reports = rows.iter().map(judge::report).collect::<Result<Vec<Report>, _>>()?;
        let checkers = sight::checkers(&mut c, id).await?;
        let listed = Fitting { size: QUESTION, newest: "created_at", ..of_task("escalations") };
        let sql = format!("{} WHERE e.id IN ({}) ORDER BY e.created_at, e.id", ask::COLUMNS, listed.ids());
        let sight = Sight::on(&mut c, caller, facts).await?;
        let seen = |row: &Row| evidence::seen_by(row, &sight);
        let escalations = c.all(&sql, vec![text(id)]).await?.iter().map(seen).collect::<Result<_, _>>()?;
        for attempt in attempts.iter_mut().filter(|attempt| !sight.by(task.project, Some(attempt.worker))) {
            attempt.veil();
        }
        for report in &mut reports {
            let checked = checkers.get(&report.id).copied();
            sight.report(task.project, &task.acceptance, report, checked);
        }
        let mut detail = TaskDetail { task: task.view(), deps, dependants, attempts, reports, escalations };
        sight.task(&mut detail.task);
        detail.veil_lines(|worker| sight.by(task.project, worker));
        Ok(detail)
    }

    /// The newest escalations that fit into one answer, oldest first.
    pub async fn escalations(&self, caller: &Caller, filter: EscalationFilter) -> Result<Vec<Escalation>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let mut values = Vec::new();
        let Some(among) = among(&mut c, caller, filter.project, &mut values).await? else { return Ok(Vec::new()) };
        let open = if filter.answered.unwrap_or(false) { "" } else { " AND answered_at IS NULL" };
        let among = format!("project {among}{open}");
        let newest = "created_at";
        let listed = Fitting { table: "escalations", size: QUESTION, newest, among: &among, most: MAX_LISTED };
        let sql = format!("{} WHERE e.id IN ({}) ORDER BY e.created_at, e.id", ask::COLUMNS, listed.ids());
        let rows = c.all(&sql, values).await?;
        let sight = Sight::anywhere(&mut c, caller).await?;
        let mut asked = rows.iter().map(|row| evidence::seen_by(row, &sight)).collect::<Result<Vec<_>, _>>()?;
        tried(&mut c, &sight, &mut asked).await?;
        Ok(asked)
    }

    /// One escalation.
    pub async fn escalation(&self, caller: &Caller, id: EscalationId) -> Result<Escalation, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = c.first(&format!("{} WHERE e.id = $1", ask::COLUMNS), vec![text(id)]).await?;
        let row = row.ok_or(StoreError::NotFound("escalation"))?;
        let facts = projects::check(&mut c, caller, row.parsed("project")?, Action::See, "escalation").await?;
        let sight = Sight::on(&mut c, caller, facts).await?;
        let mut one = [evidence::seen_by(&row, &sight)?];
        tried(&mut c, &sight, &mut one).await?;
        let [one] = one;
        Ok(one)
    }
}

/// The open escalations of one project or of all. The caller must check which projects may be seen.
pub(crate) async fn open_escalations(
    c: &mut Connection<'_>,
    caller: &Caller,
    only: Option<ProjectId>,
) -> Result<Vec<Escalation>, StoreError> {
    let filter = if only.is_some() { " AND e.project = $1" } else { "" };
    let sql = format!("{} WHERE e.answered_at IS NULL{filter} ORDER BY e.created_at, e.id", ask::COLUMNS);
    let rows = c.all(&sql, only.map(text).into_iter().collect()).await?;
    let sight = Sight::anywhere(c, caller).await?;
    rows.iter().map(|row| evidence::seen_by(row, &sight)).collect()
}
