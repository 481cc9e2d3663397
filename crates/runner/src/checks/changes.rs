//! The changes in a report, bounded in size.

use protocol::link::{ChangedFile, Changes, MAX_CHANGED_FILES, MAX_CHANGED_RANGES};
use worktree::{Examined, FileStatus};

use crate::workspaces::checked_out;

pub(super) fn told(found: &Examined) -> Changes {
    let mut room = MAX_CHANGED_RANGES;
    let files = found.files.iter().take(MAX_CHANGED_FILES).map(|file| {
        // Without its lines, a file counts as changed completely.
        let ranges = if file.ranges.len() <= room { file.ranges.clone() } else { Vec::new() };
        room -= ranges.len();
        ChangedFile {
            path: file.path.to_string_lossy().into_owned(),
            from: file.from.as_ref().map(|from| from.to_string_lossy().into_owned()),
            change: word(file.status).to_owned(),
            before: file.before.clone(),
            content: file.content.clone(),
            ranges,
        }
    });
    Changes {
        base: found.base.clone().unwrap_or_default(),
        head: found.head.clone().unwrap_or_default(),
        checked_out: checked_out(found.branch.as_deref(), found.head.as_deref()),
        commits: found.commits.clone(),
        more_commits: found.new_commits.saturating_sub(u32::try_from(found.commits.len()).unwrap_or(u32::MAX)),
        tree: found.tree.clone(),
        kept: None,
        files: files.collect(),
        patch: found.patch.clone(),
    }
}

fn word(status: FileStatus) -> &'static str {
    match status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "renamed",
        FileStatus::TypeChanged => "type_changed",
    }
}
