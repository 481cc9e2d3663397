//! What a session needs its runner's owner to allow, and waiting for that.

use std::sync::Arc;
use std::time::Duration;

use domain::{ApprovalKind, SessionStatus};
use protocol::link::{DesiredSession, Subject, Wish};
use worktree::ConfigSet;

use super::progress::tell;
use super::state::At;
use crate::approvals::{self, list, named, to_make, to_set_up, wish};
use crate::floor::Floor;
use crate::journal::SessionRow;

/// How long an answer may take before people are told that the session waits: a policy answers at once.
const AT_ONCE: Duration = Duration::from_millis(400);

/// Waits until the session itself may run here, and its workspace be made.
pub(super) async fn before_making(floor: &Arc<Floor>, row: &mut SessionRow) -> Result<(), String> {
    let desired = &row.desired;
    let mut wishes: Vec<Wish> = request(desired).into_iter().collect();
    if floor.workspaces.row(floor, desired.workspace.workspace).await?.is_none() {
        wishes.extend(to_make(&desired.workspace));
    }
    settle(floor, row, &wishes).await
}

/// Waits until what the workspace would run is allowed; whether its settings may be trusted.
pub(super) async fn before_starting(floor: &Arc<Floor>, row: &mut SessionRow) -> Result<bool, String> {
    let wanted = row.desired.workspace.clone();
    let fresh = floor.workspaces.row(floor, wanted.workspace).await?.is_none_or(|known| !known.ready);
    let mut wishes = if fresh { to_set_up(&wanted) } else { Vec::new() };
    if wanted.repository_by.is_none() && wanted.code_by.is_none() {
        return Ok(true);
    }
    loop {
        let found = config(floor, row).await?;
        let settings = settings(&found)?;
        let none = settings.is_none();
        let all: Vec<Wish> = wishes.iter().cloned().chain(settings).collect();
        settle(floor, row, &all).await?;
        // What changed while its owner was reading was not what they allowed.
        if config(floor, row).await?.sha256 == found.sha256 {
            return Ok(!none);
        }
        wishes.clear();
    }
}

/// A session that somebody else asked for; what a worker of the owner's does for a task, the owner wanted.
fn request(desired: &DesiredSession) -> Option<Wish> {
    let by = desired.asked_by.as_ref().filter(|_| desired.task.is_none())?;
    let what = match desired.argv.is_empty() {
        true => format!("{} asks: {}", by.user.name, desired.prompt),
        false => format!("{} asks to run: {}", by.user.name, approvals::command_line(&desired.argv)),
    };
    let model = desired.model.as_deref().unwrap_or("default");
    Some(wish(ApprovalKind::Session, format!("{what}\nagent {}, model {model}", desired.agent)))
}

async fn config(floor: &Arc<Floor>, row: &SessionRow) -> Result<ConfigSet, String> {
    let workspace = row.desired.workspace.workspace;
    floor.workspaces.worktrees.executable_config(workspace).await.map_err(|error| error.to_string())
}

/// The settings in a workspace that would run something, with the beginning of what they say.
fn settings(found: &ConfigSet) -> Result<Option<Wish>, String> {
    if found.truncated {
        let names: Vec<&str> = found.files.iter().take(10).map(|file| file.path.as_str()).collect();
        return Err(format!(
            "the code is not this runner's owner's, and the settings in it that would run here cannot be listed whole: {}",
            names.join(", ").escape_debug()
        ));
    }
    if found.files.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
    let mut text = names.join(", ");
    for file in &found.files {
        if let Some(excerpt) = &file.excerpt {
            text.push_str(&format!("\n\n--- {}\n{excerpt}", file.path));
        }
    }
    Ok(Some(named(ApprovalKind::Settings, text, found.sha256.clone())))
}

/// Waits for the answers; people are told that the session waits, and for what.
async fn settle(floor: &Arc<Floor>, row: &mut SessionRow, wishes: &[Wish]) -> Result<(), String> {
    let subject = Subject::Session(row.session);
    let answer = approvals::allowed(floor, subject, wishes);
    tokio::pin!(answer);
    if let Ok(answered) = tokio::time::timeout(AT_ONCE, &mut answer).await {
        return answered;
    }
    let what = list(wishes.iter()).unwrap_or_default();
    let detail = format!("the runner's owner must allow {what}: `shopfloor approval list`");
    tracing::warn!(session = %row.session, detail, "the session waits for an approval");
    tell(floor, row, At { status: SessionStatus::Waiting, detail: Some(detail) }).await;
    let answered = answer.await;
    if answered.is_ok() {
        tell(floor, row, At { status: SessionStatus::Starting, detail: None }).await;
    }
    answered
}
