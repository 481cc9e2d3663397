//! MCP over HTTP: `/mcp`, with a token, each request independent.
//!
//! An MCP session is only a name: it identifies one of a token's agents. Nothing is stored that another hub would need,
//! and unknown names are accepted.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use domain::Actor;
use http_body_util::Full;
use mcp::{Desk, Running, Settings, Verbs};
use parking_lot::Mutex;
use protocol::{Call, Problem, ProblemKind};
use store::{Bearer, Credential, Secret};

use super::desks::{Desks, MOST, NoRoom, Seat};
use super::extract::{Authenticated, bearer};
use super::{BODY, REQUEST, reply};
use crate::AppError;
use crate::app;
use crate::hub::Hub;

/// A caller that was silent for so long holds nothing any more.
const FORGOTTEN: Duration = Duration::from_secs(60 * 60);
/// How long to renew a silent caller's leases: a model may think, or run a build, and there is no connection to watch.
const GRACE: Duration = Duration::from_secs(5 * 60);

/// The endpoint, with the tasks that its callers hold.
pub(crate) struct Door {
    hub: Arc<Hub>,
    service: Service,
    desks: Mutex<Desks<Place>>,
}

type Service = mcp::HttpService;

/// The header that names a request's MCP session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Longer session names are not ours and are not remembered.
const LONGEST_SESSION: usize = 128;

/// A caller's desk, and its newest credential: an agent's token is renewed.
type Place = (Arc<Desk>, Arc<Mutex<(Bearer, String)>>);

impl Seat for Place {
    fn silent_for(&self) -> Duration {
        self.0.silent_for()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn forgotten(&self) -> bool {
        self.0.silent_for() >= if self.0.is_empty() { GRACE } else { FORGOTTEN }
    }
}

impl Door {
    /// An endpoint for the hub's own host names.
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let service = mcp::http_service(hub.doors.hosts().to_vec(), hub.doors.origins().to_vec(), BODY);
        Self { hub, service, desks: Mutex::new(Desks::new()) }
    }

    /// Answers one request.
    pub(crate) async fn serve(&self, request: Request) -> Response {
        let fresh = match session_of(request.headers()) {
            Ok(None) => HeaderValue::from_str(Secret::generate("mcp_").reveal()).ok(),
            Ok(Some(_)) => None,
            Err(error) => return error.into_response(),
        };
        let (request, desk) = match self.admit(request).await {
            Ok(admitted) => admitted,
            Err(response) => return response,
        };
        if request.method() == Method::DELETE && fresh.is_none() {
            desk.release_all("the agent's MCP session ended").await;
            return StatusCode::NO_CONTENT.into_response();
        }
        if let Some(answer) = refused(&request) {
            return answer;
        }
        let begins = request.method() == Method::POST && begins(request.body());
        let mut response = self.service.handle(request.map(Full::new)).await.map(Body::new);
        if let Some(fresh) = fresh.filter(|_| begins && response.status().is_success()) {
            response.headers_mut().insert(SESSION, fresh);
        }
        response
    }

