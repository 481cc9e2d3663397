//! Work for another runner: a branch and uncommitted files, as one file that git can verify.

use std::path::Path;

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};

use crate::bare::{self, Oid, oid};
use crate::create::blocking;
use crate::git::Reach;
use crate::process::Input;
use crate::scan::Scope;
use crate::space::Space;
use crate::store::Store;
use crate::{Error, Result, Worktrees};

const SIGNATURE: &[u8] = b"# v2 git bundle\n";
const PACKED: &str = "refs/shopfloor/packed";
/// Maximum size of a bundle's unpacked files.
const LARGEST_TREE: u64 = 8 << 30;

/// A workspace's work, packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The commit that the work started from; absent without a repository.
    pub base: Option<String>,
    /// The commit that was checked out.
    pub head: Option<String>,
}

/// The message of the commit with the uncommitted files.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Note {
    base: Option<String>,
}

/// The content of a bundle.
#[derive(Debug)]
pub(crate) struct Taken {
    /// The commit whose tree the files are.
    pub(crate) files: Oid,
    /// The commit that was checked out.
    pub(crate) head: Option<Oid>,
    /// The commit that the work started from.
    pub(crate) base: Option<Oid>,
}

impl Worktrees {
    /// Saves a workspace and packs its branch and uncommitted work, up to `limit` bytes.
    pub async fn pack(&self, id: WorkspaceId, limit: usize) -> Result<Packed> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        space.pack(base, limit).await
    }
}

impl Space {
    async fn pack(&self, base: Option<Oid>, limit: usize) -> Result<Packed> {
        let head = self.readable_head()?;
        let ground = self.ground(base.as_ref(), head.as_ref()).await?;
        // Accepted work that it started from is packed with it: the other runner may not have that.
        let base = self.merge_base(base.as_ref(), head.as_ref()).await?;
        let note = serde_json::to_string(&Note { base: ground.as_ref().map(Oid::to_string) }).unwrap_or_default();
        let mut git = self.store.git("commit-tree");
        if let Some(head) = &head {
            git = git.args(["-p", head.as_str()]);
        }
        let git = git.args(["-F", "-"]).operands([&self.tree]).input(Input::Bytes(note.into_bytes()));
        let files = oid(&git.line().await?)?;
        let name = format!("{PACKED}/{}", self.facts.id);
        self.store.git("update-ref").operands([name.as_str(), files.as_str()]).run().await?;
        let mut git = self.store.git("bundle").args(["create", "--quiet", "--version=2", "-", &name]).limit(limit);
        if let Some(base) = &base {
            git = git.args([format!("^{base}")]);
        }
        let bytes = git.run().await;
        self.store.git("update-ref").args(["-d"]).operands([name.as_str()]).run().await?;
        Ok(Packed { bytes: bytes?, base: ground.map(|base| base.to_string()), head: head.map(|head| head.to_string()) })
    }
}

/// Imports a packed workspace into the store, checked object by object.
pub(crate) async fn take(store: &Store, aside: &Path, file: &Path) -> Result<Taken> {
    let refs = open(store, aside, file, &format!("{PACKED}/*:refs/taken/*")).await?;
    let [(_, files)] = refs.as_slice() else { return Err(unusable(file, "it does not contain exactly one workspace")) };
    let commit = store.git("cat-file").args(["commit"]).operands([files]).limit(1 << 20).run().await?;
    let commit = String::from_utf8_lossy(&commit).into_owned();
    let (head, note) = commit.split_once("\n\n").unwrap_or((&commit, ""));
    let parents: Vec<Oid> = head.lines().filter_map(|line| line.strip_prefix("parent ")?.parse().ok()).collect();
    let note: Note = serde_json::from_str(note.trim()).unwrap_or_default();
    let head = parents.first().cloned();
    let mut base = None;
    if let (Some(named), Some(head)) = (note.base.and_then(|base| base.parse::<Oid>().ok()), &head)
        && store.is_ancestor(&named, head.as_str()).await? == Some(true)
    {
        base = Some(named);
    }
    check_size(store, files, file).await?;
    Ok(Taken { files: files.clone(), head, base })
}

/// Imports those refs of a bundle that match, checked object by object; returns them.
pub(crate) async fn open(store: &Store, aside: &Path, file: &Path, refspec: &str) -> Result<Vec<(String, Oid)>> {
    // git accepts other kinds of files: one that names a folder would be followed.
    let looked = file.to_owned();
    let begins = blocking(move || begins_right(&looked)).await;
    if !begins.map_err(Error::io("read", file))? {
        return Err(unusable(file, "it is not a git bundle"));
    }
    let gone = aside.to_owned();
    blocking(move || crate::beneath::delete(&gone)).await.map_err(Error::io("delete", aside))?;
    bare::make(aside, &[&store.objects()])?;
    let opened = open_aside(store, aside, file, refspec).await;
    let gone = aside.to_owned();
    blocking(move || crate::beneath::delete(&gone)).await.map_err(Error::io("delete", aside))?;
    opened
}

async fn open_aside(store: &Store, aside: &Path, file: &Path, refspec: &str) -> Result<Vec<(String, Oid)>> {
    let scratch = Store(aside.to_owned());
    let quiet = ["--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--quiet", "--no-recurse-submodules"];
    let git = scratch.git("fetch").args(quiet).operands([file.as_os_str(), refspec.as_ref()]).reach(Reach::Files);
    git.run().await.map_err(|error| unusable(file, &error.to_string()))?;
    let refs = scratch.refs("refs/taken/").await?;
    // From a repository of ours into the store, so that any version of git checks every object.
    let mut operands = vec![aside.as_os_str()];
    operands.extend(refs.iter().map(|(_, commit)| AsRef::<std::ffi::OsStr>::as_ref(commit)));
    if !refs.is_empty() {
        let git = store.git("fetch").args(quiet).operands(operands).reach(Reach::Files);
        git.run().await.map_err(|error| unusable(file, &error.to_string()))?;
    }
    Ok(refs)
}

/// Refuses work whose files would fill the disk.
pub(crate) async fn check_size(store: &Store, commit: &Oid, file: &Path) -> Result<()> {
    match size(store, commit).await? > LARGEST_TREE {
        true => Err(unusable(file, "its files would take too much space")),
        false => Ok(()),
    }
}

async fn size(store: &Store, commit: &Oid) -> Result<u64> {
    let out = store.git("ls-tree").args(["-r", "-z", "--format=%(objectsize)"]).operands([commit]).run().await;
    let out = out?;
    let sizes = out.split(|b| *b == 0).filter_map(|size| std::str::from_utf8(size).ok()?.trim().parse::<u64>().ok());
    Ok(sizes.fold(0, u64::saturating_add))
}

fn begins_right(file: &Path) -> std::io::Result<bool> {
    use std::io::Read;
    let mut first = [0_u8; SIGNATURE.len()];
    match std::fs::File::open(file)?.read_exact(&mut first) {
        Ok(()) => Ok(first == SIGNATURE),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) fn unusable(file: &Path, why: &str) -> Error {
    Error::Bundle { name: file.file_name().unwrap_or_default().to_string_lossy().into_owned(), why: why.to_owned() }
}
