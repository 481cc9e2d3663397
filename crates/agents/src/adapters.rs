//! All adapters of this machine: built-in ones, and those that people added.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::error::AdapterError;
use crate::price::Prices;

const BUILT_IN: &[(&str, &str)] = &[
    ("claude", include_str!("builtin/claude.toml")),
    ("codex", include_str!("builtin/codex.toml")),
    ("command", include_str!("builtin/command.toml")),
    ("gemini", include_str!("builtin/gemini.toml")),
    ("opencode", include_str!("builtin/opencode.toml")),
    ("shell", include_str!("builtin/shell.toml")),
];

/// The adapters by name; a person's own adapter replaces a built-in one of the same name.
#[derive(Debug, Clone)]
pub struct Adapters {
    by_name: BTreeMap<String, Arc<Adapter>>,
    prices: Prices,
    errors: Vec<AdapterError>,
}

impl Adapters {
    /// The built-in ones and those in `<config_dir>/agents/*.toml`, with token prices. Invalid files are skipped and
    /// listed by [`Adapters::errors`], so that one does not affect the others.
    pub fn load(config_dir: &Path) -> Self {
        let mut adapters = Self::built_in();
        for file in files(&config_dir.join("agents")) {
            match read(&file) {
                Ok(adapter) => adapters.add(adapter),
                Err(error) => adapters.errors.push(error),
            }
        }
        match Prices::load(config_dir) {
            Ok(prices) => adapters.prices = prices,
            Err(error) => adapters.errors.push(error),
        }
        adapters
    }

    /// Only the built-in ones.
    pub fn built_in() -> Self {
        let mut adapters = Self { by_name: BTreeMap::new(), prices: Prices::default(), errors: Vec::new() };
        for (name, text) in BUILT_IN {
            let file = PathBuf::from(format!("{name}.toml"));
            match Adapter::parse(&file, text) {
                Ok(adapter) => adapters.add(adapter),
                Err(error) => adapters.errors.push(error),
            }
        }
        adapters
    }

    /// The adapter of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<Adapter>> {
        self.by_name.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Adapter>> {
        self.by_name.values()
    }

    /// The token prices.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// The skipped files, and why.
    pub fn errors(&self) -> &[AdapterError] {
        &self.errors
    }

    /// Whether everything is equal, including errors.
    pub fn is_like(&self, other: &Self) -> bool {
        let texts = |all: &Self| all.iter().map(|adapter| adapter.source.clone()).collect::<Vec<_>>();
        texts(self) == texts(other) && self.prices == other.prices && self.errors == other.errors
    }

    fn add(&mut self, adapter: Adapter) {
        self.by_name.insert(adapter.name.to_string(), Arc::new(adapter));
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

fn read(file: &Path) -> Result<Adapter, AdapterError> {
    let text = std::fs::read_to_string(file).map_err(|error| AdapterError::unreadable(file, &error))?;
    Adapter::parse(file, &text)
}
