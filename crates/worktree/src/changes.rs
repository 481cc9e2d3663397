//! The changes of one save: files to write, files to remove, files that cannot be saved.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::Options;
use crate::beneath::{Found, Root, read_all};
use crate::commit::Mode;
use crate::create::blocking;
use crate::known::Committed;
use crate::reserved::reserved;
use crate::space::Space;

/// The changes of one save, by kind.
pub(crate) struct Changes<'s> {
    pub(crate) space: &'s mut Space,
    pub(crate) options: &'s Options,
    pub(crate) left: u64,
    pub(crate) removed: Vec<PathBuf>,
    pub(crate) put: Vec<PathBuf>,
    /// Left out; their earlier saved content is outdated.
    pub(crate) outdated: Vec<PathBuf>,
}

impl Changes<'_> {
    pub(crate) fn sort_out(&mut self, root: &Root, path: PathBuf) {
        let largest = self.options.largest_file;
        let found = root.look(&path);
        if !acceptable(&path, matches!(found, Ok(Found::Link(_)))) {
            if matches!(found, Ok(Found::Nothing)) {
                self.space.left_out.remove(&path);
                return;
            }
            return self.space.leave_out(&path, "its name is reserved by git".into());
        }
        match found {
            Ok(Found::File { size, .. }) if size > largest => {
                let why = format!("it has {size} bytes; the limit for saves is {largest}");
                self.space.leave_out(&path, why);
                self.outdated.push(path);
            }
            Ok(Found::File { size, .. }) if size > self.left => {
                let why = format!("it would make this save larger than {} bytes", self.options.largest_save);
                self.space.leave_out(&path, why);
                self.outdated.push(path);
            }
            Ok(Found::File { size, .. }) => {
                self.left -= size;
                self.space.left_out.remove(&path);
                self.put.push(path);
            }
            Ok(Found::Link(_)) => {
                self.space.left_out.remove(&path);
                self.put.push(path);
            }
            Ok(Found::Nothing) => {
                self.space.left_out.remove(&path);
                self.removed.push(path);
            }
            // A submodule, or a folder where a file was.
            Ok(Found::Folder) => match root.look(&path.join(".git")) {
                Ok(Found::Nothing) => self.removed.push(path),
                _ => drop(self.space.nested.insert(path)),
            },
            Ok(Found::Special) => {
                self.space.leave_out(&path, "it is neither a file nor a link".into());
                self.outdated.push(path);
            }
            Err(error) => self.space.leave_out(&path, error.to_string()),
        }
    }
}

/// git refuses such paths in a tree, so none may get in.
fn acceptable(path: &Path, link: bool) -> bool {
    let mut parts = path.components().rev();
    let last = parts.next();
    let is = |part, link| matches!(part, Component::Normal(name) if !reserved(name, link));
    last.is_some_and(|last| is(last, link)) && parts.all(|part| is(part, false))
}

/// The content to save for a path.
pub(crate) enum Content {
    /// These bytes.
    File(Mode, Vec<u8>),
    /// A commit's content.
    Known(Committed),
    /// Nothing: it does not exist.
    Gone,
    /// It cannot be saved, for this reason.
    Not(String),
}

/// Identifies the content; `None` if there is none.
pub(crate) type Print = Option<[u8; 32]>;

impl Content {
    /// What is at a path now.
    pub(crate) async fn read(root: Arc<Root>, path: PathBuf, limit: u64) -> Self {
        blocking(move || match root.look(&path) {
            Ok(Found::File { file, executable, .. }) => match read_all(file, limit) {
                Ok(Some(bytes)) => Self::File(if executable { Mode::Executable } else { Mode::Plain }, bytes),
                Ok(None) => Self::Not(format!("it is larger than the limit for saves, {limit} bytes")),
                Err(error) => Self::Not(error.to_string()),
            },
            Ok(Found::Link(target)) => Self::File(Mode::Link, target),
            Ok(Found::Nothing) => Self::Gone,
            Ok(_) => Self::Not("it is neither a file nor a link".into()),
            Err(error) => Self::Not(error.to_string()),
        })
        .await
    }

    pub(crate) fn print(&self) -> Print {
        let mut hash = Sha256::new();
        match self {
            Self::File(mode, bytes) => {
                hash.update([*mode as u8]);
                hash.update(bytes);
            }
            Self::Known(committed) => {
                hash.update([committed.mode as u8]);
                hash.update(committed.blob.as_str());
            }
            Self::Gone | Self::Not(_) => return None,
        }
        Some(hash.finalize().into())
    }
}
