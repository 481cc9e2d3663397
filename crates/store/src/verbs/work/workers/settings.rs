//! Work settings of a project.

use domain::{Action, AssignStrategy, ProjectId, Timestamp};
use protocol::{Change, UserRef, Verb, WorkConfigure, WorkSettings, verbs};

use super::rows::tell;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Caller, Command, Store, StoreError};

/// The default settings.
pub(crate) const DEFAULTS: WorkSettings = WorkSettings {
    strategy: AssignStrategy::LeastLoaded,
    lease_seconds: 90,
    heartbeat_seconds: 30,
    missed: 3,
    task_minutes: 0,
    tries_per_worker: 2,
    workers_per_task: 2,
    breaker_failures: 3,
    breaker_seconds: 60,
    scale_least: 0,
    scale_most: 0,
    scale_tasks_per_worker: 2,
    scale_idle_seconds: 300,
    budget_micros: None,
    frozen: false,
    frozen_by: Vec::new(),
};

const COLUMNS: &str = "SELECT s.project, s.settings, p.owner, (SELECT COUNT(*) FROM freezes f WHERE f.project IN ('', \
    s.project)) AS freezes FROM work_settings s JOIN projects p ON p.id = s.project";

/// People with a freeze who own a project or have workers in it.
const FROZEN_BY: &str = "SELECT u.id, u.name FROM users u WHERE u.id IN (SELECT f.user_id FROM freezes f WHERE f.project \
    IN ('', $1)) AND (u.id IN (SELECT p.owner FROM projects p WHERE p.id = $1) OR u.id IN (SELECT w.owner FROM workers w \
    WHERE w.project = $1 AND w.removed_at IS NULL)) ORDER BY u.name, u.id";

async fn settings(c: &mut Connection<'_>, row: &Row) -> Result<WorkSettings, StoreError> {
    let stored: WorkSettings = row.json("settings")?;
    let mut frozen_by = Vec::new();
    if row.integer("freezes")? > 0 {
        for person in c.all(FROZEN_BY, vec![text(row.text("project")?)]).await? {
            frozen_by.push(UserRef { id: person.parsed("id")?, name: person.text("name")? });
        }
    }
    let owner = row.parsed("owner")?;
    Ok(WorkSettings { frozen: frozen_by.iter().any(|person| person.id == owner), frozen_by, ..stored })
}

/// A project's settings, without an access check.
pub(crate) async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<WorkSettings, StoreError> {
    match c.first(&format!("{COLUMNS} WHERE s.project = $1"), vec![text(project)]).await? {
        Some(row) => settings(c, &row).await,
        None => Ok(DEFAULTS),
    }
}

/// The settings of every project that has any.
pub(crate) async fn all(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
) -> Result<Vec<(ProjectId, WorkSettings)>, StoreError> {
    let filter = if only.is_some() { "WHERE s.project = $1" } else { "" };
    let rows = c.all(&format!("{COLUMNS} {filter} ORDER BY s.project"), only.map(text).into_iter().collect()).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        found.push((row.parsed("project")?, settings(c, row).await?));
    }
    Ok(found)
}

/// When a lease ends that was renewed at `renewed`, of a task that was taken at `taken`.
pub(crate) fn lease_end(settings: &WorkSettings, renewed: Timestamp, taken: Option<Timestamp>) -> Timestamp {
    let lease = renewed.plus_millis(i64::from(settings.lease_seconds) * 1000);
    match (hold_ms(settings), taken) {
        (Some(most), Some(taken)) => lease.min(taken.plus_millis(most)),
        _ => lease,
    }
}

/// The maximum length of a hold, if there is one.
pub(crate) fn hold_ms(settings: &WorkSettings) -> Option<i64> {
    (settings.task_minutes > 0).then_some(i64::from(settings.task_minutes) * 60_000)
}

/// The round-robin position.
pub(crate) async fn turn(c: &mut Connection<'_>, project: ProjectId) -> Result<u64, StoreError> {
    let row = c.first("SELECT turn FROM work_settings WHERE project = $1", vec![text(project)]).await?;
    Ok(row.map(|row| row.integer("turn")).transpose()?.unwrap_or(0).cast_unsigned())
}

