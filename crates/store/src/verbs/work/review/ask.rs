//! Escalations: asking a person, and applying the answer.

use domain::{AnswerAct, EscalationId, EscalationKind, SessionId, TaskId, TaskStatus, UserId};
use engine::tasks::life::{Event, Hold};
use engine::workers::decision::Decision;
use protocol::{Escalation, EscalationContext, EscalationOption, UserRef};

use super::evidence::announce;
use super::judge;
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::life::{retry, step};
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::outage;
use crate::verbs::{reviews, users};

/// Reads escalations with the titles of their tasks and the names of the people who answered.
pub(crate) const COLUMNS: &str = "SELECT e.id, e.project, e.task, t.title, e.kind, e.worker, e.session, e.question, \
    e.options, e.context, e.created_at, e.answered_by, u.name AS answered_by_name, e.answered_at, e.answer, e.act, \
    COALESCE(s.owner, k.owner) AS execution_of, e.other_owner FROM escalations e JOIN tasks t ON t.id = e.task \
    LEFT JOIN users u ON u.id = e.answered_by LEFT JOIN sessions s ON s.id = e.session \
    LEFT JOIN workers k ON k.id = e.worker";

/// A question to a person.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) kind: EscalationKind,
    pub(crate) question: String,
    /// Why the task failed, if the question says so.
    pub(crate) cause: Option<String>,
    pub(crate) options: Vec<EscalationOption>,
    pub(crate) context: EscalationContext,
    /// Owner of the conflicting output.
    pub(crate) other_owner: Option<UserId>,
}

impl Ask {
    /// A question with the default options of its kind.
    pub(crate) fn new(kind: EscalationKind, question: impl Into<String>, context: EscalationContext) -> Self {
        let option = |label: &str, act| EscalationOption { label: label.into(), act };
        let options = match kind {
            EscalationKind::Question => vec![],
            EscalationKind::Outage => vec![option("Retry now", AnswerAct::Retry)],
            EscalationKind::GaveUp => vec![
                option("Retry", AnswerAct::Retry),
                option("Mark failed", AnswerAct::Fail),
                option("Cancel task", AnswerAct::Cancel),
            ],
            EscalationKind::Review => vec![
                option("Approve", AnswerAct::Accept),
                option("Send back", AnswerAct::Retry),
                option("Mark failed", AnswerAct::Fail),
                option("Cancel task", AnswerAct::Cancel),
            ],
            EscalationKind::Refused
            | EscalationKind::Stuck
            | EscalationKind::Judgement
            | EscalationKind::SameLines
            | EscalationKind::Contradiction
            | EscalationKind::Uncheckable => vec![
                option("Accept", AnswerAct::Accept),
                option("Retry", AnswerAct::Retry),
                option("Mark failed", AnswerAct::Fail),
                option("Cancel task", AnswerAct::Cancel),
            ],
        };
        Self { kind, question: question.into(), cause: None, options, context, other_owner: None }
    }

    /// Whether the worker keeps the task while the question is open.
    fn keeps_hold(&self) -> bool {
        matches!(self.kind, EscalationKind::Question | EscalationKind::Outage)
    }

    /// Whether the answer decides the attempt.
    fn judges(&self) -> bool {
        use EscalationKind::{Contradiction, Judgement, Review, SameLines, Uncheckable};
        matches!(self.kind, Judgement | Review | SameLines | Contradiction | Uncheckable)
    }
}

/// Reads a row of [`COLUMNS`].
pub(crate) fn escalation(row: &Row) -> Result<Escalation, StoreError> {
    let answered = row.text_or_none("answered_by")?.is_some();
    let act = row.text_or_none("act")?;
    let act = act.map(|word| word.parse().map_err(|error| StoreError::Corrupt(format!("act: {error}")))).transpose()?;
    Ok(Escalation {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        task: row.parsed("task")?,
        title: row.text("title")?,
        kind: row.parsed("kind")?,
        worker: id_or_none(row, "worker")?,
        session: id_or_none(row, "session")?,
        question: row.text("question")?,
        options: row.json("options")?,
        context: row.json("context")?,
        created_at: row.time("created_at")?,
        answered_by: if answered { Some(users::reference(row, "answered_by")?) } else { None },
        answered_at: row.time_or_none("answered_at")?,
        answer: row.text_or_none("answer")?,
        act,
    })
}

