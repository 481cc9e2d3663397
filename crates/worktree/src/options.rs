//! What a runner's owner allows, and limits.

use std::sync::Arc;
use std::time::Duration;

use crate::CredentialHelper;

/// What the owner of a runner allows, and the limits that hold for all workspaces.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether git may log in over ssh as the owner does: with their settings, keys and agent.
    pub ssh: bool,
    /// The programs that know the owner's passwords for https; git asks them in this order.
    pub helpers: Vec<CredentialHelper>,
    /// Whether repositories may be on hosts of a private network.
    pub private_hosts: bool,
    /// The author of commits in workspaces, if git finds no other.
    pub author: Option<Author>,
    /// Larger files are not saved, but listed.
    pub largest_file: u64,
    /// Maximum size of one save; the rest is left out and listed.
    pub largest_save: u64,
    /// How long cloning or fetching may take.
    pub fetch_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ssh: false,
            helpers: Vec::new(),
            private_hosts: false,
            author: None,
            largest_file: 50 << 20,
            largest_save: 1 << 30,
            fetch_timeout: Duration::from_secs(1800),
        }
    }
}

/// A person as commits name them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Their name.
    pub name: String,
    /// Their address.
    pub email: String,
}

/// The progress of a long operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The current step, for people.
    pub what: String,
    /// Its percentage, if known.
    pub percent: Option<u8>,
}

/// Receives the progress of a long operation.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<dyn Fn(Step) + Send + Sync>>);

impl Progress {
    /// Tells `listener`.
    pub fn new(listener: impl Fn(Step) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Tells nobody.
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn tell(&self, what: &str, percent: Option<u8>) {
        if let Some(listener) = &self.0 {
            listener(Step { what: what.to_owned(), percent });
        }
    }

    /// Understands lines such as `Receiving objects:  45% (9/20)`.
    pub(crate) fn line(&self, line: &str) {
        let line = line.trim().trim_start_matches("remote: ");
        if let Some((what, rest)) = line.split_once(':')
            && let Some((number, _)) = rest.split_once('%')
            && let Ok(percent) = number.trim().parse()
        {
            self.tell(what, Some(percent));
        }
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(listener)" } else { "Progress(none)" })
    }
}
