//! A session that somebody else requested, as the runner's owner reads it.

use domain::ApprovalKind;
use protocol::link::{DesiredSession, Wish};

use crate::approvals::{command_line, wish};

/// What the owner must approve; what the owner's own worker does for a task needs no approval. The text contains
/// everything that decides what runs, short parts first, so that an approval covers nothing else.
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
