//! The note that a running runner leaves in its folder.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Failure;

/// A runner's process and its hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// Its process id; 0: unknown.
    pub(crate) pid: u32,
    /// Its hub.
    pub(crate) hub: String,
}

impl Noted {
    /// The runner that now runs in `dir`.
    pub(crate) fn of_running(dir: &Path) -> Result<Option<Self>, Failure> {
        if !is_held(dir)? {
            return Ok(None);
        }
        let bytes = fs::read(path(dir)).unwrap_or_default();
        Ok(Some(serde_json::from_slice(&bytes).unwrap_or(Self { pid: 0, hub: String::new() })))
    }

    /// Its process, for people.
    pub(crate) fn process(&self) -> String {
        if self.pid == 0 { "process unknown".to_owned() } else { format!("process {}", self.pid) }
    }

    /// Replaces an earlier runner's note. With a full disk, it overwrites the old file, which needs no space. It never
    /// leaves another process's id: if it cannot write, it removes the file.
    pub(super) fn write(&self, dir: &Path) -> Result<(), Failure> {
        let written = DirBuilder::new().recursive(true).mode(0o700).create(dir).and_then(|()| {
            let text = serde_json::to_vec(self)?;
            replace(&path(dir), &text).or_else(|_| write_over(&path(dir), &text))
        });
        if written.is_err() {
            let _ = fs::remove_file(path(dir));
        }
        written.map_err(|error| Failure::other(format!("could not write into {}: {error}", dir.display())))
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("runner.json")
}

fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    let replaced = file.write_all(text).and_then(|()| fs::rename(&beside, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}

fn write_over(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(text)?;
    file.set_len(text.len() as u64)
}

/// Whether a runner holds the journal in `dir`: the kernel releases the lock however the runner ends.
fn is_held(dir: &Path) -> Result<bool, Failure> {
    let path = dir.join("journal.lock");
    let failed = |error: io::Error| Failure::other(format!("could not read {}: {error}", path.display()));
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
    };
    match file.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_full_disk_the_note_is_overwritten_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let of = |pid| Noted { pid, hub: "http://127.0.0.1:1".to_owned() };
        let read = || serde_json::from_slice::<Noted>(&fs::read(path(dir)).unwrap()).unwrap();
        of(4_000_000).write(dir).unwrap();
        // As on a full disk: no file can be created.
        let beside = path(dir).with_extension("new");
        fs::create_dir(&beside).unwrap();
        of(7).write(dir).unwrap();
        assert_eq!(read(), of(7), "without the rest of the longer one");
        fs::remove_file(path(dir)).unwrap();
        assert!(of(8).write(dir).is_err());
        assert!(!path(dir).exists());
        fs::remove_dir(&beside).unwrap();
        of(9).write(dir).unwrap();
        assert_eq!((read(), beside.exists()), (of(9), false));
        assert_eq!((of(9).process(), of(0).process()), ("process 9".into(), "process unknown".into()));
    }
}
