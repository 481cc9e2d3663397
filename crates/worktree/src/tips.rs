//! The agent's own commits: found by reading its refs, and imported into the chain of saves.

use crate::Result;
use crate::agent::{self, AgentRefs};
use crate::bare::Oid;
use crate::create::blocking;
use crate::space::Space;

/// How many commits of the agent one save imports; more wait for the next.
const MOST_PARENTS: usize = 12;

impl Space {
    /// Reads the agent's refs, and imports commits that the chain does not have yet.
    pub(crate) async fn new_tips(&mut self) -> Result<Vec<Oid>> {
        if self.facts.location.is_none() {
            self.refs = Ok(AgentRefs::default());
            return Ok(vec![]);
        }
        let tree = self.home.tree();
        self.refs = blocking(move || AgentRefs::read(&tree)).await.map_err(|error| error.to_string());
        let Ok(refs) = &self.refs else {
            self.not_kept = self.refs.as_ref().err().cloned();
            return Ok(vec![]);
        };
        let unknown: Vec<Oid> = refs.tips().into_iter().filter(|tip| !self.kept.contains(tip)).collect();
        self.not_kept = None;
        let (mut new, mut missing) = (Vec::new(), Vec::new());
        for tip in unknown {
            match self.store.is_ancestor(&tip, self.saved.as_str()).await? {
                Some(true) => drop(self.kept.insert(tip)),
                Some(false) => new.push(tip),
                None => missing.push(tip),
            }
        }
        for tip in self.import(missing).await {
            match self.store.is_ancestor(&tip, self.saved.as_str()).await? {
                Some(_) => new.push(tip),
                // Something that is not a commit.
                None => self.not_kept = Some(format!("{tip} is not a commit and was not saved")),
            }
        }
        new.truncate(MOST_PARENTS);
        Ok(new)
    }

    /// Imports all at once, or one by one if that fails, so that a broken branch does not affect the others.
    async fn import(&mut self, missing: Vec<Oid>) -> Vec<Oid> {
        let near: Option<Oid> = self.facts.base_commit.as_deref().and_then(|base| base.parse().ok());
        if missing.is_empty() || agent::import(&self.store, &self.home, &missing, near.as_ref()).await.is_ok() {
            return missing;
        }
        let mut imported = Vec::new();
        for tip in missing.into_iter().take(MOST_PARENTS) {
            match agent::import(&self.store, &self.home, std::slice::from_ref(&tip), near.as_ref()).await {
                Ok(()) => imported.push(tip),
                // Files are saved anyway; people see the problem.
                Err(error) => self.not_kept = Some(format!("could not save the agent's commits: {error}")),
            }
        }
        imported
    }

    pub(crate) fn head(&self) -> Option<Oid> {
        self.refs.as_ref().ok().and_then(|refs| refs.head.clone())
    }
}
