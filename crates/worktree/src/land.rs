//! Lands a tested commit on a branch: fast-forward, only from the base that it was tested on.

use std::path::{Path, PathBuf};

use crate::bare::Oid;
use crate::git::Git;
use crate::names::BranchName;
use crate::options::Progress;
use crate::push::{Checkout, Push, Pushed};
use crate::scan::paths;
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

/// How many paths are named.
const MOST_PATHS: usize = 200;

/// What became of a commit that was to land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Landed {
    /// The branch is at the commit now.
    Landed,
    /// The branch had the commit already.
    Already,
    /// The branch is not at the base: nothing changed.
    Moved {
        /// Where it is; absent if it was deleted.
        tip: Option<Oid>,
    },
    /// The repository's rules forbid it: nothing changed.
    Declined {
        /// What it said.
        why: String,
    },
    /// The branch is checked out there, with changes that are not committed: nothing changed.
    CheckedOut {
        /// The files in the way.
        paths: Vec<String>,
    },
}

impl Worktrees {
    /// Pushes a commit of the store to a branch that is at `base`, an ancestor of the commit. May be repeated.
    ///
    /// If the location is a folder with the branch checked out, its files and index follow, as after a pull.
    pub async fn land(&self, location: &Location, target: &BranchName, base: &Oid, commit: &Oid) -> Result<Landed> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        let tip = self.fetch_tip(location, target).await?;
        if tip.as_ref() != Some(base) || base == commit {
            return self.elsewhere(&store, location, tip, commit).await;
        }
        if store.is_ancestor(base, commit.as_str()).await? != Some(true) {
            let why = format!("it does not contain {base}, which it should land on");
            return Err(Error::NoWork { name: commit.to_string(), why });
        }
        let push = Push { branch: target, commit, expect: Some(base), checkout: Checkout::Update };
        // git itself would replace ignored files.
        if let Some(folder) = location.path()
            && let Some(there) = checkout_of(folder, target).await?
            && !overwritten(&store, &there, push).await?.is_empty()
        {
            return self.in_a_checkout(&store, location, push).await;
        }
        match store.push(location, self.options(), push).await {
            Ok(Pushed::Done) => Ok(Landed::Landed),
            Ok(Pushed::Declined(why)) => Ok(Landed::Declined { why }),
            Ok(Pushed::Dirty | Pushed::InUse) => self.in_a_checkout(&store, location, push).await,
            Ok(Pushed::Stale) => {
                let tip = self.fetch_tip(location, target).await?;
                self.elsewhere(&store, location, tip, commit).await
            }
            // The connection may have ended after the branch moved.
            Err(error) => match self.fetch_tip(location, target).await {
                Ok(tip) if tip.as_ref() == Some(commit) => Ok(Landed::Landed),
                _ => Err(error),
            },
        }
    }

    /// The branch is not at the base.
    async fn elsewhere(&self, store: &Store, location: &Location, tip: Option<Oid>, commit: &Oid) -> Result<Landed> {
        let Some(tip) = tip else { return Ok(Landed::Moved { tip }) };
        if tip == *commit {
            return Ok(Landed::Already);
        }
        if !store.has(&tip).await? {
            self.refresh(location, &Progress::none()).await?;
        }
        match store.is_ancestor(commit, tip.as_str()).await? {
            Some(true) => Ok(Landed::Already),
            _ => Ok(Landed::Moved { tip: Some(tip) }),
        }
    }

    /// The branch is checked out in a folder whose files could not be updated.
    async fn in_a_checkout(&self, store: &Store, location: &Location, push: Push<'_>) -> Result<Landed> {
        let Some(folder) = location.path() else { return Ok(Landed::CheckedOut { paths: vec![] }) };
        let there = match checkout_of(folder, push.branch).await? {
            Some(there) => there,
            None => return Ok(Landed::CheckedOut { paths: vec![] }),
        };
        // A kill between the files and the branch leaves what looks like a staged change to the commit.
        if is_at(&there, push.commit).await? {
            let push = Push { checkout: Checkout::Leave, ..push };
            if store.push(location, self.options(), push).await? == Pushed::Done {
                return Ok(Landed::Landed);
            }
        }
        let mut found = changed(&there).await?;
        if found.is_empty() {
            found = overwritten(store, &there, push).await?;
        }
        found.truncate(MOST_PATHS);
        let paths = found.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Ok(Landed::CheckedOut { paths })
    }
}

/// git in somebody's own folder, by their settings, without locks.
fn owners(folder: &Path, what: &'static str) -> Git {
    let inside = folder.join(".git");
    let git_dir = if inside.exists() { inside } else { folder.to_owned() };
    Git::new(&git_dir, what).by_owner()
}

/// The folder in which a branch of a repository is checked out.
async fn checkout_of(folder: &Path, branch: &BranchName) -> Result<Option<PathBuf>> {
    let out = owners(folder, "worktree").args(["list", "--porcelain", "-z"]).run().await?;
    let wanted = format!("branch refs/heads/{branch}").into_bytes();
    let mut at = None;
    for line in out.split(|b| *b == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            at = paths(path).pop();
        } else if line == wanted {
            return Ok(at);
        }
    }
    Ok(None)
}

/// Whether files and index are those of a commit.
async fn is_at(folder: &Path, commit: &Oid) -> Result<bool> {
    let here = |what| owners(folder, what).work_tree(folder);
    let index = here("diff-index").args(["--cached", "--quiet", commit.as_str(), "--"]).ended(|_| {}).await?;
    let files = here("diff-files").args(["--quiet"]).ended(|_| {}).await?;
    Ok(index.status.success() && files.status.success())
}

/// The files that are changed and not committed.
async fn changed(folder: &Path) -> Result<Vec<PathBuf>> {
    let here = |what| owners(folder, what).work_tree(folder);
    let mut all = paths(&here("diff-files").args(["--name-only", "-z"]).run().await?);
    all.extend(paths(&here("diff-index").args(["--cached", "--name-only", "-z", "HEAD", "--"]).run().await?));
    all.sort();
    all.dedup();
    Ok(all)
}

/// The files that are in no commit there and that the commit would replace.
async fn overwritten(store: &Store, folder: &Path, push: Push<'_>) -> Result<Vec<PathBuf>> {
    let Some(base) = push.expect else { return Ok(vec![]) };
    let git = store.git("diff-tree").args(["-r", "-z", "--no-renames", "--diff-filter=A", "--name-only"]);
    let new = paths(&git.operands([base, push.commit]).run().await?);
    Ok(new.into_iter().filter(|path| folder.join(path).symlink_metadata().is_ok()).collect())
}
