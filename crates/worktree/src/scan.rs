//! Which files of a workspace differ from its newest save.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::beneath::Root;
use crate::create::blocking;
use crate::git::{Git, failed};
use crate::save::rules;
use crate::space::Space;
use crate::{Error, Result};

/// Deeper nested repositories are not examined.
const DEEPEST: usize = 3;
/// Paths that are remembered instead of being in the index.
const MOST_SINCE: usize = 1000;
/// How long a listing may take before looking for what blocks it.
const LONG: std::time::Duration = std::time::Duration::from_secs(3);

/// Where to look.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    /// Everywhere.
    All,
    /// Only at these paths: the watcher saw nothing elsewhere.
    Paths(BTreeSet<PathBuf>),
}

impl Space {
    /// Paths that changed, appeared or disappeared since the newest save. Reads only names, times and `.gitignore`s.
    pub(crate) async fn changed(&mut self, scope: &Scope) -> Result<BTreeSet<PathBuf>> {
        let (tree, control) = (self.home.tree(), self.home.control());
        let mut changed = BTreeSet::new();
        let mut unknown: Vec<&PathBuf> = Vec::new();
        match scope {
            Scope::All => self.catch_up().await?,
            Scope::Paths(paths) => {
                if rules(paths) || self.since.len() > MOST_SINCE {
                    self.catch_up().await?;
                }
                for path in paths {
                    if self.since.contains_key(path) {
                        // Saved before, so it is not ignored.
                        changed.insert(path.clone());
                    } else {
                        unknown.push(path);
                        changed.extend(self.since.keys().filter(|known| known.starts_with(path)).cloned());
                    }
                }
                // No path at all would mean everywhere.
                if unknown.is_empty() {
                    return Ok(changed);
                }
            }
        }
        if matches!(scope, Scope::All) && self.blurred {
            // It fails if something changed, which is found out next.
            let git = Git::new(&control, "update-index").work_tree(&tree);
            git.args(["-q", "--refresh", "--ignore-submodules"]).ended(|_| {}).await?;
            self.blurred = false;
        }
        let git = Git::new(&control, "ls-files").work_tree(&tree);
        let git = git.args(["-z", "--modified", "--deleted", "--others", "--exclude-standard"]).operands(unknown);
        let mut nested: Vec<(PathBuf, usize)> = Vec::new();
        let sort = |found: Vec<PathBuf>, depth: usize, changed: &mut BTreeSet<PathBuf>, nested: &mut Vec<_>| {
            for path in found {
                if path.as_os_str().as_bytes().ends_with(b"/") {
                    nested.push((path.components().collect(), depth));
                } else {
                    changed.insert(path);
                }
            }
        };
        let (found, closed) = listed(git, &tree).await?;
        self.closed.retain(|path| matches!(scope, Scope::Paths(_)) && tree.join(path).is_dir());
        self.closed.extend(closed);
        sort(paths(&found), 1, &mut changed, &mut nested);
        // A nested repository: git would save only the id of a commit.
        let empty = control.join("no-index");
        while let Some((path, depth)) = nested.pop() {
            self.nested.insert(path.clone());
            if depth > DEEPEST {
                continue;
            }
            let git = Git::new(&control, "ls-files").work_tree(&tree.join(&path)).index(&empty);
            let git = git.args(["-z", "--others", "--exclude-standard"]);
            // It may be gone again.
            if let Ok(out) = git.run().await {
                let below = paths(&out).into_iter().map(|found| join(&path, &found)).collect();
                sort(below, depth + 1, &mut changed, &mut nested);
            }
        }
        Ok(changed)
    }

    /// The submodules; their content is theirs, and in no listing of ours.
    pub(crate) async fn submodules(&self) -> Result<Vec<PathBuf>> {
        let git = Git::new(&self.home.control(), "ls-files").work_tree(&self.home.tree());
        let staged = paths(&git.args(["-z", "--stage"]).run().await?);
        let link = |entry: &PathBuf| {
            let rest = entry.as_os_str().as_bytes().strip_prefix(b"160000 ")?;
            let tab = rest.iter().position(|byte| *byte == b'\t')?;
            Some(PathBuf::from(OsStr::from_bytes(&rest[tab + 1..])))
        };
        Ok(staged.iter().filter_map(link).collect())
    }

