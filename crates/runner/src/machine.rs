//! The runner's machine: its owner's settings and environment, and the known agents.

use std::collections::BTreeMap;
use std::sync::Arc;

use agents::Secrets;

use crate::Options;
use crate::adapters::Known;
use crate::folders::Folders;

/// The settings that all sessions and checks on this machine share.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) options: Arc<Options>,
    pub(crate) folders: Folders,
    pub(crate) adapters: Known,
    /// The environment of the person who started the runner; agents get the allowed part of it.
    pub(crate) person: BTreeMap<String, String>,
}

impl Machine {
    /// The machine with its owner's options and environment.
    pub(crate) fn new(options: Arc<Options>, person: BTreeMap<String, String>) -> Self {
        let (folders, adapters) = (Folders::new(&options.data_dir), Known::read(&options.config_dir));
        Self { options, folders, adapters, person }
    }

    /// A repository's location on this machine: `~` is the home of the user who runs the runner.
    pub(crate) fn location(&self, location: &str) -> String {
        match (location.strip_prefix("~/"), self.person.get("HOME")) {
            (Some(below), Some(home)) => format!("{}/{below}", home.trim_end_matches('/')),
            _ => location.to_owned(),
        }
    }

    /// The secrets of the user who runs the runner: masked in everything that leaves it.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::of(self.person.iter().map(|(name, value)| (name.clone(), value.clone())))
    }
}
