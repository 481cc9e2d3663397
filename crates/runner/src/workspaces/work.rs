//! Describes the work in workspaces for the hub, which finds overlaps between them: paths, lines and keyed hashes, never
//! code.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use domain::{ProjectId, WorkspaceId};
use protocol::link::{
    EntryFacts, FactBody, FileFacts, LineFacts, MAX_FILE_SYMBOLS, MAX_FORKS, MAX_SYMBOL_NAME, MAX_WORK_BYTES,
    MAX_WORK_FILES, MAX_WORK_HUNKS, MAX_WORK_NAMES, MAX_WORK_SYMBOLS, ProjectForks, SymbolFacts, WorkFacts,
};
use worktree::Oid;

use super::Workspaces;
use crate::JournalError;

impl Workspaces {
    /// The hub named the commits to describe work against.
    pub(crate) async fn compare_with(&self, wanted: &[ProjectForks]) -> Result<(), JournalError> {
        let named = |of: &ProjectForks| {
            let forks = of.forks.iter().take(MAX_FORKS).filter_map(|fork| fork.parse().ok());
            (of.project, forks.collect::<Vec<Oid>>())
        };
        let wanted: HashMap<_, _> = wanted.iter().map(named).collect();
        let changed: BTreeSet<ProjectId> = {
            let mut forks = self.forks.lock();
            let changed = |project: &&ProjectId| forks.get(project) != wanted.get(project);
            let changed = forks.keys().chain(wanted.keys()).filter(changed).copied().collect();
            *forks = wanted;
            changed
        };
        if changed.is_empty() {
            return Ok(());
        }
        for (workspace, row) in self.journal.workspaces().await? {
            if row.ready && !row.cleaned && changed.contains(&row.project) {
                self.describe(workspace, row.project);
            }
        }
        Ok(())
    }

    /// Describes a workspace's work from now on, whenever it changes.
    pub(super) fn describe(&self, workspace: WorkspaceId, project: ProjectId) {
        let forks = self.forks.lock().get(&project).cloned().unwrap_or_default();
        self.watcher.describe(workspace, forks);
    }

    /// Reports the work in a workspace.
    pub(crate) async fn described(&self, workspace: WorkspaceId, work: &[worktree::WorkFacts]) {
        // A deleted workspace has no work.
        let known = self.journal.workspace(workspace).await.ok().flatten();
        if known.is_some_and(|row| !row.cleaned) {
            self.journal.tell(FactBody::WorkspaceWork { workspace, work: described(work) }).await;
        }
    }
}

/// What is left of the limits.
struct Room {
    files: usize,
    hunks: usize,
    bytes: usize,
    symbols: usize,
    names: usize,
}

impl Room {
    /// Whether it has room for a file; takes it, without its symbols if there is no room for them.
    fn take(&mut self, file: &mut FileFacts) -> bool {
        let (hunks, hashes) = match &file.lines {
            LineFacts::Changed { hunks } => (hunks.len(), hunks.iter().map(|(_, _, new)| new.len() + 16).sum()),
            LineFacts::Same {} | LineFacts::Whole {} => (0, 0),
        };
        let bytes = file.path.len() + file.from.as_ref().map_or(0, String::len) + 128 + hashes;
        let left = (self.files.checked_sub(1), self.hunks.checked_sub(hunks), self.bytes.checked_sub(bytes));
        let (Some(files), Some(hunks), Some(bytes)) = left else { return false };
        *self = Self { files, hunks, bytes, ..*self };
        let long: usize = file.symbols.iter().map(|symbol| symbol.name.len() + 128).sum();
        match (self.symbols.checked_sub(file.symbols.len()), self.names.checked_sub(long)) {
            (Some(symbols), Some(names)) => *self = Self { symbols, names, ..*self },
            _ => file.symbols.clear(),
        }
        true
    }
}

/// The work as the hub takes it, within its limits.
pub(crate) fn described(work: &[worktree::WorkFacts]) -> Vec<WorkFacts> {
    let mut room = Room {
        files: MAX_WORK_FILES,
        hunks: MAX_WORK_HUNKS,
        bytes: MAX_WORK_BYTES,
        symbols: MAX_WORK_SYMBOLS,
        names: MAX_WORK_NAMES,
    };
    work.iter()
        .take(MAX_FORKS + 1)
        .map(|work| {
            let mut files = Vec::new();
            let mut truncated = work.facts.more;
            for mut one in work.facts.files.iter().map(file) {
                if !room.take(&mut one) {
                    truncated = true;
                    break;
                }
                files.push(one);
            }
            let gone = work.facts.gone.iter().take(MAX_WORK_FILES).map(|folder| text(folder)).collect();
            WorkFacts { against: work.against.to_string(), files, gone, truncated }
        })
        .collect()
}

fn file(file: &worktree::FileFacts) -> FileFacts {
    FileFacts {
        path: text(&file.path),
        from: file.from.as_deref().map(text),
        before: file.before.clone(),
        after: file.after.clone().map(|(mode, content)| EntryFacts { mode, content }),
        lines: match &file.lines {
            worktree::LineFacts::Same => LineFacts::Same {},
            worktree::LineFacts::Changed(hunks) => LineFacts::Changed { hunks: hunks.clone() },
            worktree::LineFacts::Whole => LineFacts::Whole {},
        },
        symbols: file.symbols.iter().filter(|symbol| fits(&symbol.name)).take(MAX_FILE_SYMBOLS).map(symbol).collect(),
    }
}

fn fits(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_SYMBOL_NAME
}

fn symbol(symbol: &worktree::SymbolFacts) -> SymbolFacts {
    let worktree::SymbolFacts { name, before, after } = symbol.clone();
    SymbolFacts { name, before, after }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use worktree::ChangeFacts;

    use super::*;

    fn named(name: &str) -> worktree::SymbolFacts {
        worktree::SymbolFacts { name: name.into(), before: None, after: Some("c".repeat(32)) }
    }

    fn work(files: usize, hunks: u32) -> worktree::WorkFacts {
        let file = |at: usize| worktree::FileFacts {
            path: format!("file{at:06}").into(),
            from: None,
            before: Some("100644".into()),
            after: Some(("100644".into(), "a".repeat(32))),
            lines: worktree::LineFacts::Changed((0..hunks).map(|at| (at * 2, at * 2 + 1, "b".repeat(32))).collect()),
            symbols: (0..hunks).map(|at| named(&format!("{at:0>200}"))).collect(),
        };
        let facts = ChangeFacts { files: (0..files).map(file).collect(), gone: BTreeSet::new(), more: false };
        worktree::WorkFacts { against: "1".repeat(40).parse().unwrap(), facts }
    }

    #[test]
    fn a_hundred_thousand_files_and_a_million_places_fit_the_limits() {
        for (files, hunks) in [(100_000, 1), (10, 100_000), (1000, 1000)] {
            let told = described(&[work(files, hunks), work(files, hunks)]);
            assert_eq!(told.len(), 2);
            assert!(told.iter().all(|work| work.truncated), "{files} {hunks}");
            let fact = FactBody::WorkspaceWork { workspace: WorkspaceId::generate(), work: told };
            let size = serde_json::to_string(&fact).unwrap().len();
            assert!(size < protocol::link::MAX_LINK_FRAME, "{files} {hunks}: {size}");
        }
        let told = described(&[work(3, 2)]);
        assert!(!told[0].truncated && told[0].files.len() == 3);
    }
}