    /// The request with its authenticated caller, once the whole body has arrived.
    async fn admit(&self, request: Request) -> Result<(http::Request<Bytes>, Arc<Desk>), Response> {
        let (mut parts, body) = request.into_parts();
        let refuse = |detail: &str| AppError::new(ProblemKind::Unauthenticated, detail).into_response();
        // Browsers send cookies by themselves; only a program sends a token.
        let Some(bearer) = bearer(&parts.headers, "").filter(|bearer| matches!(bearer, Bearer::Token(_))) else {
            return Err(refuse("send a token as `Authorization: Bearer …`; `shopfloor token create` creates one"));
        };
        let caller =
            Authenticated::from_request_parts(&mut parts, &self.hub).await.map_err(IntoResponse::into_response)?;
        app::no_runner(&caller.credential).map_err(IntoResponse::into_response)?;
        let named = session_of(&parts.headers).ok().flatten();
        let desk = self.desk(&caller.credential, named, bearer, caller.origin.text());
        let desk = desk.map_err(IntoResponse::into_response)?;
        let body = tokio::time::timeout(REQUEST, axum::body::to_bytes(body, BODY)).await;
        let body = match body {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let error = AppError::new(ProblemKind::TooLarge, format!("a body has at most {BODY} bytes"));
                return Err(error.into_response());
            }
            Err(_) => {
                let error = AppError::new(ProblemKind::Invalid, "the body did not arrive in time");
                return Err(reply::problem(error, Some(StatusCode::REQUEST_TIMEOUT)));
            }
        };
        // The tools act for the caller; nothing else needs the secret.
        parts.headers.remove(header::AUTHORIZATION);
        parts.extensions.insert(desk.clone());
        Ok((http::Request::from_parts(parts, body), desk))
    }

    /// The desk of this agent: of one of our sessions, of an MCP session, or of a token.
    fn desk(
        &self,
        credential: &Credential,
        named: Option<String>,
        bearer: Bearer,
        origin: String,
    ) -> Result<Arc<Desk>, AppError> {
        let (owner, name) = match (credential.actor, &named) {
            // Its token changes, but it is one worker across connections.
            (Actor::Agent { session, .. }, _) => (session.to_string(), ""),
            (_, Some(named)) => (credential.id.clone(), named.as_str()),
            (_, None) => (credential.id.clone(), ""),
        };
        let fresh = || {
            let last = Arc::new(Mutex::new((bearer.clone(), origin.clone())));
            let verbs = Arc::new(HubVerbs { hub: self.hub.clone(), last: last.clone() });
            (Arc::new(Desk::new(verbs, settings(credential, named.as_deref()))), last)
        };
        let mut desks = self.desks.lock();
        let (desk, last) = desks.seat(&owner, name, fresh).map_err(|NoRoom| {
            let detail = format!(
                "this token has {MOST} MCP sessions with tasks in hand: end one (DELETE with its Mcp-Session-Id), or use \
                 another token"
            );
            AppError::new(ProblemKind::Conflict, detail)
        })?;
        *last.lock() = (bearer, origin);
        Ok(desk.clone())
    }
}

/// The MCP session of a request.
fn session_of(headers: &HeaderMap) -> Result<Option<String>, AppError> {
    let Some(value) = headers.get(SESSION) else { return Ok(None) };
    let named = value.to_str().ok().filter(|text| !text.is_empty() && text.len() <= LONGEST_SESSION);
    let named = named.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    let wrong = || {
        let detail = format!("`Mcp-Session-Id` has 1 to {LONGEST_SESSION} visible ASCII characters");
        AppError::new(ProblemKind::Invalid, detail)
    };
    named.map(|text| Some(text.to_owned())).ok_or_else(wrong)
}

/// The answer to JSON that is not a JSON-RPC message.
fn refused(request: &http::Request<Bytes>) -> Option<Response> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let json = kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("application/json"));
    if request.method() != Method::POST || !json {
        return None;
    }
    let answer = mcp::malformed(request.body())?;
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    Some((StatusCode::BAD_REQUEST, kind, answer).into_response())
}

/// Whether this message initializes a client.
fn begins(body: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Message {
        method: String,
    }
    serde_json::from_slice::<Message>(body).is_ok_and(|message| message.method == "initialize")
}

fn settings(credential: &Credential, named: Option<&str>) -> Settings {
    let settings = Settings { grace: Some(GRACE), ..Settings::default() };
    match credential.actor {
        Actor::Agent { project, session, .. } => {
            Settings { project: Some(project.to_string()), session: Some(session), ..settings }
        }
        // An MCP session is one worker, and without one the token is, unless the caller names a worker.
        Actor::User { .. } | Actor::Observer { .. } | Actor::Runner { .. } => {
            let id = named.unwrap_or(&credential.id);
            Settings { worker: Some(format!("mcp-{}", &id[id.len().saturating_sub(8)..])), ..settings }
        }
    }
}

/// Runs verbs here with a token that is checked each time: it may have ended.
struct HubVerbs {
    hub: Arc<Hub>,
    last: Arc<Mutex<(Bearer, String)>>,
}

impl Verbs for HubVerbs {
    fn run(&self, call: Call) -> Running<'_> {
        Box::pin(async move {
            let (bearer, origin) = self.last.lock().clone();
            let known = self.hub.store.authenticate(&bearer).await;
            let known = known.map_err(|error| AppError::from(error).into_problem())?;
            let Some(credential) = known else {
                let detail = "the token was revoked or has expired";
                return Err(Problem::new(ProblemKind::Unauthenticated, detail));
            };
            // MCP calls are an agent's, even with its person's own token.
            let caller = credential.caller(origin).with_agent(true);
            crate::app::run(&self.hub, &credential, &caller, None, call).await.map_err(AppError::into_problem)
        })
    }
}
