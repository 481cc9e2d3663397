//! Saving what is not committed: a chain of commits under a hidden ref, never on a branch, never in the agent's `.git`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::agent::{self, AgentRefs};
use crate::bare::{Oid, oid};
use crate::beneath::{Found, Root, read_all};
use crate::commit::{Commit, Mode};
use crate::create::blocking;
use crate::git::Git;
use crate::layout::{Home, now};
use crate::scan::Scope;
use crate::space::Space;
use crate::store::Store;
use crate::{Options, Result, Worktrees};

/// Commits of the agent that one save takes over; more wait for the next.
const MOST_PARENTS: usize = 12;

/// One save of a workspace's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Save {
    /// Names it for `restore`: the commit that holds it.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// How many files it changed since the save before it.
    pub files: u32,
    /// The commit that the agent had checked out.
    pub head: Option<String>,
    /// What could not be saved at that time.
    pub left_out: Vec<LeftOut>,
}

/// A file that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path, as far as it is text.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What a save came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The new save; absent when nothing had changed.
    pub new: Option<Save>,
    /// Everything that is not in the newest save.
    pub left_out: Vec<LeftOut>,
    /// Why the agent's own commits could not be taken over; its files were.
    pub not_kept: Option<String>,
}

/// The message of a save, for us to read again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) at: Timestamp,
    pub(crate) files: u32,
    pub(crate) head: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOut>,
}

/// The hidden ref of a workspace, in the store of its repository.
pub(crate) fn saved_ref(id: WorkspaceId) -> String {
    format!("refs/shopfloor/saved/{id}")
}

/// The newest save and its tree.
pub(crate) async fn newest(store: &Store, id: WorkspaceId) -> Result<Option<(Oid, Oid)>> {
    let git = store.git("for-each-ref").args(["--format=%(objectname) %(tree)"]).operands([saved_ref(id)]);
    let line = git.line().await?;
    let Some((commit, tree)) = line.split_once(' ') else { return Ok(None) };
    Ok(Some((oid(commit)?, oid(tree)?)))
}

/// Makes our index agree with a save, keeping the times of what did not change.
pub(crate) async fn follow(home: &Home, save: &Oid) -> Result<()> {
    Git::new(&home.control(), "read-tree").args(["-m"]).operands([save]).run().await.map(drop)
}

impl Worktrees {
    /// Saves everything that is not ignored; nothing new, no save. Also takes over the commits that the agent made.
    pub async fn save(&self, id: WorkspaceId) -> Result<Saved> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await
    }
}

impl Space {
    pub(crate) async fn save(&mut self, options: &Options, scope: &Scope) -> Result<Saved> {
        // Before anything else: a folder that is gone must not look like one whose files were all deleted.
        let root = Root::open(&self.home.tree())?;
        let head = self.head();
        let new_tips = self.new_tips().await?;
        let changed = self.changed(scope).await?;
        let ignore_rules = changed.iter().any(|path| path.file_name().is_some_and(|name| name == ".gitignore"));
        let ignored = if ignore_rules { self.now_ignored().await? } else { BTreeSet::new() };
        let committed = if self.head() == head { BTreeSet::new() } else { self.committed_but_not_saved().await? };
        if matches!(scope, Scope::All) {
            self.left_out.retain(|path, _| changed.contains(path));
        }
        let mut changes = Changes { space: self, options, left: options.largest_save, removed: vec![], put: vec![] };
        changes.removed.extend(ignored);
        for path in committed {
            if matches!(root.look(&path), Ok(Found::File { .. } | Found::Link(_))) {
                changes.sort_out(&root, path);
            }
        }
        for path in changed {
            changes.sort_out(&root, path);
        }
        let Changes { removed, put, .. } = changes;
        let new = if removed.is_empty() && put.is_empty() && new_tips.is_empty() {
            None
        } else {
            Some(self.write(options, root, removed, put, new_tips).await?)
        };
        let left_out = self.left_out.values().cloned().collect();
        Ok(Saved { new, left_out, not_kept: self.not_kept.clone() })
    }

