//! Checks before routing: `Host`, `Origin`, `Sec-Fetch-Site`; and the security headers of every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::ProblemKind;

use super::reply;
use crate::AppError;
use crate::hub::Hub;

const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
    connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types svelte-trusted-html shopfloor-worker";

/// Refuses requests of foreign pages and rebound host names; adds the headers.
pub(crate) async fn guard(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let strict = hub.doors.secure() && !is_loopback(only(request.headers(), header::HOST));
    let mut response = match refusal(&hub, &request) {
        None => next.run(request).await,
        Some(response) => response,
    };
    let headers = response.headers_mut();
    // A download has a stricter policy of its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CSP));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // HSTS: a browser that came with TLS uses TLS for a year.
    if strict {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

fn refusal(hub: &Hub, request: &Request) -> Option<Response> {
    let headers = request.headers();
    let host = only(headers, header::HOST);
    let authority = request.uri().authority().map(|authority| authority.as_str());
    // A request in absolute form names its host twice; both must be accepted.
    if !host.is_some_and(|host| hub.doors.knows_host(host)) || authority.is_some_and(|host| !hub.doors.knows_host(host))
    {
        let detail = "this hub does not answer to that host name: use the address that it printed, or start it with --public-url or --allow-host";
        return Some(reply::problem(
            AppError::new(ProblemKind::Invalid, detail),
            Some(StatusCode::MISDIRECTED_REQUEST),
        ));
    }
    let known = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| hub.doors.knows_origin(origin));
    if !headers.get_all(header::ORIGIN).iter().all(known) {
        return Some(foreign());
    }
    let site = text(headers, "sec-fetch-site");
    if matches!(site, Some("cross-site" | "same-site")) && !is_visit(request) {
        return Some(foreign());
    }
    None
}

/// Whether a `Host` is a loopback name: other programs use it, too, and not all of them with TLS.
fn is_loopback(host: Option<&str>) -> bool {
    let name = host.map(|host| host.rsplit_once(':').map_or(host, |(name, _)| name));
    name.is_none_or(|name| matches!(name, "localhost" | "127.0.0.1" | "[::1]"))
}

/// Following a link to a page, or returning from GitHub, is allowed.
fn is_visit(request: &Request) -> bool {
    let navigates = text(request.headers(), "sec-fetch-mode") == Some("navigate") && request.method() == Method::GET;
    let path = request.uri().path();
    navigates && (!path.starts_with("/api") || path.starts_with("/api/auth/"))
}

fn foreign() -> Response {
    AppError::new(ProblemKind::Forbidden, "requests from pages of other origins are refused").into_response()
}

/// A header that must not occur twice: two readers could each use another one.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok())?
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}
