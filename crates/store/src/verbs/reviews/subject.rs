//! What is reviewed: the changes of a task, or those in a workspace that no task works in.

use domain::{Action, Resource, SessionMode, UserId, WorkspaceId};
use protocol::{ReviewOf, Session, Workspace};

use super::{announce, announce_workspace, work};
use crate::sql::{Connection, text};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::Say;
use crate::verbs::{projects, sessions, workspaces};
use crate::{Caller, StoreError};

/// What is reviewed, as it is stored.
pub(super) enum Subject {
    Task(Box<TaskRow>),
    Workspace(Box<Workspace>),
}

impl Subject {
    /// What is reviewed, if the caller may write about it.
    pub(super) async fn written(tx: &mut Tx<'_>, of: ReviewOf, noun: &'static str) -> Result<Self, StoreError> {
        match of {
            ReviewOf::Task { task } => {
                let task = tx.known_task(task).await?;
                tx.check(task.project, Action::Write, noun).await?;
                Ok(Self::Task(Box::new(task)))
            }
            ReviewOf::Workspace { workspace } => {
                let caller = tx.caller;
                let found = visible(tx.read(), caller, workspace, noun).await?;
                tx.check(found.project, Action::Write, noun).await?;
                Ok(Self::Workspace(Box::new(found)))
            }
        }
    }

    pub(super) fn project(&self) -> domain::ProjectId {
        match self {
            Self::Task(task) => task.project,
            Self::Workspace(workspace) => workspace.project,
        }
    }

    /// Its name in messages.
    pub(super) fn named(&self) -> String {
        match self {
            Self::Task(task) => task.named(),
            Self::Workspace(workspace) => named(workspace),
        }
    }

    /// Its noun in messages.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Workspace(_) => "workspace",
        }
    }

    /// What the audit trail says about something that was done to lines of it; the files of a workspace are execution.
    pub(super) fn audited(&self, did: &str, place: &str) -> String {
        match self {
            Self::Task(task) => format!("`{}`: {did}{place}", task.title),
            Self::Workspace(_) if did.is_empty() => "a comment on its changes".to_owned(),
            Self::Workspace(_) => format!("{did}a comment on changes"),
        }
    }

    /// Whose work it is.
    pub(super) async fn owner(&self, tx: &mut Tx<'_>) -> Result<Option<UserId>, StoreError> {
        match self {
            Self::Task(task) => work::owner(tx.read(), task).await,
            Self::Workspace(workspace) => Ok(Some(workspace.owner.id)),
        }
    }

    pub(super) async fn announce(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        match self {
            Self::Task(task) => announce(tx, task).await,
            Self::Workspace(workspace) => announce_workspace(tx, workspace).await,
        }
    }
}

/// The column that names what is reviewed, and its value.
pub(super) fn column(of: ReviewOf) -> (&'static str, String) {
    match of {
        ReviewOf::Task { task } => ("task", task.to_string()),
        ReviewOf::Workspace { workspace } => ("workspace", workspace.to_string()),
    }
}

/// A workspace, if the caller may see it.
pub(super) async fn visible(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: WorkspaceId,
    noun: &'static str,
) -> Result<Workspace, StoreError> {
    let found = workspaces::get(c, id).await?.ok_or(StoreError::NotFound(noun))?;
    let facts = projects::facts_of(c, found.project).await?.ok_or(StoreError::NotFound(noun))?;
    caller.may(Action::SeeExecution, Resource::Execution { project: &facts, owner: found.owner.id }, noun)?;
    Ok(found)
}

/// The newest session in a workspace. A task's workspace is reviewed with the task.
pub(super) async fn newest_session(
    c: &mut Connection<'_>,
    workspace: &Workspace,
) -> Result<Option<Session>, StoreError> {
    let sql = "SELECT id FROM sessions WHERE workspace = $1 ORDER BY created_at DESC, id DESC LIMIT 1";
    let Some(row) = c.first(sql, vec![text(workspace.id)]).await? else { return Ok(None) };
    let session = sessions::get(c, row.parsed("id")?).await?.map(|(session, _)| session);
    match session.as_ref().and_then(|session| session.task) {
        Some(task) => Err(StoreError::Conflict(format!(
            "{} has the changes of a task: review that (`shopfloor review comments {task}`)",
            named(workspace)
        ))),
        None => Ok(session),
    }
}

/// The message to the session in a workspace, whose owner asks.
pub(super) fn say(workspace: &Workspace, session: Option<Session>, text: String) -> Result<Say, StoreError> {
    let why = match &session {
        None => "no agent has worked in it",
        Some(session) if session.state.ended() => "its session has ended: resume it first (`shopfloor session resume`)",
        Some(session) if session.mode != SessionMode::Interactive => "its agent takes no messages while it works",
        Some(_) => "",
    };
    match session {
        Some(session) if why.is_empty() => Ok(Say { runner: session.runner, session: session.id, text }),
        _ => Err(StoreError::Conflict(format!("{}: {why}; the comments stay open", named(workspace)))),
    }
}

fn named(workspace: &Workspace) -> String {
    format!("the workspace `{}`", workspace.branch.clone().unwrap_or_else(|| workspace.id.to_string()))
}
