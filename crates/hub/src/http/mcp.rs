//! The door for agents that speak MCP: `/mcp`, with a token, each request by itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::Actor;
use http_body_util::Full;
use mcp::{Desk, Floor, Running, Settings};
use parking_lot::Mutex;
use protocol::{Call, Problem, ProblemKind};
use store::{Bearer, Credential};

use super::extract::{Session, bearer};
use super::{BODY, REQUEST, reply};
use crate::AppError;
use crate::hub::Hub;

/// A caller that was silent for so long has nothing in hand any more.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);
/// So long a silent caller's leases are renewed: a model may think, or run a build. No connection tells us more.
const GRACE: Duration = Duration::from_secs(5 * 60);

/// The door, with what its callers have in hand.
pub(crate) struct Door {
    hub: Arc<Hub>,
    service: Service,
    desks: Mutex<HashMap<String, Place>>,
}

type Service = mcp::HttpService;

/// A caller's desk, and from where it was last asked.
type Place = (Arc<Desk>, Arc<Mutex<String>>);

impl Door {
    /// A door that answers to the hub's own names only.
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let service = mcp::http_service(hub.doors.hosts().to_vec(), hub.doors.origins().to_vec(), BODY);
        Self { hub, service, desks: Mutex::default() }
    }

    /// Answers one request.
    pub(crate) async fn serve(&self, request: Request) -> Response {
        match self.admit(request).await {
            Ok(request) => self.service.handle(request).await.map(Body::new),
            Err(response) => response,
        }
    }

    /// The request with its caller, once that is proven and all of it has come.
    async fn admit(&self, request: Request) -> Result<http::Request<Full<Bytes>>, Response> {
        let (mut parts, body) = request.into_parts();
        let refuse = |detail: &str| AppError::new(ProblemKind::Unauthenticated, detail).into_response();
        // A cookie travels by itself; only a program that was given a token sends one.
        let Some(bearer) = bearer(&parts.headers, "").filter(|bearer| matches!(bearer, Bearer::Token(_))) else {
            return Err(refuse("send a token as `Authorization: Bearer …`: `shopfloor token create` makes one"));
        };
        let session = Session::from_request_parts(&mut parts, &self.hub).await.map_err(IntoResponse::into_response)?;
        if session.credential.runner.is_some() {
            return Err(refuse("a runner's token is not for agents: use a personal token, or the agent's own"));
        }
        let desk = self.desk(&session.credential, bearer, session.origin.text());
        let body = tokio::time::timeout(REQUEST, axum::body::to_bytes(body, BODY)).await;
        let body = match body {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let error = AppError::new(ProblemKind::TooLarge, format!("a body has at most {BODY} bytes"));
                return Err(error.into_response());
            }
            Err(_) => {
                let error = AppError::new(ProblemKind::Invalid, "the body did not come in time");
                return Err(reply::problem(error, Some(StatusCode::REQUEST_TIMEOUT)));
            }
        };
        // The tools ask as the caller; nothing else of the request needs the secret.
        parts.headers.remove(header::AUTHORIZATION);
        parts.extensions.insert(desk);
        Ok(http::Request::from_parts(parts, Full::new(body)))
    }

    /// What this credential has in hand here.
    fn desk(&self, credential: &Credential, bearer: Bearer, origin: String) -> Arc<Desk> {
        let mut desks = self.desks.lock();
        desks.retain(|_, (desk, _)| desk.silent_for() < FORGOTTEN);
        if let Some((desk, last)) = desks.get(&credential.id) {
            *last.lock() = origin;
            return desk.clone();
        }
        let origin = Arc::new(Mutex::new(origin));
        let floor = Arc::new(HubFloor { hub: self.hub.clone(), bearer, origin: origin.clone() });
        let desk = Arc::new(Desk::new(floor, settings(credential)));
        desks.insert(credential.id.clone(), (desk.clone(), origin));
        desk
    }
}

fn settings(credential: &Credential) -> Settings {
    let settings = Settings { grace: Some(GRACE), ..Settings::default() };
    match credential.actor {
        Actor::Agent { project, session, .. } => {
            Settings { project: Some(project.to_string()), session: Some(session), ..settings }
        }
        // One token is one worker, unless it says otherwise.
        Actor::User { .. } | Actor::Observer { .. } => {
            let end = credential.id.len().saturating_sub(6);
            Settings { worker: Some(format!("mcp-{}", &credential.id[end..])), ..settings }
        }
    }
}

/// Runs verbs here, as the bearer of a token that is looked up anew each time: it may have ended.
struct HubFloor {
    hub: Arc<Hub>,
    bearer: Bearer,
    origin: Arc<Mutex<String>>,
}

impl Floor for HubFloor {
    fn run(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let known = self.hub.store.authenticate(&self.bearer).await;
            let known = known.map_err(|error| AppError::from(error).into_problem())?;
            let Some(credential) = known else {
                let detail = "the token was revoked or has expired";
                return Err(Problem::new(ProblemKind::Unauthenticated, detail));
            };
            let caller = credential.caller(self.origin.lock().clone());
            crate::app::run(&self.hub, &credential, &caller, None, call).await.map_err(AppError::into_problem)
        })
    }
}
