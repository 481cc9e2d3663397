//! What runs: sessions, workspaces, recordings.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{SessionId, WorkspaceId};
use protocol::{
    Call, ExecutionFilter, LogPage, RecordingDetail, RecordingHits, RecordingKeep, RecordingPart, RecordingQuery,
    RecordingRange, Save, Session as SessionView, SessionDetail, SessionLog, SessionSpawn, SessionStop, SessionText,
    Workspace, WorkspaceDiff, WorkspaceRestore,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(sessions, spawn))
        .routes(routes!(session))
        .routes(routes!(stop))
        .routes(routes!(resume))
        .routes(routes!(send))
        .routes(routes!(log))
        .routes(routes!(workspaces))
        .routes(routes!(workspace))
        .routes(routes!(clean))
        .routes(routes!(workspace_diff))
        .routes(routes!(saves))
        .routes(routes!(restore))
        .routes(routes!(recordings))
        .routes(routes!(recording, keep))
        .routes(routes!(part))
        .routes(routes!(search))
}

/// The sessions that the caller may see.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(ExecutionFilter), responses((status = 200, body = Vec<SessionView>)))]
async fn sessions(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<ExecutionFilter>) -> Response {
    session.run(&hub, Call::SessionList { filter }).await
}

/// Spawns a session on one of the caller's runners.
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = SessionSpawn, responses((status = 201, body = SessionView)))]
async fn spawn(State(hub): State<Arc<Hub>>, session: Session, Body(input): Body<SessionSpawn>) -> Response {
    session.run(&hub, Call::SessionSpawn { input }).await
}

/// One session, with what it was started with.
#[utoipa::path(get, path = "/api/sessions/{session}", tag = "sessions", params(("session" = SessionId, Path)), responses((status = 200, body = SessionDetail)))]
async fn session(State(hub): State<Arc<Hub>>, session: Session, Id(id): Id<SessionId>) -> Response {
    session.run(&hub, Call::SessionShow { session: id }).await
}

/// Stops one of the caller's sessions; its work is saved first.
#[utoipa::path(post, path = "/api/sessions/{session}/stop", tag = "sessions", params(("session" = SessionId, Path)), request_body = SessionStop, responses((status = 200, body = SessionView)))]
async fn stop(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Body(input): Body<SessionStop>,
) -> Response {
    session.run(&hub, Call::SessionStop { session: id, input }).await
}

/// Goes on with the conversation of one of the caller's sessions that is over.
#[utoipa::path(post, path = "/api/sessions/{session}/resume", tag = "sessions", params(("session" = SessionId, Path)), responses((status = 201, body = SessionView)))]
async fn resume(State(hub): State<Arc<Hub>>, session: Session, Id(id): Id<SessionId>) -> Response {
    session.run(&hub, Call::SessionResume { session: id }).await
}

/// Says something to the agent of one of the caller's sessions.
#[utoipa::path(post, path = "/api/sessions/{session}/send", tag = "sessions", params(("session" = SessionId, Path)), request_body = SessionText, responses((status = 204, description = "done")))]
async fn send(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Body(input): Body<SessionText>,
) -> Response {
    session.run(&hub, Call::SessionSend { session: id, input }).await
}

/// What a session's terminal has shown, or the setup of its workspace has printed, as plain text.
#[utoipa::path(get, path = "/api/sessions/{session}/log", tag = "sessions", params(("session" = SessionId, Path), LogPage), responses((status = 200, body = SessionLog)))]
async fn log(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Search(page): Search<LogPage>,
) -> Response {
    session.run(&hub, Call::SessionLog { session: id, page }).await
}

/// The workspaces that the caller may see.
#[utoipa::path(get, path = "/api/workspaces", tag = "workspaces", params(ExecutionFilter), responses((status = 200, body = Vec<Workspace>)))]
async fn workspaces(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Search(filter): Search<ExecutionFilter>,
) -> Response {
    session.run(&hub, Call::WorkspaceList { filter }).await
}

