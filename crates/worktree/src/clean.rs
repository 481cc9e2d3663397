//! Deletes a workspace; never one whose work would be lost.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};

use crate::create::blocking;
use crate::layout::{Home, sync};
use crate::options::Progress;
use crate::scan::Scope;
use crate::space::Space;
use crate::{Error, Result, Worktrees};

/// What would be lost with a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Reason {
    /// Files are not committed.
    Uncommitted {
        /// How many.
        files: u32,
    },
    /// Commits are on no remote branch.
    Unpushed {
        /// How many.
        commits: u32,
    },
    /// A file could not be saved.
    NotSaved {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// The agent's commits could not be imported, or its `.git` is unreadable.
    Unreadable {
        /// What is wrong.
        why: String,
    },
    /// A nested repository, whose commits are not saved.
    Nested {
        /// Where.
        path: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncommitted { files: 1 } => f.write_str("one file is not committed"),
            Self::Uncommitted { files } => write!(f, "{files} files are not committed"),
            Self::Unpushed { commits: 1 } => f.write_str("one commit is not pushed"),
            Self::Unpushed { commits } => write!(f, "{commits} commits are not pushed"),
            Self::NotSaved { path, why } => write!(f, "{path} could not be saved ({why})"),
            Self::Unreadable { why } => write!(f, "the agent's commits are unreadable ({why})"),
            Self::Nested { path } => write!(f, "{path} is a nested repository"),
        }
    }
}

impl Reason {
    /// Whether a save has it, so that it can be restored after the folder is gone.
    pub fn is_saved(&self) -> bool {
        matches!(self, Self::Uncommitted { .. } | Self::Unpushed { .. })
    }
}

pub(crate) fn in_words(reasons: &[Reason]) -> String {
    let mut words: Vec<String> = reasons.iter().take(5).map(Reason::to_string).collect();
    if reasons.len() > 5 {
        words.push(format!("and {} more", reasons.len() - 5));
    }
    words.join("; ")
}

/// What to do about work that is only saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfinished {
    /// Uncommitted or unpushed work keeps the workspace.
    Refuse,
    /// It may be deleted if all of it is in the saves, which stay.
    KeepSaved,
}

/// What became of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cleaned {
    /// It is deleted; its saves remain.
    Deleted,
    /// There was none.
    Absent,
}

impl Worktrees {
    /// What would be lost with a workspace's folder; asks the remote for its branches.
    pub async fn would_lose(&self, id: WorkspaceId) -> Result<Vec<Reason>> {
        let held = self.space(id);
        let mut held = held.lock().await;
        let space = self.found(id, &mut held).await?;
        self.losses(space).await
    }

    /// Deletes a workspace unless work would be lost; its saves stay. Run its teardown before.
    pub async fn clean(&self, id: WorkspaceId, unfinished: Unfinished) -> Result<Cleaned> {
        let held = self.space(id);
        let mut held = held.lock().await;
        let home = self.layout().home(id);
        if home.0.symlink_metadata().is_err() {
            *held = None;
            return Ok(Cleaned::Absent);
        }
        let space = self.found(id, &mut held).await?;
        let refuse = |reasons: Vec<Reason>| {
            let stay: Vec<Reason> =
                reasons.into_iter().filter(|r| unfinished == Unfinished::Refuse || !r.is_saved()).collect();
            if stay.is_empty() { Ok(()) } else { Err(Error::WouldLose { workspace: id, reasons: stay }) }
        };
        refuse(self.losses(space).await?)?;
        // Moved away in one step; the next start finishes after a kill.
        let grave = Home(self.layout().deleted().join(format!("{id}.{}", crate::layout::now().as_millis())));
        std::fs::rename(&home.0, &grave.0).map_err(Error::io("move away", &home.0))?;
        sync(&self.layout().workspaces());
        // A process that was still writing used the old path: check once more for new work.
        let before = space.saved.clone();
        space.home = grave.clone();
        let again = match space.save(self.options(), &Scope::All).await {
            Ok(_) if space.saved == before => Ok(()),
            Ok(_) => self.losses(space).await.and_then(refuse),
            Err(error) => Err(error),
        };
        if let Err(error) = again {
            std::fs::rename(&grave.0, &home.0).map_err(Error::io("move back", &home.0))?;
            *held = None;
            return Err(error);
        }
        *held = None;
        blocking(move || crate::beneath::delete(&grave.0)).await.map_err(Error::io("delete", &home.0))?;
        Ok(Cleaned::Deleted)
    }

    /// Deletes the saves of a deleted workspace. This is the only way to lose them.
    pub async fn forget(&self, id: WorkspaceId) -> Result<()> {
        if self.layout().home(id).0.exists() {
            let reasons = vec![Reason::Unreadable { why: "the workspace still exists; delete it first".into() }];
            return Err(Error::WouldLose { workspace: id, reasons });
        }
        let store = self.store_of(id).await?;
        store.git("update-ref").args(["-d"]).operands([crate::save::saved_ref(id)]).run().await.map(drop)
    }

    async fn losses(&self, space: &mut Space) -> Result<Vec<Reason>> {
        let saved = space.save(self.options(), &Scope::All).await?;
        let mut reasons: Vec<Reason> =
            saved.left_out.into_iter().map(|out| Reason::NotSaved { path: out.path, why: out.why }).collect();
        reasons.extend(saved.not_kept.map(|why| Reason::Unreadable { why }));
        let submodules = space.submodules().await?;
        let nested: BTreeSet<&PathBuf> = space.nested.iter().chain(&submodules).collect();
        let populated = nested.into_iter().filter(|path| space.home.tree().join(path).join(".git").exists());
        reasons.extend(populated.map(|path| Reason::Nested { path: path.to_string_lossy().into_owned() }));
        let Ok(refs) = space.refs.clone() else { return Ok(reasons) };
        if let Some(location) = &space.facts.location {
            let tips: Vec<_> = refs.tips().into_iter().collect();
            if !tips.is_empty() {
                // The agent's view of its remote does not count: only what we fetched ourselves does.
                let none = std::iter::empty();
                let mut commits = space.not_on_remote(&tips, none.clone()).await?;
                if commits > 0 && self.refresh(location, &Progress::none()).await.is_ok() {
                    commits = space.not_on_remote(&tips, none).await?;
                }
                if commits > 0 {
                    reasons.push(Reason::Unpushed { commits });
                }
            }
        }
        let files = space.uncommitted_files().await?;
        if files > 0 {
            reasons.push(Reason::Uncommitted { files });
        }
        Ok(reasons)
    }
}