    /// Files that were saved while they were unknown to git, and that a `.gitignore` now excludes.
    pub(crate) async fn now_ignored(&self) -> Result<BTreeSet<PathBuf>> {
        let git = Git::new(&self.home.control(), "ls-files").work_tree(&self.home.tree());
        let ignored = paths(&git.args(["-z", "--cached", "--ignored", "--exclude-standard"]).run().await?);
        if ignored.is_empty() {
            return Ok(BTreeSet::new());
        }
        let known = self.paths_of_head().await?;
        Ok(ignored.into_iter().filter(|path| !known.contains(path)).collect())
    }

    /// Files that the agent has committed although they are ignored; they are in no listing of ours.
    pub(crate) async fn committed_but_not_saved(&self) -> Result<BTreeSet<PathBuf>> {
        let Some(head) = self.refs.as_ref().ok().and_then(|refs| refs.head.clone()) else {
            return Ok(BTreeSet::new());
        };
        let git = self.store.git("diff-tree").args(["-r", "-z", "--no-renames", "--name-only", "--diff-filter=D"]);
        Ok(paths(&git.operands([head.as_str(), self.tree.as_str()]).run().await?).into_iter().collect())
    }

    /// Every path in the commit that is checked out.
    pub(crate) async fn paths_of_head(&self) -> Result<BTreeSet<PathBuf>> {
        let Some(head) = self.refs.as_ref().ok().and_then(|refs| refs.head.clone()) else {
            return Ok(BTreeSet::new());
        };
        let git = self.store.git("ls-tree").args(["-r", "-z", "--name-only", "--full-tree"]);
        Ok(paths(&git.operands([head.as_str()]).run().await?).into_iter().collect())
    }
}

/// Runs a listing; if it takes long, looks for what blocks it.
async fn listed(git: Git, tree: &Path) -> Result<(Vec<u8>, Vec<PathBuf>)> {
    let tree = tree.to_owned();
    let pipe = async {
        tokio::time::sleep(LONG).await;
        match blocking(move || Root::open(&tree).map(|root| pipe(&root, Path::new(""), 0).map(|path| tree.join(path))))
            .await
        {
            Ok(Some(path)) => path,
            _ => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = git.ended(|_| {}) => {
            let ended = ended?;
            if !ended.status.success() {
                return Err(failed("ls-files", &ended));
            }
            let closed = ended.stderr.lines().filter_map(closed).collect();
            Ok((ended.stdout, closed))
        }
        path = pipe => Err(Error::Tampered { path, why: "it is a pipe instead of a file and keeps git waiting; remove it".into() }),
    }
}

/// A folder that git could not read.
fn closed(line: &str) -> Option<PathBuf> {
    let (path, _) = line.strip_prefix("warning: could not open directory '")?.rsplit_once("': ")?;
    Some(Path::new(path).components().collect())
}

/// The first `.gitignore` that is not a file, folder or link: git would wait for somebody to write into it.
fn pipe(root: &Root, path: &Path, depth: usize) -> Option<PathBuf> {
    let entries = root.folder(path).ok()?.entries().ok()?;
    let mut below = Vec::new();
    for (name, kind) in entries {
        let name = OsStr::from_bytes(&name);
        match kind {
            FileType::Directory if name != ".git" && depth < 64 => below.push(path.join(name)),
            FileType::Fifo | FileType::CharacterDevice | FileType::Socket if name == ".gitignore" => {
                return Some(path.join(name));
            }
            _ => {}
        }
    }
    below.iter().find_map(|path| pipe(root, path, depth + 1))
}

/// Names that end with NUL.
pub(crate) fn paths(out: &[u8]) -> Vec<PathBuf> {
    let names = out.split(|b| *b == 0).filter(|name| !name.is_empty());
    names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec()))).collect()
}

/// Joins without dropping a trailing slash, which marks a nested repository.
fn join(folder: &Path, name: &Path) -> PathBuf {
    let mut joined = folder.as_os_str().to_owned();
    joined.push(OsStr::new("/"));
    joined.push(name.as_os_str());
    PathBuf::from(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_looked_into_is_noticed() {
        let said = "warning: could not open directory 'it's/locked/': Permission denied";
        assert_eq!(closed(said), Some(PathBuf::from("it's/locked")));
        assert_eq!(closed("warning: something else"), None);
    }
}
