//! Accepted work: kept as a ref in the shared store, so that it outlives its workspace, and packed for other runners.

use std::path::{Path, PathBuf};

use domain::WorkspaceId;

use crate::bare::Oid;
use crate::beneath::Root;
use crate::bundle::{self, unusable};
use crate::create::blocking;
use crate::layout::now;
use crate::merge::{self, New};
use crate::names::BranchName;
use crate::options::Progress;
use crate::scan::Scope;
use crate::space::Space;
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

const ACCEPTED: &str = "refs/shopfloor/accepted";

/// Work that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The commit that was checked out.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// The commit that its changes are compared with; absent in a repository that was empty.
    pub base: Option<Oid>,
}

/// Everything in a workspace, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAll {
    /// The commit with everything.
    pub kept: Kept,
    /// The commit that is checked out.
    pub head: Option<Oid>,
    /// Paths with uncommitted changes.
    pub dirty: Vec<PathBuf>,
}

impl Worktrees {
    /// Keeps the commit that is checked out in a workspace under a name; uncommitted files are not part of it.
    pub async fn keep_work(&self, id: WorkspaceId, name: &str) -> Result<Kept> {
        let name = accepted(name)?;
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        let head = space.readable_head()?.ok_or(Error::NoCommit(id))?;
        space.store.git("update-ref").operands([name.as_str(), head.as_str()]).run().await?;
        let base = space.ground(base.as_ref(), Some(&head)).await?;
        Ok(Kept { tree: space.store.tree_of(&head).await?, commit: head, base })
    }

    /// Keeps everything in a workspace under a name, uncommitted files included: these become a commit in the store, on
    /// top of the one that is checked out.
    pub async fn keep_all(&self, id: WorkspaceId, name: &str, message: &str) -> Result<Kept> {
        self.keep_everything(id, name, message).await.map(|all| all.kept)
    }

    /// The same, with the commit that is checked out and the uncommitted paths.
    pub async fn keep_everything(&self, id: WorkspaceId, name: &str, message: &str) -> Result<KeptAll> {
        let name = accepted(name)?;
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        let head = space.readable_head()?;
        let committed = match &head {
            Some(head) => Some(space.store.tree_of(head).await?),
            None => None,
        };
        let dirty = match committed.as_ref().filter(|committed| **committed != space.tree) {
            Some(committed) => space.names(committed.as_str(), space.tree.as_str()).await?,
            None => Vec::new(),
        };
        let commit = match head.clone().filter(|_| committed.as_ref() == Some(&space.tree)) {
            Some(head) => head,
            None => {
                let parents: Vec<Oid> = head.iter().cloned().collect();
                let at = now().as_millis() / 1000;
                let author = self.options().author.as_ref().map(|author| merge::line(author, at));
                let message = message.as_bytes().to_vec();
                let parents: Vec<&Oid> = parents.iter().collect();
                let new = New { tree: &space.tree, parents: &parents, author, encoding: None, message, at };
                space.store.write_commit(new).await?
            }
        };
        space.store.git("update-ref").operands([name.as_str(), commit.as_str()]).run().await?;
        let base = space.ground(base.as_ref(), Some(&commit)).await?;
        Ok(KeptAll { kept: Kept { tree: space.tree.clone(), commit, base }, head, dirty })
    }

    /// Writes a file of ours into a workspace. Follows no link that an agent made.
    pub async fn put_file(&self, id: WorkspaceId, path: &Path, content: &str) -> Result<()> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let folder = self.found(id, &mut space).await?.home.tree();
        let (below, bytes) = (path.to_owned(), content.as_bytes().to_vec());
        let put = move || Root::open(&folder)?.put(&below, &bytes, None).map_err(Error::io("write", &below));
        blocking(put).await
    }

    /// The commit that is kept under a name.
    pub async fn kept(&self, location: &Location, name: &str) -> Result<Option<Oid>> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        let name = accepted(name)?;
        Ok(store.refs(&name).await?.into_iter().find(|(found, _)| *found == name).map(|(_, commit)| commit))
    }

    /// Packs kept work for another runner, without what the repository has; up to `limit` bytes.
    pub async fn pack_work(&self, location: &Location, name: &str, limit: usize) -> Result<Vec<u8>> {
        let store = Store(self.layout().store(Some(location)));
        let missing = || Error::NoWork { name: name.to_owned(), why: "nothing is kept under this name".into() };
        let commit = self.kept(location, name).await?.ok_or_else(missing)?;
        let there = ["--not", "--glob=refs/origin/heads/*"];
        let git = store.git("rev-list").args(["--count", "--max-count=1", commit.as_str()]).args(there);
        let new = git.line().await? != "0";
        let git = store.git("bundle").args(["create", "--quiet", "--version=2", "-", &accepted(name)?]).limit(limit);
        let git = match new {
            true => git.args(there),
            // git makes no empty bundle.
            false => git.args([format!("^{commit}^@")]),
        };
        git.run().await
    }

    /// Keeps work that another runner packed, checked object by object. Returns its commit.
    pub async fn take_work(&self, location: &Location, name: &str, file: &Path) -> Result<Oid> {
        let store = Store(self.layout().store(Some(location)));
        let name = accepted(name)?;
        // What the bundle was made against must be here.
        self.refresh(location, &Progress::none()).await?;
        let refs = bundle::open(&store, &self.aside(), file, &format!("{name}:refs/taken/work")).await?;
        let [(_, commit)] = refs.as_slice() else { return Err(unusable(file, "it does not contain exactly one work")) };
        bundle::check_size(&store, commit, file).await?;
        store.git("update-ref").operands([name.as_str(), commit.as_str()]).run().await?;
        Ok(commit.clone())
    }
}

impl Space {
    /// The commit that is checked out, if the store has it; an error if that is unknown.
    pub(crate) fn readable_head(&self) -> Result<Option<Oid>> {
        match self.refs.as_ref().err().or(self.not_kept.as_ref()) {
            Some(why) => Err(Error::Tampered { path: self.home.tree().join(".git"), why: why.clone() }),
            None => Ok(self.head()),
        }
    }
}

/// The ref of kept work.
fn accepted(name: &str) -> Result<String> {
    let name: BranchName = name.parse()?;
    Ok(format!("{ACCEPTED}/{name}"))
}
