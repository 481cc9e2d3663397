//! Chat.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{MessageId, ProjectId};
use protocol::{Call, MarkRead, Message, MessagePage, MessageText, Unread};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(history, send))
        .routes(routes!(edit, delete))
        .routes(routes!(read))
        .routes(routes!(unread))
}

/// A page of a project's chat, oldest first.
#[utoipa::path(get, path = "/api/projects/{project}/messages", tag = "chat", params(("project" = ProjectId, Path), MessagePage), responses((status = 200, body = Vec<Message>)))]
async fn history(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Search(page): Search<MessagePage>,
) -> Response {
    session.run(&hub, Call::ChatHistory { project, page }).await
}

/// Sends a message.
#[utoipa::path(post, path = "/api/projects/{project}/messages", tag = "chat", params(("project" = ProjectId, Path)), request_body = MessageText, responses((status = 201, body = Message)))]
async fn send(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<MessageText>,
) -> Response {
    session.run(&hub, Call::ChatSend { project, input }).await
}

/// Changes an own message.
#[utoipa::path(patch, path = "/api/messages/{message}", tag = "chat", params(("message" = MessageId, Path)), request_body = MessageText, responses((status = 200, body = Message)))]
async fn edit(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(message): Id<MessageId>,
    Body(input): Body<MessageText>,
) -> Response {
    session.run(&hub, Call::ChatEdit { message, input }).await
}

/// Deletes an own message.
#[utoipa::path(delete, path = "/api/messages/{message}", tag = "chat", params(("message" = MessageId, Path)), responses((status = 204, description = "done")))]
async fn delete(State(hub): State<Arc<Hub>>, session: Session, Id(message): Id<MessageId>) -> Response {
    session.run(&hub, Call::ChatDelete { message }).await
}

/// Remembers how far the caller has read.
#[utoipa::path(post, path = "/api/projects/{project}/read", tag = "chat", params(("project" = ProjectId, Path)), request_body = MarkRead, responses((status = 200, body = Unread)))]
async fn read(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<MarkRead>,
) -> Response {
    session.run(&hub, Call::ChatRead { project, input }).await
}

/// Unread counts of the caller, for every project that they may see.
#[utoipa::path(get, path = "/api/unread", tag = "chat", responses((status = 200, body = Vec<Unread>)))]
async fn unread(State(hub): State<Arc<Hub>>, session: Session) -> Response {
    session.run(&hub, Call::ChatUnread {}).await
}
