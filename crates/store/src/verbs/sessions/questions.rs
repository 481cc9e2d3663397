//! Questions to the agents of sessions that have ended.

use domain::text::{Field, plain};
use domain::{Action, QuestionId, QuestionStatus, RunnerId, SessionId, Timestamp};
use engine::handoff::question;
use protocol::link::RunnerAsk;
use protocol::{Session, SessionQuestion, Verb, verbs};
use serde::Serialize;

use super::{announce, find, fits, get};
use crate::sql::{Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::{users, workspaces};
use crate::{Caller, Command, Placed, Store, StoreError};

const COLUMNS: &str = "SELECT q.id, q.session, q.asked_by, u.name AS asked_by_name, q.question, q.status, q.answer, \
    q.detail, q.asked_at, q.answered_at FROM session_questions q JOIN users u ON u.id = q.asked_by";
const QUESTION: Field = Field { name: "question", limit: 4096, lines: true, optional: false };
/// The maximum number of questions to a session.
const MAX_QUESTIONS: u32 = 200;
/// The longest stored answer and reason, in characters.
const ANSWER: usize = 32 * 1024;
const REASON: usize = 2000;
/// How long an agent may take to answer, in seconds.
const SECONDS: u32 = 300;

fn read(row: &Row) -> Result<SessionQuestion, StoreError> {
    Ok(SessionQuestion {
        id: row.parsed("id")?,
        session: row.parsed("session")?,
        asked_by: users::reference(row, "asked_by")?,
        question: row.text("question")?,
        status: row.parsed("status")?,
        answer: row.text_or_none("answer")?,
        detail: row.text_or_none("detail")?,
        asked_at: row.time("asked_at")?,
        answered_at: row.time_or_none("answered_at")?,
    })
}

/// Refuses a session whose agent cannot answer.
fn refuse(session: &Session, row: &Row) -> Result<(), StoreError> {
    let refused = |why: String| Err(StoreError::Conflict(why));
    match session.agent.as_str() {
        "shell" => return refused("shells cannot be asked: read the recording instead".into()),
        "command" => return refused("commands cannot be asked: read the recording instead".into()),
        _ => {}
    }
    if !session.state.ended() {
        return refused("that session is still running: send it a message".into());
    }
    if row.text_or_none("conversation")?.is_none() {
        return refused(format!("`{}` did not name a conversation, so it cannot be asked", session.agent));
    }
    Ok(())
}

impl Command for Placed<verbs::SessionAsk> {
    type Output = SessionQuestion;
    const VERB: &'static str = verbs::SessionAsk::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<SessionQuestion, StoreError> {
        let caller = tx.caller;
        let (session, row) = find(tx.read(), caller, self.verb.session, Action::Drive).await?;
        let asked_by = caller.person()?;
        refuse(&session, &row)?;
        QUESTION.check(&self.verb.input.question)?;
        if let Some(workspace) = workspaces::get(tx.read(), session.workspace).await? {
            workspaces::usable(&workspace)?;
        }
        if !self.connected.contains(&session.runner) {
            let why = "the runner of that session is offline: ask again when it is connected";
            return Err(StoreError::Conflict(why.into()));
        }
        fits::can_be_asked(tx, session.runner, &session.agent).await?;
        self.refuse_many(tx).await?;
        let made = SessionQuestion {
            id: QuestionId::generate(),
            session: session.id,
            asked_by,
            question: self.verb.input.question.trim().to_owned(),
            status: QuestionStatus::Asked,
            answer: None,
            detail: None,
            asked_at: tx.now,
            answered_at: None,
        };
        let sql = "INSERT INTO session_questions (id, project, session, asked_by, question, status, asked_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = args![
            made.id.to_string(),
            session.project.to_string(),
            session.id.to_string(),
            made.asked_by.id.to_string(),
            &made.question,
            made.status.word(),
            tx.now,
        ];
        tx.run(sql, values).await?;
        let detail = format!("asked the agent of `{}` a question", session.title);
        tx.audit(Self::VERB, session.id, AuditScope::Project(session.project), detail);
        announce(tx, session);
        Ok(made)
    }
}

