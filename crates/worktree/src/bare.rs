//! Our own repositories, created by hand: no template, no hook, no other configuration.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::layout::{folder, write};
use crate::{Error, Result};

/// The id of a commit, tree or blob.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(String);

impl Oid {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<std::ffi::OsStr> for Oid {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.0.as_ref()
    }
}

impl FromStr for Oid {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let hex = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'));
        let zero = text.bytes().all(|b| b == b'0');
        if hex && !zero { Ok(Self(text.to_owned())) } else { Err(Error::Id(crate::error::printable(text))) }
    }
}

/// Parses an id that git printed.
pub(crate) fn oid(said: &str) -> Result<Oid> {
    said.trim().parse()
}

/// Bytes are saved unchanged: attributes of the tree must not change line ends, expand words or run filters.
const ATTRIBUTES: &str = "* -text !eol -ident !filter !working-tree-encoding !merge -export-subst -export-ignore\n";

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                      [gc]\n\tauto = 0\n\tpruneExpire = never\n[uploadpack]\n\tallowAnySHA1InWant = true\n";

/// Creates a repository that borrows the objects of others; may be repeated.
pub(crate) fn make(path: &Path, alternates: &[&Path]) -> Result<()> {
    for name in ["objects/info", "objects/pack", "refs/heads", "info"] {
        folder(&path.join(name))?;
    }
    write(&path.join("config"), CONFIG.as_bytes())?;
    write(&path.join("info/attributes"), ATTRIBUTES.as_bytes())?;
    borrow(path, alternates)?;
    // Last: without it git does not recognize the folder as a repository.
    write(&path.join("HEAD"), b"ref: refs/heads/none\n")
}

/// Sets whose objects a repository borrows.
pub(crate) fn borrow(path: &Path, alternates: &[&Path]) -> Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let mut text = Vec::new();
    for other in alternates {
        text.extend_from_slice(other.as_os_str().as_bytes());
        text.push(b'\n');
    }
    let file = path.join("objects/info/alternates");
    if text.is_empty() { Ok(()) } else { write(&file, &text) }
}
