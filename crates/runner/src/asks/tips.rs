//! Where the branches of a repository are, for those who wait for a push.

use protocol::Problem;
use protocol::link::Tips;

use super::Asks;
use crate::workspaces::problem;

/// How many branches are named at most.
const MOST: usize = 2_000;
/// Maximum length of a branch name; longer ones are left out.
const LONGEST: usize = 200;

impl Asks {
    /// Asks the repository.
    pub(super) async fn tips(&self, location: &str) -> Result<Tips, Problem> {
        let location = self.location(location)?;
        let (heads, default_branch) = self.workspaces.worktrees.tips(&location).await.map_err(problem)?;
        let short = heads.into_iter().filter(|(name, _)| name.len() <= LONGEST).take(MOST);
        let branches = short.map(|(name, commit)| (name, commit.to_string())).collect();
        Ok(Tips { branches, default_branch: default_branch.map(|name| name.to_string()) })
    }
}
