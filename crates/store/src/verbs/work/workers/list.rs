//! Reading workers: those that a caller may see, one with its history, and the next deadlines.

use std::collections::HashMap;

use domain::{Action, ProjectFacts, ProjectId, Resource, RunnerId, Timestamp, UserId, WorkerId};
use engine::workers::liveness::{Heartbeat, gone_at, renew_seconds};
use protocol::{Attempt, Veil, WorkLogPage, Worker, WorkerAttempt, WorkerDetail, WorkerFilter};

use super::leases::{held_on, next_end};
use super::{log, rows, settings};
use crate::sql::{Connection, Row, args, text};
use crate::verbs::projects;
use crate::verbs::workspaces::sees as looks_into;
use crate::{Caller, Store, StoreError};

/// The maximum number of attempts in a worker's history.
const HISTORY: u32 = 100;

/// The columns of an attempt.
pub(crate) const ATTEMPT: &str = "a.number, a.fence, a.worker, a.worker_name, a.agent, a.sessions, a.workspace, \
    a.branch, a.started_at, a.ended_at, a.outcome, a.reason AS why, a.usage";

/// Reads a row of [`ATTEMPT`].
pub(crate) fn attempt(row: &Row) -> Result<Attempt, StoreError> {
    Ok(Attempt {
        number: row.count("number")?,
        fence: row.integer("fence")?.cast_unsigned(),
        worker: row.parsed("worker")?,
        worker_name: row.text("worker_name")?,
        agent: row.text("agent")?,
        sessions: row.json("sessions")?,
        workspace: row.text_or_none("workspace")?.and_then(|id| id.parse().ok()),
        branch: row.text_or_none("branch")?,
        started_at: row.time("started_at")?,
        ended_at: row.time_or_none("ended_at")?,
        outcome: row.parsed("outcome")?,
        reason: row.text_or_none("why")?,
        usage: row.json("usage")?,
    })
}

/// The next deadlines of a hub's work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkDue {
    /// When the next lease expires unless it is renewed.
    pub lease: Option<Timestamp>,
    /// Projects with a worker whose pause, silence or idle time ends, each with the first such time after the requested
    /// one.
    pub projects: Vec<(ProjectId, Timestamp)>,
    /// How often the hub must renew leases of sessions on its runners, in seconds; absent if there are none.
    pub renew: Option<u32>,
}