/// Asks a person about a task. A question or an outage keeps the hold; any other kind ends the hold and frees the
/// worker.
pub(crate) async fn escalate(tx: &mut Tx<'_>, task: TaskId, ask: Ask) -> Result<Escalation, StoreError> {
    let row = tx.known_task(task).await?;
    let hold = row.hold().cloned();
    let event = match ask.keeps_hold() {
        true => Event::Ask,
        false => Event::Escalate { question: ask.question.clone(), verdict_open: ask.judges() },
    };
    let row = step(tx, row, event).await?;
    write(tx, &row, ask, hold.as_ref()).await
}

/// Stores an escalation and announces it; `hold` is the attempt in question.
pub(crate) async fn write(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    ask: Ask,
    hold: Option<&Hold>,
) -> Result<Escalation, StoreError> {
    let (worker, session) = (hold.map(|hold| hold.worker), hold.and_then(|hold| hold.session));
    let task = row.id;
    let asked = Escalation {
        id: EscalationId::generate(),
        project: row.project,
        task,
        title: row.title.clone(),
        kind: ask.kind,
        worker,
        session,
        question: ask.question,
        options: ask.options,
        context: ask.context,
        created_at: tx.now,
        answered_by: None,
        answered_at: None,
        answer: None,
        act: None,
    };
    let head = "INSERT INTO escalations (id, project, task, kind, worker, session, question, options, context, created_at, \
         other_owner, cause)";
    let values = args![
        asked.id.to_string(),
        asked.project.to_string(),
        asked.task.to_string(),
        asked.kind.word(),
        asked.worker.map(|id| id.to_string()),
        asked.session.map(|id| id.to_string()),
        &asked.question,
        to_json(&asked.options),
        to_json(&asked.context),
        tx.now,
        ask.other_owner.map(|id| id.to_string()),
        ask.cause,
    ];
    tx.later(head, values);
    announce(tx, &asked).await?;
    let decision = Decision::Escalated { kind: asked.kind, question: asked.question.clone() };
    decided(tx, asked.project, worker, Some(task), decision).await?;
    Ok(asked)
}

/// The first open question of a session about a task.
pub(crate) async fn open_question(
    tx: &mut Tx<'_>,
    task: TaskId,
    session: SessionId,
) -> Result<Option<String>, StoreError> {
    let asked = |open: &Escalation| open.kind == EscalationKind::Question && open.session == Some(session);
    Ok(all_open(tx, task).await?.into_iter().find(asked).map(|open| open.question))
}

/// The worker asked a question and exited without a report: the task waits for the answer without a worker.
pub(crate) async fn wait_for_answer(tx: &mut Tx<'_>, task: TaskId, question: &str) -> Result<(), StoreError> {
    let row = tx.known_task(task).await?;
    let (project, worker) = (row.project, row.worker());
    step(tx, row, Event::Escalate { question: question.to_owned(), verdict_open: false }).await?;
    let decision = Decision::WaitsForAnswer { question: question.to_owned() };
    decided(tx, project, worker, Some(task), decision).await
}

