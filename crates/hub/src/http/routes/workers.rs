//! Workers: starting, stopping, what was decided about them, and how the work goes.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{ProjectId, WorkerId};
use protocol::{
    Call, DoingWhat, Freeze, Frozen, Metrics, MetricsPage, WorkConfigure, WorkEntry, WorkLogPage, WorkSettings, Worker,
    WorkerDetail, WorkerFilter, WorkerStart, WorkerStop, WorkerUpdate,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(show, update, remove))
        .routes(routes!(start))
        .routes(routes!(stop))
        .routes(routes!(restart))
        .routes(routes!(stop_all))
        .routes(routes!(log))
        .routes(routes!(settings, configure))
        .routes(routes!(metrics))
        .routes(routes!(doing))
        .routes(routes!(freeze))
        .routes(routes!(thaw))
}

/// The workers that the caller may see.
#[utoipa::path(get, path = "/api/workers", tag = "workers", params(WorkerFilter), responses((status = 200, body = Vec<Worker>)))]
async fn list(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<WorkerFilter>) -> Response {
    session.run(&hub, Call::WorkerList { filter }).await
}

/// One worker with what it has done.
#[utoipa::path(get, path = "/api/workers/{worker}", tag = "workers", params(("worker" = WorkerId, Path)), responses((status = 200, body = WorkerDetail)))]
async fn show(State(hub): State<Arc<Hub>>, session: Session, Id(worker): Id<WorkerId>) -> Response {
    session.run(&hub, Call::WorkerShow { worker }).await
}

/// Changes one of the caller's workers.
#[utoipa::path(patch, path = "/api/workers/{worker}", tag = "workers", params(("worker" = WorkerId, Path)), request_body = WorkerUpdate, responses((status = 200, body = Worker)))]
async fn update(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(worker): Id<WorkerId>,
    Body(input): Body<WorkerUpdate>,
) -> Response {
    session.run(&hub, Call::WorkerUpdate { worker, input }).await
}

/// Removes one of the caller's workers; what it did is kept.
#[utoipa::path(delete, path = "/api/workers/{worker}", tag = "workers", params(("worker" = WorkerId, Path)), responses((status = 204, description = "done")))]
async fn remove(State(hub): State<Arc<Hub>>, session: Session, Id(worker): Id<WorkerId>) -> Response {
    session.run(&hub, Call::WorkerRemove { worker }).await
}

/// Starts workers on one of the caller's runners.
#[utoipa::path(post, path = "/api/projects/{project}/workers", tag = "workers", params(("project" = ProjectId, Path)), request_body = WorkerStart, responses((status = 201, body = Vec<Worker>)))]
async fn start(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<WorkerStart>,
) -> Response {
    session.run(&hub, Call::WorkerStart { project, input }).await
}

/// Stops one of the caller's workers.
#[utoipa::path(post, path = "/api/workers/{worker}/stop", tag = "workers", params(("worker" = WorkerId, Path)), request_body = WorkerStop, responses((status = 200, body = Worker)))]
async fn stop(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(worker): Id<WorkerId>,
    Body(input): Body<WorkerStop>,
) -> Response {
    session.run(&hub, Call::WorkerStop { worker, input }).await
}

/// Starts one of the caller's workers afresh, with its breaker closed.
#[utoipa::path(post, path = "/api/workers/{worker}/restart", tag = "workers", params(("worker" = WorkerId, Path)), responses((status = 200, body = Worker)))]
async fn restart(State(hub): State<Arc<Hub>>, session: Session, Id(worker): Id<WorkerId>) -> Response {
    session.run(&hub, Call::WorkerRestart { worker }).await
}

/// Stops all of the caller's workers in a project.
#[utoipa::path(post, path = "/api/projects/{project}/workers/stop", tag = "workers", params(("project" = ProjectId, Path)), request_body = WorkerStop, responses((status = 200, body = Vec<Worker>)))]
async fn stop_all(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<WorkerStop>,
) -> Response {
    session.run(&hub, Call::WorkerStopAll { project, input }).await
}

/// What was decided about tasks and workers, newest first.
#[utoipa::path(get, path = "/api/projects/{project}/work-log", tag = "workers", params(("project" = ProjectId, Path), WorkLogPage), responses((status = 200, body = Vec<WorkEntry>)))]
async fn log(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Search(page): Search<WorkLogPage>,
) -> Response {
    session.run(&hub, Call::WorkLog { project, page }).await
}

/// How a project hands out its tasks.
#[utoipa::path(get, path = "/api/projects/{project}/work", tag = "workers", params(("project" = ProjectId, Path)), responses((status = 200, body = WorkSettings)))]
async fn settings(State(hub): State<Arc<Hub>>, session: Session, Id(project): Id<ProjectId>) -> Response {
    session.run(&hub, Call::WorkSettings { project }).await
}

/// Changes how a project hands out its tasks.
#[utoipa::path(patch, path = "/api/projects/{project}/work", tag = "workers", params(("project" = ProjectId, Path)), request_body = WorkConfigure, responses((status = 200, body = WorkSettings)))]
async fn configure(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<WorkConfigure>,
) -> Response {
    session.run(&hub, Call::WorkConfigure { project, input }).await
}

/// How the work in a project goes.
#[utoipa::path(get, path = "/api/projects/{project}/metrics", tag = "workers", params(("project" = ProjectId, Path), MetricsPage), responses((status = 200, body = Metrics)))]
async fn metrics(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Search(page): Search<MetricsPage>,
) -> Response {
    session.run(&hub, Call::WorkMetrics { project, page }).await
}

/// Who is doing what in a project.
#[utoipa::path(get, path = "/api/projects/{project}/doing", tag = "workers", params(("project" = ProjectId, Path)), responses((status = 200, body = Vec<DoingWhat>)))]
async fn doing(State(hub): State<Arc<Hub>>, session: Session, Id(project): Id<ProjectId>) -> Response {
    session.run(&hub, Call::WorkDoing { project }).await
}

/// Stops everything of the caller's, and hands out nothing until it is thawed.
#[utoipa::path(post, path = "/api/freeze", tag = "workers", request_body = Freeze, responses((status = 200, body = Frozen)))]
async fn freeze(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<Freeze>) -> Response {
    session.run(&hub, Call::FloorFreeze { input }).await
}

/// Hands out tasks again.
#[utoipa::path(post, path = "/api/thaw", tag = "workers", request_body = Freeze, responses((status = 200, body = Frozen)))]
async fn thaw(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<Freeze>) -> Response {
    session.run(&hub, Call::FloorThaw { input }).await
}
