//! Reviewed work returns to its agent, with all open comments.

use domain::text::{Field, counted};
use domain::{Action, AnswerAct, Resource, SessionMode, ThreadStatus};
use engine::reviews::{WayBack, way_back};
use protocol::{ReviewOf, ReviewThread, Task, Verb, verbs};
use serde::{Deserialize, Serialize};

use super::subject::column;
use super::{announce, letter, rows};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::verbs::sight::{Sight, seen};
use crate::verbs::work::life;
use crate::verbs::work::review::{ask, judge};
use crate::verbs::work::tasks::handover;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::{Say, facts};
use crate::verbs::{projects, sessions};
use crate::{Command, StoreError};

pub(super) const TEXT: Field = Field { name: "text", limit: 16 * 1024, lines: true, optional: true };

/// A task that was sent back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentBack {
    /// The task.
    pub task: Task,
    /// The message for its live session, if it has one.
    pub say: Option<Say>,
}

impl Command for verbs::ReviewSendBack {
    type Output = SentBack;
    const VERB: &'static str = verbs::ReviewSendBack::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<SentBack, StoreError> {
        let caller = tx.caller;
        let task = tx.known_task(self.task).await?;
        tx.check(task.project, Action::Decide, "task").await?;
        let by = caller.person()?;
        let words = self.input.text.as_deref().unwrap_or_default().trim();
        TEXT.check(words)?;
        let way = way_back(task.status());
        let way = way.map_err(|why| StoreError::Conflict(format!("{} is {}: {why}", task.named(), task.status())))?;
        let threads = for_worker(tx, &task, ThreadStatus::Open).await?;
        if words.is_empty() && threads.is_empty() {
            return Err(StoreError::invalid("text", "say what to change (`text`), or comment on lines first"));
        }
        let comments = counted(threads.len(), "comment", "comments");
        let reason = match (words.is_empty(), threads.is_empty()) {
            (true, _) => format!("{} sent it back with {comments}", by.name),
            (false, true) => format!("{} sent it back: {words}", by.name),
            (false, false) => format!("{} sent it back with {comments}: {words}", by.name),
        };
        let letter = letter::written(&by.name, words, &threads);
        // Before the next session starts: its brief has the comments.
        sent(tx, ReviewOf::Task { task: task.id }).await?;
        let say = match way {
            WayBack::Tell => Some(tell(tx, &task, letter).await?),
            WayBack::Refuse => refuse(tx, &task, &reason, &letter).await?,
            WayBack::Retry => {
                let mut row = tx.known_task(self.task).await?;
                row.context = ask::with_words(&row, &reason);
                tx.put_task(row);
                life::retry(tx, self.task, Some(reason.clone())).await?;
                ask::answer_all(tx, self.task, AnswerAct::Retry, words, &by).await?;
                None
            }
        };
        announce(tx, &task).await?;
        let after = tx.known_task(self.task).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(after.project), format!("`{}`: {reason}", after.title));
        Ok(SentBack { task: seen(tx, &after).await?, say })
    }
}

/// The message to the session of a worker; only the session's owner may type into it.
async fn tell(tx: &mut Tx<'_>, task: &TaskRow, text: String) -> Result<Say, StoreError> {
    let caller = tx.caller;
    let session = match task.session() {
        Some(id) => sessions::get(tx.read(), id).await?.map(|(session, _)| session),
        None => None,
    };
    let Some(session) = session.filter(|one| one.mode == SessionMode::Interactive && !one.state.ended()) else {
        let why =
            "its agent works and takes no messages now: the comments stay open; send it back when it has reported";
        return Err(StoreError::Conflict(format!("{} is {}: {why}", task.named(), task.status())));
    };
    let facts = projects::facts_of(tx.read(), task.project).await?.ok_or(StoreError::NotFound("task"))?;
    caller.may(Action::Drive, Resource::Execution { project: &facts, owner: session.owner.id }, "session")?;
    Ok(Say { runner: session.runner, session: session.id, text })
}

/// Refuses the report that is being checked.
async fn refuse(tx: &mut Tx<'_>, task: &TaskRow, reason: &str, letter: &str) -> Result<Option<Say>, StoreError> {
    let report = judge::pending(tx, task.id).await?;
    let report = report.ok_or_else(|| StoreError::Corrupt(format!("{} has no report", task.id)))?;
    judge::refuse(tx, report, &[], reason, None).await?;
    let after = tx.known_task(task.id).await?;
    match after.fence == task.fence && after.hold().is_some() {
        true => facts::back(tx, task.id, letter).await,
        false => Ok(None),
    }
}

/// Marks the open threads on something as sent.
pub(super) async fn sent(tx: &mut Tx<'_>, of: ReviewOf) -> Result<(), StoreError> {
    let (column, id) = column(of);
    let sql = format!(
        "UPDATE review_threads SET status = 'sent', sent_at = $1, updated_at = $1 WHERE {column} = $2 AND status = 'open'"
    );
    tx.run(&sql, args![tx.now, id]).await.map(|_| ())
}

/// A person's answer sends a task back: its next worker gets the open comments.
pub(crate) async fn sent_with_answer(tx: &mut Tx<'_>, task: &TaskRow) -> Result<(), StoreError> {
    let of = ReviewOf::Task { task: task.id };
    if rows::on(tx.read(), of, Some(ThreadStatus::Open)).await?.is_empty() {
        return Ok(());
    }
    sent(tx, of).await?;
    announce(tx, task).await
}

/// The threads of a task with this status, as the owner of its worker may see them.
async fn for_worker(tx: &mut Tx<'_>, task: &TaskRow, status: ThreadStatus) -> Result<Vec<ReviewThread>, StoreError> {
    let threads = rows::on(tx.read(), ReviewOf::Task { task: task.id }, Some(status)).await?;
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let reader = handover::reader(tx, task).await?;
    let facts = projects::facts_of(tx.read(), task.project).await?.ok_or(StoreError::NotFound("project"))?;
    let sight = Sight::on(tx.read(), &reader, facts).await?;
    Ok(threads.into_iter().map(|thread| thread.seen(&sight)).collect())
}

/// The sent comments on a task, for its brief; empty if there are none.
pub(crate) async fn comments_for(tx: &mut Tx<'_>, task: &TaskRow) -> Result<String, StoreError> {
    let threads = for_worker(tx, task, ThreadStatus::Sent).await?;
    Ok(if threads.is_empty() { String::new() } else { letter::comments(&threads) })
}
