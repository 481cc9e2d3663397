//! Answers: views as JSON, refusals as problem+json.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::{Answer, ProblemKind};
use serde::Serialize;

use crate::AppError;

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        problem(self, None)
    }
}

/// A refusal; `status` replaces the kind's own where HTTP has a finer one.
pub(crate) fn problem(error: AppError, status: Option<StatusCode>) -> Response {
    let mut problem = error.into_problem();
    if let Some(status) = status {
        problem.status = status.as_u16();
    }
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let retry_after = problem.retry_after_seconds;
    let mut response = (status, Json(problem)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// What a verb answered, as its bare view.
pub(crate) fn answer(status: StatusCode, answer: Answer) -> Response {
    match answer {
        Answer::Done => StatusCode::NO_CONTENT.into_response(),
        Answer::Me(view) => json(status, &view),
        Answer::User(view) => json(status, &view),
        Answer::Users(view) => json(status, &view),
        Answer::Project(view) => json(status, &view),
        Answer::Projects(view) => json(status, &view),
        Answer::Activity(view) => json(status, &view),
        Answer::Activities(view) => json(status, &view),
        Answer::Versions(view) => json(status, &view),
        Answer::Diff(view) => json(status, &view),
        Answer::Message(view) => json(status, &view),
        Answer::Messages(view) => json(status, &view),
        Answer::Unread(view) => json(status, &view),
        Answer::Unreads(view) => json(status, &view),
        Answer::Tokens(view) => json(status, &view),
        Answer::NewToken(view) => json(status, &view),
        Answer::Logins(view) => json(status, &view),
        Answer::LoginLink(view) => json(status, &view),
        Answer::Invites(view) => json(status, &view),
        Answer::NewInvite(view) => json(status, &view),
        Answer::Observers(view) => json(status, &view),
        Answer::NewObserver(view) => json(status, &view),
        Answer::Runners(view) => json(status, &view),
        Answer::NewRunner(view) => json(status, &view),
        Answer::Audit(view) => json(status, &view),
        Answer::Presence(view) => json(status, &view),
    }
}

fn json(status: StatusCode, view: &impl Serialize) -> Response {
    (status, [(header::CACHE_CONTROL, "no-store")], Json(view)).into_response()
}

/// A handler panicked: the caller is told, the hub goes on.
pub(crate) fn panicked(cause: Box<dyn std::any::Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    let cause = anyhow::anyhow!("a handler panicked: {}", text.unwrap_or("without a message"));
    AppError::Internal(cause).into_response()
}

/// The kind of problem that a status of axum's own stands for.
pub(crate) fn kind_of(status: StatusCode) -> ProblemKind {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => ProblemKind::TooLarge,
        _ => ProblemKind::Invalid,
    }
}
