//! Extractors: an authenticated caller, a body, a query.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, RequestPartsExt};
use protocol::{Answer, Call, ProblemKind};
use serde::de::DeserializeOwned;
use store::{Bearer, Caller, Credential, Secret};

use super::reply;
use crate::AppError;
use crate::hub::{Hub, too_many};
use crate::listen::Peer;

/// A request's origin.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The address, for the audit trail and the limits.
    pub(crate) address: IpAddr,
    /// The client's user agent, shortened.
    pub(crate) client: String,
}

impl Origin {
    /// For the audit trail: address and kind of client.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.address, self.client)
    }
}

impl FromRequestParts<Arc<Hub>> for Origin {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, AppError> {
        let peer = parts.extensions.get::<Peer>().map(|peer| peer.address);
        let peer = peer.ok_or_else(|| AppError::Internal(anyhow::anyhow!("a request has no peer")))?;
        let forwarded = parts.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
        let client = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("unknown");
        let client = client.chars().filter(|c| !c.is_control()).take(120).collect();
        Ok(Self { address: hub.doors.address(peer, forwarded), client })
    }
}

/// The sender of a request, with a valid credential.
pub(crate) struct Authenticated {
    pub(crate) credential: Credential,
    pub(crate) caller: Caller,
    pub(crate) origin: Origin,
    key: Option<String>,
}

impl FromRequestParts<Arc<Hub>> for Authenticated {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, AppError> {
        let origin = parts.extract_with_state::<Origin, _>(hub).await?;
        let bearer = bearer(&parts.headers, &hub.doors.cookie_name());
        let Some(bearer) = bearer else { return Err(unauthenticated("the request has no credential")) };
        let Some(credential) = hub.store.authenticate(&bearer).await? else {
            // Only invalid credentials count as guesses.
            hub.meters.entry(origin.address).map_err(too_many)?;
            return Err(unauthenticated("the credential is invalid or has ended"));
        };
        if credential.by_cookie && !parts.method.is_safe() && parts.headers.get(header::ORIGIN).is_none() {
            return Err(AppError::new(ProblemKind::Forbidden, "a change with a cookie needs an `Origin` header"));
        }
        hub.meter(&credential)?;
        if let Some(peer) = parts.extensions.get::<Peer>() {
            peer.is_known();
        }
        hub.touch(credential.id.clone());
        let key = match parts.headers.get("idempotency-key") {
            None => None,
            Some(value) => Some(value.to_str().map_err(|_| invalid("`Idempotency-Key` is not plain text"))?.to_owned()),
        };
        let by_agent = parts.headers.contains_key(protocol::BY_AGENT);
        let caller = credential.caller(origin.text()).with_agent(by_agent);
        Ok(Self { credential, caller, origin, key })
    }
}

impl Authenticated {
    /// Runs a verb and answers with its view.
    pub(crate) async fn run(self, hub: &Hub, call: Call) -> Response {
        let status = StatusCode::from_u16(call.spec().status).unwrap_or(StatusCode::OK);
        let done: Result<Answer, AppError> = crate::app::run(hub, &self.credential, &self.caller, self.key, call).await;
        match done {
            Ok(answer) => reply::answer(status, answer),
            Err(error) => error.into_response(),
        }
    }
}

/// A request's secret: its token, or else its cookie.
pub(crate) fn bearer(headers: &HeaderMap, cookie_name: &str) -> Option<Bearer> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        let secret = value.to_str().ok()?.strip_prefix("Bearer ")?.trim();
        return Some(Bearer::Token(Secret::presented(secret)));
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| cookie::Cookie::split_parse(line.to_owned()).flatten());
    let found = pairs.find(|pair| pair.name() == cookie_name)?;
    Some(Bearer::Cookie(Secret::presented(found.value())))
}

fn unauthenticated(detail: &str) -> AppError {
    AppError::new(
        ProblemKind::Unauthenticated,
        format!("{detail}: log in with a link from `shopfloor login`, or send a token"),
    )
}

fn invalid(detail: impl Into<String>) -> AppError {
    AppError::new(ProblemKind::Invalid, detail)
}

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        match Json::<T>::from_request(request, state).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => Err(refuse_body(&rejection)),
        }
    }
}

fn refuse_body(rejection: &JsonRejection) -> Response {
    let status = match rejection.status() {
        // The same problem for a syntax error and a wrong field.
        StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
        other => other,
    };
    reply::problem(AppError::new(reply::kind_of(status), rejection.body_text()), Some(status))
}

/// A query string.
pub(crate) struct Search<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Search<T> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, AppError> {
        let Query(value) = Query::try_from_uri(&parts.uri).map_err(|error| invalid(error.body_text()))?;
        Ok(Self(value))
    }
}
