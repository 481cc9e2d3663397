//! A long-running git that compares trees: starting one for each comparison would cost more than comparing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::bare::Oid;
use crate::git::Git;
use crate::store::Store;
use crate::{Error, Result};

/// Replaced after this many comparisons, to bound its memory.
const MOST: u32 = 1000;
const IDLE: Duration = Duration::from_secs(30);
const LIMIT: usize = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// One for each store that is in use.
#[derive(Debug, Default)]
pub(crate) struct Differs {
    all: Mutex<HashMap<PathBuf, Slot>>,
    tidied: tokio::sync::Mutex<()>,
}

type Slot = Arc<tokio::sync::Mutex<Option<Differ>>>;

#[derive(Debug)]
struct Differ {
    _child: Child,
    input: ChildStdin,
    output: ChildStdout,
    uses: u32,
    used: Instant,
}

impl Differs {
    /// Compares two trees, as `diff-tree -r -z -M --raw --numstat` does.
    pub(crate) async fn compare(&self, store: &Path, from: &Oid, to: &Oid) -> Result<Vec<u8>> {
        let slot = self.all.lock().entry(store.to_owned()).or_default().clone();
        let mut slot = slot.lock().await;
        // Taken out, so that an interrupted one is never used again.
        let mut differ = match slot.take().filter(|differ| differ.uses < MOST) {
            Some(differ) => differ,
            None => Differ::start(store)?,
        };
        let told = tokio::time::timeout(PATIENCE, differ.compare(from, to)).await;
        let told = told.map_err(|_| Error::TimedOut { what: "git diff-tree".into(), after: PATIENCE })??;
        *slot = Some(differ);
        Ok(told)
    }

    /// Repacks a store in the background, one at a time.
    pub(crate) fn tidy(self: &Arc<Self>, store: &Store) {
        let (all, store) = (self.clone(), store.clone());
        tokio::spawn(async move {
            let Ok(_alone) = all.tidied.try_lock() else { return };
            if let Err(error) = store.tidy().await {
                tracing::warn!(store = %store.0.display(), %error, "could not repack a store");
            }
        });
    }

    /// Drops those that were not used for a while.
    pub(crate) fn rest(&self) {
        self.all.lock().retain(|_, slot| match slot.try_lock() {
            Ok(slot) => slot.as_ref().is_some_and(|differ| differ.used.elapsed() < IDLE),
            Err(_) => true,
        });
    }
}

impl Differ {
    fn start(store: &Path) -> Result<Self> {
        let git = Git::new(store, "diff-tree").args(["--stdin", "-r", "-z", "-M", "--raw", "--numstat"]);
        let mut child = git.args(["--no-ext-diff", "--no-textconv"]).talk()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self { _child: child, input, output, uses: 0, used: Instant::now() }),
            _ => Err(broken("it has no pipes")),
        }
    }

    async fn compare(&mut self, from: &Oid, to: &Oid) -> Result<Vec<u8>> {
        (self.uses, self.used) = (self.uses + 1, Instant::now());
        // An echo that is not an id marks the end of the answer; no file can have this name.
        let end = format!("{}\n", domain::WorkspaceId::generate());
        let io = |error: std::io::Error| broken(&error.to_string());
        self.input.write_all(format!("{from} {to}\n{end}").as_bytes()).await.map_err(io)?;
        self.input.flush().await.map_err(io)?;
        let mut told = Vec::new();
        while !told.ends_with(end.as_bytes()) {
            if self.output.read_buf(&mut told).await.map_err(io)? == 0 {
                return Err(broken("it ended early"));
            }
            if told.len() > LIMIT {
                return Err(Error::TooMuch { what: "git diff-tree".into(), limit: LIMIT });
            }
        }
        told.truncate(told.len() - end.len());
        // The first line repeats the question.
        let head = format!("{from} {to}\n");
        told.strip_prefix(head.as_bytes()).map(<[u8]>::to_vec).ok_or_else(|| broken("it answered something else"))
    }
}

fn broken(why: &str) -> Error {
    Error::Git { what: "diff-tree", status: "broke off".into(), said: why.to_owned() }
}
