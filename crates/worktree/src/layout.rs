//! The paths in a runner's data directory, and atomic writes of small files.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::location::Location;
use crate::names::BranchName;
use crate::{Error, Result};

/// The folders of a runner.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: PathBuf,
}

/// What is stored about a workspace at its creation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Which workspace.
    pub id: WorkspaceId,
    /// Its repository, if the project has one.
    pub location: Option<Location>,
    /// The branch that it started from; absent in an empty repository.
    pub base: Option<BranchName>,
    /// The commit that it started from; absent in an empty repository.
    pub base_commit: Option<String>,
    /// Its own branch; absent without a repository.
    pub branch: Option<BranchName>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Layout {
    pub(crate) fn open(root: &Path) -> Result<Self> {
        folder(root)?;
        let root = fs::canonicalize(root).map_err(Error::io("find", root))?;
        let layout = Self { root };
        for path in [layout.stores(), layout.workspaces(), layout.making(), layout.deleted(), layout.checkouts()] {
            folder(&path)?;
        }
        Ok(layout)
    }

    pub(crate) fn stores(&self) -> PathBuf {
        self.root.join("repositories")
    }

    pub(crate) fn store(&self, location: Option<&Location>) -> PathBuf {
        // Workspaces without a repository share one store, which contains only their saves.
        let key = location.map_or_else(|| "none".to_owned(), Location::key);
        self.stores().join(format!("{key}.git"))
    }

    pub(crate) fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    /// Unfinished workspaces; they may be deleted at any time.
    pub(crate) fn making(&self) -> PathBuf {
        self.workspaces().join(".making")
    }

    /// Workspaces that are being deleted.
    pub(crate) fn deleted(&self) -> PathBuf {
        self.workspaces().join(".deleted")
    }

    /// Clean checkouts, which nobody works in; they may be deleted at any start.
    pub(crate) fn checkouts(&self) -> PathBuf {
        self.root.join("checkouts")
    }

    pub(crate) fn home(&self, id: WorkspaceId) -> Home {
        Home(self.workspaces().join(id.to_string()))
    }
}

/// The folders of one workspace.
#[derive(Debug, Clone)]
pub(crate) struct Home(pub(crate) PathBuf);

impl Home {
    pub(crate) fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    pub(crate) fn control(&self) -> PathBuf {
        self.0.join("control.git")
    }

    pub(crate) fn import(&self) -> PathBuf {
        self.0.join("import.git")
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.log"))
    }

    pub(crate) fn facts(&self) -> Option<Facts> {
        serde_json::from_slice(&fs::read(self.0.join("workspace.json")).ok()?).ok()
    }

    pub(crate) fn write_facts(&self, facts: &Facts) -> Result<()> {
        write(&self.0.join("workspace.json"), &serde_json::to_vec_pretty(facts).unwrap_or_default())
    }
}

/// Makes a folder that only its owner can enter.
pub(crate) fn folder(path: &Path) -> Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::io("create", path))
}

/// Writes a file atomically.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(Error::io("write", path))
}

/// Makes a rename or creation in a folder survive a power cut.
pub(crate) fn sync(path: &Path) {
    if let Ok(folder) = fs::File::open(path) {
        let _ = folder.sync_all();
    }
}

/// The current time.
pub(crate) fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
