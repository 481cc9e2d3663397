//! Activities.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{ActivityId, ProjectId};
use protocol::{Activity, ActivityCreate, ActivityUpdate, Call, Diff, DiffRange, Version, VersionPage};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(create))
        .routes(routes!(show, update))
        .routes(routes!(versions))
        .routes(routes!(diff))
}

/// Which activities to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
struct ActivityFilter {
    /// Only those of this project.
    project: Option<ProjectId>,
}

/// The activities of one project, or of all that the caller may see.
#[utoipa::path(get, path = "/api/activities", tag = "activities", params(ActivityFilter), responses((status = 200, body = Vec<Activity>)))]
async fn list(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<ActivityFilter>) -> Response {
    session.run(&hub, Call::ActivityList { project: filter.project }).await
}

/// Starts an activity that the caller owns.
#[utoipa::path(post, path = "/api/projects/{project}/activities", tag = "activities", params(("project" = ProjectId, Path)), request_body = ActivityCreate, responses((status = 201, body = Activity)))]
async fn create(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<ActivityCreate>,
) -> Response {
    session.run(&hub, Call::ActivityCreate { project, input }).await
}

/// One activity.
#[utoipa::path(get, path = "/api/activities/{activity}", tag = "activities", params(("activity" = ActivityId, Path)), responses((status = 200, body = Activity)))]
async fn show(State(hub): State<Arc<Hub>>, session: Session, Id(activity): Id<ActivityId>) -> Response {
    session.run(&hub, Call::ActivityShow { activity }).await
}

/// Changes an activity.
#[utoipa::path(patch, path = "/api/activities/{activity}", tag = "activities", params(("activity" = ActivityId, Path)), request_body = ActivityUpdate, responses((status = 200, body = Activity)))]
async fn update(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(activity): Id<ActivityId>,
    Body(input): Body<ActivityUpdate>,
) -> Response {
    session.run(&hub, Call::ActivityUpdate { activity, input }).await
}

/// A page of the versions of an activity's content, newest first.
#[utoipa::path(get, path = "/api/activities/{activity}/versions", tag = "activities", params(("activity" = ActivityId, Path), VersionPage), responses((status = 200, body = Vec<Version>)))]
async fn versions(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(activity): Id<ActivityId>,
    Search(page): Search<VersionPage>,
) -> Response {
    session.run(&hub, Call::ActivityVersions { activity, page }).await
}

/// What changed between two versions of an activity's content.
#[utoipa::path(get, path = "/api/activities/{activity}/diff", tag = "activities", params(("activity" = ActivityId, Path), DiffRange), responses((status = 200, body = Diff)))]
async fn diff(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(activity): Id<ActivityId>,
    Search(range): Search<DiffRange>,
) -> Response {
    session.run(&hub, Call::ActivityDiff { activity, range }).await
}
