//! What an event of the log means for notifications.

use domain::{
    ActivityStatus, ExecutionStatus, LandingState, MergeGate, NotifyKind, ProjectId, SessionStatus, TaskStatus, UserId,
    WorkerKind, WorkerStatus,
};
use engine::notify::Involved;
use protocol::{Change, Execution, Session, TaskLine, Worker};

use crate::sql::{Connection, text};
use crate::{Event, EventBody, StoreError};

/// A session that waits for an approval says so; the approval has a notification of its own.
const WAITS_FOR_APPROVAL: &str = "the runner's owner must allow ";

/// What an event means.
pub(super) enum Happened {
    /// People may be notified.
    News(News),
    /// Something is over: when it begins again, people are notified again.
    Over(String),
}

/// Something to notify people of.
pub(super) struct News {
    /// What it is about.
    pub(super) kind: NotifyKind,
    /// Identifies the occurrence: every event about it has the same.
    pub(super) event: String,
    /// The id of what it is about.
    pub(super) subject: String,
    /// The project.
    pub(super) project: ProjectId,
    /// The people around it.
    pub(super) involved: Involved,
}

/// What an event means, in order. Most mean nothing.
pub(super) async fn happened(c: &mut Connection<'_>, event: &Event) -> Result<Vec<Happened>, StoreError> {
    let EventBody::Change { change } = &event.body else { return Ok(Vec::new()) };
    let news = |kind, event: String, subject: String, project, involved| {
        vec![Happened::News(News { kind, event, subject, project, involved })]
    };
    let owned = |owner| Involved { owner: Some(owner), ..Involved::default() };
    Ok(match change {
        Change::Approval { approval } if approval.answer.is_none() => {
            let involved = Involved { owner: event.audience, ..Involved::default() };
            let id = approval.id.to_string();
            news(NotifyKind::Approval, id.clone(), id, approval.project, involved)
        }
        Change::Escalation { escalation } if escalation.answered_at.is_none() => {
            let owner = match escalation.worker {
                Some(worker) => person(c, "SELECT owner AS id FROM workers WHERE id = $1", worker).await?,
                None => None,
            };
            let involved = Involved { owner, ..in_project(c, escalation.project).await? };
            let id = escalation.id.to_string();
            news(NotifyKind::Question, id.clone(), id, escalation.project, involved)
        }
        Change::Session { session } if waits(session) => {
            let (id, since) = (session.id, session.state.since.as_millis());
            news(NotifyKind::Waiting, format!("{id} {since}"), id.to_string(), session.project, owned(session.owner.id))
        }
        Change::Message { message, .. } if !message.mentions.is_empty() && message.deleted_at.is_none() => {
            let named = message.mentions.clone();
            let involved = Involved { author: Some(message.author.id), named, ..Involved::default() };
            let id = message.id.to_string();
            news(NotifyKind::Mention, id.clone(), id, message.project, involved)
        }
        Change::Activity { activity } if activity.status == ActivityStatus::Blocked => {
            let involved = Involved { owner: Some(activity.owner.id), ..in_project(c, activity.project).await? };
            let id = activity.id.to_string();
            news(NotifyKind::Blocked, id.clone(), id, activity.project, involved)
        }
        Change::Activity { activity } => vec![Happened::Over(activity.id.to_string())],
        Change::MergeQueue { queue } => {
            let name = format!("{} {}", queue.project, queue.target);
            match queue.gate {
                MergeGate::Open => vec![Happened::Over(name)],
                _ => {
                    let involved = in_project(c, queue.project).await?;
                    news(NotifyKind::Merge, name, queue.target.clone(), queue.project, involved)
                }
            }
        }
        Change::Landing { landing } => {
            let kind = match landing.state {
                LandingState::Landed => NotifyKind::Landed,
                LandingState::Refused => NotifyKind::Merge,
                _ => return Ok(Vec::new()),
            };
            let author = landing.asked_by.as_ref().map(|by| by.id);
            let involved = Involved { author, ..in_project(c, landing.project).await? };
            let id = landing.id.to_string();
            news(kind, format!("{id} {}", landing.state), id, landing.project, involved)
        }
        Change::Tasks { tasks } => {
            let mut all = Vec::new();
            for task in tasks {
                all.extend(ended(c, task).await?);
            }
            all
        }
        Change::Execution { execution: of } => execution(c, of).await?,
        Change::Workers { workers } => workers.iter().filter_map(stuck).collect(),
        _ => Vec::new(),
    })
}