/// Makes sure that a project has a row, which also stores the round-robin position.
pub(crate) async fn ensure(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let sql = "INSERT INTO work_settings (project, settings, turn) VALUES ($1, $2, 0) ON CONFLICT (project) DO NOTHING";
    tx.run(sql, args![project.to_string(), to_json(&DEFAULTS)]).await?;
    Ok(())
}

/// Announces a project's settings to those who see it.
pub(crate) async fn announce(tx: &mut Tx<'_>, project: ProjectId) -> Result<WorkSettings, StoreError> {
    let settings = of(tx.read(), project).await?;
    tell(tx, project, Change::WorkSettings { project, settings: settings.clone() });
    Ok(settings)
}

impl Command for verbs::WorkConfigure {
    type Output = WorkSettings;
    const VERB: &'static str = verbs::WorkConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<WorkSettings, StoreError> {
        tx.check(self.project, Action::Govern, "project").await?;
        let before = of(tx.read(), self.project).await?;
        let after = changed(&before, &self.input)?;
        if after == before {
            return Ok(before);
        }
        ensure(tx, self.project).await?;
        let stored = to_json(&WorkSettings { frozen: false, frozen_by: Vec::new(), ..after.clone() });
        let sql = "UPDATE work_settings SET settings = $1 WHERE project = $2";
        tx.run(sql, args![stored, self.project.to_string()]).await?;
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), differences(&before, &after));
        let patience = |settings: &WorkSettings| (settings.lease_seconds, settings.heartbeat_seconds, settings.missed);
        if patience(&before) != patience(&after) {
            tell_runners(tx, self.project).await?;
        }
        announce(tx, self.project).await
    }
}

/// Tells the runners of a project's workers the new heartbeat interval.
async fn tell_runners(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let sql = "SELECT DISTINCT w.runner FROM workers w JOIN runners r ON r.id = w.runner WHERE w.project = $1 AND \
               w.kind = 'managed' AND w.removed_at IS NULL ORDER BY w.runner";
    for row in tx.read().all(sql, vec![text(project)]).await? {
        tx.desire(row.parsed("runner")?).await?;
    }
    Ok(())
}

fn changed(before: &WorkSettings, input: &WorkConfigure) -> Result<WorkSettings, StoreError> {
    let within = |field: &'static str, value: Option<u32>, before: u32, least: u32, most: u32| match value {
        Some(value) if !(least..=most).contains(&value) => {
            Err(StoreError::invalid(field, format!("{} is {least} to {most}, not {value}", in_words(field))))
        }
        value => Ok(value.unwrap_or(before)),
    };
    let budget_micros = match input.budget_micros {
        Some(0) => None,
        Some(micros) if i64::try_from(micros).is_err() => {
            return Err(StoreError::invalid("budget_micros", "the budget is too large"));
        }
        given => given.or(before.budget_micros),
    };
    let after = WorkSettings {
        strategy: input.strategy.unwrap_or(before.strategy),
        lease_seconds: within("lease_seconds", input.lease_seconds, before.lease_seconds, 2, 86_400)?,
        heartbeat_seconds: within("heartbeat_seconds", input.heartbeat_seconds, before.heartbeat_seconds, 1, 3_600)?,
        missed: within("missed", input.missed, before.missed, 1, 100)?,
        task_minutes: within("task_minutes", input.task_minutes, before.task_minutes, 0, 10_080)?,
        tries_per_worker: within("tries_per_worker", input.tries_per_worker, before.tries_per_worker, 0, 20)?,
        workers_per_task: within("workers_per_task", input.workers_per_task, before.workers_per_task, 1, 20)?,
        breaker_failures: within("breaker_failures", input.breaker_failures, before.breaker_failures, 1, 100)?,
        breaker_seconds: within("breaker_seconds", input.breaker_seconds, before.breaker_seconds, 1, 86_400)?,
        scale_least: within("scale_least", input.scale_least, before.scale_least, 0, 32)?,
        scale_most: within("scale_most", input.scale_most, before.scale_most, 0, 32)?,
        scale_tasks_per_worker: within(
            "scale_tasks_per_worker",
            input.scale_tasks_per_worker,
            before.scale_tasks_per_worker,
            1,
            1_000,
        )?,
        scale_idle_seconds: within(
            "scale_idle_seconds",
            input.scale_idle_seconds,
            before.scale_idle_seconds,
            1,
            86_400,
        )?,
        budget_micros,
        frozen: before.frozen,
        frozen_by: before.frozen_by.clone(),
    };
    if after.heartbeat_seconds >= after.lease_seconds {
        let message = format!(
            "a heartbeat every {} s cannot keep a lease of {} s: make the lease longer or the heartbeat shorter",
            after.heartbeat_seconds, after.lease_seconds
        );
        return Err(StoreError::invalid("heartbeat_seconds", message));
    }
    if after.scale_most != 0 && after.scale_most < after.scale_least {
        let message = format!("the maximum number of workers must be at least the minimum, {}", after.scale_least);
        return Err(StoreError::invalid("scale_most", message));
    }
    Ok(after)
}

