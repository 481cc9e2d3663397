//! The approvals that a session needs, and waiting for them.

use std::time::Duration;

use domain::{ApprovalKind, SessionStatus};
use protocol::Sandbox;
use protocol::link::{DesiredSession, Subject, Wish};
use worktree::ConfigSet;

use super::Supervisor;
use super::asked::request;
use super::progress::tell;
use super::state::At;
use crate::approvals::{code, list, named, to_make, to_set_up};
use crate::journal::SessionRow;
use crate::workspaces::Workspaces;

/// How long an answer may take before the session is shown as waiting: a policy answers at once.
const AT_ONCE: Duration = Duration::from_millis(400);

/// Waits until the session may run here, and its workspace may be created.
pub(super) async fn before_making(supervisor: &Supervisor, row: &mut SessionRow) -> Result<(), String> {
    let desired = &row.desired;
    let mut wishes: Vec<Wish> = request(desired).into_iter().collect();
    if supervisor.workspaces.row(desired.workspace.workspace).await?.is_none() {
        wishes.extend(to_make(&desired.workspace));
    }
    settle(supervisor, row, wishes).await
}

/// Waits until the workspace's commands are approved; whether its settings may be trusted.
pub(super) async fn before_starting(supervisor: &Supervisor, row: &mut SessionRow) -> Result<bool, String> {
    let wanted = row.desired.workspace.clone();
    let fresh = supervisor.workspaces.row(wanted.workspace).await?.is_none_or(|known| !known.ready);
    let mut wishes = if fresh { in_fresh(&supervisor.workspaces, &row.desired).await? } else { Vec::new() };
    if wanted.repository_by.is_none() && wanted.code_by.is_none() {
        return Ok(true);
    }
    loop {
        let found = config(&supervisor.workspaces, row).await?;
        let settings = settings(&found)?;
        let none = settings.is_none();
        let all: Vec<Wish> = wishes.iter().cloned().chain(settings).collect();
        settle(supervisor, row, all).await?;
        // If something changed meanwhile, the owner approved something else.
        if config(&supervisor.workspaces, row).await?.sha256 == found.sha256 {
            return Ok(!none);
        }
        wishes.clear();
    }
}

/// What must be approved before anything runs in an unprepared workspace.
async fn in_fresh(workspaces: &Workspaces, desired: &DesiredSession) -> Result<Vec<Wish>, String> {
    let wanted = &desired.workspace;
    let mut commit = None;
    if wanted.code_by.is_some() {
        let trees = &workspaces.worktrees;
        commit = trees.examine(wanted.workspace, 0).await.map_err(|error| error.to_string())?.head;
    }
    let mut wishes = to_set_up(wanted, commit.as_deref());
    // An own command runs others' code, as a setup does.
    if !desired.argv.is_empty() && !wishes.iter().any(|wish| wish.kind == ApprovalKind::Code) {
        wishes.extend(code(wanted, wanted.workspace, commit.as_deref()));
    }
    Ok(wishes)
}

/// The sandbox of the session and of everything in its workspace.
async fn sandbox(workspaces: &Workspaces, desired: &DesiredSession) -> Result<Option<Sandbox>, String> {
    workspaces.sandbox_for(&desired.workspace, desired.sandbox.as_ref()).await
}

async fn config(workspaces: &Workspaces, row: &SessionRow) -> Result<ConfigSet, String> {
    let workspace = row.desired.workspace.workspace;
    workspaces.worktrees.executable_config(workspace).await.map_err(|error| error.to_string())
}

/// The settings in a workspace that would run something, with their content; content that is not shown is named.
fn settings(found: &ConfigSet) -> Result<Option<Wish>, String> {
    if found.truncated {
        let names: Vec<&str> = found.files.iter().take(10).map(|file| file.path.as_str()).collect();
        return Err(format!(
            "the code is not by this runner's owner, and not all settings in it that would run here can be listed: {}",
            names.join(", ").escape_debug()
        ));
    }
    if found.files.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    let mut text = names.join(", ");
    for file in &found.files {
        let (path, size) = (&file.path, file.size);
        text.push_str(&match &file.text {
            Some(content) => format!("\n\n--- {path}\n{content}"),
            None => {
                format!("\n\n--- {path}: {size} bytes, not shown; read it in the workspace. SHA-256 {}", file.sha256)
            }
        });
    }
    Ok(Some(named(ApprovalKind::Settings, text, found.sha256.clone())))
}

/// Waits for the answers; shows that the session waits, and for what.
async fn settle(supervisor: &Supervisor, row: &mut SessionRow, wishes: Vec<Wish>) -> Result<(), String> {
    let subject = Subject::Session(row.session);
    let what = list(wishes.iter()).unwrap_or_default();
    let sandbox = sandbox(&supervisor.workspaces, &row.desired).await?;
    let answer = supervisor.approvals.allowed(subject, wishes, sandbox.as_ref());
    tokio::pin!(answer);
    if let Ok(answered) = tokio::time::timeout(AT_ONCE, &mut answer).await {
        return answered;
    }
    let detail = format!("the runner's owner must allow {what}: `shopfloor approval list`");
    tracing::warn!(session = %row.session, detail, "the session waits for an approval");
    tell(&supervisor.journal, row, At { status: SessionStatus::Waiting, detail: Some(detail) }).await;
    let answered = answer.await;
    if answered.is_ok() {
        tell(&supervisor.journal, row, At { status: SessionStatus::Starting, detail: None }).await;
    }
    answered
}
