//! People's decisions about tasks: cancel, retry, reopen, answer.

use domain::text::Field;
use domain::{Action, AnswerAct, TaskId, TaskStatus};
use engine::tasks::life::Event;
use protocol::{Escalation, Task, Verb, verbs};

use super::row::TaskRow;
use super::{check, edit};
use crate::sql::text;
use crate::tx::{AuditScope, Tx};
use crate::verbs::reviews;
use crate::verbs::sight::seen;
use crate::verbs::work::life;
use crate::verbs::work::review::{ask, evidence};
use crate::{Command, StoreError};

/// A task that the caller may cancel, retry or answer for.
async fn decidable(tx: &mut Tx<'_>, task: TaskId) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    tx.check(row.project, Action::Decide, "task").await?;
    Ok(row)
}

impl Command for verbs::TaskCancel {
    type Output = Task;
    const VERB: &'static str = verbs::TaskCancel::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let caller = tx.caller;
        let before = decidable(tx, self.task).await?;
        let by = caller.person()?;
        if let Some(reason) = &self.input.reason {
            check::REASON.check(reason)?;
        }
        match before.status() {
            TaskStatus::Cancelled => return seen(tx, &before).await,
            TaskStatus::Done => {
                return Err(StoreError::Conflict(format!("{} is done: it cannot be cancelled", before.named())));
            }
            _ => {}
        }
        let reason = with_author(&by.name, "cancelled it", self.input.reason.as_deref());
        ask::answer_all(tx, self.task, AnswerAct::Cancel, "", &by).await?;
        let row = tx.known_task(self.task).await?;
        let after = life::step(tx, row, Event::Cancel { reason: Some(reason.clone()) }).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(after.project), format!("`{}`: {reason}", after.title));
        seen(tx, &after).await
    }
}

impl Command for verbs::TaskRetry {
    type Output = Task;
    const VERB: &'static str = verbs::TaskRetry::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let caller = tx.caller;
        let before = decidable(tx, self.task).await?;
        let by = caller.person()?;
        if let Some(reason) = &self.input.reason {
            check::REASON.check(reason)?;
        }
        if !matches!(before.status(), TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Escalated) {
            let why =
                format!("{} is {}: only what failed, was escalated or cancelled", before.named(), before.status());
            return Err(StoreError::Conflict(format!("{why} can be retried")));
        }
        let reason = with_author(&by.name, "retried it", self.input.reason.as_deref());
        if self.input.reason.as_deref().is_some_and(|words| !words.trim().is_empty()) {
            let mut row = tx.known_task(self.task).await?;
            row.context = ask::with_words(&row, &reason);
            tx.put_task(row);
        }
        reviews::sent_with_answer(tx, &before).await?;
        let after = life::retry(tx, self.task, Some(reason.clone())).await?;
        ask::answer_all(tx, self.task, AnswerAct::Retry, "", &by).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(after.project), format!("`{}`: {reason}", after.title));
        seen(tx, &after).await
    }
}

impl Command for verbs::TaskReopen {
    type Output = Task;
    const VERB: &'static str = verbs::TaskReopen::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let caller = tx.caller;
        let mut row = decidable(tx, self.task).await?;
        let by = caller.person()?;
        Field { name: "text", limit: 16 * 1024, optional: false, ..check::REASON }.check(&self.input.text)?;
        if row.status() != TaskStatus::Done {
            let (named, status) = (row.named(), row.status());
            let what = match status {
                TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Escalated => "retry it",
                _ => "edit it",
            };
            return Err(StoreError::Conflict(format!("{named} is {status}, not done: {what} instead")));
        }
        reviews::sent_with_answer(tx, &row).await?;
        let (waits_for, unreachable) = edit::open_deps(tx, &row).await?;
        row.context = ask::with_words(&row, &format!("Reopened by {}: {}", by.name, self.input.text.trim()));
        let reason = format!("{} reopened it: {}", by.name, self.input.text.trim());
        let after = life::step(tx, row, Event::Reopen { reason: reason.clone(), waits_for, unreachable }).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(after.project), format!("`{}`: {reason}", after.title));
        seen(tx, &after).await
    }
}

