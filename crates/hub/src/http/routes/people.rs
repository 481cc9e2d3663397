//! People: the caller, users, presence, the audit trail.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::UserId;
use protocol::{AuditEntry, AuditPage, Call, Me, PresenceEntry, Rename, User};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(me, rename))
        .routes(routes!(list))
        .routes(routes!(show))
        .routes(routes!(disable))
        .routes(routes!(enable))
        .routes(routes!(presence))
        .routes(routes!(audit))
}

/// Who the caller is.
#[utoipa::path(get, path = "/api/me", tag = "people", responses((status = 200, body = Me)))]
async fn me(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::Me {}).await
}

/// Gives the caller another name.
#[utoipa::path(patch, path = "/api/me", tag = "people", request_body = Rename, responses((status = 200, body = User)))]
async fn rename(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<Rename>) -> Response {
    session.run(&hub, Call::MeRename { input }).await
}

/// All people of this hub.
#[utoipa::path(get, path = "/api/users", tag = "people", responses((status = 200, body = Vec<User>)))]
async fn list(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::UserList {}).await
}

/// One person.
#[utoipa::path(get, path = "/api/users/{user}", tag = "people", params(("user" = UserId, Path)), responses((status = 200, body = User)))]
async fn show(State(hub): State<Arc<Hub>>, session: Session, Id(user): Id<UserId>) -> Response {
    session.run(&hub, Call::UserShow { user }).await
}

/// Closes the hub to a person, at once.
#[utoipa::path(post, path = "/api/users/{user}/disable", tag = "people", params(("user" = UserId, Path)), responses((status = 200, body = User)))]
async fn disable(State(hub): State<Arc<Hub>>, session: Session, Id(user): Id<UserId>) -> Response {
    session.run(&hub, Call::UserDisable { user }).await
}

/// Opens the hub to a person again.
#[utoipa::path(post, path = "/api/users/{user}/enable", tag = "people", params(("user" = UserId, Path)), responses((status = 200, body = User)))]
async fn enable(State(hub): State<Arc<Hub>>, session: Session, Id(user): Id<UserId>) -> Response {
    session.run(&hub, Call::UserEnable { user }).await
}

/// Who is here, looking at what.
#[utoipa::path(get, path = "/api/presence", tag = "people", responses((status = 200, body = Vec<PresenceEntry>)))]
async fn presence(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::PresenceList {}).await
}

/// A page of the audit trail, newest first, as far as the caller may see.
#[utoipa::path(get, path = "/api/audit", tag = "people", params(AuditPage), responses((status = 200, body = Vec<AuditEntry>)))]
async fn audit(State(hub): State<Arc<Hub>>, session: Session, Search(page): Search<AuditPage>) -> Response {
    session.run(&hub, Call::AuditList { page }).await
}
