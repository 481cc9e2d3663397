//! How the work in a project goes, and who is doing what.

use std::collections::{BTreeMap, HashMap};

use domain::{Action, AttemptOutcome, ProjectId, Timestamp, WorkerId};
use engine::spans::{self, Span};
use protocol::{DoingWhat, Metrics, MetricsPage, MetricsPoint, TaskCount, Usage, WorkerMetrics};

use super::rows::{nothing, sum};
use crate::sql::{Connection, Row, args, text};
use crate::verbs::workspaces::sees;
use crate::verbs::{projects, sessions};
use crate::{Caller, Store, StoreError};

/// How many hours are measured when nobody says, and at most.
const HOURS: (u32, u32) = (24, 24 * 90);
/// How many points a series has.
const POINTS: i64 = 48;

/// One worker's hold on a task, as far as it is measured.
struct Hold {
    worker: WorkerId,
    name: String,
    /// From when to when it worked.
    span: Span,
    /// When it ended: later than the work, if a person had to judge.
    over: i64,
    ended: bool,
    last_sign: Option<i64>,
    outcome: AttemptOutcome,
    usage: Usage,
}

impl Hold {
    fn read(row: &Row, now: Timestamp) -> Result<Self, StoreError> {
        let ended = row.integer_or_none("ended_at")?;
        let over = ended.unwrap_or(now.as_millis());
        let until = row.integer_or_none("asked_at")?.map_or(over, |asked| over.min(asked));
        Ok(Self {
            worker: row.parsed("worker")?,
            name: row.text("worker_name")?,
            span: (row.integer("started_at")?, until),
            over,
            ended: ended.is_some(),
            last_sign: row.integer_or_none("last_sign_at")?,
            outcome: row.parsed("outcome")?,
            usage: row.json("usage")?,
        })
    }

    fn failed(&self) -> bool {
        matches!(self.outcome, AttemptOutcome::Failed | AttemptOutcome::Lost | AttemptOutcome::Refused)
    }
}

impl Store {
    /// How the work in a project goes.
    pub async fn metrics(&self, caller: &Caller, project: ProjectId, page: MetricsPage) -> Result<Metrics, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let hours = page.hours.unwrap_or(HOURS.0);
        if hours == 0 || hours > HOURS.1 {
            return Err(StoreError::invalid("hours", format!("`hours` is 1 to {}", HOURS.1)));
        }
        let now = self.now();
        let window = (now.as_millis() - i64::from(hours) * 3_600_000, now.as_millis());
        measure(&mut c, project, window).await
    }

    /// Who is doing what in a project: workers with their tasks, and sessions that the caller may look into.
    pub async fn doing(&self, caller: &Caller, project: ProjectId) -> Result<Vec<DoingWhat>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, project, Action::See, "project").await?;
        let sql = "SELECT w.name, t.title, t.progress, t.files, t.taken_at, t.updated_at, t.session FROM tasks t \
                   JOIN workers w ON w.id = t.worker WHERE t.project = $1 AND t.status IN ('assigned', 'running', \
                   'reported', 'validating') ORDER BY t.taken_at, t.id LIMIT 500";
        let mut doing = Vec::new();
        let mut taken = Vec::new();
        for row in c.all(sql, vec![text(project)]).await? {
            let title = row.text("title")?;
            let what = row.text_or_none("progress")?.map_or(title.clone(), |progress| format!("{title}: {progress}"));
            let since = row.time_or_none("taken_at")?.unwrap_or(row.time("updated_at")?);
            taken.extend(row.text_or_none("session")?);
            doing.push(DoingWhat { who: row.text("name")?, what, files: row.json("files")?, since });
        }
        let filter = protocol::ExecutionFilter { project: Some(project), ..Default::default() };
        for session in sessions::of(&mut c, filter, None).await? {
            if sees(caller, Some(&facts), session.owner.id) && !taken.contains(&session.id.to_string()) {
                let (who, what) = (session.owner.name, session.title);
                doing.push(DoingWhat { who, what, files: Vec::new(), since: session.created_at });
            }
        }
        Ok(doing)
    }
}

