//! Disk usage of workspaces and stores.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use domain::WorkspaceId;

use crate::create::blocking;
use crate::location::Location;
use crate::{Error, Result, Worktrees};

impl Worktrees {
    /// What a workspace takes on the disk, without the shared store.
    pub async fn disk_usage(&self, id: WorkspaceId) -> Result<u64> {
        let home = self.layout().home(id).0;
        if !home.is_dir() {
            return Err(Error::NoWorkspace(id));
        }
        Ok(blocking(move || size(&home)).await)
    }

    /// What the shared store of a repository takes on the disk.
    pub async fn store_usage(&self, location: &Location) -> Result<u64> {
        let store = self.layout().store(Some(location));
        Ok(blocking(move || size(&store)).await)
    }

    /// What everything here takes on the disk.
    pub async fn total_usage(&self) -> Result<u64> {
        let (stores, workspaces) = (self.layout().stores(), self.layout().workspaces());
        Ok(blocking(move || size(&stores) + size(&workspaces)).await)
    }
}

/// Blocks in use, hard links once, links not followed, nothing of another file system.
fn size(path: &Path) -> u64 {
    let Ok(top) = path.symlink_metadata() else { return 0 };
    let mut seen = HashSet::new();
    let mut open: Vec<PathBuf> = vec![path.to_owned()];
    let mut sum = top.blocks() * 512;
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.dev() != top.dev() || (meta.nlink() > 1 && !meta.is_dir() && !seen.insert(meta.ino())) {
                continue;
            }
            sum += meta.blocks() * 512;
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    sum
}
