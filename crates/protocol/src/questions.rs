//! Questions to the agents of sessions that have ended.

use domain::{QuestionId, QuestionStatus, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! questions {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* questions {
        changes {}
        answers {
            SessionQuestions(Vec<SessionQuestion>),
            SessionQuestion(SessionQuestion),
        }
        verbs {
            /// Asks the agent of one of the caller's ended sessions about its work. Its conversation is resumed, and it
            /// can write nothing in the workspace.
            SessionAsk "session.ask" POST "/api/sessions/{session}/questions"
                { path session: SessionId, body input: crate::SessionAsk } -> 201 SessionQuestion, Drive;
            /// The questions to the agent of a session after its end, with the answers; oldest first.
            SessionQuestions "session.questions" GET "/api/sessions/{session}/questions"
                { path session: SessionId } -> 200 Vec<SessionQuestion>, Look;
        }
    } } };
}

pub(crate) use questions;

inputs! {
    /// A question to the agent of an ended session.
    SessionAsk {
        /// The question.
        question: String,
    }
}

views! {
    /// A question to the agent of an ended session.
    SessionQuestion {
        /// Its id.
        id: QuestionId,
        /// The session.
        session: SessionId,
        /// Who asked.
        asked_by: UserRef,
        /// The question.
        question: String,
        /// How far it is.
        status: QuestionStatus,
        /// The answer.
        answer: Option<String>,
        /// Why there is no answer.
        detail: Option<String>,
        /// When it was asked.
        asked_at: Timestamp,
        /// When it was answered, or failed.
        answered_at: Option<Timestamp>,
    }
}
