//! A workspace's cached state. All of it can be found out again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use domain::{Timestamp, WorkspaceId};

use crate::agent::AgentRefs;
use crate::bare::Oid;
use crate::changes::Print;
use crate::describe::{self, WorkFacts};
use crate::differ::Differs;
use crate::layout::{Facts, Home};
use crate::parsed::Parsed;
use crate::save::LeftOut;
use crate::stats::GitStats;
use crate::store::Store;
use crate::{Error, Result, Worktrees};

/// One workspace, used by one task at a time.
#[derive(Debug)]
pub(crate) struct Space {
    pub(crate) home: Home,
    pub(crate) facts: Facts,
    pub(crate) store: Store,
    /// The newest save and its tree.
    pub(crate) saved: Oid,
    pub(crate) tree: Oid,
    pub(crate) saved_at: Option<Timestamp>,
    /// The agent's refs as last read, or why they were unreadable.
    pub(crate) refs: Result<AgentRefs, String>,
    /// Commits that are known to be in the chain of saves.
    pub(crate) kept: BTreeSet<Oid>,
    /// Why commits could not be imported.
    pub(crate) not_kept: Option<String>,
    /// Files that could not be saved.
    pub(crate) left_out: BTreeMap<PathBuf, LeftOut>,
    /// What the newest save lists as left out.
    pub(crate) noted: BTreeSet<String>,
    /// The save that was just restored, for the next one to note.
    pub(crate) restored: Option<String>,
    /// Unreadable folders.
    pub(crate) closed: BTreeSet<PathBuf>,
    /// Nested repositories.
    pub(crate) nested: BTreeSet<PathBuf>,
    /// Whether the index has entries with unknown times.
    pub(crate) blurred: bool,
    /// What was saved since the index last agreed with the newest save.
    pub(crate) since: HashMap<PathBuf, Print>,
    /// Whether a save was started and its end was not seen.
    pub(crate) in_doubt: bool,
    pub(crate) differs: Arc<Differs>,
    /// The tree of the last compared commit.
    pub(crate) tree_of: Option<(Oid, Oid)>,
    pub(crate) counted: Option<(Counted, GitStats)>,
    /// The newest description of the work, and what it was made from.
    pub(crate) described: Option<(describe::From, Vec<WorkFacts>)>,
    /// The symbols of the files in it.
    pub(crate) parsed: Parsed,
}

/// The inputs of the counts; with the same inputs, they are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) tree: Oid,
    pub(crate) base: Option<Oid>,
    pub(crate) refs: Result<AgentRefs, String>,
    pub(crate) left_out: usize,
}

impl Worktrees {
    /// The workspace, read from the disk if it is not in memory.
    pub(crate) async fn found<'s>(&self, id: WorkspaceId, space: &'s mut Option<Space>) -> Result<&'s mut Space> {
        let home = self.layout().home(id);
        if !home.0.is_dir() {
            *space = None;
        }
        if space.is_none() {
            let facts = home.facts().ok_or(Error::NoWorkspace(id))?;
            *space = Some(self.read_space(home, facts).await?);
        }
        space.as_mut().ok_or(Error::NoWorkspace(id))
    }

    pub(crate) async fn read_space(&self, home: Home, facts: Facts) -> Result<Space> {
        let store = Store(self.layout().store(facts.location.as_ref()));
        let (saved, tree) = crate::save::newest(&store, facts.id).await?.ok_or_else(|| Error::Tampered {
            path: store.0.clone(),
            why: format!("it has no save of workspace {}", facts.id),
        })?;
        let last = crate::saves::list(&store, facts.id, 1).await?.pop();
        let saved_at = last.as_ref().map(|save| save.at);
        // A kill between a save and the index update leaves the index behind.
        for lock in ["index.lock", "HEAD.lock"] {
            let _ = std::fs::remove_file(home.control().join(lock));
        }
        crate::save::follow(&home, &saved).await?;
        Ok(Space {
            home,
            facts,
            store,
            saved,
            tree,
            saved_at,
            refs: Ok(AgentRefs::default()),
            kept: BTreeSet::new(),
            not_kept: None,
            left_out: BTreeMap::new(),
            noted: last.map(|save| save.noted()).unwrap_or_default(),
            restored: None,
            closed: BTreeSet::new(),
            nested: BTreeSet::new(),
            blurred: true,
            since: HashMap::new(),
            in_doubt: false,
            differs: self.differs().clone(),
            tree_of: None,
            counted: None,
            described: None,
            parsed: Parsed::default(),
        })
    }
}
