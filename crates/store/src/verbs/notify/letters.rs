//! What a notification may say to its person now: titles and places, as far as their rights go at this moment.

use domain::text::plain;
use domain::{
    Action, ActivityId, ActivityStatus, ApprovalId, EscalationId, ExecutionId, ExecutionStatus, LandingId, MergeGate,
    MessageId, NotificationId, NotifyKind, ProjectId, SessionId, SessionStatus, TaskId, UserId, WorkerId,
};

use crate::sql::{Row, text};
use crate::verbs::sight::as_person;
use crate::verbs::{projects, unread};
use crate::{Caller, Store, StoreError};

/// The longest title in a notification, in characters.
const TITLE: usize = 120;

/// One line of a notification. It has no content: no code, no command, no text of a terminal or chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// What it is about.
    pub kind: NotifyKind,
    /// The title of the thing.
    pub title: String,
    /// The name of the project.
    pub project: String,
    /// The page's path of the thing.
    pub path: String,
}

impl Store {
    /// The lines of a delivery. What its person may no longer see, or what no longer needs them, has none.
    pub async fn letters(&self, user: UserId, delivery: NotificationId) -> Result<Vec<Letter>, StoreError> {
        let sql =
            "SELECT kind, project, subject FROM notices WHERE delivery = $1 AND state = 'pending' ORDER BY at, id";
        let rows = self.readers.get().await?.borrow().all(sql, vec![text(delivery)]).await?;
        let caller = as_person(user);
        let mut letters = Vec::new();
        for row in rows {
            match self.letter(&caller, user, &row).await {
                Ok(letter) => letters.extend(letter),
                Err(StoreError::NotFound(_) | StoreError::Forbidden(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(letters)
    }

    /// A line; `None` if nothing needs the person any more.
    async fn letter(&self, caller: &Caller, user: UserId, row: &Row) -> Result<Option<Letter>, StoreError> {
        let (kind, project): (NotifyKind, ProjectId) = (row.parsed("kind")?, row.parsed("project")?);
        let name = {
            let mut reader = self.readers.get().await?;
            // An approval or session may be in a project that its owner no longer sees.
            let found = projects::find(&mut reader.borrow(), caller, project, Action::See).await?;
            found.name
        };
        let subject = row.text("subject")?;
        let Some((title, path)) = self.line(caller, user, kind, project, &subject).await? else { return Ok(None) };
        Ok(Some(Letter { kind, title: plain(&title, TITLE), project: plain(&name, TITLE), path }))
    }

    async fn line(
        &self,
        caller: &Caller,
        user: UserId,
        kind: NotifyKind,
        project: ProjectId,
        subject: &str,
    ) -> Result<Option<(String, String)>, StoreError> {
        Ok(match kind {
            NotifyKind::Approval => {
                let found = self.approval(caller, id::<ApprovalId>(subject)?).await?;
                let title = format!("{} on {}", found.kind, found.runner_name);
                found.answer.is_none().then(|| (title, format!("/approvals/{}", found.id)))
            }
            NotifyKind::Question | NotifyKind::Failed
                if subject.starts_with(ExecutionId::PREFIX) && id::<ExecutionId>(subject).is_ok() =>
            {
                self.execution_line(kind, project, id::<ExecutionId>(subject)?).await?
            }
            NotifyKind::Question => {
                let found = self.escalation(caller, id::<EscalationId>(subject)?).await?;
                found.answered_at.is_none().then(|| (found.title, format!("/e/{}", found.id)))
            }
            NotifyKind::Waiting => {
                let found = self.session(caller, id::<SessionId>(subject)?, Action::SeeExecution).await?;
                let waits = found.state.status == SessionStatus::Waiting && !found.stopping;
                waits.then(|| (format!("{} waits for input", found.agent), format!("/s/{}", found.id)))
            }
            NotifyKind::Mention => self.mention(user, project, id::<MessageId>(subject)?).await?,
            NotifyKind::Blocked => {
                let found = self.activity(caller, id::<ActivityId>(subject)?).await?;
                let path = format!("/p/{project}/a/{}", found.id);
                (found.status == ActivityStatus::Blocked).then_some((found.name, path))
            }
            NotifyKind::Failed | NotifyKind::Done => {
                let row = self.row("SELECT title FROM tasks WHERE id = $1", id::<TaskId>(subject)?).await?;
                Some((row.text("title")?, format!("/t/{subject}")))
            }
            NotifyKind::Worker => {
                let found = self.worker(caller, id::<WorkerId>(subject)?).await?.worker;
                let title = format!("{} is {}", found.name, found.status);
                Some((title, format!("/p/{project}/workers/{subject}")))
            }
            NotifyKind::Merge if subject.starts_with(LandingId::PREFIX) && id::<LandingId>(subject).is_ok() => {
                let row = self.row("SELECT title FROM landings WHERE id = $1", id::<LandingId>(subject)?).await?;
                Some((row.text("title")?, format!("/p/{project}/merge")))
            }
            NotifyKind::Merge => {
                let queues = self.merge_queues(caller, project).await?;
                let stands = queues.into_iter().find(|one| one.target == subject && one.gate != MergeGate::Open);
                stands.map(|one| (format!("{} is {}", one.target, one.gate), format!("/p/{project}/merge")))
            }
            NotifyKind::Landed => {
                let row = self.row("SELECT title FROM landings WHERE id = $1", id::<LandingId>(subject)?).await?;
                Some((row.text("title")?, format!("/p/{project}/merge")))
            }
        })
    }

    /// An execution that still needs a person, or is still failed.
    async fn execution_line(
        &self,
        kind: NotifyKind,
        project: ProjectId,
        execution: ExecutionId,
    ) -> Result<Option<(String, String)>, StoreError> {
        let sql = "SELECT r.name, e.needs_person, e.status FROM executions e JOIN recipes r ON r.id = e.recipe \
                   WHERE e.id = $1";
        let row = self.row(sql, execution).await?;
        let still = match kind {
            NotifyKind::Question => row.flag("needs_person")?,
            _ => row.parsed::<ExecutionStatus>("status")? == ExecutionStatus::Failed,
        };
        Ok(still.then_some((row.text("name")?, format!("/p/{project}/executions/{execution}"))))
    }

    /// A mention that the person has not read.
    async fn mention(
        &self,
        user: UserId,
        project: ProjectId,
        message: MessageId,
    ) -> Result<Option<(String, String)>, StoreError> {
        let sql =
            "SELECT m.number, m.deleted_at, u.name FROM messages m JOIN users u ON u.id = m.author WHERE m.id = $1";
        let row = self.row(sql, message).await?;
        let unread = unread::of(&mut self.readers.get().await?.borrow(), user, Some(project)).await?;
        let read = unread.get(&project).map_or(0, |unread| unread.read);
        let fresh = row.time_or_none("deleted_at")?.is_none() && row.count("number")? > read;
        Ok(fresh.then_some((format!("by {}", row.text("name")?), format!("/p/{project}"))))
    }

    async fn row(&self, sql: &str, id: impl std::fmt::Display) -> Result<Row, StoreError> {
        let mut reader = self.readers.get().await?;
        reader.borrow().first(sql, vec![text(id)]).await?.ok_or(StoreError::NotFound("subject"))
    }
}

fn id<T: std::str::FromStr<Err: std::fmt::Display>>(subject: &str) -> Result<T, StoreError> {
    subject.parse().map_err(|error| StoreError::Corrupt(format!("subject: {error}")))
}
