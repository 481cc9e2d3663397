//! A workspace that starts from the base plus accepted works, merged before anything is checked out.

use std::path::PathBuf;

use domain::WorkspaceId;

use crate::bare::Oid;
use crate::merge::Merged;
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

/// Accepted work to start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The name under which it is kept.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// Its commit.
    pub commit: Oid,
    /// The commit as which it landed: a base with that commit has the work already.
    pub landed: Option<Oid>,
    /// The file that another runner packed it into, for when it is not here.
    pub bundle: Option<PathBuf>,
}

impl Worktrees {
    /// The commit with the base and all works, in their order.
    pub(crate) async fn joined(
        &self,
        location: &Location,
        store: &Store,
        base: Option<Oid>,
        works: &[Work],
    ) -> Result<Option<Oid>> {
        let (mut all, mut last) = (base, "the base branch".to_owned());
        for work in works {
            if let (Some(landed), Some(all)) = (&work.landed, &all)
                && store.is_ancestor(landed, all.as_str()).await? == Some(true)
            {
                continue;
            }
            self.bring(location, store, work).await?;
            all = Some(match all {
                None => work.commit.clone(),
                Some(all) => self.join(store, all, &last, work).await?,
            });
            last = format!("\u{201c}{}\u{201d}", work.title);
        }
        Ok(all)
    }

    async fn join(&self, store: &Store, all: Oid, last: &str, work: &Work) -> Result<Oid> {
        if store.is_ancestor(&work.commit, all.as_str()).await? == Some(true) {
            return Ok(all);
        }
        if store.is_ancestor(&all, work.commit.as_str()).await? == Some(true) {
            return Ok(work.commit.clone());
        }
        match store.merge(&all, &work.commit).await? {
            Merged::Clean(tree) => {
                let author = self.options().author.as_ref();
                store.write_merge(&tree, &[&all, &work.commit], &work.title, author).await
            }
            Merged::Conflict(paths) => {
                let second = format!("\u{201c}{}\u{201d}", work.title);
                Err(Error::Conflict { first: last.to_owned(), second, paths })
            }
        }
    }

    /// Makes sure that a work's commit is in the store.
    async fn bring(&self, location: &Location, store: &Store, work: &Work) -> Result<()> {
        if store.has(&work.commit).await? {
            return Ok(());
        }
        let missing = |why: &str| Error::NoWork { name: work.title.clone(), why: why.to_owned() };
        let Some(file) = &work.bundle else { return Err(missing("its commit is not in the store")) };
        self.take_work(location, &work.name, file).await?;
        if store.has(&work.commit).await? { Ok(()) } else { Err(missing("its commit is not in the bundle")) }
    }

    /// A folder of its own for something unfinished; deleted at the next start if it is left behind.
    pub(crate) fn aside(&self) -> PathBuf {
        self.layout().making().join(WorkspaceId::generate().to_string())
    }
}