async fn measure(c: &mut Connection<'_>, project: ProjectId, window: Span) -> Result<Metrics, StoreError> {
    let sql = "SELECT status, COUNT(*) AS total FROM tasks WHERE project = $1 GROUP BY status ORDER BY status";
    let mut counts = Vec::new();
    for row in c.all(sql, vec![text(project)]).await? {
        counts.push(TaskCount { status: row.parsed("status")?, count: row.count("total")? });
    }
    let holds = holds(c, project, window).await?;
    let asked = asked(c, project, window.0).await?;
    let scores = scores(c, project, window.0).await?;
    let sql = "SELECT COUNT(*) AS total FROM tasks WHERE project = $1 AND status IN ('done', 'failed', 'cancelled') \
               AND updated_at >= $2";
    let over = c.first(sql, args![project.to_string(), window.0]).await?;
    let over = over.map(|row| row.count("total")).transpose()?.unwrap_or(0);
    // Until somebody took it first: what came back keeps its age, and did not wait while it was worked on.
    let sql = "SELECT CAST(SUM(a.started_at - t.ready_at) AS BIGINT) AS waited, COUNT(*) AS total FROM attempts a JOIN \
               tasks t ON t.id = a.task WHERE a.project = $1 AND a.number = 1 AND a.started_at >= t.ready_at AND \
               a.started_at >= $2";
    let waiting = match c.first(sql, args![project.to_string(), window.0]).await? {
        Some(row) => row.integer_or_none("waited")?.unwrap_or(0).checked_div(row.integer("total")?),
        None => None,
    };
    let interventions = small(asked.len());
    let all_spans: Vec<Span> = holds.iter().map(|hold| hold.span).collect();
    let all_scores: Vec<u8> = scores.values().flatten().copied().collect();
    Ok(Metrics {
        project,
        counts,
        interventions,
        interventions_per_task: (interventions * 100).checked_div(over).unwrap_or(0),
        context_score: mean(&all_scores),
        speed_up: spans::speed_up(&all_spans, window),
        detection_ms: detection(&holds),
        waiting_ms: waiting.map(i64::cast_unsigned),
        usage: holds.iter().fold(nothing(), |all, hold| sum(&all, &hold.usage)),
        workers: workers(c, project, &holds, &scores, window).await?,
        series: series(&holds, &asked, window),
    })
}

/// The holds of a window: those that had not ended when it began. Whoever handed work to a person to judge is free, and
/// does not work until there is an answer.
async fn holds(c: &mut Connection<'_>, project: ProjectId, window: Span) -> Result<Vec<Hold>, StoreError> {
    let sql = "SELECT a.worker, a.worker_name, a.started_at, a.ended_at, a.last_sign_at, a.outcome, a.usage, \
               (SELECT MIN(e.created_at) FROM escalations e WHERE e.task = a.task AND e.created_at >= a.started_at AND \
               e.kind IN ('judgement', 'same_lines', 'contradiction', 'uncheckable')) AS asked_at FROM attempts a \
               WHERE a.project = $1 AND (a.ended_at IS NULL OR a.ended_at >= $2) ORDER BY a.started_at";
    let rows = c.all(sql, args![project.to_string(), window.0]).await?;
    rows.iter().map(|row| Hold::read(row, Timestamp::from_millis(window.1))).collect()
}

/// When people were asked.
async fn asked(c: &mut Connection<'_>, project: ProjectId, since: i64) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT created_at FROM escalations WHERE project = $1 AND created_at >= $2";
    let rows = c.all(sql, args![project.to_string(), since]).await?;
    rows.iter().map(|row| row.integer("created_at")).collect()
}

