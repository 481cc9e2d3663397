//! Makes a branch appear at a repository's location.

use crate::bare::Oid;
use crate::names::BranchName;
use crate::push::{Checkout, Push, Pushed};
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

/// A branch at its repository's location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It is new.
    Created,
    /// It moved from what was published before.
    Moved,
    /// It was there already.
    Already,
}

impl Worktrees {
    /// Puts a branch with a commit of the store at a location, without touching what is checked out there.
    ///
    /// An existing branch moves only if it is at `expect`, what was published before; it may then move in any direction.
    pub async fn publish(
        &self,
        location: &Location,
        branch: &BranchName,
        commit: &Oid,
        expect: Option<&Oid>,
    ) -> Result<Published> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        store.tree_of(commit).await?;
        let heads = store.remote_heads(location, self.options(), None).await?;
        let tip = heads.iter().find(|(name, _)| name == branch.as_str()).map(|(_, tip)| tip);
        if tip == Some(commit) {
            return Ok(Published::Already);
        }
        if let Some(tip) = tip.filter(|tip| Some(*tip) != expect) {
            return Err(theirs(location, branch, tip));
        }
        let clash = |name: &&str| domain::branch::clash(name, branch.as_str());
        if let Some(there) = heads.iter().map(|(name, _)| name.as_str()).filter(|_| tip.is_none()).find(clash) {
            let (location, branch) = (location.to_string(), branch.to_string());
            return Err(Error::BranchTaken { location, branch, there: there.to_owned() });
        }
        let push = Push { branch, commit, expect: tip, checkout: Checkout::Refuse };
        match store.push(location, self.options(), push).await? {
            Pushed::Done if tip.is_some() => Ok(Published::Moved),
            Pushed::Done => Ok(Published::Created),
            Pushed::InUse | Pushed::Dirty => {
                Err(Error::InUse { location: location.to_string(), branch: branch.to_string() })
            }
            Pushed::Declined(why) => {
                Err(Error::Declined { location: location.to_string(), branch: branch.to_string(), why })
            }
            Pushed::Stale => match self.fetch_tip(location, branch).await? {
                Some(tip) if tip == *commit => Ok(Published::Already),
                Some(tip) => Err(theirs(location, branch, &tip)),
                None => {
                    let why = "the branch was deleted meanwhile".to_owned();
                    Err(Error::Declined { location: location.to_string(), branch: branch.to_string(), why })
                }
            },
        }
    }

    /// Where all branches are now, asked at their location, and the default branch.
    pub async fn tips(&self, location: &Location) -> Result<(Vec<(String, Oid)>, Option<BranchName>)> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        let heads = store.remote_heads(location, self.options(), None).await?;
        Ok((heads, self.default_branch(location).await?))
    }

    /// Where a branch is now, asked at its location.
    pub async fn fetch_tip(&self, location: &Location, branch: &BranchName) -> Result<Option<Oid>> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        let heads = store.remote_heads(location, self.options(), Some(branch)).await?;
        Ok(heads.into_iter().next().map(|(_, tip)| tip))
    }
}

fn theirs(location: &Location, branch: &BranchName, tip: &Oid) -> Error {
    Error::Theirs { location: location.to_string(), branch: branch.to_string(), tip: tip.to_string() }
}
