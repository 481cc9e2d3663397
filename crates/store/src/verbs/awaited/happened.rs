//! What an event of the log means for those who wait for it.

use domain::{ActivityStatus, LandingState, ProjectId, Seq, TaskStatus};
use protocol::{Activity, Change, Execution, Landing, TaskLine};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::sql::{Connection, args};
use crate::{Event, EventBody, StoreError};

/// How many earlier mentions of a thing to read at a time.
const MENTIONS: u32 = 20;

/// Something that can be waited for.
#[derive(Debug, Serialize)]
pub(super) struct News {
    pub(super) seq: Seq,
    pub(super) project: ProjectId,
    pub(super) kind: &'static str,
    /// The id of what it is about.
    subject: String,
    /// What expressions and outputs get of it.
    pub(super) event: Json,
}

/// What an event may mean, in order. Most mean nothing; the same state may be announced several times.
pub(super) fn happened(event: &Event) -> Vec<News> {
    let EventBody::Change { change } = &event.body else { return Vec::new() };
    let mut all = news(change);
    all.iter_mut().for_each(|news| news.seq = event.seq);
    all
}

fn news(change: &Change) -> Vec<News> {
    match change {
        Change::Tasks { tasks } => tasks.iter().filter_map(task).collect(),
        Change::Activity { activity: of } => activity(of).into_iter().collect(),
        Change::Execution { execution: of } => execution(of).into_iter().collect(),
        Change::Landing { landing: of } => landing(of).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn made(project: ProjectId, kind: &'static str, subject: String, mut event: Json) -> News {
    event["kind"] = json!(kind);
    News { seq: Seq(0), project, kind, subject, event }
}

fn task(task: &TaskLine) -> Option<News> {
    let kind = match task.status {
        TaskStatus::Done => "task_done",
        TaskStatus::Failed => "task_failed",
        _ => return None,
    };
    let event = json!({
        "task": task.id, "name": task.short, "title": task.title, "status": task.status, "attempt": task.attempt,
        "activity": task.activity,
    });
    Some(made(task.project, kind, task.id.to_string(), event))
}

fn activity(activity: &Activity) -> Option<News> {
    let kind = match activity.status {
        ActivityStatus::Blocked => "activity_blocked",
        ActivityStatus::Completed => "activity_completed",
        _ => return None,
    };
    let event = json!({ "activity": activity.id, "name": activity.name, "owner": activity.owner.name });
    Some(made(activity.project, kind, activity.id.to_string(), event))
}

fn execution(execution: &Execution) -> Option<News> {
    execution.ended_at?;
    let event = json!({
        "execution": execution.id, "recipe": execution.name, "status": execution.status,
        "schedule": execution.schedule,
    });
    Some(made(execution.project, "execution_ended", execution.id.to_string(), event))
}

fn landing(landing: &Landing) -> Option<News> {
    if landing.state != LandingState::Landed {
        return None;
    }
    let event = json!({
        "branch": landing.target, "base": landing.target.is_none(),
        "commit": landing.landed, "landing": landing.id, "task": landing.task,
        "by": landing.asked_by.as_ref().map(|by| &by.name),
    });
    Some(made(landing.project, "push", landing.id.to_string(), event))
}

/// Whether it happened with this event: what was announced of the thing before was something else.
pub(super) async fn is_new(c: &mut Connection<'_>, news: &News) -> Result<bool, StoreError> {
    let mut before = news.seq;
    let id = format!("%{}%", news.subject);
    let sql =
        "SELECT seq, body FROM events WHERE seq < $1 AND project = $2 AND body LIKE $3 ORDER BY seq DESC LIMIT $4";
    loop {
        let values = args![before.0, news.project.to_string(), id.clone(), MENTIONS];
        let rows = c.all(sql, values).await?;
        for row in &rows {
            before = Seq(row.integer("seq")?.cast_unsigned());
            let EventBody::Change { change } = row.json::<EventBody>("body")? else { continue };
            if let Some(then) = attempt_and_kind(&change, &news.subject) {
                let now = (news.event["attempt"].as_u64(), Some(news.kind));
                return Ok(then != now);
            }
        }
        if rows.len() < MENTIONS as usize {
            return Ok(true);
        }
    }
}

/// What a change announces of a thing: its attempt, and what can be waited for; `None`: nothing of this thing.
fn attempt_and_kind(change: &Change, subject: &str) -> Option<(Option<u64>, Option<&'static str>)> {
    let kind = |news: Option<News>| news.map(|news| news.kind);
    match change {
        Change::Tasks { tasks } => {
            let line = tasks.iter().rfind(|line| line.id.to_string() == subject)?;
            Some((Some(u64::from(line.attempt)), kind(task(line))))
        }
        Change::Activity { activity: of } if of.id.to_string() == subject => Some((None, kind(activity(of)))),
        Change::Execution { execution: of } if of.id.to_string() == subject => Some((None, kind(execution(of)))),
        Change::Landing { landing: of } if of.id.to_string() == subject => Some((None, kind(landing(of)))),
        _ => None,
    }
}
