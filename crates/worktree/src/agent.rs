//! Reads the agent's own `.git` as files, without running git in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::bare::{self, Oid};
use crate::beneath::Root;
use crate::git::Reach;
use crate::layout::Home;
use crate::store::Store;
use crate::{Error, Result};

const REF_LIMIT: u64 = 4096;
const PACKED_LIMIT: u64 = 64 << 20;
const MOST_REFS: usize = 20_000;

/// Where the agent's branches are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AgentRefs {
    /// The checked-out branch; `None` if HEAD is a commit.
    pub(crate) branch: Option<String>,
    /// The checked-out commit; `None` before the first one.
    pub(crate) head: Option<Oid>,
    /// Every ref with its own work: branches and the stash.
    pub(crate) local: BTreeMap<String, Oid>,
    /// The remote branches as the agent's git knows them.
    pub(crate) remote: BTreeSet<Oid>,
}

impl AgentRefs {
    /// All commits with work.
    pub(crate) fn tips(&self) -> BTreeSet<Oid> {
        self.local.values().chain(&self.head).cloned().collect()
    }

    /// Reads the refs of a folder's `.git`.
    pub(crate) fn read(tree: &Path) -> Result<Self> {
        let git = git_dir(tree)?;
        let odd = |why: &str| Error::Tampered { path: tree.join(".git"), why: why.to_owned() };
        let io = |error| Error::Io { what: "read", path: tree.join(".git"), source: error };
        let mut all = BTreeMap::new();
        if let Some(packed) = git.read(Path::new("packed-refs"), PACKED_LIMIT).map_err(io)? {
            for line in String::from_utf8_lossy(&packed).lines() {
                if let Some((oid, name)) = line.split_once(' ')
                    && let Ok(oid) = oid.parse()
                    && all.len() < MOST_REFS
                {
                    all.insert(name.to_owned(), oid);
                }
            }
        }
        for (name, folder) in [("refs/heads", true), ("refs/remotes", true), ("refs/stash", false)] {
            if folder {
                loose(&git, Path::new(name), 0, &mut all).map_err(io)?;
            } else if let Some(oid) = ref_file(&git, Path::new(name)) {
                all.insert(name.to_owned(), oid);
            }
        }
        if git.read(Path::new("reftable/tables.list"), PACKED_LIMIT).map_err(io)?.is_some() {
            return Err(odd("its refs have an unsupported format (reftable)"));
        }
        let head = git.read(Path::new("HEAD"), REF_LIMIT).map_err(io)?.ok_or_else(|| odd("it has no readable HEAD"))?;
        let head = String::from_utf8_lossy(&head).trim().to_owned();
        let (branch, head) = match head.strip_prefix("ref:").map(str::trim) {
            Some(name) => (name.strip_prefix("refs/heads/").map(str::to_owned), all.get(name).cloned()),
            None => (None, head.parse().ok()),
        };
        let mut refs = Self { branch, head, ..Self::default() };
        for (name, oid) in all {
            if name.starts_with("refs/remotes/") {
                refs.remote.insert(oid);
            } else if name.starts_with("refs/heads/") || name == "refs/stash" {
                refs.local.insert(name, oid);
            }
        }
        Ok(refs)
    }
}

fn git_dir(tree: &Path) -> Result<Root> {
    Root::open(tree)?.folder(Path::new(".git")).map_err(|error| Error::Tampered {
        path: tree.join(".git"),
        why: match error.kind() {
            std::io::ErrorKind::NotFound => {
                "somebody deleted it; `shopfloor workspace restore` recreates it, with the \
                                             commits that were saved"
                    .into()
            }
            _ => format!("it is not a readable folder ({error})"),
        },
    })
}

fn ref_file(git: &Root, path: &Path) -> Option<Oid> {
    let bytes = git.read(path, REF_LIMIT).ok()??;
    String::from_utf8_lossy(&bytes).trim().parse().ok()
}

fn loose(git: &Root, path: &Path, depth: usize, all: &mut BTreeMap<String, Oid>) -> std::io::Result<()> {
    let Ok(folder) = git.folder(path) else { return Ok(()) };
    for (name, kind) in folder.entries()? {
        let below = path.join(OsStr::from_bytes(&name));
        let Some(text) = below.to_str() else { continue };
        match kind {
            FileType::Directory if depth < 16 => loose(git, &below, depth + 1, all)?,
            FileType::RegularFile if all.len() < MOST_REFS => {
                if let Some(oid) = ref_file(git, &below) {
                    all.insert(text.to_owned(), oid);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Imports commits of the agent's clone into the store, checked object by object.
///
/// git runs in a repository of ours that borrows the agent's objects, so that it never reads the agent's configuration.
pub(crate) async fn import(store: &Store, home: &Home, tips: &[Oid], near: Option<&Oid>) -> Result<()> {
    let objects = home.tree().join(".git/objects");
    check_objects(&home.tree(), &store.objects())?;
    let import = home.import();
    bare::make(&import, &[&objects])?;
    let mut git = store.git("fetch").args([
        "--no-tags",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        "--quiet",
        "--no-recurse-submodules",
    ]);
    if let Some(near) = near {
        git = git.args([format!("--negotiation-tip={near}")]);
    }
    let mut operands: Vec<&OsStr> = vec![import.as_os_str()];
    operands.extend(tips.iter().map(AsRef::<OsStr>::as_ref));
    git.operands(operands).reach(Reach::Files).run().await.map(drop)
}

/// Objects must be the agent's own or the store's: a link or another alternate could point to somebody else's.
fn check_objects(tree: &Path, store: &Path) -> Result<()> {
    let path = tree.join(".git/objects");
    let odd = |path: PathBuf, why: &str| Error::Tampered { path, why: why.to_owned() };
    let unreadable = |error: std::io::Error| Error::Io { what: "read", path: path.clone(), source: error };
    let objects = git_dir(tree)?.folder(Path::new("objects")).map_err(unreadable)?;
    for (name, kind) in objects.entries().map_err(unreadable)? {
        if kind != FileType::Directory && kind != FileType::RegularFile {
            return Err(odd(path.join(OsStr::from_bytes(&name)), "it is not a folder of objects"));
        }
    }
    if let Ok(packs) = objects.folder(Path::new("pack"))
        && packs.entries().map_err(unreadable)?.iter().any(|(_, kind)| *kind == FileType::Symlink)
    {
        return Err(odd(path.join("pack"), "it contains a link"));
    }
    let borrowed = objects.read(Path::new("info/alternates"), 64 << 10).map_err(unreadable)?.unwrap_or_default();
    let lines = borrowed.split(|b| *b == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
    if lines.into_iter().any(|line| line != store.as_os_str().as_bytes()) {
        return Err(odd(path.join("info/alternates"), "it borrows from another repository"));
    }
    Ok(())
}
