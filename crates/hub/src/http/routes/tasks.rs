//! Tasks: adding, taking, reporting, answering.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use domain::{EscalationId, ProjectId, TaskId};
use protocol::{
    AddedTasks, Call, Escalation, EscalationAnswer, EscalationFilter, Lease, Report, Taken, Task, TaskAsk, TaskDetail,
    TaskFilter, TaskHeartbeat, TaskLine, TaskReason, TaskRelease, TaskReport, TaskTake, TaskTakeOver, TaskTurn,
    TasksAdd, Turned,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::extract::{Body, Id, Search, Session};
use crate::hub::Hub;

/// The routes of this subject.
pub(super) fn routes() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(export))
        .routes(routes!(show))
        .routes(routes!(add))
        .routes(routes!(cancel))
        .routes(routes!(retry))
        .routes(routes!(take))
        .routes(routes!(heartbeat))
        .routes(routes!(report))
        .routes(routes!(turn))
        .routes(routes!(release))
        .routes(routes!(ask))
        .routes(routes!(take_over))
        .routes(routes!(escalations))
        .routes(routes!(escalation))
        .routes(routes!(answer))
}

/// The tasks that the caller may see, in the order of their ids.
#[utoipa::path(get, path = "/api/tasks", tag = "tasks", params(TaskFilter), responses((status = 200, body = Vec<TaskLine>)))]
async fn list(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<TaskFilter>) -> Response {
    session.run(&hub, Call::TaskList { filter }).await
}

/// The same tasks with all that they were added with.
#[utoipa::path(get, path = "/api/tasks/export", tag = "tasks", params(TaskFilter), responses((status = 200, body = Vec<Task>)))]
async fn export(State(hub): State<Arc<Hub>>, session: Session, Search(filter): Search<TaskFilter>) -> Response {
    session.run(&hub, Call::TaskExport { filter }).await
}

/// One task with everything that happened to it.
#[utoipa::path(get, path = "/api/tasks/{task}", tag = "tasks", params(("task" = TaskId, Path)), responses((status = 200, body = TaskDetail)))]
async fn show(State(hub): State<Arc<Hub>>, session: Session, Id(task): Id<TaskId>) -> Response {
    session.run(&hub, Call::TaskShow { task }).await
}

/// Adds tasks, all or none.
#[utoipa::path(post, path = "/api/projects/{project}/tasks", tag = "tasks", params(("project" = ProjectId, Path)), request_body = TasksAdd, responses((status = 201, body = AddedTasks)))]
async fn add(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<TasksAdd>,
) -> Response {
    session.run(&hub, Call::TaskAdd { project, input }).await
}

/// Takes a task off the queue; who works on it stops.
#[utoipa::path(post, path = "/api/tasks/{task}/cancel", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskReason, responses((status = 200, body = Task)))]
async fn cancel(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskReason>,
) -> Response {
    session.run(&hub, Call::TaskCancel { task, input }).await
}

/// Puts a task that failed, was escalated or cancelled back into the queue.
#[utoipa::path(post, path = "/api/tasks/{task}/retry", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskReason, responses((status = 200, body = Task)))]
async fn retry(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskReason>,
) -> Response {
    session.run(&hub, Call::TaskRetry { task, input }).await
}

/// Takes the next task under a lease.
#[utoipa::path(post, path = "/api/projects/{project}/take", tag = "tasks", params(("project" = ProjectId, Path)), request_body = TaskTake, responses((status = 200, body = Taken)))]
async fn take(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<TaskTake>,
) -> Response {
    session.run(&hub, Call::TaskTake { project, input }).await
}

/// Renews a lease.
#[utoipa::path(post, path = "/api/tasks/{task}/heartbeat", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskHeartbeat, responses((status = 200, body = Lease)))]
async fn heartbeat(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskHeartbeat>,
) -> Response {
    session.run(&hub, Call::TaskHeartbeat { task, input }).await
}

/// Hands work back.
#[utoipa::path(post, path = "/api/tasks/{task}/report", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskReport, responses((status = 201, body = Report)))]
async fn report(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskReport>,
) -> Response {
    session.run(&hub, Call::TaskReport { task, input }).await
}

/// Hands back what some of the caller's workers did, and takes the next tasks for them.
#[utoipa::path(post, path = "/api/projects/{project}/turn", tag = "tasks", params(("project" = ProjectId, Path)), request_body = TaskTurn, responses((status = 200, body = Turned)))]
async fn turn(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(project): Id<ProjectId>,
    Body(input): Body<TaskTurn>,
) -> Response {
    session.run(&hub, Call::TaskTurn { project, input }).await
}

/// Gives a task back undone.
#[utoipa::path(post, path = "/api/tasks/{task}/release", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskRelease, responses((status = 200, body = Task)))]
async fn release(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskRelease>,
) -> Response {
    session.run(&hub, Call::TaskRelease { task, input }).await
}

/// Asks a person about a task.
#[utoipa::path(post, path = "/api/tasks/{task}/ask", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskAsk, responses((status = 201, body = Escalation)))]
async fn ask(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskAsk>,
) -> Response {
    session.run(&hub, Call::TaskAsk { task, input }).await
}

/// Takes a task over: who works on it stops, and a worker of the caller's goes on.
#[utoipa::path(post, path = "/api/tasks/{task}/take-over", tag = "tasks", params(("task" = TaskId, Path)), request_body = TaskTakeOver, responses((status = 200, body = Task)))]
async fn take_over(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(task): Id<TaskId>,
    Body(input): Body<TaskTakeOver>,
) -> Response {
    session.run(&hub, Call::TaskTakeOver { task, input }).await
}

/// Requests for a person that the caller may see.
#[utoipa::path(get, path = "/api/escalations", tag = "tasks", params(EscalationFilter), responses((status = 200, body = Vec<Escalation>)))]
async fn escalations(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Search(filter): Search<EscalationFilter>,
) -> Response {
    session.run(&hub, Call::EscalationList { filter }).await
}

/// One request for a person.
#[utoipa::path(get, path = "/api/escalations/{escalation}", tag = "tasks", params(("escalation" = EscalationId, Path)), responses((status = 200, body = Escalation)))]
async fn escalation(State(hub): State<Arc<Hub>>, session: Session, Id(escalation): Id<EscalationId>) -> Response {
    session.run(&hub, Call::EscalationShow { escalation }).await
}

/// Answers a request for a person.
#[utoipa::path(post, path = "/api/escalations/{escalation}/answer", tag = "tasks", params(("escalation" = EscalationId, Path)), request_body = EscalationAnswer, responses((status = 200, body = Escalation)))]
async fn answer(
    State(hub): State<Arc<Hub>>,
    session: Session,
    Id(escalation): Id<EscalationId>,
    Body(input): Body<EscalationAnswer>,
) -> Response {
    session.run(&hub, Call::EscalationAnswer { escalation, input }).await
}