impl Store {
    /// The workers that the caller may see.
    pub async fn workers(&self, caller: &Caller, filter: WorkerFilter) -> Result<Vec<Worker>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        if let Some(project) = filter.project {
            projects::check(&mut c, caller, project, Action::See, "project").await?;
        }
        let facts = projects::all_facts(&mut c).await?;
        let mut found: Vec<Worker> =
            rows::all(&mut c, filter.project).await?.into_iter().map(|slot| slot.view).collect();
        found.retain(|worker| sees(caller, &facts, worker.project));
        let looks = |worker: &Worker| looks_into(caller, facts.get(&worker.project), worker.owner.id);
        found.iter_mut().filter(|worker| !looks(worker)).for_each(Veil::veil);
        Ok(found)
    }

    /// The owners of all workers, including removed ones.
    pub async fn worker_owners(&self) -> Result<HashMap<WorkerId, UserId>, StoreError> {
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all("SELECT id, owner FROM workers", args![]).await?;
        rows.iter().map(|row| Ok((row.parsed("id")?, row.parsed("owner")?))).collect()
    }

    /// One worker with its history.
    pub async fn worker(&self, caller: &Caller, id: WorkerId) -> Result<WorkerDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let worker = rows::find(&mut c, caller, id).await?.view;
        let sql = format!(
            "SELECT {ATTEMPT}, a.task, t.title FROM attempts a JOIN tasks t ON t.id = a.task WHERE a.worker = $1 AND \
             a.project = $2 ORDER BY a.started_at DESC, a.task LIMIT {HISTORY}"
        );
        let mut attempts = Vec::new();
        for row in c.all(&sql, vec![text(id), text(worker.project)]).await? {
            let (task, title) = (row.parsed("task")?, row.text("title")?);
            attempts.push(WorkerAttempt { task, title, attempt: attempt(&row)? });
        }
        let page = WorkLogPage { worker: Some(id), ..Default::default() };
        let log = log::of(&mut c, worker.project, page).await?;
        let facts = projects::facts_of(&mut c, worker.project).await?;
        let looks = looks_into(caller, facts.as_ref(), worker.owner.id);
        let detail = WorkerDetail { worker, attempts, log };
        Ok(if looks { detail } else { detail.veiled() })
    }

    /// Projects that have managed workers, or that scaling may give some.
    pub async fn worked_projects(&self) -> Result<Vec<ProjectId>, StoreError> {
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all("SELECT DISTINCT project FROM workers WHERE kind = 'managed'", args![]).await?;
        rows.iter().map(|row| row.parsed("project")).collect()
    }

    /// Projects with managed workers that have ready tasks, or lost workers that may return.
    pub async fn waiting_projects(&self) -> Result<Vec<ProjectId>, StoreError> {
        let sql = "SELECT w.project FROM (SELECT DISTINCT project FROM workers WHERE kind = 'managed') w WHERE \
                   EXISTS (SELECT 1 FROM task_queue q WHERE q.project = w.project) OR EXISTS \
                   (SELECT 1 FROM workers l WHERE l.project = w.project AND l.status = 'lost' AND l.removed_at IS NULL)";
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all(sql, args![]).await?;
        rows.iter().map(|row| row.parsed("project")).collect()
    }

    /// The work deadlines after `since`; `linked` are the runners of the calling hub.
    pub async fn work_due(&self, linked: &[RunnerId], since: Timestamp) -> Result<WorkDue, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let lease = next_end(&mut c).await?;
        let projects = timers(&mut c, since).await?;
        let mut renew = None;
        let mut known = HashMap::new();
        for hold in held_on(&mut c, linked).await? {
            let every = match known.get(&hold.project) {
                Some(every) => *every,
                None => {
                    let known = settings::of(&mut c, hold.project).await?;
                    renew_seconds(known.lease_seconds, known.heartbeat_seconds, known.missed)
                }
            };
            known.insert(hold.project, every);
            renew = Some(renew.map_or(every, |other: u32| other.min(every)));
        }
        Ok(WorkDue { lease, projects, renew })
    }
}

/// When the passing of time changes a worker's state.
async fn timers(c: &mut Connection<'_>, since: Timestamp) -> Result<Vec<(ProjectId, Timestamp)>, StoreError> {
    let sql = "SELECT w.project, w.status, w.until_at, w.seen_at, w.idle_since, w.scaled, t.lease_until, s.settings \
               FROM workers w LEFT JOIN work_settings s ON s.project = w.project LEFT JOIN tasks t ON t.id = w.task WHERE w.removed_at IS NULL AND \
               w.kind = 'managed' AND (w.until_at IS NOT NULL OR w.task IS NOT NULL OR w.scaled = 1)";
    let mut due: HashMap<ProjectId, Timestamp> = HashMap::new();
    for row in c.all(sql, args![]).await? {
        let project: ProjectId = row.parsed("project")?;
        let known = crate::verbs::workspaces::json_or_none(&row, "settings")?.unwrap_or(settings::DEFAULTS);
        let heartbeat = Heartbeat { every_ms: i64::from(known.heartbeat_seconds) * 1000, missed: known.missed };
        let idle = i64::from(known.scale_idle_seconds) * 1000;
        let scales = row.flag("scaled")? && known.scale_most > 0;
        let held = row.time_or_none("lease_until")?.is_some();
        let seen = row.time_or_none("seen_at")?.filter(|_| held);
        let times = [
            row.time_or_none("until_at")?,
            seen.map(|at| gone_at(at, heartbeat)),
            row.time_or_none("idle_since")?.filter(|_| scales).map(|at| at.plus_millis(idle)),
        ];
        if let Some(first) = times.into_iter().flatten().filter(|at| *at > since).min() {
            let entry = due.entry(project).or_insert(first);
            *entry = first.min(*entry);
        }
    }
    let mut due: Vec<(ProjectId, Timestamp)> = due.into_iter().collect();
    due.sort();
    Ok(due)
}

/// Whether the caller may see a project.
pub(crate) fn sees(caller: &Caller, facts: &HashMap<ProjectId, ProjectFacts>, project: ProjectId) -> bool {
    let see = |facts| caller.may(Action::See, Resource::Project(facts), "project").is_ok();
    facts.get(&project).is_some_and(see)
}
