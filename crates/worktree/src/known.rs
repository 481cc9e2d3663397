//! Large files that equal a committed version: a save refers to the commit's blob.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::Result;
use crate::bare::Oid;
use crate::beneath::{Found, Root};
use crate::commit::Mode;
use crate::create::blocking;
use crate::space::Space;

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) mode: Mode,
    pub(crate) blob: Oid,
}

impl Space {
    /// Those files that are equal, byte by byte, to the checked-out commit's.
    pub(crate) async fn as_committed(
        &self,
        root: &Arc<Root>,
        paths: &[PathBuf],
    ) -> Result<HashMap<PathBuf, Committed>> {
        let mut same = HashMap::new();
        let Some(head) = self.head().filter(|_| !paths.is_empty()) else { return Ok(same) };
        for some in paths.chunks(500) {
            let git = self.store.git("ls-tree").args(["-z", "-l", "--full-tree"]);
            // A commit that could not be imported has nothing to refer to.
            let Ok(said) = git.operands([&head]).args(["--"]).args(some).run().await else { return Ok(same) };
            let wanted: HashSet<&Path> = some.iter().map(PathBuf::as_path).collect();
            for (path, committed, size) in said.split(|byte| *byte == 0).filter_map(entry) {
                if !wanted.contains(path.as_path()) {
                    continue;
                }
                let (root, looked, expected) = (root.clone(), path.clone(), committed.clone());
                if blocking(move || is_same(&root, &looked, &expected, size)).await {
                    same.insert(path, committed);
                }
            }
        }
        Ok(same)
    }
}

/// A file with its path and its size, as `ls-tree -l` tells it.
fn entry(line: &[u8]) -> Option<(PathBuf, Committed, u64)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let path = PathBuf::from(OsStr::from_bytes(&line[tab + 1..]));
    let mut parts = std::str::from_utf8(&line[..tab]).ok()?.split_whitespace();
    let mode = match (parts.next()?, parts.next()?) {
        ("100644", "blob") => Mode::Plain,
        ("100755", "blob") => Mode::Executable,
        _ => return None,
    };
    Some((path, Committed { mode, blob: parts.next()?.parse().ok()? }, parts.next()?.parse().ok()?))
}

/// Whether the file at a path is that blob; a file of another size is not read.
fn is_same(root: &Root, path: &Path, committed: &Committed, expected: u64) -> bool {
    let Ok(Found::File { file, size, executable }) = root.look(path) else { return false };
    if size != expected || executable != (committed.mode == Mode::Executable) {
        return false;
    }
    let blob = match committed.blob.as_str().len() {
        40 => blob_id::<Sha1>(file, size),
        _ => blob_id::<Sha256>(file, size),
    };
    blob.is_ok_and(|blob| blob == committed.blob.as_str())
}

/// Git's hash of these bytes.
fn blob_id<D: Digest>(mut from: impl Read, size: u64) -> std::io::Result<String> {
    let mut hash = D::new();
    hash.update(format!("blob {size}\0"));
    let mut buffer = vec![0; 1 << 20];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            some => hash.update(&buffer[..some]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_name_that_git_gives_them() {
        let id = blob_id::<Sha1>(&b"hello\n"[..], 6).unwrap();
        assert_eq!(id, "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn only_files_of_a_tree_are_listed() {
        let (path, found, size) =
            entry(b"100755 blob ce013625030ba8dba906f756967f9e9ca394464a       6\tbin/a b").unwrap();
        assert_eq!((path.as_path(), found.mode, size), (Path::new("bin/a b"), Mode::Executable, 6));
        assert_eq!(entry(b"040000 tree ce013625030ba8dba906f756967f9e9ca394464a       -\tbin"), None);
        assert_eq!(entry(b""), None);
    }
}
