//! A folder that `shopfloor files` keeps in step, and somebody who works in it with files only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use domain::ProjectId;
use tokio::process::{Child, Command};

use crate::hub::Hub;

pub(crate) struct Folder {
    pub(crate) root: PathBuf,
    project: ProjectId,
}

impl Folder {
    pub(crate) fn new(hub: &Hub) -> Self {
        Self::of(hub, hub.project.id)
    }

    /// One of another project.
    pub(crate) fn of(hub: &Hub, project: ProjectId) -> Self {
        Self { root: hub.path("tasks"), project }
    }

    /// Starts `shopfloor files`; what it says goes to a file.
    pub(crate) fn serve(&self, hub: &Hub) -> Child {
        self.serve_with(hub, &[])
    }

    /// The same with further arguments.
    pub(crate) fn serve_with(&self, hub: &Hub, more: &[&str]) -> Child {
        let log = fs::File::options().create(true).append(true).open(hub.folder().join("files.log")).unwrap();
        let mut command = Command::new(testkit::binary());
        command.args(["files", "--patience", "1", "--assign", "2", "--project", &self.project.to_string(), "--dir"]);
        command.arg(&self.root).args(more).env("SHOPFLOOR_HUB", &hub.url).env("SHOPFLOOR_TOKEN", &hub.token);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
        command.spawn().unwrap()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    /// A task's file, if it is there.
    pub(crate) fn task(&self, path: &str) -> Option<serde_json::Value> {
        serde_json::from_str(&self.text(path)?).ok()
    }

    /// Lets a file look as if nobody had touched it for a while.
    pub(crate) fn age(&self, path: &str, by: std::time::Duration) {
        let file = fs::File::options().append(true).open(self.root.join(path)).unwrap();
        file.set_modified(std::time::SystemTime::now() - by).unwrap();
    }

    /// The names of the files in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Reports everything that is assigned and was not reported under this hold, as a careful worker does.
    pub(crate) fn work(&self, done: &mut std::collections::HashSet<(String, u64)>) {
        for name in self.names("assigned") {
            let Some(text) = self.text(&format!("assigned/{name}")) else { continue };
            let Ok(task) = serde_json::from_str::<serde_json::Value>(&text) else { panic!("{name} is half: {text}") };
            let Some(fence) = task["shopfloor"]["hold"]["fence"].as_u64() else { continue };
            assert!(task["brief"].is_string(), "{text}");
            if done.insert((name.clone(), fence)) {
                let part = self.root.join("reports").join(format!(".{name}"));
                fs::write(&part, format!("{{\"summary\": \"Did {name} under {fence}\"}}")).unwrap();
                fs::rename(part, self.root.join("reports").join(&name)).unwrap();
            }
        }
    }

    /// What is left beside the tasks themselves.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let folders = ["pending", "assigned", "reports", ".shopfloor/incoming", ".shopfloor/reports"];
        folders
            .iter()
            .flat_map(|folder| self.names(folder).into_iter().map(move |name| format!("{folder}/{name}")))
            .collect()
    }
}

/// How many files a folder has.
pub(crate) fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}
