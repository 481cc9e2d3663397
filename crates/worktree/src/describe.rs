//! Describes the work in a workspace, uncommitted work included, against the commits where branches left their base.

use crate::Result;
use crate::bare::Oid;
use crate::facts::ChangeFacts;
use crate::space::Space;

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
        let mut work = Vec::new();
        for against in std::iter::once(&from.fork).chain(forks) {
            let first = work.is_empty();
            let older =
                *against != from.fork && self.store.is_ancestor(against, from.fork.as_str()).await? == Some(true);
            if first || older {
                let facts = self.store.facts(against, &self.tree, &mut self.parsed).await?;
                work.push(WorkFacts { against: against.clone(), facts });
            }
        }
        self.parsed.forget_unused();
        self.described = Some((from, work.clone()));
        Ok(Some(work))
    }
}
