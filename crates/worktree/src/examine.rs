//! A workspace's changes, for judging them and comparing them with other work.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use domain::WorkspaceId;

use crate::bare::Oid;
use crate::diff::SAFE;
use crate::git::EMPTY_TREE;
use crate::save::LeftOut;
use crate::scan::{Scope, paths};
use crate::space::Space;
use crate::{Error, Result, Worktrees};

/// Maximum number of files.
const MOST_FILES: usize = 20_000;
/// How many commits of a branch are counted, and how many are named.
const MOST_COMMITS: &str = "--max-count=10000";
const NAMED_COMMITS: usize = 100;

/// A workspace's changes since its branch left the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// That commit; absent without a repository, or in an empty one.
    pub base: Option<String>,
    /// The commit that is checked out.
    pub head: Option<String>,
    /// The branch that is checked out; absent when HEAD is a commit.
    pub branch: Option<String>,
    /// A hash of the content of all files, uncommitted ones included.
    pub tree: String,
    /// The differences between the base and the current files, in order of the paths.
    pub files: Vec<TouchedFile>,
    /// Every path that differs from the base, in a commit or in the files; both paths of what was moved.
    pub paths: Vec<PathBuf>,
    /// Whether there are too many to list.
    pub more: bool,
    /// The beginning of the patch, without control characters.
    pub patch: String,
    /// How many commits the base does not have.
    pub new_commits: u32,
    /// The newest of them, oldest first.
    pub commits: Vec<String>,
    /// Whether those commits change anything.
    pub commits_change: bool,
    /// Every path in the commit that is checked out; absent without one, or when there are too many to list.
    pub committed: Option<BTreeSet<PathBuf>>,
    /// Uncommitted paths.
    pub uncommitted: Vec<PathBuf>,
    /// Files that would conflict with the base as last fetched; absent if unknown.
    pub conflicts: Option<Vec<String>>,
    /// Files that could not be saved, and so could not be compared.
    pub left_out: Vec<LeftOut>,
    /// What is wrong with the agent's `.git`.
    pub problem: Option<String>,
}

/// What was changed in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchedFile {
    /// Its path now; where it was, when it is deleted.
    pub path: PathBuf,
    /// Its path before, when it was renamed.
    pub from: Option<PathBuf>,
    /// A hash of its content now; absent if it is deleted.
    pub content: Option<String>,
}

impl Worktrees {
    /// Saves, then returns the changes; at most `patch` bytes of the patch.
    pub async fn examine(&self, id: WorkspaceId, patch: usize) -> Result<Examined> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        space.examine(base, patch).await
    }
}

impl Space {
    async fn examine(&mut self, base: Option<Oid>, patch: usize) -> Result<Examined> {
        let problem = self.refs.as_ref().err().cloned().or_else(|| self.not_kept.clone());
        // A commit that was not imported cannot be read: the problem says so.
        let head = self.head().filter(|_| problem.is_none());
        let from = self.ground(base.as_ref(), head.as_ref()).await?;
        let start = from.as_ref().map_or(EMPTY_TREE, Oid::as_str);
        let mut files = self.touched(start, self.tree.as_str()).await?;
        let mut all: Vec<PathBuf> =
            files.iter().flat_map(|file| file.from.iter().chain([&file.path])).cloned().collect();
        all.extend(self.left_out.keys().cloned());
        let mut uncommitted: Vec<PathBuf> = self.left_out.keys().cloned().collect();
        let (mut new_commits, mut commits, mut commits_change, mut committed) = (0, Vec::new(), false, None);
        if let Some(head) = &head {
            let changed = self.names(start, head.as_str()).await?;
            commits_change = !changed.is_empty();
            all.extend(changed);
            committed = self.committed().await?;
            uncommitted.extend(self.names(head.as_str(), self.tree.as_str()).await?);
            (new_commits, commits) = self.commits(from.as_ref(), head).await?;
        } else if self.facts.location.is_some() {
            uncommitted.extend(files.iter().map(|file| file.path.clone()));
        }
        for list in [&mut all, &mut uncommitted] {
            list.sort();
            list.dedup();
        }
        let more = files.len() > MOST_FILES;
        files.truncate(MOST_FILES);
        let conflicts = self.all_conflicts(base.as_ref(), head.as_ref()).await?;
        Ok(Examined {
            base: from.as_ref().map(Oid::to_string),
            branch: self.refs.as_ref().ok().and_then(|refs| refs.branch.clone()),
            head: head.map(|head| head.to_string()),
            tree: self.tree.to_string(),
            patch: self.beginning(start, patch).await?,
            files,
            paths: all,
            more,
            new_commits,
            commits,
            commits_change,
            committed,
            uncommitted,
            conflicts,
            left_out: self.left_out.values().cloned().collect(),
            problem,
        })
    }

