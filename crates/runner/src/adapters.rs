//! The adapters that a runner knows: reread regularly, so that a new one needs no restart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agents::{Adapter, AdapterError, Adapters};
use parking_lot::RwLock;

/// The adapters as last read.
#[derive(Debug)]
pub(crate) struct Known {
    config_dir: PathBuf,
    now: RwLock<Arc<Adapters>>,
}

impl Known {
    /// The built-in ones, and those in the settings folder.
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

    /// Rereads them; whether anything changed. Running sessions keep their adapter.
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

/// Logs errors in files, once each.
fn warn(errors: &[AdapterError], told: &[AdapterError]) {
    for error in errors.iter().filter(|error| !told.contains(error)) {
        tracing::warn!("ignored an agent's file: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_adapters_are_read_and_a_broken_file_changes_nothing() {
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
        assert!(known.read_again() && !known.read_again(), "an error is reported once");
        assert!(known.get("helper").is_some() && known.get("codex").is_some());
        assert_eq!(known.all().errors().len(), 1, "{:?}", known.all().errors());
        std::fs::remove_file(agents.join("helper.toml")).unwrap();
        assert!(known.read_again() && known.get("helper").is_none());
    }
}
