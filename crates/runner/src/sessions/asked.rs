//! A session that somebody else asked for, as the runner's owner reads it.

use domain::ApprovalKind;
use protocol::link::{DesiredSession, Wish};

use crate::approvals::{command_line, wish};

/// What the owner must allow; what a worker of the owner's does for a task, the owner wanted. Everything that decides what
/// runs is in the text, so that a permission for it is for nothing else. What is short comes first.
pub(super) fn request(desired: &DesiredSession) -> Option<Wish> {
    let by = desired.asked_by.as_ref().filter(|_| desired.task.is_none())?;
    let workspace = &desired.workspace;
    let asked = desired.asked_for.clone().unwrap_or_default();
    let repository = workspace.repository.as_ref().map_or("none", |repository| repository.location.as_str());
    let model = desired.model.as_deref().unwrap_or("default");
    let mut lines = vec![
        format!("agent: {}, model: {model}, {}", desired.agent, desired.mode),
        format!("repository: {repository}, base: {}", workspace.base.as_deref().unwrap_or("default")),
    ];
    lines.extend(asked.branch.map(|branch| format!("branch: {branch}")));
    lines.extend(asked.workspace.map(|there| format!("workspace: {there}, on branch {}", workspace.branch)));
    lines.push(match desired.argv.is_empty() {
        true => format!("{} asks: {}", by.user.name, desired.prompt),
        false => format!("{} asks to run: {}", by.user.name, command_line(&desired.argv)),
    });
    if !desired.argv.is_empty() && !desired.prompt.is_empty() {
        lines.push(format!("prompt: {}", desired.prompt));
    }
    Some(wish(ApprovalKind::Session, lines.join("\n")))
}
