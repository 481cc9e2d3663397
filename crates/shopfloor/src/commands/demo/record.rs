//! What `demo` created, so that `--remove` deletes exactly that.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::{HubId, ProjectId};
use serde::{Deserialize, Serialize};

use crate::Failure;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    hub: HubId,
    projects: Vec<ProjectId>,
}

/// The file `demo.json` in the data directory.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    content: Content,
}

impl Record {
    /// Reads the record for the hub `hub`.
    pub(crate) fn open(data_dir: &Path, hub: HubId) -> Result<Self, Failure> {
        let path = data_dir.join("demo.json");
        let unreadable =
            |error: &dyn std::fmt::Display| Failure::other(format!("could not read {}: {error}", path.display()));
        let content = match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str::<Content>(&text).map_err(|error| unreadable(&error))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Content { hub, projects: Vec::new() },
            Err(error) => return Err(unreadable(&error)),
        };
        if content.hub != hub && !content.projects.is_empty() {
            let detail = format!("{} belongs to another hub's database ({})", path.display(), content.hub);
            return Err(Failure::conflict(detail).advise("remove that example first, or delete the file"));
        }
        Ok(Self { path, content: Content { hub, ..content } })
    }

    /// The created projects that still exist, as far as we know.
    pub(crate) fn projects(&self) -> &[ProjectId] {
        &self.content.projects
    }

    /// Records a project before anything is added to it.
    pub(crate) fn add(&mut self, project: ProjectId) -> Result<(), Failure> {
        self.content.projects.push(project);
        self.save()
    }

    /// Removes a deleted project from the record.
    pub(crate) fn forget(&mut self, project: ProjectId) -> Result<(), Failure> {
        self.content.projects.retain(|known| *known != project);
        if self.content.projects.is_empty() {
            return std::fs::remove_file(&self.path).map_err(|error| self.unwritable(&error));
        }
        self.save()
    }

    fn save(&self) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(&self.content).map_err(|error| self.unwritable(&error))?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let fresh = self.path.with_extension("json.new");
        let write = || {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(&text)?;
            std::fs::rename(&fresh, &self.path)
        };
        write().map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::other(format!("could not write {}: {error}", self.path.display()))
    }
}
