//! Describes the work in a workspace, uncommitted work included, against the commits where branches left their base.

use domain::WorkspaceId;

use crate::bare::{Oid, oid};
use crate::examine::Examined;
use crate::facts::ChangeFacts;
use crate::git::EMPTY_TREE;
use crate::parsed::Parsed;
use crate::space::Space;
use crate::store::Store;
use crate::{Result, Worktrees};

/// The work in a workspace against one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFacts {
    /// The commit.
    pub against: Oid,
    /// The changes.
    pub facts: ChangeFacts,
}

/// What a description was made from; with the same inputs, it is valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct From {
    tree: Oid,
    fork: Oid,
    forks: Vec<Oid>,
}

impl Worktrees {
    /// Describes work that was examined: first against its base, then against those of `forks` that are older.
    pub async fn describe(&self, id: WorkspaceId, work: &Examined, forks: &[Oid]) -> Result<Vec<WorkFacts>> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let Space { store, parsed, .. } = self.found(id, &mut space).await?;
        let tree = oid(&work.tree)?;
        match &work.base {
            Some(base) => store.described(&oid(base)?, &tree, forks, parsed).await,
            // The first commits of a repository: there is no older one.
            None => store.described(&oid(EMPTY_TREE)?, &tree, &[], parsed).await,
        }
    }
}

impl Store {
    /// A tree's changes against a commit, and against those of `forks` that are older.
    async fn described(&self, fork: &Oid, tree: &Oid, forks: &[Oid], parsed: &mut Parsed) -> Result<Vec<WorkFacts>> {
        let mut work = vec![WorkFacts { against: fork.clone(), facts: self.facts(fork, tree, parsed).await? }];
        for against in forks.iter().filter(|against| *against != fork) {
            if self.is_ancestor(against, fork.as_str()).await? == Some(true) {
                work.push(WorkFacts { against: against.clone(), facts: self.facts(against, tree, parsed).await? });
            }
        }
        parsed.forget_unused();
        Ok(work)
    }
}

impl Space {
    /// The newest save's work: first against the commit where its branch left the base, then against those of `forks`
    /// that are older. `None` if that commit is unknown, as without a repository.
    pub(crate) async fn describe(&mut self, base: Option<&Oid>, forks: &[Oid]) -> Result<Option<Vec<WorkFacts>>> {
        let head = self.refs.as_ref().ok().and_then(|refs| refs.head.clone());
        // A commit that was not imported cannot be compared with.
        let (Some(base), Some(head), None) = (base, head, &self.not_kept) else { return Ok(None) };
        let Some(fork) = self.merge_base(Some(base), Some(&head)).await? else { return Ok(None) };
        let from = From { tree: self.tree.clone(), fork, forks: forks.to_vec() };
        if let Some((known, work)) = &self.described
            && *known == from
        {
            return Ok(Some(work.clone()));
        }
        let work = self.store.described(&from.fork, &self.tree, forks, &mut self.parsed).await?;
        self.described = Some((from, work.clone()));
        Ok(Some(work))
    }
}
