//! The adapters that a runner knows: read again now and then, so that one that was added needs no restart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{Adapter, AdapterError, Adapters};
use parking_lot::RwLock;

/// The adapters as they were last read.
#[derive(Debug)]
pub(crate) struct Known {
    config_dir: PathBuf,
    now: RwLock<Arc<Adapters>>,
}

impl Known {
    /// Those that come with us, and those that are in the folder of the settings.
    pub(crate) fn read(config_dir: &Path) -> Self {
        let adapters = Adapters::load(config_dir);
        warn(adapters.errors(), &[]);
        Self { config_dir: config_dir.to_owned(), now: RwLock::new(Arc::new(adapters)) }
    }

    /// The adapter of this name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Adapter>> {
        self.now.read().get(name).cloned()
    }

    /// All of them.
    pub(crate) fn all(&self) -> Arc<Adapters> {
        self.now.read().clone()
    }

    /// Reads them again; whether anything is different. Sessions that run go on with what they were started with.
    pub(crate) fn read_again(&self) -> bool {
        let fresh = Adapters::load(&self.config_dir);
        let known = self.all();
        if fresh.is_like(&known) {
            return false;
        }
        warn(fresh.errors(), known.errors());
        *self.now.write() = Arc::new(fresh);
        true
    }
}

/// Says what is wrong with files, once for each fault.
fn warn(errors: &[AdapterError], told: &[AdapterError]) {
    for error in errors.iter().filter(|error| !told.contains(error)) {
        tracing::warn!("an agent's file was left out: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_known_and_a_broken_file_takes_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let agents = folder.path().join("agents");
        let write = |name: &str, text: &str| std::fs::write(agents.join(name), text).unwrap();
        let known = Known::read(folder.path());
        assert!(known.get("helper").is_none() && known.get("shell").is_some());
        assert!(!known.read_again(), "nothing is new");
        std::fs::create_dir(&agents).unwrap();
        write("helper.toml", "name = \"helper\"\nlabel = \"Helper\"\ncommand = [\"helper\"]\n[headless]\n");
        assert!(known.read_again());
        assert!(known.get("helper").is_some() && known.get("shell").is_some());
        write("broken.toml", "name = ");
        assert!(known.read_again() && !known.read_again(), "a fault is news once");
        assert!(known.get("helper").is_some() && known.get("codex").is_some());
        assert_eq!(known.all().errors().len(), 1, "{:?}", known.all().errors());
        std::fs::remove_file(agents.join("helper.toml")).unwrap();
        assert!(known.read_again() && known.get("helper").is_none());
    }
}
