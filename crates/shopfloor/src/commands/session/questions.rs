//! `shopfloor session ask` and `session questions`.

use client::Client;
use domain::{QuestionStatus, SessionId};
use protocol::{Call, SessionAsk, SessionQuestion};

use crate::output::clean;
use crate::{Failure, Output, when};

/// Wait between two looks for the answer.
const LOOK: std::time::Duration = std::time::Duration::from_millis(300);

/// Asks the agent of an ended session, and prints its answer.
pub(super) async fn ask(
    client: &Client,
    out: &Output,
    (session, question): (SessionId, String),
    wait: bool,
) -> Result<(), Failure> {
    let mut asked: SessionQuestion = client.ask(Call::SessionAsk { session, input: SessionAsk { question } }).await?;
    if wait && !out.json {
        out.note("the agent reads and answers; Ctrl-C stops waiting, not the agent");
    }
    while wait && asked.status == QuestionStatus::Asked {
        tokio::time::sleep(LOOK).await;
        let all: Vec<SessionQuestion> = client.ask(Call::SessionQuestions { session }).await?;
        let gone = || Failure::not_found("the question was deleted with its project");
        asked = all.into_iter().find(|one| one.id == asked.id).ok_or_else(gone)?;
    }
    match asked.status {
        QuestionStatus::Failed => {
            let why = asked.detail.as_deref().unwrap_or("no reason was given");
            Err(Failure::conflict(format!("the agent did not answer: {}", clean(why))))
        }
        QuestionStatus::Answered => out.show(&asked, |_| clean(asked.answer.as_deref().unwrap_or_default())),
        QuestionStatus::Asked => out
            .show(&asked, |_| format!("{}: asked; `shopfloor session questions {session}` shows the answer", asked.id)),
    }
}

/// The questions to the agent of a session.
pub(super) async fn list(client: &Client, out: &Output, session: SessionId) -> Result<(), Failure> {
    let all: Vec<SessionQuestion> = client.ask(Call::SessionQuestions { session }).await?;
    out.show(&all, |out| {
        if all.is_empty() {
            return format!("no questions; ask with `shopfloor session ask {session} QUESTION`");
        }
        all.iter().map(|one| paragraph(one, out)).collect::<Vec<_>>().join("\n\n")
    })
}

fn paragraph(one: &SessionQuestion, out: &Output) -> String {
    let answer = match (&one.answer, &one.detail) {
        (Some(answer), _) => clean(answer),
        (None, Some(why)) => format!("no answer: {}", clean(why)),
        (None, None) => "the agent is answering".to_owned(),
    };
    let (by, at) = (clean(&one.asked_by.name), when::relative(one.asked_at, out.now));
    format!("{by}, {at}: {}\n{answer}", clean(&one.question))
}
