//! What `demo` created, so that `--remove` deletes exactly that, even after a kill in between.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::{HubId, ProjectId};
use serde::{Deserialize, Serialize};

use crate::Failure;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    hub: HubId,
    /// Names this example in idempotency keys and in its invitation.
    seed: String,
    /// The token of the second person.
    #[serde(default)]
    token: Option<String>,
    /// The projects by their keys; without an id, the request was sent and its answer is unknown.
    projects: BTreeMap<String, Option<ProjectId>>,
    complete: bool,
}

/// The file `demo.json` in the data directory.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    content: Content,
    stored: bool,
}

impl Record {
    /// Reads the record for the hub `hub`.
    pub(crate) fn open(data_dir: &Path, hub: HubId) -> Result<Self, Failure> {
        let path = data_dir.join("demo.json");
        let unreadable =
            |error: &dyn std::fmt::Display| Failure::other(format!("could not read {}: {error}", path.display()));
        let found = match std::fs::read_to_string(&path) {
            Ok(text) => Some(serde_json::from_str::<Content>(&text).map_err(|error| unreadable(&error))?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&error)),
        };
        if let Some(other) = found.as_ref().filter(|found| found.hub != hub) {
            let detail = format!("{} belongs to another hub's database ({})", path.display(), other.hub);
            return Err(Failure::conflict(detail).advise("remove that example first, or delete the file"));
        }
        let seed = ProjectId::generate().to_string();
        let fresh = Content { hub, seed, token: None, projects: BTreeMap::new(), complete: false };
        Ok(Self { path, stored: found.is_some(), content: found.unwrap_or(fresh) })
    }

    /// Whether an earlier `demo` began to create something.
    pub(crate) fn exists(&self) -> bool {
        self.stored
    }

    /// Whether an earlier `demo` created everything.
    pub(crate) fn is_complete(&self) -> bool {
        self.content.complete
    }

    /// The projects that still exist, as far as we know.
    pub(crate) fn projects(&self) -> &BTreeMap<String, Option<ProjectId>> {
        &self.content.projects
    }

    /// The second person's token.
    pub(crate) fn token(&self) -> Option<&str> {
        self.content.token.as_deref()
    }

    /// The name of the second person's invitation.
    pub(crate) fn invitation(&self) -> String {
        format!("example {}", self.content.seed)
    }

    /// The key of the request that creates a project: sent twice, it creates one.
    pub(crate) fn request_key(&self, project: &str) -> String {
        format!("demo-{}-{project}", self.content.seed)
    }

    /// The folder of the example's repository.
    pub(crate) fn folder(&self) -> PathBuf {
        self.path.with_file_name("demo")
    }

    /// Records that creation begins, before anything is created.
    pub(crate) fn begin(&mut self) -> Result<(), Failure> {
        self.save()
    }

    /// Records the second person's token.
    pub(crate) fn joined(&mut self, token: String) -> Result<(), Failure> {
        self.content.token = Some(token);
        self.save()
    }

    /// Records that a project is about to be created, then its id.
    pub(crate) fn project(&mut self, key: &str, project: Option<ProjectId>) -> Result<(), Failure> {
        self.content.projects.insert(key.to_owned(), project);
        self.save()
    }

    /// Records that everything was created.
    pub(crate) fn complete(&mut self) -> Result<(), Failure> {
        self.content.complete = true;
        self.save()
    }

    /// Removes a deleted project from the record.
    pub(crate) fn forget(&mut self, key: &str) -> Result<(), Failure> {
        self.content.projects.remove(key);
        self.save()
    }

    /// Deletes the record: nothing of the example is left.
    pub(crate) fn delete(&mut self) -> Result<(), Failure> {
        self.stored = false;
        std::fs::remove_file(&self.path).map_err(|error| self.unwritable(&error))
    }

    fn save(&mut self) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(&self.content).map_err(|error| self.unwritable(&error))?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let fresh = self.path.with_extension("json.new");
        let write = || {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            let mut file =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
            file.write_all(&text)?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.path)
        };
        write().map_err(|error| self.unwritable(&error))?;
        self.stored = true;
        Ok(())
    }

    fn unwritable(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::other(format!("could not write {}: {error}", self.path.display()))
    }
}
