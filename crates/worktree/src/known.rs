//! Files that are too large to be saved, but are as they were committed: a save refers to what the commit has.

use std::collections::HashMap;
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
    /// Those of some files that are, byte by byte, what the commit that is checked out has.
    pub(crate) async fn as_committed(
        &self,
        root: &Arc<Root>,
        paths: &[PathBuf],
    ) -> Result<HashMap<PathBuf, Committed>> {
        let mut same = HashMap::new();
        let Some(head) = self.head().filter(|_| !paths.is_empty()) else { return Ok(same) };
        for path in paths {
            let git = self.store.git("ls-tree").args(["-z", "-l", "--full-tree"]);
            // A commit that could not be taken over has nothing that could be referred to.
            let Ok(said) = git.operands([&head]).args(["--"]).args([path]).run().await else { return Ok(same) };
            let Some((committed, size)) = entry(&said, path) else { continue };
            let (root, looked, expected) = (root.clone(), path.clone(), committed.clone());
            if blocking(move || is_same(&root, &looked, &expected, size)).await {
                same.insert(path.clone(), committed);
            }
        }
        Ok(same)
    }
}

/// The file at a path, as `ls-tree -l` tells it, and its size.
fn entry(said: &[u8], path: &Path) -> Option<(Committed, u64)> {
    let line = said.strip_suffix(b"\0")?;
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    if &line[tab + 1..] != path.as_os_str().as_bytes() {
        return None;
    }
    let mut parts = std::str::from_utf8(&line[..tab]).ok()?.split_whitespace();
    let mode = match (parts.next()?, parts.next()?) {
        ("100644", "blob") => Mode::Plain,
        ("100755", "blob") => Mode::Executable,
        _ => return None,
    };
    Some((Committed { mode, blob: parts.next()?.parse().ok()? }, parts.next()?.parse().ok()?))
}

/// Whether the file at a path is that one; what is of another size is not read.
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

/// What git calls these bytes.
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
    fn only_the_very_path_is_meant_and_only_files() {
        let line = b"100755 blob ce013625030ba8dba906f756967f9e9ca394464a       6\tbin/a b\0";
        let (found, size) = entry(line, Path::new("bin/a b")).unwrap();
        assert_eq!((found.mode, size), (Mode::Executable, 6));
        assert_eq!(entry(line, Path::new("bin/a")), None);
        let folder = b"040000 tree ce013625030ba8dba906f756967f9e9ca394464a       -\tbin\0";
        assert_eq!(entry(folder, Path::new("bin")), None);
        assert_eq!(entry(b"", Path::new("bin")), None);
    }
}
