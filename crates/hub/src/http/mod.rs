//! The HTTP edge: decode, call a verb, encode.

mod artifacts;
mod desks;
pub(crate) mod doors;
mod encoding;
pub(crate) mod entry;
pub(crate) mod extract;
pub(crate) mod github;
pub(crate) mod guard;
pub(crate) mod hooks;
pub(crate) mod mcp;
pub(crate) mod openapi;
pub(crate) mod page;
pub(crate) mod reply;
pub(crate) mod upgrade;
mod verbs;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, put};
use protocol::ProblemKind;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;

use crate::AppError;
use crate::hub::Hub;

/// Maximum size of a body.
const BODY: usize = 1024 * 1024;
/// Time limit of a request, except for sockets.
const REQUEST: Duration = Duration::from_secs(30);
/// Time limit of an answer: longer than the maximum wait for a task.
const ANSWER: Duration = Duration::from_secs(75);

/// Every route, behind the checks before routing.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    let (api, document) = openapi::routes();
    let door = Arc::new(mcp::Door::new(hub.clone()));
    let agents = axum::routing::any(move |request: Request| {
        let door = door.clone();
        async move { door.serve(request).await }
    });
    let document = Arc::new(serde_json::to_string(&document).expect("the document is plain JSON"));
    let api = api
        .route("/api/openapi.json", get(move || openapi::serve(document.clone())))
        .route("/api/recipe.schema.json", get(openapi::recipe_schema))
        .layer(TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, ANSWER))
        .route(artifacts::PUT, put(artifacts::put))
        .route(artifacts::GET, get(artifacts::get))
        .method_not_allowed_fallback(|| async {
            reply::problem(
                AppError::new(ProblemKind::Invalid, "this path does not support that method"),
                Some(StatusCode::METHOD_NOT_ALLOWED),
            )
        })
        .route("/api/ws", get(upgrade::client))
        .route("/api/link", get(upgrade::link))
        .route("/mcp", agents)
        .route("/api/{*rest}", axum::routing::any(unknown))
        .route("/api/", axum::routing::any(unknown))
        .route("/api", axum::routing::any(unknown))
        .fallback(page::serve)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(CatchPanicLayer::custom(reply::panicked))
        .with_state(hub.clone());
    api.layer(middleware::from_fn_with_state(hub, guard::guard))
}

async fn unknown() -> AppError {
    AppError::new(ProblemKind::NotFound, "unknown path: /api/openapi.json lists all paths")
}
