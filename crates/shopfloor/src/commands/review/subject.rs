//! What a person reviews: a task, or a workspace that no task works in.

use client::Client;
use domain::{ActivityId, TaskId, WorkspaceId, WorkspaceStatus};
use protocol::{
    Activity, Call, ExecutionFilter, Review, ReviewComment, ReviewOf, ReviewSendBack, ReviewThread, Session, Task,
    Workspace, WorkspaceDiff,
};

use crate::commands::task;
use crate::output::clean;
use crate::pick::pick;
use crate::{Exit, Failure};

/// How an argument names what is reviewed.
pub(super) const HELP: &str = "The task's id or title, or the id or name of a workspace, branch or activity";

/// The task or workspace that `text` means.
pub(super) async fn find(client: &Client, text: &str) -> Result<ReviewOf, Failure> {
    if let Ok(task) = text.parse::<TaskId>() {
        return Ok(ReviewOf::Task { task });
    }
    if let Ok(workspace) = text.parse::<WorkspaceId>() {
        return of_workspace(client, workspace).await;
    }
    if let Ok(activity) = text.parse::<ActivityId>() {
        return of_activity(client, activity).await;
    }
    let no_task = match task::id(client, text).await {
        Ok(task) => return Ok(ReviewOf::Task { task }),
        Err(failure) if failure.exit() == Exit::NotFound => failure,
        Err(failure) => return Err(failure),
    };
    match pick::<Workspace>(client, text).await {
        Ok(workspace) => return of_workspace(client, workspace).await,
        Err(failure) if failure.exit() == Exit::NotFound => {}
        Err(failure) => return Err(failure),
    }
    match pick::<Activity>(client, text).await {
        Ok(activity) => of_activity(client, activity).await,
        Err(failure) if failure.exit() == Exit::NotFound => Err(no_task),
        Err(failure) => Err(failure),
    }
}

/// The task of a workspace's newest session, or else the workspace.
async fn of_workspace(client: &Client, workspace: WorkspaceId) -> Result<ReviewOf, Failure> {
    let shown: Workspace = client.ask(Call::WorkspaceShow { workspace }).await?;
    let filter = ExecutionFilter { project: None, activity: Some(shown.activity), ended: Some(true) };
    let sessions: Vec<Session> = client.ask(Call::SessionList { filter }).await?;
    let inside = sessions.iter().filter(|session| session.workspace == workspace);
    let newest = inside.max_by_key(|session| (session.created_at, session.id));
    Ok(match newest.and_then(|session| session.task) {
        Some(task) => ReviewOf::Task { task },
        None => ReviewOf::Workspace { workspace },
    })
}

/// The only workspace of an activity.
async fn of_activity(client: &Client, activity: ActivityId) -> Result<ReviewOf, Failure> {
    let filter = ExecutionFilter { project: None, activity: Some(activity), ended: None };
    let mut workspaces: Vec<Workspace> = client.ask(Call::WorkspaceList { filter }).await?;
    workspaces.retain(|one| one.status == WorkspaceStatus::Ready && one.branch.is_some());
    match workspaces.as_slice() {
        [] => Err(Failure::usage("the activity has no workspace to review")),
        [one] => of_workspace(client, one.id).await,
        several => {
            let branches: Vec<&str> = several.iter().filter_map(|one| one.branch.as_deref()).collect();
            Err(Failure::usage(format!("the activity has {} workspaces", several.len()))
                .advise(format!("name one: {}", clean(&branches.join(", ")))))
        }
    }
}

/// The task that is approved.
pub(super) async fn task(client: &Client, text: &str) -> Result<TaskId, Failure> {
    match find(client, text).await? {
        ReviewOf::Task { task } => Ok(task),
        ReviewOf::Workspace { workspace } => {
            let advice = format!(
                "send comments with `shopfloor review send-back {workspace}`, or land it with \
                 `shopfloor workspace merge {workspace}`"
            );
            Err(Failure::usage("only a task's report can be approved, and no task works in this workspace")
                .advise(advice))
        }
    }
}

pub(super) async fn review(client: &Client, of: ReviewOf) -> Result<Review, Failure> {
    let call = match of {
        ReviewOf::Task { task } => Call::ReviewList { task },
        ReviewOf::Workspace { workspace } => Call::WorkspaceReview { workspace },
    };
    Ok(client.ask(call).await?)
}

pub(super) async fn diff(client: &Client, of: ReviewOf) -> Result<WorkspaceDiff, Failure> {
    let call = match of {
        ReviewOf::Task { task } => Call::TaskDiff { task },
        ReviewOf::Workspace { workspace } => Call::WorkspaceDiff { workspace },
    };
    Ok(client.ask(call).await?)
}

pub(super) async fn comment(client: &Client, of: ReviewOf, input: ReviewComment) -> Result<ReviewThread, Failure> {
    let call = match of {
        ReviewOf::Task { task } => Call::ReviewComment { task, input },
        ReviewOf::Workspace { workspace } => Call::WorkspaceComment { workspace, input },
    };
    Ok(client.ask(call).await?)
}

/// What was sent back.
pub(super) enum Sent {
    Task(Box<Task>),
    Workspace(Review),
}

pub(super) async fn send_back(client: &Client, of: ReviewOf, text: Option<String>) -> Result<Sent, Failure> {
    let input = ReviewSendBack { text };
    Ok(match of {
        ReviewOf::Task { task } => Sent::Task(Box::new(client.ask(Call::ReviewSendBack { task, input }).await?)),
        ReviewOf::Workspace { workspace } => {
            Sent::Workspace(client.ask(Call::WorkspaceSendBack { workspace, input }).await?)
        }
    })
}