fn waits(session: &Session) -> bool {
    let for_approval = session.state.detail.as_ref().is_some_and(|detail| detail.starts_with(WAITS_FOR_APPROVAL));
    session.state.status == SessionStatus::Waiting && !session.stopping && !for_approval
}

async fn ended(c: &mut Connection<'_>, task: &TaskLine) -> Result<Option<Happened>, StoreError> {
    let kind = match task.status {
        TaskStatus::Done => NotifyKind::Done,
        TaskStatus::Failed => NotifyKind::Failed,
        _ => return Ok(None),
    };
    let author = person(c, "SELECT created_by AS id FROM tasks WHERE id = $1", task.id).await?;
    let involved = Involved { author, ..in_project(c, task.project).await? };
    let (event, subject) = (format!("{} {} {}", task.id, kind, task.attempt), task.id.to_string());
    Ok(Some(Happened::News(News { kind, event, subject, project: task.project, involved })))
}

/// Each question of an execution, each interrupted step, and that it failed.
async fn execution(c: &mut Connection<'_>, execution: &Execution) -> Result<Vec<Happened>, StoreError> {
    let (id, project, starter) = (execution.id, execution.project, Some(execution.started_by.id));
    let around = in_project(c, project).await?;
    let news = |kind, event: String, involved| {
        Happened::News(News { kind, event, subject: id.to_string(), project, involved })
    };
    let failed = format!("{id} failed");
    let mut all = vec![match execution.status {
        ExecutionStatus::Failed => news(NotifyKind::Failed, failed, Involved { author: starter, ..around.clone() }),
        _ => Happened::Over(failed),
    }];
    if execution.needs_person {
        let sql = "SELECT path, attempt FROM execution_work WHERE execution = $1 AND (state = 'interrupted' OR \
                   kind = 'approve' AND state = 'running') ORDER BY path, attempt";
        for row in c.all(sql, vec![text(id)]).await? {
            let event = format!("{id} {} {}", row.text("path")?, row.count("attempt")?);
            all.push(news(NotifyKind::Question, event, Involved { owner: starter, ..around.clone() }));
        }
    }
    Ok(all)
}

fn stuck(worker: &Worker) -> Option<Happened> {
    let id = worker.id.to_string();
    match worker.status {
        // An external worker comes and goes.
        _ if worker.kind != WorkerKind::Managed => None,
        WorkerStatus::Offline | WorkerStatus::Spent | WorkerStatus::Lost => {
            let involved = Involved { owner: Some(worker.owner.id), ..Involved::default() };
            let (event, subject, project) = (id.clone(), id, worker.project);
            Some(Happened::News(News { kind: NotifyKind::Worker, event, subject, project, involved }))
        }
        WorkerStatus::Idle | WorkerStatus::Working => Some(Happened::Over(id)),
        _ => None,
    }
}

async fn in_project(c: &mut Connection<'_>, project: ProjectId) -> Result<Involved, StoreError> {
    let project_owner = person(c, "SELECT owner AS id FROM projects WHERE id = $1", project).await?;
    Ok(Involved { project_owner, ..Involved::default() })
}

async fn person(c: &mut Connection<'_>, sql: &str, id: impl std::fmt::Display) -> Result<Option<UserId>, StoreError> {
    c.first(sql, vec![text(id)]).await?.map(|row| row.parsed("id")).transpose()
}
