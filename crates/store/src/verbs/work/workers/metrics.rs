//! Metrics of the work in a project.

mod read;
mod series;

use std::collections::BTreeMap;

use domain::{Action, AttemptOutcome, ProjectId, WorkerId};
use engine::metrics::series::{mean, per, tally};
use engine::metrics::spans::{self, Span};
use protocol::{Metrics, MetricsPage, TaskCount, WorkerMetrics};
use read::{Hold, Seen};

use super::rows::{nothing, sum};
use crate::sql::{Connection, args, text};
use crate::verbs::projects;
use crate::{Caller, Store, StoreError};

/// The default and maximum window, in hours.
const HOURS: (u32, u32) = (24, 24 * 90);

impl Store {
    /// The metrics of a project.
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
}

async fn measure(c: &mut Connection<'_>, project: ProjectId, window: Span) -> Result<Metrics, StoreError> {
    let sql = "SELECT status, COUNT(*) AS total FROM tasks WHERE project = $1 GROUP BY status ORDER BY status";
    let mut counts = Vec::new();
    for row in c.all(sql, vec![text(project)]).await? {
        counts.push(TaskCount { status: row.parsed("status")?, count: row.count("total")? });
    }
    // Waiting time ends with the first attempt: a task that returned to the queue keeps its age, but was worked on
    // meanwhile.
    let sql = "SELECT CAST(SUM(a.started_at - t.ready_at) AS BIGINT) AS waited, COUNT(*) AS total FROM attempts a JOIN \
               tasks t ON t.id = a.task WHERE a.project = $1 AND a.number = 1 AND a.started_at >= t.ready_at AND \
               a.started_at >= $2";
    let waiting = match c.first(sql, args![project.to_string(), window.0]).await? {
        Some(row) => row.integer_or_none("waited")?.unwrap_or(0).checked_div(row.integer("total")?),
        None => None,
    };
    let seen = Seen::read(c, project, window).await?;
    let (interventions, over) = (small(seen.asked.len()), small(seen.over.len()));
    let spans = seen.spans();
    let scores = tally(&seen.scores.iter().map(|given| given.score).collect::<Vec<_>>());
    let lost = seen.holds.iter().filter_map(Hold::lost_for);
    let (lost_for, lost) = lost.fold((0u64, 0u64), |(all, times), took| (all.saturating_add(took), times + 1));
    Ok(Metrics {
        project,
        counts,
        interventions,
        interventions_per_task: per(interventions, over).unwrap_or(0),
        over,
        context_scores: scores.to_vec(),
        context_score: mean(&scores),
        speed_up: spans::speed_up(&seen.useful(), window),
        busy: spans::average(&spans, window),
        peak: spans::peak(&seen.work(), window),
        detection_ms: lost_for.checked_div(lost),
        vanished: series::noticed(seen.holds.iter().filter_map(Hold::lost_for)),
        failures: series::noticed(seen.holds.iter().filter_map(Hold::failed_for)),
        waiting_ms: waiting.map(i64::cast_unsigned),
        usage: seen.holds.iter().fold(nothing(), |all, hold| sum(&all, &hold.usage)),
        workers: workers(c, project, &seen, window).await?,
        series: series::points(&seen, window),
    })
}

/// Metrics of each worker that was active in the window or exists now.
async fn workers(
    c: &mut Connection<'_>,
    project: ProjectId,
    seen: &Seen,
    window: Span,
) -> Result<Vec<WorkerMetrics>, StoreError> {
    let sql = "SELECT id, name, colour, removed_at FROM workers WHERE project = $1";
    let mut found = BTreeMap::new();
    for row in c.all(sql, vec![text(project)]).await? {
        let worker: WorkerId = row.parsed("id")?;
        let own: Vec<&Hold> = seen.holds.iter().filter(|hold| hold.worker == worker).collect();
        if own.is_empty() && row.integer_or_none("removed_at")?.is_some() {
            continue;
        }
        let spans: Vec<Span> = own.iter().map(|hold| hold.span).collect();
        let scores: Vec<u8> =
            seen.scores.iter().filter(|given| given.worker == worker).map(|given| given.score).collect();
        let colour = row.count("colour")?;
        let name = own.last().map_or(row.text("name")?, |hold| hold.name.clone());
        let measured = WorkerMetrics {
            worker,
            name,
            colour,
            done: small(own.iter().filter(|hold| hold.outcome == AttemptOutcome::Accepted).count()),
            failed: small(own.iter().filter(|hold| hold.failed()).count()),
            context_score: mean(&tally(&scores)),
            usage: own.iter().fold(nothing(), |all, hold| sum(&all, &hold.usage)),
            busy_ms: spans::sum(&spans, window),
        };
        found.insert((colour, worker), measured);
    }
    Ok(found.into_values().collect())
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
