//! `shopfloor workspace discard`: deletes workspaces with unfinished work, after asking.

use client::Client;
use protocol::{Call, Workspace};

use super::words;
use crate::confirm::sure;
use crate::pick::pick_exact;
use crate::{Failure, Output};

/// Names what will be deleted, asks, and deletes it.
pub(super) async fn run(client: &Client, out: &Output, names: &[String], yes: bool) -> Result<(), Failure> {
    let mut found: Vec<Workspace> = Vec::new();
    for name in names {
        let workspace = pick_exact::<Workspace>(client, name).await?;
        if found.iter().all(|known| known.id != workspace) {
            found.push(client.ask(Call::WorkspaceShow { workspace }).await?);
        }
    }
    let count = words::counted(found.len(), "workspace", "workspaces");
    let lines: Vec<String> = found.iter().map(line).collect();
    let what = format!("{count}:\n{}", lines.join("\n"));
    sure(yes, "delete", &what, "The saves stay: `shopfloor workspace restore` brings the files back.")?;
    for workspace in &found {
        client.ask::<()>(Call::WorkspaceDiscard { workspace: workspace.id }).await?;
        out.note(&format!("deleted {}", workspace.id));
    }
    Ok(())
}

fn line(workspace: &Workspace) -> String {
    let branch = words::branch(workspace).unwrap_or_else(|| "no branch".to_owned());
    let changes = workspace.stats.as_ref().map_or_else(|| "changes unknown".to_owned(), words::stats);
    let unfinished = workspace.stats.as_ref().map_or(String::new(), |stats| {
        let files = if stats.uncommitted { ", uncommitted files" } else { "" };
        let commits = match stats.unpushed {
            0 => String::new(),
            count => format!(", {}", words::counted(count, "unpushed commit", "unpushed commits")),
        };
        format!("{files}{commits}")
    });
    format!("  {} ({branch}): {changes}{unfinished}", workspace.id)
}