    async fn touched(&self, from: &str, to: &str) -> Result<Vec<TouchedFile>> {
        let git = self.store.git("diff-tree").args(SAFE).args(["--raw", "-z"]);
        Ok(entries(&git.operands([from, to]).run().await?))
    }

    /// The paths that differ between two trees; a move counts as two.
    pub(crate) async fn names(&self, from: &str, to: &str) -> Result<Vec<PathBuf>> {
        let git = self.store.git("diff-tree").args(["-r", "-z", "--no-renames", "--name-only"]);
        Ok(paths(&git.operands([from, to]).run().await?))
    }

    async fn committed(&self) -> Result<Option<BTreeSet<PathBuf>>> {
        match self.paths_of_head().await {
            Ok(paths) => Ok(Some(paths)),
            Err(Error::TooMuch { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How many commits came since, and the newest of them.
    async fn commits(&self, from: Option<&Oid>, head: &Oid) -> Result<(u32, Vec<String>)> {
        let git = self.store.git("rev-list").args(["--topo-order", MOST_COMMITS]);
        let range = from.map_or_else(|| head.to_string(), |from| format!("{from}..{head}"));
        let said = git.operands([range]).run().await?;
        let said = String::from_utf8_lossy(&said);
        let mut newest: Vec<String> = said.lines().take(NAMED_COMMITS).map(str::to_owned).collect();
        newest.reverse();
        Ok((u32::try_from(said.lines().count()).unwrap_or(u32::MAX), newest))
    }

    /// Which commits or files would conflict.
    async fn all_conflicts(&self, base: Option<&Oid>, head: Option<&Oid>) -> Result<Option<Vec<String>>> {
        let Some(base) = base else { return Ok(Some(vec![])) };
        let Some(head) = head else { return Ok(None) };
        let mut all = Vec::new();
        for side in [head, &self.saved] {
            match self.conflicts_of(base, side).await? {
                Some(found) => all.extend(found),
                None => return Ok(None),
            }
        }
        all.sort();
        all.dedup();
        Ok(Some(all))
    }

    async fn beginning(&self, from: &str, limit: usize) -> Result<String> {
        let git = self.store.git("diff-tree").args(SAFE).args(["-p", "--unified=3"]);
        let patch = git.operands([from, self.tree.as_str()]).beginning(limit).await?;
        let text = String::from_utf8_lossy(&patch);
        let mut plain: String = text.chars().filter(|c| !c.is_control() || "\n\t".contains(*c)).collect();
        plain.truncate(plain.floor_char_boundary(limit));
        Ok(plain)
    }
}

/// Reads `--raw -z`: modes, ids and a status, then one path or two.
fn entries(out: &[u8]) -> Vec<TouchedFile> {
    let path = |name: &[u8]| PathBuf::from(OsString::from_vec(name.to_vec()));
    let mut files = Vec::new();
    let mut fields = out.split(|b| *b == 0);
    while let Some(field) = fields.next().filter(|field| field.first() == Some(&b':')) {
        let text = String::from_utf8_lossy(field);
        let mut columns = text.split(' ').skip(3);
        let content = columns.next().and_then(|id| id.parse::<Oid>().ok()).map(|id| id.to_string());
        let moved = columns.next().is_some_and(|status| status.starts_with(['R', 'C']));
        let first = fields.next().map(path).unwrap_or_default();
        let second = if moved { fields.next().map(path) } else { None };
        let (from, path) = match second {
            Some(second) => (Some(first), second),
            None => (None, first),
        };
        files.push(TouchedFile { path, from, content });
    }
    files
}