/// The name of a setting as people see it.
fn in_words(field: &str) -> String {
    let words = match field {
        "missed" => "the number of missed heartbeats".to_owned(),
        "task_minutes" => "the time for which a worker may have a task, in minutes,".to_owned(),
        "tries_per_worker" => "the number of tries per worker".to_owned(),
        "workers_per_task" => "the number of workers per task".to_owned(),
        "breaker_failures" => "the number of failures that open a breaker".to_owned(),
        "breaker_seconds" => "a breaker's cool-down".to_owned(),
        "scale_least" => "the minimum number of workers".to_owned(),
        "scale_most" => "the maximum number of workers".to_owned(),
        "scale_tasks_per_worker" => "the number of waiting tasks per worker".to_owned(),
        "scale_idle_seconds" => "the time for which a worker may be idle".to_owned(),
        other => format!("the {}", other.trim_end_matches("_seconds")),
    };
    if field.ends_with("_seconds") { format!("{words}, in seconds,") } else { words }
}

/// The changed settings, for the audit trail.
fn differences(before: &WorkSettings, after: &WorkSettings) -> String {
    let object = |settings: &WorkSettings| match serde_json::to_value(settings) {
        Ok(serde_json::Value::Object(object)) => object,
        _ => serde_json::Map::new(),
    };
    let before = object(before);
    let changed = object(after).into_iter().filter(|(name, value)| before.get(name) != Some(value));
    changed.map(|(name, value)| format!("{name} → {value}")).collect::<Vec<_>>().join("; ")
}

impl Store {
    /// The work settings of a project.
    pub async fn work_settings(&self, caller: &Caller, project: ProjectId) -> Result<WorkSettings, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        of(&mut c, project).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_by_name() {
        let refused = |input: WorkConfigure| match changed(&DEFAULTS, &input) {
            Err(StoreError::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(WorkConfigure { lease_seconds: Some(1), ..Default::default() }), "lease_seconds");
        let said = changed(&DEFAULTS, &WorkConfigure { lease_seconds: Some(1), ..Default::default() }).unwrap_err();
        assert_eq!(said.to_string(), "the lease, in seconds, is 2 to 86400, not 1", "in words, not as on the wire");
        assert_eq!(refused(WorkConfigure { lease_seconds: Some(30), ..Default::default() }), "heartbeat_seconds");
        let scale = WorkConfigure { scale_least: Some(4), scale_most: Some(3), ..Default::default() };
        assert_eq!(refused(scale), "scale_most");
        assert_eq!(refused(WorkConfigure { workers_per_task: Some(0), ..Default::default() }), "workers_per_task");
        let budget = WorkConfigure { budget_micros: Some(5), ..Default::default() };
        let some = changed(&DEFAULTS, &budget).unwrap_or(DEFAULTS);
        assert_eq!(some.budget_micros, Some(5));
        let none = changed(&some, &WorkConfigure { budget_micros: Some(0), ..Default::default() });
        assert_eq!(none.map(|settings| settings.budget_micros).ok(), Some(None));
    }
}
