//! The folders: what is in them, and how files move, each by one rename.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::paper::Paper;
use super::readme;
use crate::Failure;

/// Where a task's file can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Folder {
    Pending,
    Assigned,
    Completed,
    Failed,
}

impl Folder {
    const ALL: [Self; 4] = [Self::Pending, Self::Assigned, Self::Completed, Self::Failed];

    fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Assigned => "assigned",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// The folders, for one process at a time.
pub(super) struct Tree {
    root: PathBuf,
    _lock: fs::File,
}

impl Tree {
    /// Makes what is missing, and sees to it that nobody else serves the same folder.
    pub(super) fn open(root: &Path) -> Result<Self, Failure> {
        let own = root.join(".shopfloor");
        let folders = Folder::ALL.map(|folder| root.join(folder.word()));
        let more = [root.join("reports"), own.join("incoming"), own.join("reports"), own.join("tmp")];
        for folder in folders.iter().chain(&more) {
            fs::create_dir_all(folder).map_err(|error| wrong(folder, &error))?;
        }
        let lock = own.join("lock");
        let file = fs::File::options().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(|error| wrong(&lock, &error))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let shown = root.display();
            return Err(Failure::usage(format!("another `shopfloor files` serves {shown}")).advise("end it first"));
        }
        let tree = Self { root: root.to_owned(), _lock: file };
        tree.sweep();
        let readme = root.join("README.md");
        if !readme.exists() {
            tree.write(&readme, readme::TEXT)?;
        }
        Ok(tree)
    }

    pub(super) fn shown(&self) -> String {
        self.root.display().to_string()
    }

    /// What was being written when an earlier process was killed.
    fn sweep(&self) {
        let left = fs::read_dir(self.own("tmp")).into_iter().flatten().flatten();
        // What cannot be removed is written over.
        left.for_each(|entry| drop(fs::remove_file(entry.path())));
    }

    /// A place that only we use.
    pub(super) fn own(&self, name: &str) -> PathBuf {
        self.root.join(".shopfloor").join(name)
    }

    pub(super) fn pending(&self) -> PathBuf {
        self.root.join(Folder::Pending.word())
    }

    pub(super) fn assigned(&self) -> PathBuf {
        self.root.join(Folder::Assigned.word())
    }

    pub(super) fn reports(&self) -> PathBuf {
        self.root.join("reports")
    }

    /// Where a task's file is.
    pub(super) fn path(&self, folder: Folder, name: &str) -> PathBuf {
        self.root.join(folder.word()).join(format!("{name}.json"))
    }

    /// Every task's file, by its name.
    pub(super) fn papers(&self) -> Result<HashMap<String, (Folder, Paper)>, Failure> {
        let mut found = HashMap::new();
        for folder in Folder::ALL {
            for path in self.files(&self.root.join(folder.word()))? {
                let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) else {
                    continue;
                };
                let bytes = fs::read(&path).map_err(|error| wrong(&path, &error))?;
                if let Ok(paper) = serde_json::from_slice::<Paper>(&bytes) {
                    found.insert(name.to_owned(), (folder, paper));
                }
            }
        }
        Ok(found)
    }

    /// The plain files of a folder that are meant to be read, by name.
    pub(super) fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let entries = fs::read_dir(folder).map_err(|error| wrong(folder, &error))?;
        let mut paths: Vec<PathBuf> =
            entries.flatten().map(|entry| entry.path()).filter(|path| is_meant(path)).collect();
        paths.sort();
        Ok(paths)
    }

    /// Writes a file so that it is whole or as it was.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = self.own("tmp").join(name);
        let written = fs::File::create(&part).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written.and_then(|()| fs::rename(&part, path)).map_err(|error| wrong(path, &error))
    }

    /// Writes a task's file where it is, then moves it to where it belongs.
    pub(super) fn file(&self, folder: Folder, name: &str, paper: &Paper) -> Result<Folder, Failure> {
        self.write(&self.path(folder, name), &paper.text())?;
        self.settle(folder, name, paper)
    }

    /// Moves a task's file to where it belongs.
    pub(super) fn settle(&self, folder: Folder, name: &str, paper: &Paper) -> Result<Folder, Failure> {
        let place = paper.place();
        if place != folder {
            self.rename(&self.path(folder, name), &self.path(place, name))?;
        }
        Ok(place)
    }

    /// Moves a file; one that is gone already has been moved before.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<(), Failure> {
        match fs::rename(from, to) {
            Err(error) if error.kind() == ErrorKind::NotFound && to.exists() => Ok(()),
            Err(error) => Err(wrong(from, &error)),
            Ok(()) => Ok(()),
        }
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, path: &Path) -> Result<(), Failure> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(wrong(path, &error)),
            _ => Ok(()),
        }
    }
}

/// What went wrong with a file, and where.
pub(super) fn wrong(path: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("{}: {error}", path.display()))
}

/// Whether a file is meant to be read: not hidden, not a note of ours, not what an editor leaves while it writes.
fn is_meant(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let passing = [".tmp", ".part", ".swp", "~", ".error.txt", ".refused.txt"];
    !name.starts_with('.') && !passing.iter().any(|end| name.ends_with(end)) && !path.is_dir()
}
