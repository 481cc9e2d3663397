//! Answers: views as JSON, refusals as problem+json.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::{Answer, BareView, ProblemKind};

use crate::AppError;

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        problem(self, None)
    }
}

/// A refusal; `status` replaces the kind's own if HTTP has a more precise one.
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

/// A verb's answer, as its bare view.
pub(crate) fn answer(status: StatusCode, answer: Answer) -> Response {
    match answer {
        Answer::Done => StatusCode::NO_CONTENT.into_response(),
        answer => (status, [(header::CACHE_CONTROL, "no-store")], Json(BareView(&answer))).into_response(),
    }
}

/// A handler panicked: the caller gets an error, and the hub continues.
pub(crate) fn panicked(cause: Box<dyn std::any::Any + Send>) -> Response {
    let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    let cause = anyhow::anyhow!("a handler panicked: {}", text.unwrap_or("without a message"));
    AppError::Internal(cause).into_response()
}

/// The kind of problem for a status of axum's own.
pub(crate) fn kind_of(status: StatusCode) -> ProblemKind {
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => ProblemKind::TooLarge,
        _ => ProblemKind::Invalid,
    }
}
