//! The folders in a runner's data directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::{ProjectId, SessionId, WorkspaceId};

use crate::clock::now;

/// The folders in a runner's data directory.
#[derive(Debug, Clone)]
pub(crate) struct Folders(Arc<Path>);

impl Folders {
    /// The folders in `data_dir`.
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self(data_dir.into())
    }

    /// The data directory itself.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.0
    }

    /// The folder of a session.
    pub(crate) fn session(&self, session: SessionId) -> PathBuf {
        self.0.join("sessions").join(session.to_string())
    }

    /// Where sandboxed agents of a project keep their state, so that they can resume each other's conversations.
    pub(crate) fn contained(&self, project: ProjectId) -> PathBuf {
        self.0.join("contained").join(project.to_string())
    }

    /// A new folder for a save whose workspace cannot be created again.
    pub(crate) fn restored(&self, workspace: WorkspaceId) -> PathBuf {
        self.0.join("restored").join(format!("{workspace}-{}", now().as_millis()))
    }

    /// The folder for transfers between runners.
    pub(crate) fn bundles(&self) -> PathBuf {
        self.0.join("bundles")
    }
}
