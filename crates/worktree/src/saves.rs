//! The chain of saves, and bringing one back.

use std::path::{Path, PathBuf};

use domain::{Timestamp, WorkspaceId};

use crate::bare::Oid;
use crate::create::{agents_git, blocking};
use crate::git::Git;
use crate::layout::{Home, folder};
use crate::save::{Note, Save, newest, saved_ref};
use crate::scan::Scope;
use crate::store::Store;
use crate::{Error, Result, Worktrees};

/// Where a save is brought back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Into {
    /// An empty folder, or one that does not exist yet.
    Folder(PathBuf),
    /// The workspace itself; what is there is saved first. No session may be running in it.
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
        // The first link of the chain has no note; what comes after it is the repository's history.
        let Ok(note) = serde_json::from_str::<Note>(body.trim()) else { break };
        let at = if note.at == Timestamp::from_millis(0) {
            seconds.parse().unwrap_or(0) * 1000
        } else {
            note.at.as_millis()
        };
        let at = Timestamp::from_millis(at);
        saves.push(Save { id: id.to_owned(), at, files: note.files, head: note.head, left_out: note.left_out });
    }
    Ok(saves)
}

impl Worktrees {
    /// The saves of a workspace, newest first; also of one whose folder is gone.
    pub async fn saves(&self, id: WorkspaceId, most: usize) -> Result<Vec<Save>> {
        list(&self.store_of(id).await?, id, most).await
    }

    /// Brings a save back, the newest when none is named; also of a workspace whose folder is gone.
    pub async fn restore(&self, id: WorkspaceId, save: Option<&str>, into: &Into) -> Result<PathBuf> {
        let store = self.store_of(id).await?;
        let save = chosen(&store, id, save).await?;
        match into {
            Into::Folder(path) => {
                empty(path)?;
                folder(path)?;
                check_out(&store, &save, path).await?;
                Ok(path.clone())
            }
            Into::Workspace => self.restore_in_place(id, &save).await,
        }
    }

    async fn restore_in_place(&self, id: WorkspaceId, save: &Oid) -> Result<PathBuf> {
        let held = self.space(id);
        let mut held = held.lock().await;
        let options = self.options().clone();
        let space = self.found(id, &mut held).await?;
        let tree = space.home.tree();
        if tree.symlink_metadata().is_ok() {
            let saved = space.save(&options, &Scope::All).await?;
            if !saved.left_out.is_empty() {
                tracing::info!(workspace = %id, files = saved.left_out.len(), "not all of it could be saved before a restore");
            }
            space.catch_up().await?;
            let git = Git::new(&space.home.control(), "read-tree").work_tree(&tree);
            git.args(["-u", "--reset"]).operands([save]).run().await?;
        } else {
            rebuild(&space.home, &space.store, &space.facts, space.head(), save).await?;
        }
        // The files are those of another save than the newest: that is a change like any other.
        space.in_doubt = true;
        space.save(&options, &Scope::All).await?;
        Ok(tree)
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

/// The commit of a save; only the workspace's own chain counts, whatever id is given.
async fn chosen(store: &Store, id: WorkspaceId, save: Option<&str>) -> Result<Oid> {
    let no_save = |save: &str| Error::NoSave { workspace: id, save: crate::error::printable(save) };
    let Some(wanted) = save else {
        return Ok(newest(store, id).await?.ok_or_else(|| no_save("newest"))?.0);
    };
    let wanted: Oid = wanted.parse().map_err(|()| no_save(wanted))?;
    let git = store.git("rev-list").args(["--first-parent"]).operands([saved_ref(id)]);
    let known = git.run().await?;
    let known = String::from_utf8_lossy(&known);
    let chain = list(store, id, known.lines().count()).await?;
    if chain.iter().any(|save| save.id == wanted.as_str()) { Ok(wanted) } else { Err(no_save(wanted.as_str())) }
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

/// The agent's folder is gone: makes it anew, with its `.git` at the commit that it had, and the files of the save.
async fn rebuild(home: &Home, store: &Store, facts: &crate::Facts, head: Option<Oid>, save: &Oid) -> Result<()> {
    let making = Home(home.0.join("tree.making"));
    let aside = making.0.clone();
    blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))?;
    folder(&making.tree())?;
    crate::bare::make(&making.control(), &[&store.objects()])?;
    let note = list(store, facts.id, 1).await?.into_iter().next().and_then(|save| save.head?.parse().ok());
    let base = facts.base_commit.as_deref().and_then(|base| base.parse().ok());
    let commit: Option<Oid> = head.or(note).or(base);
    if let (Some(location), Some(branch)) = (&facts.location, &facts.branch) {
        if let Some(commit) = &commit {
            Git::new(&making.control(), "read-tree").args(["-m"]).operands([commit]).run().await?;
        }
        agents_git(&making, store, location, branch, facts.base.as_ref(), commit.as_ref()).await?;
    }
    let git = Git::new(&making.control(), "read-tree").work_tree(&making.tree());
    git.args(["-u", "--reset"]).operands([save]).run().await?;
    let (from, to) = (making.control().join("index"), home.control().join("index"));
    // Moved, not copied: an index that looks newer than it is hides what is written in its second.
    std::fs::rename(&from, &to).map_err(Error::io("move to", &to))?;
    std::fs::rename(making.tree(), home.tree()).map_err(Error::io("move into place", &home.tree()))?;
    let aside = making.0.clone();
    blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))
}
