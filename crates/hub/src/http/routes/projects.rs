//! Projects and their observer links.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{ObserverId, ProjectId};
use protocol::{
    Call, Diff, DiffRange, NewObserver, Observer, ObserverCreate, Project, ProjectCreate, ProjectUpdate, Version,
    VersionPage,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(show, update, delete))
        .routes(routes!(versions))
        .routes(routes!(diff))
        .routes(routes!(observers, create_observer))
        .routes(routes!(revoke_observer))
}

/// The projects that the caller may see.
#[utoipa::path(get, path = "/api/projects", tag = "projects", responses((status = 200, body = Vec<Project>)))]
async fn list(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::ProjectList {}).await
}

/// Creates a project that the caller owns.
#[utoipa::path(post, path = "/api/projects", tag = "projects", request_body = ProjectCreate, responses((status = 201, body = Project)))]
async fn create(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<ProjectCreate>) -> Response {
    session.run(&hub, Call::ProjectCreate { input }).await
}

/// One project.
#[utoipa::path(get, path = "/api/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)), responses((status = 200, body = Project)))]
async fn show(State(hub): State<Arc<Hub>>, session: Session, Id(project): Id<ProjectId>) -> Response {
    session.run(&hub, Call::ProjectShow { project }).await
}

/// Changes a project.
#[utoipa::path(patch, path = "/api/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)), request_body = ProjectUpdate, responses((status = 200, body = Project)))]
async fn update(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<ProjectUpdate>,
) -> Response {
    session.run(&hub, Call::ProjectUpdate { project, input }).await
}

/// Deletes a project and all that is in it.
#[utoipa::path(delete, path = "/api/projects/{project}", tag = "projects", params(("project" = ProjectId, Path)), responses((status = 204, description = "done")))]
async fn delete(State(hub): State<Arc<Hub>>, session: Session, Id(project): Id<ProjectId>) -> Response {
    session.run(&hub, Call::ProjectDelete { project }).await
}

/// A page of the versions of a project's content, newest first.
#[utoipa::path(get, path = "/api/projects/{project}/versions", tag = "projects", params(("project" = ProjectId, Path), VersionPage), responses((status = 200, body = Vec<Version>)))]
async fn versions(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Search(page): Search<VersionPage>,
) -> Response {
    session.run(&hub, Call::ProjectVersions { project, page }).await
}

/// What changed between two versions of a project's content.
#[utoipa::path(get, path = "/api/projects/{project}/diff", tag = "projects", params(("project" = ProjectId, Path), DiffRange), responses((status = 200, body = Diff)))]
async fn diff(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Search(range): Search<DiffRange>,
) -> Response {
    session.run(&hub, Call::ProjectDiff { project, range }).await
}

/// A project's observer links.
#[utoipa::path(get, path = "/api/projects/{project}/observers", tag = "projects", params(("project" = ProjectId, Path)), responses((status = 200, body = Vec<Observer>)))]
async fn observers(State(hub): State<Arc<Hub>>, session: Session, Id(project): Id<ProjectId>) -> Response {
    session.run(&hub, Call::ObserverList { project }).await
}

/// Makes an observer link; it is shown once.
#[utoipa::path(post, path = "/api/projects/{project}/observers", tag = "projects", params(("project" = ProjectId, Path)), request_body = ObserverCreate, responses((status = 201, body = NewObserver)))]
async fn create_observer(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<ObserverCreate>,
) -> Response {
    session.run(&hub, Call::ObserverCreate { project, input }).await
}

/// Takes an observer link back, at once.
#[utoipa::path(delete, path = "/api/observers/{observer}", tag = "projects", params(("observer" = ObserverId, Path)), responses((status = 204, description = "done")))]
async fn revoke_observer(State(hub): State<Arc<Hub>>, session: Session, Id(observer): Id<ObserverId>) -> Response {
    session.run(&hub, Call::ObserverRevoke { observer }).await
}
