//! A clean checkout of one commit, with ignored files by patterns, to run checks in; it is deleted when it is dropped, or at the next start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::WorkspaceId;

use crate::bare::Oid;
use crate::create::{Beginning, build};
use crate::layout::{Facts, Home, now};
use crate::store::Store;
use crate::{Location, Result, Worktrees};

/// A process that is being killed may write for a moment.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(250);

/// A folder with the files of one commit, and a `.git` of its own.
#[derive(Debug)]
pub struct Checkout {
    home: Home,
    tree: PathBuf,
    borrows: PathBuf,
}

impl Checkout {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.tree
    }

    /// The folder of objects that it borrows from.
    pub fn borrows(&self) -> &Path {
        &self.borrows
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let folder = std::mem::take(&mut self.home.0);
        std::thread::spawn(move || {
            for _ in 0..TRIES {
                match crate::beneath::delete(&folder) {
                    Ok(()) => return,
                    Err(error) => tracing::debug!(path = %folder.display(), %error, "could not delete a checkout yet"),
                }
                std::thread::sleep(BETWEEN);
            }
        });
    }
}

impl Worktrees {
    /// Checks out a commit of the store into a new folder, with nothing else in it but what `copy` brings from the
    /// repository's own folder, if it is on this machine.
    pub async fn checkout_clean(&self, location: &Location, commit: &Oid, copy: &[String]) -> Result<Checkout> {
        let store = Store(self.layout().store(Some(location)));
        store.tree_of(commit).await?;
        let id = WorkspaceId::generate();
        let home = Home(self.layout().checkouts().join(id.to_string()));
        let checkout = Checkout { tree: home.tree(), borrows: store.objects(), home };
        let facts = Facts {
            id,
            location: Some(location.clone()),
            base: None,
            base_commit: Some(commit.to_string()),
            branch: Some("check".parse()?),
            created_at: now(),
        };
        let begin = Beginning { head: Some(commit.clone()), files: Some(commit.clone()), ..Beginning::default() };
        build(&checkout.home, &store, &facts, self.options().author.as_ref(), &begin).await?;
        let copied = self.copy_from(location.path(), copy, &checkout.home).await?;
        for (path, why) in &copied.left_out {
            tracing::warn!(path = %path.display(), why, "a file was not copied into a checkout");
        }
        Ok(checkout)
    }
}