/// The context scores that each worker gave.
async fn scores(
    c: &mut Connection<'_>,
    project: ProjectId,
    since: i64,
) -> Result<HashMap<WorkerId, Vec<u8>>, StoreError> {
    let sql = "SELECT worker, context_score FROM reports WHERE project = $1 AND at >= $2 AND context_score IS NOT NULL";
    let mut scores: HashMap<WorkerId, Vec<u8>> = HashMap::new();
    for row in c.all(sql, args![project.to_string(), since]).await? {
        let score = u8::try_from(row.count("context_score")?).unwrap_or(5);
        scores.entry(row.parsed("worker")?).or_default().push(score);
    }
    Ok(scores)
}

/// How each worker does; those that did nothing in the window are left out unless they are there now.
async fn workers(
    c: &mut Connection<'_>,
    project: ProjectId,
    holds: &[Hold],
    scores: &HashMap<WorkerId, Vec<u8>>,
    window: Span,
) -> Result<Vec<WorkerMetrics>, StoreError> {
    let sql = "SELECT id, name, colour, removed_at FROM workers WHERE project = $1";
    let mut found = BTreeMap::new();
    for row in c.all(sql, vec![text(project)]).await? {
        let worker: WorkerId = row.parsed("id")?;
        let own: Vec<&Hold> = holds.iter().filter(|hold| hold.worker == worker).collect();
        if own.is_empty() && row.integer_or_none("removed_at")?.is_some() {
            continue;
        }
        let spans: Vec<Span> = own.iter().map(|hold| hold.span).collect();
        let colour = row.count("colour")?;
        let name = own.last().map_or(row.text("name")?, |hold| hold.name.clone());
        let measured = WorkerMetrics {
            worker,
            name,
            colour,
            done: small(own.iter().filter(|hold| hold.outcome == AttemptOutcome::Accepted).count()),
            failed: small(own.iter().filter(|hold| hold.failed()).count()),
            context_score: scores.get(&worker).and_then(|scores| mean(scores)),
            usage: own.iter().fold(nothing(), |all, hold| sum(&all, &hold.usage)),
            busy_ms: spans::sum(&spans, window),
        };
        found.insert((colour, worker), measured);
    }
    Ok(found.into_values().collect())
}

/// What happened in each stretch of the window.
fn series(holds: &[Hold], asked: &[i64], window: Span) -> Vec<MetricsPoint> {
    let width = (window.1 - window.0) / POINTS;
    let point = |index: i64| {
        let from = window.0 + index * width;
        let to = if index + 1 == POINTS { window.1 + 1 } else { from + width };
        let within = |at: i64| (from..to).contains(&at);
        let ended: Vec<&Hold> = holds.iter().filter(|hold| within(hold.over)).collect();
        let spans: Vec<Span> = holds.iter().map(|hold| hold.span).collect();
        let used = ended.iter().fold(nothing(), |all, hold| sum(&all, &hold.usage));
        let accepted = |hold: &&&Hold| hold.ended && hold.outcome == AttemptOutcome::Accepted;
        MetricsPoint {
            at: Timestamp::from_millis(from),
            done: small(ended.iter().filter(accepted).count()),
            failed: small(ended.iter().filter(|hold| hold.ended && hold.failed()).count()),
            interventions: small(asked.iter().filter(|at| within(**at)).count()),
            tokens: used.input_tokens.saturating_add(used.output_tokens),
            cost_micros: used.cost_micros.unwrap_or(0),
            busy: u32::try_from(spans::sum(&spans, (from, to)) * 100 / width.max(1).unsigned_abs()).unwrap_or(u32::MAX),
        }
    };
    (0..POINTS).map(point).collect()
}

/// How long it took on average to notice that a worker was gone.
fn detection(holds: &[Hold]) -> Option<u64> {
    let lost = holds.iter().filter(|hold| hold.outcome == AttemptOutcome::Lost && hold.ended);
    let times: Vec<u64> = lost.filter_map(|hold| Some((hold.over - hold.last_sign?).max(0).unsigned_abs())).collect();
    times.iter().sum::<u64>().checked_div(times.len() as u64)
}

/// The mean of scores, in hundredths.
fn mean(scores: &[u8]) -> Option<u32> {
    let total: u32 = scores.iter().map(|score| u32::from(*score)).sum();
    (total * 100).checked_div(small(scores.len()))
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
