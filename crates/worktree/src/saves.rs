//! The chain of saves, and restoring one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::{Timestamp, WorkspaceId};

use crate::bare::{Oid, oid};
use crate::create::{agents_git, blocking};
use crate::git::Git;
use crate::layout::{Home, folder};
use crate::save::{Note, Save, newest, saved_ref};
use crate::scan::Scope;
use crate::space::Space;
use crate::store::Store;
use crate::{Author, Error, Result, Worktrees};

/// Minimum number of digits that name a save.
const SHORTEST: usize = 4;
/// How many saves to compare with the files to find the intended one.
const MOST_LOOKED_AT: usize = 1000;

/// Where to restore a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Into {
    /// An empty folder, or one that does not exist yet.
    Folder(PathBuf),
    /// The workspace itself; its current state is saved first. No session may be running in it.
    Workspace,
}

/// The newest saves of a workspace, newest first.
pub(crate) async fn list(store: &Store, id: WorkspaceId, most: usize) -> Result<Vec<Save>> {
    let most = format!("--max-count={most}");
    let git = store.git("log").args(["--first-parent", "-z", "--format=%H%x0a%ct%x0a%B", &most]);
    let ended = git.operands([saved_ref(id)]).ended(|_| {}).await?;
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    let mut saves = Vec::new();
    for entry in said.split('\0') {
        let mut parts = entry.splitn(3, '\n');
        let (Some(id), Some(seconds), Some(body)) = (parts.next(), parts.next(), parts.next()) else { break };
        // The first save has no note; after it comes the repository's history.
        let Ok(note) = serde_json::from_str::<Note>(body.trim()) else { break };
        let at = if note.at == Timestamp::from_millis(0) {
            seconds.parse().unwrap_or(0) * 1000
        } else {
            note.at.as_millis()
        };
        let at = Timestamp::from_millis(at);
        let Note { files, head, left_out, restored, .. } = note;
        saves.push(Save { id: id.to_owned(), at, files, head, left_out, restored });
    }
    Ok(saves)
}

impl Worktrees {
    /// The saves of a workspace, newest first; also of a deleted one.
    pub async fn saves(&self, id: WorkspaceId, most: usize) -> Result<Vec<Save>> {
        list(&self.store_of(id).await?, id, most).await
    }

    /// Restores a save; also of a deleted workspace. Without a name: in a workspace that lost its `.git`, only that; in
    /// another, the newest save with something that is missing or different now; elsewhere, the newest.
    pub async fn restore(&self, id: WorkspaceId, save: Option<&str>, into: &Into) -> Result<PathBuf> {
        let store = self.store_of(id).await?;
        let named = match save {
            Some(wanted) => Some(named(&store, id, wanted).await?),
            None => None,
        };
        match into {
            Into::Folder(path) => {
                let save = match named {
                    Some(save) => save,
                    None => last(&store, id).await?,
                };
                empty(path)?;
                folder(path)?;
                check_out(&store, &save, path).await?;
                Ok(path.clone())
            }
            Into::Workspace => self.restore_in_place(id, named).await,
        }
    }

    async fn restore_in_place(&self, id: WorkspaceId, named: Option<Oid>) -> Result<PathBuf> {
        let held = self.space(id);
        let mut held = held.lock().await;
        let options = self.options().clone();
        let space = self.found(id, &mut held).await?;
        let tree = space.home.tree();
        let save = if tree.symlink_metadata().is_ok() {
            space.save(&options, &Scope::All).await?;
            let mended = space.mend(options.author.as_ref()).await?;
            let save = match named {
                Some(save) => save,
                // The `.git` is back: the files are newer than any save, and stay.
                None if mended => return Ok(tree),
                None => match space.newest_with_more().await? {
                    Some(save) => save,
                    None => return Err(Error::NothingBack { workspace: id }),
                },
            };
            let lost: Vec<PathBuf> = space.left_out.keys().cloned().collect();
            let lost = space.store.having(save.as_str(), &lost).await?;
            if !lost.is_empty() {
                let paths = lost.iter().take(5).map(|path| crate::error::printable(&path.to_string_lossy())).collect();
                return Err(Error::Overwrites { paths });
            }
            space.catch_up().await?;
            let git = Git::new(&space.home.control(), "read-tree").work_tree(&tree);
            git.args(["-u", "--reset"]).operands([&save]).run().await?;
            save
        } else {
            let save = match named {
                Some(save) => save,
                None => last(&space.store, id).await?,
            };
            let author = options.author.as_ref();
            rebuild(&space.home, &space.store, &space.facts, author, space.head(), &save).await?;
            save
        };
        // The files are those of an older save: that is a change like any other.
        space.in_doubt = true;
        space.restored = Some(save.to_string());
        let saved = space.save(&options, &Scope::All).await;
        space.restored = None;
        saved.map(|_| tree)
    }

    /// The store that has saves of a workspace.
    pub(crate) async fn store_of(&self, id: WorkspaceId) -> Result<Store> {
        if let Some(facts) = self.layout().home(id).facts() {
            return Ok(Store(self.layout().store(facts.location.as_ref())));
        }
        let stores = self.layout().stores();
        let entries = std::fs::read_dir(&stores).map_err(Error::io("list", &stores))?;
        for entry in entries.flatten() {
            let store = Store(entry.path());
            if store.0.join("HEAD").exists() && newest(&store, id).await?.is_some() {
                return Ok(store);
            }
        }
        Err(Error::NoWorkspace(id))
    }
}

