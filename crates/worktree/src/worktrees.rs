//! The handle: what the runner holds and clones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::WorkspaceId;
use parking_lot::Mutex;

use crate::bare::Oid;
use crate::built::BuiltLevels;
use crate::create::{Workspace, blocking};
use crate::differ::Differs;
use crate::hosts::reach;
use crate::layout::Layout;
use crate::location::Location;
use crate::names::BranchName;
use crate::options::Progress;
use crate::space::Space;
use crate::store::Store;
use crate::{Copied, Error, Options, Result};

type Slot = Arc<tokio::sync::Mutex<Option<Space>>>;
type Heads = Mutex<HashMap<(PathBuf, String), Option<Oid>>>;

/// All repositories and workspaces of one runner. Cheap to clone; one per data directory and process.
#[derive(Debug, Clone)]
pub struct Worktrees(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    layout: Layout,
    options: Options,
    fetching: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
    spaces: Mutex<HashMap<WorkspaceId, Slot>>,
    heads: Heads,
    differs: Arc<Differs>,
    built: BuiltLevels,
}

impl Worktrees {
    /// Opens the data directory and finishes what a kill interrupted.
    pub async fn open(data_dir: &Path, options: Options) -> Result<Self> {
        let layout = Layout::open(data_dir)?;
        let swept = layout.clone();
        blocking(move || sweep(&swept)).await;
        let inner = Inner {
            layout,
            options,
            fetching: Mutex::default(),
            spaces: Mutex::default(),
            heads: Mutex::default(),
            differs: Arc::default(),
            built: BuiltLevels::default(),
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Clones the repository if it is not here yet, otherwise fetches.
    pub async fn refresh(&self, location: &Location, progress: &Progress) -> Result<()> {
        let store = Store(self.0.layout.store(Some(location)));
        let lock = self.0.fetching.lock().entry(store.0.clone()).or_default().clone();
        let _alone = lock.lock().await;
        let reach = reach(location, &self.0.options).await?;
        store.prepare()?;
        let done = store.fetch(location, reach, &self.0.options, progress).await;
        self.0.heads.lock().retain(|(path, _), _| *path != store.0);
        done
    }

    /// Where a branch was when its repository was last fetched.
    pub async fn fetched_tip(&self, location: &Location, branch: &BranchName) -> Result<Option<Oid>> {
        let store = Store(self.0.layout.store(Some(location)));
        self.prepare(&store).await?;
        store.head(branch).await
    }

    /// Creates a store if necessary; one at a time.
    pub(crate) async fn prepare(&self, store: &Store) -> Result<()> {
        let lock = self.0.fetching.lock().entry(store.0.clone()).or_default().clone();
        let _alone = lock.lock().await;
        store.prepare()
    }

    /// The repository's default branch; `None` if it is empty.
    pub async fn default_branch(&self, location: &Location) -> Result<Option<BranchName>> {
        let store = Store(self.0.layout.store(Some(location)));
        self.prepare(&store).await?;
        store.default_branch(location, reach(location, &self.0.options).await?, &self.0.options).await
    }

    /// An existing workspace.
    pub async fn find(&self, id: WorkspaceId) -> Result<Workspace> {
        let home = self.0.layout.home(id);
        let facts = home.facts().ok_or(Error::NoWorkspace(id))?;
        Ok(Workspace { facts, path: home.tree(), copied: Copied::default() })
    }

    /// The folder of objects that a workspace borrows from; `None` without a repository.
    pub fn borrows(&self, workspace: &Workspace) -> Option<PathBuf> {
        let location = workspace.facts.location.as_ref()?;
        Some(Store(self.0.layout.store(Some(location))).objects())
    }

    /// All existing workspaces, in order of their ids.
    pub async fn list(&self) -> Result<Vec<Workspace>> {
        let folder = self.0.layout.workspaces();
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&folder).map_err(Error::io("list", &folder))?.flatten() {
            if let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok())
                && let Ok(workspace) = self.find(id).await
            {
                all.push(workspace);
            }
        }
        all.sort_by_key(|workspace| workspace.facts.id);
        Ok(all)
    }

    pub(crate) fn built(&self) -> &BuiltLevels {
        &self.0.built
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    pub(crate) fn options(&self) -> &Options {
        &self.0.options
    }

    pub(crate) fn heads(&self) -> &Heads {
        &self.0.heads
    }

    pub(crate) fn differs(&self) -> &Arc<Differs> {
        &self.0.differs
    }

    pub(crate) fn space(&self, id: WorkspaceId) -> Slot {
        self.0.spaces.lock().entry(id).or_default().clone()
    }
}

/// Deletes clean checkouts, unfinished workspaces and those being deleted: nobody has work in them.
fn sweep(layout: &Layout) {
    for folder in [layout.making(), layout.deleted(), layout.checkouts()] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if let Err(error) = crate::beneath::delete(&entry.path()) {
                tracing::warn!(path = %entry.path().display(), %error, "could not delete it");
            }
        }
    }
}
