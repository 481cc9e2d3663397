//! Commits for an agent that could not: the commit is created in the store, and the agent's `.git` only gets the ref
//! and a matching index. git never runs there.

use std::path::Path;

use domain::WorkspaceId;

use crate::bare::{Oid, oid};
use crate::beneath::Root;
use crate::create::blocking;
use crate::names::BranchName;
use crate::process::Input;
use crate::scan::Scope;
use crate::space::Space;
use crate::{Error, Result, Worktrees};

/// Maximum length of a message.
const MESSAGE: usize = 16 << 10;

impl Worktrees {
    /// Commits everything that is not ignored on the checked-out branch; `None` if there is no branch, nothing to
    /// commit, something unreadable, or the agent's own git is running.
    pub async fn commit(&self, id: WorkspaceId, message: &str) -> Result<Option<String>> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        space.commit(message).await
    }
}

impl Space {
    async fn commit(&mut self, message: &str) -> Result<Option<String>> {
        let Ok(refs) = &self.refs else { return Ok(None) };
        let (Some(branch), Some(head)) = (refs.branch.clone(), refs.head.clone()) else { return Ok(None) };
        // A foreign branch name would be a path in the agent's folder.
        let Ok(branch) = branch.parse::<BranchName>() else { return Ok(None) };
        if self.not_kept.is_some() || !self.left_out.is_empty() {
            return Ok(None);
        }
        let tree = self.store.git("rev-parse").args(["--verify"]).operands([format!("{head}^{{tree}}")]);
        if tree.line().await? == self.tree.as_str() {
            return Ok(None);
        }
        let commit = self.make(&head, message).await?;
        self.catch_up().await?;
        let (home, name) = (self.home.clone(), format!("refs/heads/{branch}"));
        let text = format!("{commit}\n");
        let written =
            blocking(move || take(&home.tree(), &home.control().join("index"), Path::new(&name), &text)).await;
        Ok(written?.then(|| commit.to_string()))
    }

    /// Writes the commit into the store, from which the agent's clone borrows.
    async fn make(&self, head: &Oid, message: &str) -> Result<Oid> {
        let message: String = message.chars().filter(|c| !c.is_control() || *c == '\n').take(MESSAGE).collect();
        let git = self.store.git("commit-tree").args(["-p", head.as_str(), "-F", "-"]);
        oid(&git.input(Input::Bytes(message.into_bytes())).operands([self.tree.as_str()]).line().await?)
    }
}

/// Makes a commit the agent's own: its index first, so that an interruption looks like staged work. `false`: the
/// agent's git is running.
fn take(tree: &Path, index: &Path, name: &Path, text: &str) -> Result<bool> {
    let at = tree.join(".git");
    let io = |what: &'static str| Error::io(what, &at);
    let git = Root::open(tree)?.folder(Path::new(".git")).map_err(io("open"))?;
    for lock in ["index.lock", "HEAD.lock"] {
        if !matches!(git.look(Path::new(lock)).map_err(io("look into"))?, crate::beneath::Found::Nothing) {
            return Ok(false);
        }
    }
    let bytes = std::fs::read(index).map_err(Error::io("read", index))?;
    // An index that looks newer than it is would hide changes in the second of the original.
    let written = std::fs::metadata(index).and_then(|found| found.modified()).map_err(Error::io("look at", index))?;
    git.put(Path::new("index"), &bytes, Some(written)).map_err(io("write into"))?;
    git.put(name, text.as_bytes(), None).map_err(io("write into"))?;
    Ok(true)
}