/// The hub reopens a done task, with words for its worker; does nothing if the task is not done.
pub(crate) async fn reopen_by_hub(tx: &mut Tx<'_>, task: TaskId, words: &str) -> Result<(), StoreError> {
    let Some(mut row) = tx.task(task).await?.filter(|row| row.status() == TaskStatus::Done) else { return Ok(()) };
    let (waits_for, unreachable) = edit::open_deps(tx, &row).await?;
    row.context = ask::with_words(&row, words);
    let reason = words.lines().next().unwrap_or_default().to_owned();
    life::step(tx, row, Event::Reopen { reason, waits_for, unreachable }).await.map(|_| ())
}

fn with_author(name: &str, what: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) if !reason.trim().is_empty() => format!("{name} {what}: {reason}"),
        _ => format!("{name} {what}"),
    }
}

impl Command for verbs::EscalationAnswer {
    type Output = Escalation;
    const VERB: &'static str = verbs::EscalationAnswer::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Escalation, StoreError> {
        let caller = tx.caller;
        let sql = format!("{} WHERE e.id = $1", ask::COLUMNS);
        let row = tx.read().first(&sql, vec![text(self.escalation)]).await?;
        let open = ask::escalation(&row.ok_or(StoreError::NotFound("escalation"))?)?;
        tx.check(open.project, Action::Decide, "escalation").await?;
        let by = caller.person()?;
        let said = self.input.text.as_deref().unwrap_or_default();
        Field { name: "text", limit: 16 * 1024, ..check::REASON }.check(said)?;
        if open.answered_at.is_some() {
            let how = match &open.answered_by {
                Some(by) => format!("{} answered this already", by.name),
                None => {
                    format!("no answer is needed any longer: {}", open.answer.as_deref().unwrap_or("it is settled"))
                }
            };
            return Err(StoreError::Conflict(how));
        }
        let task = tx.known_task(open.task).await?;
        let (act, words) = act(self, &open, &task, said)?;
        let (project, title) = (open.project, open.title.clone());
        let answered = ask::answer(tx, open, act, &words, by).await?;
        let detail = format!("`{title}`: {}{}{words}", act.word(), if words.is_empty() { "" } else { ", " });
        tx.audit(Self::VERB, self.escalation, AuditScope::Project(project), detail);
        evidence::veiled(tx, answered).await
    }
}

/// The action of an answer, and its text.
fn act(
    verb: &verbs::EscalationAnswer,
    open: &Escalation,
    task: &TaskRow,
    said: &str,
) -> Result<(AnswerAct, String), StoreError> {
    let (act, chosen) = match (&verb.input.option, verb.input.act) {
        (Some(label), _) => {
            let option = open.options.iter().find(|option| option.label == *label);
            let labels = || open.options.iter().map(|option| format!("`{}`", option.label)).collect::<Vec<_>>();
            let unknown = || match open.options.is_empty() {
                true => "this question has no options: answer with `text`".to_owned(),
                false => format!("`{label}` is not one of: {}", labels().join(", ")),
            };
            let option = option.ok_or_else(|| StoreError::invalid("option", unknown()))?;
            (option.act, option.label.as_str())
        }
        (None, Some(act)) => (act, ""),
        (None, None) if said.trim().is_empty() => {
            return Err(StoreError::invalid("text", "say something, choose an option, or name what to do (`act`)"));
        }
        (None, None) if task.status() == TaskStatus::Escalated => (AnswerAct::Retry, ""),
        (None, None) => (AnswerAct::Tell, ""),
    };
    if act == AnswerAct::Accept && !can_accept(task) {
        return Err(StoreError::Conflict(format!("{} is {}: nothing can be accepted", task.named(), task.status())));
    }
    if task.status().is_over() && act != AnswerAct::Tell {
        let why = format!("{} is {}: the answer can only be noted (`tell`)", task.named(), task.status());
        return Err(StoreError::Conflict(why));
    }
    // The label of a worker's own option is the answer itself; the label of a hub's option only names the action.
    let own = open.options != ask::Ask::new(open.kind, "", Default::default()).options;
    let words = match (own && !chosen.is_empty(), said.trim().is_empty()) {
        (true, true) => chosen.to_owned(),
        (true, false) => format!("{chosen}. {said}"),
        (false, _) => said.to_owned(),
    };
    Ok((act, words))
}

fn can_accept(task: &TaskRow) -> bool {
    task.status() == TaskStatus::Escalated
}
