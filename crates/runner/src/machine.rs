//! The machine that a runner is on: its owner's settings and environment, and the agents that are known there.

use std::collections::BTreeMap;
use std::sync::Arc;

use agents::Secrets;

use crate::Options;
use crate::adapters::Known;
use crate::folders::Folders;

/// What is the same for everything that runs on this machine.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) options: Arc<Options>,
    pub(crate) folders: Folders,
    pub(crate) adapters: Known,
    /// The environment of the person who started the runner; agents get the allowed part of it.
    pub(crate) person: BTreeMap<String, String>,
}

impl Machine {
    /// The machine as its owner has set it up.
    pub(crate) fn new(options: Arc<Options>, person: BTreeMap<String, String>) -> Self {
        let (folders, adapters) = (Folders::new(&options.data_dir), Known::read(&options.config_dir));
        Self { options, folders, adapters, person }
    }

    /// Where a repository is, on this machine: `~` is the home of whoever runs the runner.
    pub(crate) fn location(&self, location: &str) -> String {
        match (location.strip_prefix("~/"), self.person.get("HOME")) {
            (Some(below), Some(home)) => format!("{}/{below}", home.trim_end_matches('/')),
            _ => location.to_owned(),
        }
    }

    /// The secrets that whoever runs the runner has: they are in nothing that leaves it.
    pub(crate) fn secrets(&self) -> Secrets {
        Secrets::of(self.person.iter().map(|(name, value)| (name.clone(), value.clone())))
    }
}