/// Stores an answer, applies it to the task and announces both. The caller has checked that the escalation is open.
pub(crate) async fn answer(
    tx: &mut Tx<'_>,
    open: Escalation,
    act: AnswerAct,
    words: &str,
    by: UserRef,
) -> Result<Escalation, StoreError> {
    let mut row = tx.known_task(open.task).await?;
    if !words.is_empty() && open.kind != EscalationKind::Outage {
        row.context = with_answer(&row, &open.question, words, &by.name);
        tx.put_task(row.clone());
    }
    let reason = decision(act, words, &by.name);
    if act == AnswerAct::Retry {
        reviews::sent_with_answer(tx, &row).await?;
    }
    let person = by.clone();
    // Close this escalation first: the end of the task settles all that are still open.
    let closed = close(tx, open, act, words, Some(by)).await?;
    let task = closed.task;
    if closed.kind == EscalationKind::Outage {
        outage::try_now(tx, closed.id).await?;
    }
    match act {
        AnswerAct::Accept => judge::accept_last(tx, task, &person).await?,
        AnswerAct::Fail => {
            let sql = "SELECT cause FROM escalations WHERE id = $1";
            let row = tx.read().first(sql, vec![text(closed.id)]).await?;
            let cause = row.map(|row| row.text_or_none("cause")).transpose()?.flatten();
            let reason = Some(cause.map_or_else(|| reason.clone(), |cause| format!("{cause} {reason}")));
            let row = tx.known_task(task).await?;
            step(tx, row, Event::Fail { reason }).await?;
        }
        AnswerAct::Cancel => {
            let row = tx.known_task(task).await?;
            step(tx, row, Event::Cancel { reason: Some(reason) }).await?;
        }
        AnswerAct::Retry | AnswerAct::Tell if row.status() == TaskStatus::Escalated => {
            retry(tx, task, Some(reason)).await?;
        }
        AnswerAct::Retry | AnswerAct::Tell => {}
    }
    Ok(closed)
}

/// A person's decision, as the reason for the next state.
fn decision(act: AnswerAct, words: &str, by: &str) -> String {
    let did = match act {
        _ if !words.is_empty() => return format!("{by}: {words}"),
        AnswerAct::Fail => "marked it failed",
        AnswerAct::Cancel => "cancelled it",
        AnswerAct::Accept => "accepted it",
        AnswerAct::Retry => "retried it",
        AnswerAct::Tell => "answered",
    };
    format!("{by} {did}")
}

/// The task's context, followed by a question and its answer.
fn with_answer(row: &TaskRow, question: &str, words: &str, by: &str) -> String {
    with_words(row, &format!("Question: {question}\nAnswer by {by}: {words}"))
}

/// The task's context, followed by this text.
pub(crate) fn with_words(row: &TaskRow, words: &str) -> String {
    let before = row.context.trim_end();
    let gap = if before.is_empty() { "" } else { "\n\n" };
    format!("{before}{gap}{words}")
}

/// Marks an escalation as answered; `by` is absent if it settled itself.
pub(crate) async fn close(
    tx: &mut Tx<'_>,
    open: Escalation,
    act: AnswerAct,
    words: &str,
    by: Option<UserRef>,
) -> Result<Escalation, StoreError> {
    let closed = Escalation {
        answered_by: by,
        answered_at: Some(tx.now),
        answer: (!words.is_empty()).then(|| words.to_owned()),
        act: Some(act),
        ..open
    };
    let sql = "UPDATE escalations SET answered_by = $1, answered_at = $2, answer = $3, act = $4 WHERE id = $5";
    let by = closed.answered_by.as_ref().map(|by| by.id.to_string());
    tx.run(sql, args![by, tx.now, closed.answer.clone(), act.word(), closed.id.to_string()]).await?;
    announce(tx, &closed).await?;
    Ok(closed)
}

/// Answers all open escalations of a task with a person's action on it.
pub(crate) async fn answer_all(
    tx: &mut Tx<'_>,
    task: TaskId,
    act: AnswerAct,
    words: &str,
    by: &UserRef,
) -> Result<(), StoreError> {
    for open in all_open(tx, task).await? {
        close(tx, open, act, words, Some(by.clone())).await?;
    }
    Ok(())
}

/// Settles all open escalations of a task that has ended.
pub(crate) async fn settle_all(tx: &mut Tx<'_>, task: TaskId, why: &str) -> Result<(), StoreError> {
    for open in all_open(tx, task).await? {
        close(tx, open, AnswerAct::Tell, why, None).await?;
    }
    Ok(())
}

/// The open escalations of a task.
async fn all_open(tx: &mut Tx<'_>, task: TaskId) -> Result<Vec<Escalation>, StoreError> {
    let sql = format!("{COLUMNS} WHERE e.task = $1 AND e.answered_at IS NULL ORDER BY e.created_at, e.id");
    tx.read().all(&sql, vec![text(task)]).await?.iter().map(escalation).collect()
}
