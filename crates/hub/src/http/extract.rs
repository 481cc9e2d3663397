//! What handlers are given: an authenticated caller, a body, a query.

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

/// Where a request came from.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// The address, as the audit trail and the limits see it.
    pub(crate) address: IpAddr,
    /// What the client said it is, shortened.
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

/// The sender of a request, whose credential is valid now.
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
        let Some(bearer) = bearer else { return Err(unauthenticated("no credential came with the request")) };
        let Some(credential) = hub.store.authenticate(&bearer).await? else {
            // Guessing is counted; whoever holds a valid credential is not.
            hub.meters.entry(origin.address).map_err(too_many)?;
            return Err(unauthenticated("the credential is not valid, or not any more"));
        };
        if credential.by_cookie && !parts.method.is_safe() && parts.headers.get(header::ORIGIN).is_none() {
            return Err(AppError::new(ProblemKind::Forbidden, "a change by cookie must name its origin"));
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

/// The secret that came with a request: a bearer's token first, a browser's cookie otherwise.
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
        format!("{detail}: log in by a link from `shopfloor login`, or send a token"),
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
        // One word for "this cannot be read", whether the syntax or a field is wrong.
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
