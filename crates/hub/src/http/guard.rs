//! What is checked before routing: `Host`, `Origin`, `Sec-Fetch-Site`; and what every answer says to browsers.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::ProblemKind;

use super::reply;
use crate::AppError;
use crate::hub::Hub;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
    connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types svelte-trusted-html";

/// Refuses requests that a foreign page or a rebound name made; marks every answer.
pub(crate) async fn guard(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let mut response = match check(&hub, &request) {
        Ok(()) => next.run(request).await,
        Err(response) => response,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CSP),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn check(hub: &Hub, request: &Request) -> Result<(), Response> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str());
    let authority = request.uri().authority().map(|authority| authority.as_str());
    // A request in absolute form names its host twice; both must be ours.
    if !host.is_some_and(|host| hub.doors.knows_host(host)) || authority.is_some_and(|host| !hub.doors.knows_host(host))
    {
        let detail = "this hub does not answer to that host name: use the address it printed, or start it with --public-url or --allow-host";
        return Err(reply::problem(AppError::new(ProblemKind::Invalid, detail), Some(StatusCode::MISDIRECTED_REQUEST)));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let known = origin.to_str().is_ok_and(|origin| hub.doors.knows_origin(origin));
        if !known {
            return Err(foreign());
        }
    }
    let site = text(headers, "sec-fetch-site");
    if matches!(site, Some("cross-site" | "same-site")) && !is_visit(request) {
        return Err(foreign());
    }
    Ok(())
}

/// Following a link from elsewhere to a page, or coming back from GitHub, is no attack.
fn is_visit(request: &Request) -> bool {
    let navigates = text(request.headers(), "sec-fetch-mode") == Some("navigate") && request.method() == Method::GET;
    let path = request.uri().path();
    navigates && (!path.starts_with("/api") || path.starts_with("/api/auth/"))
}

fn foreign() -> Response {
    AppError::new(ProblemKind::Forbidden, "a page of another origin asked: only this hub's own page may")
        .into_response()
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
