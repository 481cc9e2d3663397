//! A workspace's changes, cut to a size that the page can show.

use domain::{ReportId, WorkspaceId};
use protocol::{DiffKind, DiffLine, FileDiff, Hunk, Problem, WorkspaceDiff};
use worktree::{Diff, DiffLimits, FileStatus, Location, Oid, Worktrees};

use super::LARGEST;
use crate::workspaces::problem;

const LIMITS: DiffLimits = DiffLimits { files: 500, lines: 3000, bytes: LARGEST / 2 };

pub(super) async fn diff(
    worktrees: &Worktrees,
    workspace: WorkspaceId,
    tree: Option<&str>,
) -> Result<WorkspaceDiff, Problem> {
    worktrees.diff(workspace, tree, &LIMITS).await.map(bounded).map_err(problem)
}

/// The changes of a report whose workspace was deleted.
pub(super) async fn kept(
    worktrees: &Worktrees,
    location: &Location,
    report: ReportId,
    base: &str,
) -> Result<WorkspaceDiff, Problem> {
    let base: Oid = base.parse().map_err(problem)?;
    worktrees.diff_kept(location, &report.to_string(), &base, &LIMITS).await.map(bounded).map_err(problem)
}

fn bounded(found: Diff) -> WorkspaceDiff {
    let (tree, mut truncated) = (Some(found.tree), found.truncated);
    let mut room = LARGEST;
    let mut files = Vec::new();
    for file in found.files {
        truncated |= file.truncated;
        let mut file = told(file);
        let mut size = size(&file);
        if size > room {
            // Its lines are left out, but it is listed as changed.
            truncated = true;
            file.hunks.clear();
            file.exact = false;
            size = self::size(&file);
        }
        if size > room {
            break;
        }
        room -= size;
        files.push(file);
    }
    WorkspaceDiff { files, tree, truncated }
}

fn size(file: &FileDiff) -> usize {
    serde_json::to_string(file).map_or(usize::MAX, |text| text.len() + 1)
}

fn told(file: worktree::FileDiff) -> FileDiff {
    let change = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "renamed",
        FileStatus::TypeChanged => "type_changed",
    };
    FileDiff {
        path: file.path,
        old_path: file.old_path,
        change: change.to_owned(),
        old_mode: file.old_mode,
        mode: file.mode,
        exact: file.exact,
        binary: file.binary,
        insertions: file.insertions,
        deletions: file.deletions,
        hunks: file.hunks.into_iter().map(hunk).collect(),
    }
}

fn hunk(hunk: worktree::Hunk) -> Hunk {
    let lines = hunk.lines.into_iter().map(|line| {
        let kind = match (line.old, line.new) {
            (None, Some(_)) => DiffKind::Added,
            (Some(_), None) => DiffKind::Removed,
            _ => DiffKind::Same,
        };
        DiffLine { kind, text: line.text }
    });
    let lines = lines.collect();
    let worktree::Hunk { old_start, new_start, old_open, new_open, .. } = hunk;
    Hunk { old_start, new_start, lines, old_open, new_open }
}
