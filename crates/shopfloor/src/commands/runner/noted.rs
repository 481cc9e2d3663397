//! What a running runner leaves in its folder for those who look for it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Failure;

/// Which process it is, and of which hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Noted {
    /// Its process; 0: that is not known.
    pub(crate) pid: u32,
    /// Its hub.
    pub(crate) hub: String,
}

impl Noted {
    /// The runner that runs in `dir` now.
    pub(crate) fn of_running(dir: &Path) -> Result<Option<Self>, Failure> {
        if !is_held(dir)? {
            return Ok(None);
        }
        let bytes = fs::read(path(dir)).unwrap_or_default();
        Ok(Some(serde_json::from_slice(&bytes).unwrap_or(Self { pid: 0, hub: String::new() })))
    }

    /// Which process it is, in words.
    pub(crate) fn process(&self) -> String {
        if self.pid == 0 { "its process is not known".to_owned() } else { format!("process {}", self.pid) }
    }

    /// Takes the place of what an earlier runner left. On a full disk the file of before is written over, which takes no
    /// room. It never names another process: if nothing can be written, there is no file.
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

/// Whether a runner holds the journal of `dir`: the kernel gives the lock back, however the runner ends.
fn is_held(dir: &Path) -> Result<bool, Failure> {
    let path = dir.join("journal.lock");
    let failed = |error: io::Error| Failure::other(format!("could not look at {}: {error}", path.display()));
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
    fn what_cannot_be_written_beside_is_written_over_and_else_removed() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let of = |pid| Noted { pid, hub: "http://127.0.0.1:1".to_owned() };
        let read = || serde_json::from_slice::<Noted>(&fs::read(path(dir)).unwrap()).unwrap();
        of(4_000_000).write(dir).unwrap();
        // As on a full disk: nothing new can be made.
        let beside = path(dir).with_extension("new");
        fs::create_dir(&beside).unwrap();
        of(7).write(dir).unwrap();
        assert_eq!(read(), of(7), "without an end of the longer one");
        fs::remove_file(path(dir)).unwrap();
        assert!(of(8).write(dir).is_err());
        assert!(!path(dir).exists());
        fs::remove_dir(&beside).unwrap();
        of(9).write(dir).unwrap();
        assert_eq!((read(), beside.exists()), (of(9), false));
        assert_eq!((of(9).process(), of(0).process()), ("process 9".into(), "its process is not known".into()));
    }
}