/// One workspace.
#[utoipa::path(get, path = "/api/workspaces/{workspace}", tag = "workspaces", params(("workspace" = WorkspaceId, Path)), responses((status = 200, body = Workspace)))]
async fn workspace(State(hub): State<Arc<Hub>>, session: Session, Id(workspace): Id<WorkspaceId>) -> Response {
    session.run(&hub, Call::WorkspaceShow { workspace }).await
}

/// Deletes one of the caller's workspaces, unless work would be lost.
#[utoipa::path(post, path = "/api/workspaces/{workspace}/clean", tag = "workspaces", params(("workspace" = WorkspaceId, Path)), responses((status = 204, description = "done")))]
async fn clean(State(hub): State<Arc<Hub>>, session: Session, Id(workspace): Id<WorkspaceId>) -> Response {
    session.run(&hub, Call::WorkspaceClean { workspace }).await
}

/// What was changed in a workspace.
#[utoipa::path(get, path = "/api/workspaces/{workspace}/diff", tag = "workspaces", params(("workspace" = WorkspaceId, Path)), responses((status = 200, body = WorkspaceDiff)))]
async fn workspace_diff(State(hub): State<Arc<Hub>>, session: Session, Id(workspace): Id<WorkspaceId>) -> Response {
    session.run(&hub, Call::WorkspaceDiff { workspace }).await
}

/// The saves of a workspace, newest first.
#[utoipa::path(get, path = "/api/workspaces/{workspace}/saves", tag = "workspaces", params(("workspace" = WorkspaceId, Path)), responses((status = 200, body = Vec<Save>)))]
async fn saves(State(hub): State<Arc<Hub>>, session: Session, Id(workspace): Id<WorkspaceId>) -> Response {
    session.run(&hub, Call::WorkspaceSaves { workspace }).await
}

/// Brings a save of one of the caller's workspaces back.
#[utoipa::path(post, path = "/api/workspaces/{workspace}/restore", tag = "workspaces", params(("workspace" = WorkspaceId, Path)), request_body = WorkspaceRestore, responses((status = 204, description = "done")))]
async fn restore(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(workspace): Id<WorkspaceId>,
    Body(input): Body<WorkspaceRestore>,
) -> Response {
    session.run(&hub, Call::WorkspaceRestore { workspace, input }).await
}

/// The recordings that the caller may see: the sessions that have one.
#[utoipa::path(get, path = "/api/recordings", tag = "recordings", params(ExecutionFilter), responses((status = 200, body = Vec<SessionView>)))]
async fn recordings(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Search(filter): Search<ExecutionFilter>,
) -> Response {
    session.run(&hub, Call::RecordingList { filter }).await
}

/// One recording, without its content.
#[utoipa::path(get, path = "/api/recordings/{session}", tag = "recordings", params(("session" = SessionId, Path)), responses((status = 200, body = RecordingDetail)))]
async fn recording(State(hub): State<Arc<Hub>>, session: Session, Id(id): Id<SessionId>) -> Response {
    session.run(&hub, Call::RecordingShow { session: id }).await
}

/// A stretch of a recording, from the runner.
#[utoipa::path(get, path = "/api/recordings/{session}/part", tag = "recordings", params(("session" = SessionId, Path), RecordingRange), responses((status = 200, body = RecordingPart)))]
async fn part(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Search(range): Search<RecordingRange>,
) -> Response {
    session.run(&hub, Call::RecordingPart { session: id, range }).await
}

/// Where a text is in a recording.
#[utoipa::path(get, path = "/api/recordings/{session}/search", tag = "recordings", params(("session" = SessionId, Path), RecordingQuery), responses((status = 200, body = RecordingHits)))]
async fn search(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Search(query): Search<RecordingQuery>,
) -> Response {
    session.run(&hub, Call::RecordingSearch { session: id, query }).await
}

/// Marks one of the caller's recordings as worth preserving, or not.
#[utoipa::path(patch, path = "/api/recordings/{session}", tag = "recordings", params(("session" = SessionId, Path)), request_body = RecordingKeep, responses((status = 200, body = SessionView)))]
async fn keep(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(id): Id<SessionId>,
    Body(input): Body<RecordingKeep>,
) -> Response {
    session.run(&hub, Call::RecordingKeep { session: id, input }).await
}
