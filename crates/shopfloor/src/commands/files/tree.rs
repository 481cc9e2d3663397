//! The folders: lists their files and moves them without losing anybody's file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::door::{Door, Found};
use super::paper::Paper;
use super::readme;
use crate::Failure;

/// The folders for tasks.
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

/// The folders, locked by this process.
pub(super) struct Tree {
    root: PathBuf,
    /// Opened once, so that a folder that is replaced later is not followed.
    doors: HashMap<PathBuf, Door>,
    _lock: fs::File,
}

impl Tree {
    /// Creates missing folders and locks them.
    pub(super) fn open(root: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(root).map_err(|error| wrong(root, &error))?;
        let top = Door::outer(root).map_err(|error| wrong(root, &error))?;
        let own_path = root.join(".shopfloor");
        let own = top.inner(&own_path)?;
        let lock = own_path.join("lock");
        let file = own.lock(OsStr::new("lock")).map_err(|error| wrong(&lock, &error))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let shown = root.display();
            return Err(
                Failure::usage(format!("another `shopfloor files` already uses {shown}")).advise("stop it first")
            );
        }
        let mut doors = HashMap::new();
        for name in Folder::ALL.map(Folder::word).into_iter().chain(["reports"]) {
            doors.insert(root.join(name), top.inner(&root.join(name))?);
        }
        for name in ["incoming", "reports", "moving", "aside", "tmp"] {
            doors.insert(own_path.join(name), own.inner(&own_path.join(name))?);
        }
        doors.insert(root.to_owned(), top);
        doors.insert(own_path, own);
        let tree = Self { root: root.to_owned(), doors, _lock: file };
        tree.sweep()?;
        let readme = root.join("README.md");
        if !is_there(&readme) {
            tree.write(&readme, readme::TEXT)?;
        }
        Ok(tree)
    }

    pub(super) fn shown(&self) -> String {
        self.root.display().to_string()
    }

    /// Files that a killed process was writing or moving.
    fn sweep(&self) -> Result<(), Failure> {
        let tmp = self.own("tmp");
        for name in self.door(&tmp).and_then(Door::names).unwrap_or_default() {
            // Leftovers that cannot be removed do no harm: each has a unique name.
            let _ = self.door(&tmp).and_then(|door| door.remove(&name));
        }
        for path in self.files(&self.own("aside"))? {
            self.decide(&path)?;
        }
        Ok(())
    }

    fn door(&self, folder: &Path) -> io::Result<&Door> {
        self.doors.get(folder).ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// A path's folder, and its name in it.
    fn at<'a>(&self, path: &'a Path) -> io::Result<(&Door, &'a OsStr)> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ErrorKind::InvalidInput.into());
        };
        Ok((self.door(folder)?, name))
    }

    /// The private folder.
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

    /// `MORE.txt`, which says that some tasks have no file.
    pub(super) fn more(&self) -> PathBuf {
        self.root.join("MORE.txt")
    }

    /// The path of a task's file.
    pub(super) fn path(&self, folder: Folder, name: &str) -> PathBuf {
        self.root.join(folder.word()).join(format!("{name}.json"))
    }

    /// The path of a task's file while it moves to or from `pending/`.
    fn moving(&self, name: &str) -> PathBuf {
        self.own("moving").join(format!("{name}.json"))
    }

    /// Every task's file by name; a moving file counts as `pending/`.
    pub(super) fn papers(&self) -> Result<HashMap<String, (Folder, Paper)>, Failure> {
        let mut found = HashMap::new();
        let folders = Folder::ALL.map(|folder| (folder, self.root.join(folder.word())));
        for (folder, place) in folders.into_iter().chain([(Folder::Pending, self.own("moving"))]) {
            for path in self.files(&place)? {
                let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
                let (Some(name), Some(paper)) = (name, self.paper(&path)) else { continue };
                found.insert(name.to_owned(), (folder, paper));
            }
        }
        Ok(found)
    }

    /// A task's file, if it is one of ours.
    fn paper(&self, path: &Path) -> Option<Paper> {
        match self.read(path) {
            Found::File(bytes, _) => serde_json::from_slice(&bytes).ok(),
            Found::Odd(_) | Found::Nothing => None,
        }
    }

    /// The readable files of a folder, by name.
    pub(super) fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let names = self.door(folder).and_then(Door::names).map_err(|error| wrong(folder, &error))?;
        let mut paths: Vec<PathBuf> =
            names.iter().filter(|name| is_meant(name)).map(|name| folder.join(name)).collect();
        paths.sort();
        Ok(paths)
    }

    /// The notes in a folder.
    pub(super) fn notes(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let names = self.door(folder).and_then(Door::names).map_err(|error| wrong(folder, &error))?;
        let is_note = |name: &&std::ffi::OsString| name.as_encoded_bytes().ends_with(b".error.txt");
        Ok(names.iter().filter(is_note).map(|name| folder.join(name)).collect())
    }

    /// Reads a path without following links or blocking.
    pub(super) fn read(&self, path: &Path) -> Found {
        self.at(path).map_or(Found::Nothing, |(door, name)| door.read(name))
    }

    /// Writes a file atomically.
    pub(super) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        // An unpredictable name: nobody can plant a file under it.
        let part = self.own("tmp").join(fresh());
        let written = || {
            let (tmp, part) = self.at(&part)?;
            let mut file = tmp.create(part)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            let (door, name) = self.at(path)?;
            tmp.rename(part, door, name)
        };
        written().map_err(|error| {
            // The next start removes leftovers.
            let _ = self.remove(&part);
            wrong(path, &error)
        })
    }

    /// Writes a task's file where it is, then moves it into its folder.
    pub(super) fn file(&self, folder: Folder, name: &str, paper: &Paper) -> Result<Folder, Failure> {
        let (path, place) = (self.path(folder, name), paper.place());
        if folder == Folder::Pending {
            self.write(&self.moving(name), &paper.text())?;
            return self.arrive(name, paper);
        }
        self.write(&path, &paper.text())?;
        if place == Folder::Pending {
            self.rename(&path, &self.moving(name))?;
            return self.arrive(name, paper);
        }
        if place != folder {
            self.rename(&path, &self.path(place, name))?;
        }
        Ok(place)
    }

    /// Whether a task's file is still moving.
    pub(super) fn is_moving(&self, name: &str) -> bool {
        is_there(&self.moving(name))
    }

    /// Moves a task's file on; it waits if somebody else's file has its name in `pending/`.
    pub(super) fn arrive(&self, name: &str, paper: &Paper) -> Result<Folder, Failure> {
        let (from, old, place) = (self.moving(name), self.path(Folder::Pending, name), paper.place());
        if self.paper(&old).is_some_and(|old| old.mark.task == paper.mark.task) {
            let aside = self.own("aside").join(format!("{name}.json"));
            match self.at(&old).and_then(|(door, name)| door.rename(name, self.door(&self.own("aside"))?, name)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(wrong(&old, &error)),
                // Checked after the move: somebody may have just replaced the file.
                _ => self.decide(&aside)?,
            }
        }
        match place {
            Folder::Pending => drop(self.rename_new(&from, &old)?),
            _ => self.rename(&from, &self.path(place, name))?,
        }
        Ok(place)
    }

    /// Removes a file taken out of `pending/` if it is ours, and puts it back otherwise.
    fn decide(&self, aside: &Path) -> Result<(), Failure> {
        match self.paper(aside) {
            Some(_) => self.remove(aside),
            None if is_there(aside) => self.give_back(aside).map(drop),
            None => Ok(()),
        }
    }

    /// Puts somebody's file back into `pending/`, under a new name if the old one is taken; its path.
    pub(super) fn give_back(&self, from: &Path) -> Result<PathBuf, Failure> {
        let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.give_back_as(from, &name)
    }

    /// The same under a unique name.
    pub(super) fn give_back_as(&self, from: &Path, name: &str) -> Result<PathBuf, Failure> {
        let mut back = self.pending().join(name);
        let mut number = 2;
        while !self.rename_new(from, &back)? {
            back = self.pending().join(format!("{number}-{name}"));
            number += 1;
        }
        Ok(back)
    }

    /// Whether a task's file can have this name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !Folder::ALL.iter().any(|folder| is_there(&self.path(*folder, name))) && !self.is_moving(name)
    }

    /// Moves a file; a missing file was already moved.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<(), Failure> {
        let moved = self.at(from).and_then(|(door, name)| {
            let (there, new) = self.at(to)?;
            door.rename(name, there, new)
        });
        match moved {
            Err(error) if error.kind() == ErrorKind::NotFound && is_there(to) => Ok(()),
            Err(error) => Err(wrong(from, &error)),
            Ok(()) => Ok(()),
        }
    }

    /// Moves a file unless the target exists; whether it moved.
    pub(super) fn rename_new(&self, from: &Path, to: &Path) -> Result<bool, Failure> {
        let moved = self.at(from).and_then(|(door, name)| {
            let (there, new) = self.at(to)?;
            door.rename_new(name, there, new)
        });
        match moved {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(wrong(from, &error)),
            Ok(()) => Ok(true),
        }
    }

    /// Removes a file if it exists.
    pub(super) fn remove(&self, path: &Path) -> Result<(), Failure> {
        match self.at(path).and_then(|(door, name)| door.remove(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(wrong(path, &error)),
            _ => Ok(()),
        }
    }
}

/// An error with its path.
pub(super) fn wrong(path: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("{}: {error}", path.display()))
}

/// Whether anything exists at a path, including a dangling link.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// A unique text.
pub(super) fn fresh() -> String {
    domain::TaskId::generate().to_string().trim_start_matches("tsk_").to_owned()
}

/// Whether a file should be read: not hidden, not a note of ours, not an editor's temporary file.
fn is_meant(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let passing = [".tmp", ".part", ".swp", "~", ".error.txt", ".refused.txt"];
    !name.starts_with(b".") && !passing.iter().any(|end| name.ends_with(end.as_bytes()))
}
