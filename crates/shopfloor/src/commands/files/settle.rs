//! Waiting for files that are still being written.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A file's signature: it changes with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Looks {
    inode: u64,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Looks {
    pub(super) fn of(file: &Metadata) -> Self {
        Self { inode: file.ino(), bytes: file.len(), modified: file.modified().ok() }
    }
}

/// A file's last signature, and since when it has not changed.
struct Seen {
    looks: Looks,
    since: Instant,
    told: bool,
}

/// Files that are not readable yet.
pub(super) struct Settling {
    patience: Duration,
    seen: HashMap<PathBuf, Seen>,
}

impl Settling {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, seen: HashMap::new() }
    }

    /// Since when the file has not changed.
    pub(super) fn unchanged_for(&mut self, path: &Path, now: &Metadata) -> Duration {
        let looks = Looks::of(now);
        // A file that was complete before we started need not be watched first.
        let age = looks.modified.and_then(|at| at.elapsed().ok()).unwrap_or_default();
        let since = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        let fresh = || Seen { looks, since, told: false };
        let seen = self.seen.entry(path.to_owned()).or_insert_with(fresh);
        if seen.looks != looks {
            *seen = fresh();
        }
        seen.since.elapsed()
    }

    /// Whether it is time to report what is wrong with the file, once.
    pub(super) fn is_time_to_tell(&mut self, path: &Path) -> bool {
        let Some(seen) = self.seen.get_mut(path) else { return false };
        let due = !seen.told && seen.since.elapsed() >= self.patience;
        seen.told |= due;
        due
    }

    /// Marks the file as reported.
    pub(super) fn set_told(&mut self, path: &Path) {
        if let Some(seen) = self.seen.get_mut(path) {
            seen.told = true;
        }
    }

    /// Whether the file was reported and has not changed since.
    pub(super) fn was_told(&self, path: &Path) -> bool {
        self.seen.get(path).is_some_and(|seen| seen.told)
    }

    /// Stops waiting for the file.
    pub(super) fn forget(&mut self, path: &Path) {
        self.seen.remove(path);
    }

    /// Forgets files that are gone from the folder.
    pub(super) fn keep_only(&mut self, folder: &Path, there: &[PathBuf]) {
        self.seen.retain(|path, _| path.parent() != Some(folder) || there.contains(path));
    }

    /// Whether an unreported file is still waited for.
    pub(super) fn waits(&self) -> bool {
        self.seen.values().any(|seen| !seen.told)
    }
}
