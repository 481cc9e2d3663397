//! Login and logout: one-time links, invitations, observer links; and requests without a credential.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cookie::{Cookie, SameSite};
use protocol::{Health, InviteAccept, LinkSecret, Me, ProblemKind};
use serde::{Deserialize, Serialize};
use store::{AcceptInvite, Caller, EndLogin, FreshLogin, Secret, UseLoginLink, UseObserverLink};
use utoipa::ToSchema;

use super::extract::{Authenticated, Body, Origin};
use crate::AppError;
use crate::hub::{Hub, too_many};

/// How long a browser keeps the cookie; the hub ends an unused login earlier.
const COOKIE_DAYS: i64 = 30;

/// The ways to log in.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SignIn {
    /// Whether GitHub login is on.
    github: bool,
}

/// The ways to log in that this hub offers.
#[utoipa::path(get, path = "/api/sign-in", tag = "entry", security(()), responses((status = 200, body = SignIn)))]
pub(crate) async fn sign_in(State(hub): State<Arc<Hub>>) -> Json<SignIn> {
    Json(SignIn { github: hub.github.is_some() })
}

/// The hub's health.
#[utoipa::path(get, path = "/api/health", tag = "entry", security(()), responses(
    (status = 200, body = Health, description = "the hub answers; `read_only`: changes are refused; `degraded`: a runner cannot work"),
    (status = 503, body = Health, description = "the database is unreachable")))]
pub(crate) async fn health(State(hub): State<Arc<Hub>>) -> Response {
    let outage = hub.well.outage(&hub.store).await;
    let runners_in_trouble = hub.live.presence.runners_in_trouble();
    // The reasons may name files or hosts: only authenticated callers get them.
    let (code, status, reason) = if outage {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable", Some("the database is unreachable"))
    } else if hub.store.trouble().is_some() {
        (StatusCode::OK, "read_only", Some("the last change could not be stored"))
    } else if runners_in_trouble > 0 {
        (StatusCode::OK, "degraded", Some("a runner cannot record its work"))
    } else {
        (StatusCode::OK, "ok", None)
    };
    let health = Health {
        status: status.to_owned(),
        reason: reason.map(str::to_owned),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        runners_in_trouble: (runners_in_trouble > 0).then_some(runners_in_trouble),
    };
    let mut response = (code, [(header::CACHE_CONTROL, "no-store")], Json(health)).into_response();
    if outage {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

/// Logs a browser in with a one-time link.
#[utoipa::path(post, path = "/api/login", tag = "entry", security(()), request_body = LinkSecret,
    responses((status = 200, body = Me)))]
pub(crate) async fn login(
    State(hub): State<Arc<Hub>>,
    origin: Origin,
    Body(input): Body<LinkSecret>,
) -> Result<Response, AppError> {
    hub.meters.entry(origin.address).map_err(too_many)?;
    let command = UseLoginLink {
        hash: Secret::presented(&input.secret).hash(),
        client: origin.client.clone(),
        address: origin.address.to_string(),
    };
    let fresh = hub.store.write(&Caller::hub(origin.text()), None, command).await;
    let fresh = fresh.map_err(|error| {
        used_up(error, "this login link is not known: open the full link", "run `shopfloor login` for another")
    })?;
    Ok(welcome(&hub, fresh.value))
}

/// Accepts an invitation: creates a user and logs their browser in.
#[utoipa::path(post, path = "/api/invites/accept", tag = "entry", security(()), request_body = InviteAccept,
    responses((status = 200, body = Me)))]
pub(crate) async fn join(
    State(hub): State<Arc<Hub>>,
    origin: Origin,
    Body(input): Body<InviteAccept>,
) -> Result<Response, AppError> {
    hub.meters.entry(origin.address).map_err(too_many)?;
    let command = AcceptInvite {
        hash: Secret::presented(&input.secret).hash(),
        name: input.name,
        client: origin.client.clone(),
        address: origin.address.to_string(),
    };
    let fresh = hub.store.write(&Caller::hub(origin.text()), None, command).await;
    let fresh = fresh.map_err(|error| {
        used_up(error, "this invitation was revoked, or is not known: open the full link", "ask for another")
    })?;
    Ok(welcome(&hub, fresh.value))
}

/// Opens an observer link in a browser.
#[utoipa::path(post, path = "/api/observe", tag = "entry", security(()), request_body = LinkSecret,
    responses((status = 200, body = Me)))]
pub(crate) async fn observe(
    State(hub): State<Arc<Hub>>,
    origin: Origin,
    Body(input): Body<LinkSecret>,
) -> Result<Response, AppError> {
    hub.meters.entry(origin.address).map_err(too_many)?;
    let command = UseObserverLink {
        hash: Secret::presented(&input.secret).hash(),
        client: origin.client.clone(),
        address: origin.address.to_string(),
    };
    let fresh = hub.store.write(&Caller::hub(origin.text()), None, command).await;
    let fresh = fresh.map_err(|error| {
        used_up(error, "this observer link was revoked, or is not known: open the full link", "ask for another")
    })?;
    Ok(welcome(&hub, fresh.value))
}

/// Logs the asking browser out.
#[utoipa::path(post, path = "/api/logout", tag = "entry", responses((status = 204, description = "logged out")))]
pub(crate) async fn logout(State(hub): State<Arc<Hub>>, caller: Authenticated) -> Result<Response, AppError> {
    if caller.credential.by_cookie {
        let command = EndLogin { login: caller.credential.id.clone() };
        hub.store.write(&caller.caller, None, command).await?;
    }
    let gone = cookie(&hub, String::new(), 0);
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}

/// Says whether the link is unknown or spent. Only its holder learns it, and not who used it.
fn used_up(error: store::StoreError, unknown: &str, instead: &str) -> AppError {
    match error {
        store::StoreError::NotFound(_) => AppError::new(ProblemKind::NotFound, format!("{unknown}, or {instead}")),
        spent @ store::StoreError::Spent(..) => AppError::new(ProblemKind::NotFound, format!("{spent}: {instead}")),
        other => other.into(),
    }
}

/// The answer that sets a new login's cookie.
fn welcome(hub: &Hub, fresh: FreshLogin) -> Response {
    let cookie = cookie(hub, fresh.cookie, COOKIE_DAYS);
    let me = hub.me_view(fresh.user, fresh.observes);
    ([(header::SET_COOKIE, cookie), (header::CACHE_CONTROL, "no-store".to_owned())], Json(me)).into_response()
}

/// The login cookie: not for scripts, not for other sites' requests, and over TLS only if there is TLS.
pub(crate) fn cookie(hub: &Hub, value: String, days: i64) -> String {
    Cookie::build((hub.doors.cookie_name(), value))
        .path("/")
        .http_only(true)
        .secure(hub.doors.secure())
        .same_site(SameSite::Lax)
        .max_age(cookie::time::Duration::days(days))
        .build()
        .to_string()
}