impl Placed<verbs::SessionAsk> {
    /// Refuses a second question at once, and questions without end.
    async fn refuse_many(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "SELECT COUNT(*) AS asked, COALESCE(SUM(CASE WHEN status = 'asked' THEN 1 ELSE 0 END), 0) AS open \
                   FROM session_questions WHERE session = $1";
        let Some(row) = tx.read().first(sql, vec![text(self.verb.session)]).await? else { return Ok(()) };
        if row.count("open")? > 0 {
            let why = "a question to this session is being answered: wait for the answer";
            return Err(StoreError::Conflict(why.into()));
        }
        if row.count("asked")? >= MAX_QUESTIONS {
            let why = format!("a session is asked at most {MAX_QUESTIONS} questions");
            return Err(StoreError::Conflict(why));
        }
        Ok(())
    }
}

/// A question without an answer, as its runner needs it.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The question.
    pub id: QuestionId,
    /// The runner.
    pub runner: RunnerId,
    /// How long the agent may take, in seconds.
    pub seconds: u32,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// What the runner is asked; `None` if its session is gone.
    pub ask: Option<RunnerAsk>,
}

/// Stores the end of a question. A repeated or late one changes nothing.
#[derive(Debug, Serialize)]
pub struct QuestionEnded {
    /// The question.
    pub question: QuestionId,
    /// The answer, or why there is none.
    pub answer: Result<String, String>,
}

impl Command for QuestionEnded {
    type Output = ();
    const VERB: &'static str = "session.answered";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "SELECT session FROM session_questions WHERE id = $1 AND status = 'asked'";
        let Some(row) = tx.read().first(sql, vec![text(self.question)]).await? else { return Ok(()) };
        let session: SessionId = row.parsed("session")?;
        let (status, answer, detail) = match &self.answer {
            Ok(answer) => (QuestionStatus::Answered, Some(plain(answer, ANSWER)), None),
            Err(why) => (QuestionStatus::Failed, None, Some(plain(why, REASON))),
        };
        let sql = "UPDATE session_questions SET status = $1, answer = $2, detail = $3, answered_at = $4 WHERE id = $5";
        tx.run(sql, args![status.word(), answer, detail, tx.now, self.question.to_string()]).await?;
        if let Some((session, _)) = get(tx.read(), session).await? {
            announce(tx, session);
        }
        Ok(())
    }
}

impl Store {
    /// The questions to the agent of a session, oldest first.
    pub async fn session_questions(
        &self,
        caller: &Caller,
        session: SessionId,
    ) -> Result<Vec<SessionQuestion>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        find(&mut c, caller, session, Action::SeeExecution).await?;
        let sql = format!("{COLUMNS} WHERE q.session = $1 ORDER BY q.id");
        c.all(&sql, vec![text(session)]).await?.iter().map(read).collect()
    }

    /// The questions without an answer.
    pub async fn open_questions(&self) -> Result<Vec<OpenQuestion>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = format!("{COLUMNS} WHERE q.status = 'asked' ORDER BY q.id");
        let mut open = Vec::new();
        for row in c.all(&sql, args![]).await? {
            let asked = read(&row)?;
            let Some((session, row)) = get(&mut c, asked.session).await? else { continue };
            let ask = row.text_or_none("conversation")?.map(|conversation| {
                Ok::<_, StoreError>(RunnerAsk::Question {
                    question: asked.id,
                    session: session.id,
                    project: session.project,
                    workspace: session.workspace,
                    agent: session.agent.clone(),
                    model: session.model.clone(),
                    conversation,
                    sandbox: workspaces::json_or_none(&row, "sandbox")?,
                    text: question(&asked.asked_by.name, &asked.question),
                    seconds: SECONDS,
                })
            });
            let (id, asked_at) = (asked.id, asked.asked_at);
            open.push(OpenQuestion { id, runner: session.runner, seconds: SECONDS, asked_at, ask: ask.transpose()? });
        }
        Ok(open)
    }
}
