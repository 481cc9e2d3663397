//! The changes in a report, bounded in size.

use protocol::link::{ChangedFile, Changes, MAX_CHANGED_BYTES, MAX_CHANGED_FILES};
use worktree::{Examined, WorkFacts};

use crate::workspaces::{checked_out, described};

pub(super) fn told(found: &Examined, work: &[WorkFacts]) -> Changes {
    let mut room = MAX_CHANGED_BYTES;
    let named = found.files.iter().take(MAX_CHANGED_FILES).map_while(|file| {
        let path = file.path.to_string_lossy().into_owned();
        room = room.checked_sub(path.len())?;
        Some(ChangedFile { path, content: file.content.clone() })
    });
    Changes {
        base: found.base.clone().unwrap_or_default(),
        head: found.head.clone().unwrap_or_default(),
        checked_out: checked_out(found.branch.as_deref(), found.head.as_deref()),
        commits: found.commits.clone(),
        more_commits: found.new_commits.saturating_sub(u32::try_from(found.commits.len()).unwrap_or(u32::MAX)),
        tree: found.tree.clone(),
        kept: None,
        files: named.collect(),
        work: described(work),
        patch: found.patch.clone(),
    }
}

#[cfg(test)]
mod tests {
    use worktree::TouchedFile;

    use super::*;

    #[test]
    fn a_hundred_thousand_files_fit_the_limits() {
        for length in [10, 4000] {
            let file = |at: usize| TouchedFile {
                path: format!("{at:0length$}").into(),
                from: None,
                content: Some("a".repeat(40)),
            };
            let found = Examined { files: (0..100_000).map(file).collect(), ..Examined::default() };
            let told = told(&found, &[]);
            assert!(told.files.len() <= MAX_CHANGED_FILES && told.files.len() > 100);
            assert!(serde_json::to_string(&told).unwrap().len() < protocol::link::MAX_LINK_FRAME / 2);
        }
    }
}