    /// Reads the agent's refs; commits that the chain does not hold yet are imported.
    async fn new_tips(&mut self) -> Result<Vec<Oid>> {
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
                None => self.not_kept = Some(format!("{tip} is no commit and was not taken over")),
            }
        }
        new.truncate(MOST_PARENTS);
        Ok(new)
    }

    /// Imports together, or one by one when that fails, so that a broken branch does not keep the others out.
    async fn import(&mut self, missing: Vec<Oid>) -> Vec<Oid> {
        let near: Option<Oid> = self.facts.base_commit.as_deref().and_then(|base| base.parse().ok());
        if missing.is_empty() || agent::import(&self.store, &self.home, &missing, near.as_ref()).await.is_ok() {
            return missing;
        }
        let mut imported = Vec::new();
        for tip in missing.into_iter().take(MOST_PARENTS) {
            match agent::import(&self.store, &self.home, std::slice::from_ref(&tip), near.as_ref()).await {
                Ok(()) => imported.push(tip),
                // Files are saved all the same; people are told.
                Err(error) => self.not_kept = Some(format!("commits of the agent were not taken over: {error}")),
            }
        }
        imported
    }

    pub(crate) fn head(&self) -> Option<Oid> {
        self.refs.as_ref().ok().and_then(|refs| refs.head.clone())
    }

    async fn write(
        &mut self,
        options: &Options,
        root: Root,
        removed: Vec<PathBuf>,
        put: Vec<PathBuf>,
        tips: Vec<Oid>,
    ) -> Result<Save> {
        let mut parents = vec![self.saved.clone()];
        parents.extend(tips.iter().cloned());
        let note = Note {
            at: now(),
            files: u32::try_from(removed.len() + put.len()).unwrap_or(u32::MAX),
            head: self.refs.as_ref().ok().and_then(|refs| refs.head.as_ref()).map(Oid::to_string),
            left_out: self.left_out.values().take(1000).cloned().collect(),
        };
        let json = serde_json::to_string(&note).unwrap_or_default();
        let commit = Commit::start(&self.store, &saved_ref(self.facts.id), &parents, &json).await?;
        for path in &removed {
            commit.remove(path).await;
        }
        let root = std::sync::Arc::new(root);
        for path in put {
            match content(root.clone(), path.clone(), options.largest_file).await {
                Content::File(mode, bytes) => commit.put(&path, mode, bytes).await,
                Content::Gone => commit.remove(&path).await,
                Content::Not(why) => self.leave_out(&path, why),
            }
        }
        let written = commit.finish().await?;
        self.saved = written.commit.clone();
        self.tree = written.tree;
        self.saved_at = Some(note.at);
        self.kept.extend(tips);
        self.blurred = true;
        follow(&self.home, &written.commit).await?;
        Ok(Save {
            id: written.commit.to_string(),
            at: note.at,
            files: note.files,
            head: note.head,
            left_out: note.left_out,
        })
    }

    pub(crate) fn leave_out(&mut self, path: &Path, why: String) {
        let shown = path.to_string_lossy().into_owned();
        self.left_out.insert(path.to_owned(), LeftOut { path: shown, why });
    }
}

/// The changes of one save, told apart.
struct Changes<'s> {
    space: &'s mut Space,
    options: &'s Options,
    left: u64,
    removed: Vec<PathBuf>,
    put: Vec<PathBuf>,
}

impl Changes<'_> {
    fn sort_out(&mut self, root: &Root, path: PathBuf) {
        let largest = self.options.largest_file;
        if !acceptable(&path) {
            return self.space.leave_out(&path, "its name is one that git keeps for itself".into());
        }
        match root.look(&path) {
            Ok(Found::File { size, .. }) if size > largest => {
                let why = format!("it has {size} bytes, more than the {largest} that are saved");
                self.space.leave_out(&path, why);
            }
            Ok(Found::File { size, .. }) if size > self.left => {
                let why = format!("it would make this save larger than {} bytes", self.options.largest_save);
                self.space.leave_out(&path, why);
            }
            Ok(Found::File { size, .. }) => {
                self.left -= size;
                self.space.left_out.remove(&path);
                self.put.push(path);
            }
            Ok(Found::Link(_)) => {
                self.space.left_out.remove(&path);
                self.put.push(path);
            }
            Ok(Found::Nothing) => {
                self.space.left_out.remove(&path);
                self.removed.push(path);
            }
            // A submodule, or a folder where a file was.
            Ok(Found::Folder) => match root.look(&path.join(".git")) {
                Ok(Found::Nothing) => self.removed.push(path),
                _ => drop(self.space.nested.insert(path)),
            },
            Ok(Found::Special) => self.space.leave_out(&path, "it is neither a file nor a link".into()),
            Err(error) => self.space.leave_out(&path, error.to_string()),
        }
    }
}

/// git would refuse such paths in a tree; none of ours may bring one in.
fn acceptable(path: &Path) -> bool {
    let parts: Vec<_> = path.components().collect();
    !parts.is_empty()
        && parts.iter().all(|part| match part {
            std::path::Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        })
}

enum Content {
    File(Mode, Vec<u8>),
    Gone,
    Not(String),
}

async fn content(root: std::sync::Arc<Root>, path: PathBuf, limit: u64) -> Content {
    blocking(move || match root.look(&path) {
        Ok(Found::File { file, executable, .. }) => match read_all(file, limit) {
            Ok(Some(bytes)) => Content::File(if executable { Mode::Executable } else { Mode::Plain }, bytes),
            Ok(None) => Content::Not(format!("it has more than the {limit} bytes that are saved")),
            Err(error) => Content::Not(error.to_string()),
        },
        Ok(Found::Link(target)) => Content::File(Mode::Link, target),
        Ok(Found::Nothing) => Content::Gone,
        Ok(_) => Content::Not("it is neither a file nor a link".into()),
        Err(error) => Content::Not(error.to_string()),
    })
    .await
}