impl Space {
    /// The newest save with a file that is missing or different in the workspace; the last save equals it.
    async fn newest_with_more(&self) -> Result<Option<Oid>> {
        let mut seen = BTreeSet::from([self.tree.to_string()]);
        for save in list(&self.store, self.facts.id, MOST_LOOKED_AT).await? {
            let git = self.store.git("rev-parse").args(["--verify"]);
            let tree = git.operands([format!("{}^{{tree}}", save.id)]).line().await?;
            if !seen.insert(tree.clone()) {
                continue;
            }
            let git =
                self.store.git("diff-tree").args(["-r", "-z", "--no-renames", "--name-only", "--diff-filter=AMT"]);
            if !git.operands([self.tree.as_str(), &tree]).run().await?.is_empty() {
                return Ok(Some(oid(&save.id)?));
            }
        }
        Ok(None)
    }

    /// Recreates a missing `.git` of the agent, at the last known commit; whether it was missing.
    async fn mend(&mut self, author: Option<&Author>) -> Result<bool> {
        let gone = self.home.tree().join(".git").symlink_metadata().is_err();
        if !gone || self.facts.location.is_none() {
            return Ok(false);
        }
        let making = making(&self.home, &self.store).await?;
        let commit = last_commit(&self.store, &self.facts, None).await?;
        if let Some(commit) = &commit {
            Git::new(&making.control(), "read-tree").args(["-m"]).operands([commit]).run().await?;
        }
        agents_git(&making, &self.store, &self.facts, author, commit.as_ref()).await?;
        let (from, to) = (making.tree().join(".git"), self.home.tree().join(".git"));
        std::fs::rename(&from, &to).map_err(Error::io("move into place", &to))?;
        let aside = making.0.clone();
        blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))?;
        Ok(true)
    }
}

fn no_save(workspace: WorkspaceId, save: &str) -> Error {
    Error::NoSave { workspace, save: crate::error::printable(save) }
}

/// The newest save.
async fn last(store: &Store, id: WorkspaceId) -> Result<Oid> {
    Ok(newest(store, id).await?.ok_or_else(|| no_save(id, "newest"))?.0)
}

/// The commit of a save by its id or its beginning; only the workspace's own chain counts.
async fn named(store: &Store, id: WorkspaceId, wanted: &str) -> Result<Oid> {
    let wanted = wanted.to_ascii_lowercase();
    if wanted.len() < SHORTEST || !wanted.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(no_save(id, &wanted));
    }
    let git = store.git("rev-list").args(["--first-parent"]).operands([saved_ref(id)]);
    let known = git.run().await?;
    let known = String::from_utf8_lossy(&known);
    let chain = list(store, id, known.lines().count()).await?;
    let found: Vec<&str> = chain.iter().map(|save| save.id.as_str()).filter(|id| id.starts_with(&wanted)).collect();
    match found[..] {
        [] => Err(no_save(id, &wanted)),
        [one] => oid(one),
        _ => {
            let found = found.iter().take(5).map(|id| id.chars().take(wanted.len() + 4).collect()).collect();
            Err(Error::ManySaves { workspace: id, save: wanted, found })
        }
    }
}

fn empty(path: &Path) -> Result<()> {
    let first = match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) => return Err(Error::NotEmpty(path.to_owned())),
    };
    if first.is_none() { Ok(()) } else { Err(Error::NotEmpty(path.to_owned())) }
}

/// Writes the files of a commit into an empty folder.
async fn check_out(store: &Store, save: &Oid, into: &Path) -> Result<()> {
    let into = std::fs::canonicalize(into).map_err(Error::io("find", into))?;
    let index = store.0.join(format!("index.restore.{}.{}", std::process::id(), save));
    let git = store.git("read-tree").work_tree(&into).index(&index).timeout(std::time::Duration::from_secs(900));
    let done = git.args(["-u", "--reset"]).operands([save]).run().await;
    let _ = std::fs::remove_file(&index);
    done.map(drop)
}

/// Recreates the agent's missing folder, with its `.git` at its commit, and the files of the save.
async fn rebuild(
    home: &Home,
    store: &Store,
    facts: &crate::Facts,
    author: Option<&Author>,
    head: Option<Oid>,
    save: &Oid,
) -> Result<()> {
    let making = making(home, store).await?;
    let commit = last_commit(store, facts, head).await?;
    if let Some(commit) = commit.as_ref().filter(|_| facts.location.is_some()) {
        Git::new(&making.control(), "read-tree").args(["-m"]).operands([commit]).run().await?;
    }
    agents_git(&making, store, facts, author, commit.as_ref()).await?;
    let git = Git::new(&making.control(), "read-tree").work_tree(&making.tree());
    git.args(["-u", "--reset"]).operands([save]).run().await?;
    let (from, to) = (making.control().join("index"), home.control().join("index"));
    // Moved, not copied: an index that looks newer than it is would hide changes in its second.
    std::fs::rename(&from, &to).map_err(Error::io("move to", &to))?;
    std::fs::rename(making.tree(), home.tree()).map_err(Error::io("move into place", &home.tree()))?;
    let aside = making.0.clone();
    blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))
}

/// A place beside the agent's folder for recreating what it lost.
async fn making(home: &Home, store: &Store) -> Result<Home> {
    let making = Home(home.0.join("tree.making"));
    let aside = making.0.clone();
    blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))?;
    folder(&making.tree())?;
    crate::bare::make(&making.control(), &[&store.objects()])?;
    Ok(making)
}

/// The commit that the agent had checked out, as far as known.
async fn last_commit(store: &Store, facts: &crate::Facts, head: Option<Oid>) -> Result<Option<Oid>> {
    let known = list(store, facts.id, MOST_LOOKED_AT).await?.into_iter().find_map(|save| save.head?.parse().ok());
    let base = facts.base_commit.as_deref().and_then(|base| base.parse().ok());
    Ok(head.or(known).or(base))
}
