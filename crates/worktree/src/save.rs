//! Saves uncommitted work: a chain of commits under a hidden ref, never on a branch, never in the agent's `.git`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::bare::{Oid, oid};
use crate::beneath::{Found, Root};
use crate::changes::{Changes, Content};
use crate::commit::Commit;
use crate::git::Git;
use crate::layout::{Home, now};
use crate::scan::Scope;
use crate::space::Space;
use crate::store::Store;
use crate::{Options, Result, Worktrees};

/// How much to read before deciding whether there is something to write.
const AT_ONCE: u64 = 16 << 20;
/// How many left-out files a save names.
const MOST_LEFT_OUT: usize = 1000;

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
    /// The save that was restored, if this one has its files.
    pub restored: Option<String>,
}

impl Save {
    /// The paths that it lists as left out.
    pub(crate) fn noted(&self) -> BTreeSet<String> {
        self.left_out.iter().map(|out| out.path.clone()).collect()
    }
}

/// A file that could not be saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path, as far as it is text.
    pub path: String,
    /// Why.
    pub why: String,
}

/// The result of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The new save; absent if nothing had changed.
    pub new: Option<Save>,
    /// Everything that is not in the newest save.
    pub left_out: Vec<LeftOut>,
    /// Why the agent's own commits could not be imported; its files were saved.
    pub not_kept: Option<String>,
}

/// The message of a save, which is parsed again.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) at: Timestamp,
    pub(crate) files: u32,
    pub(crate) head: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<LeftOut>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restored: Option<String>,
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

/// Makes our index agree with a save, keeping the times of unchanged files.
pub(crate) async fn follow(home: &Home, save: &Oid) -> Result<()> {
    let (mut git, tree) = (Git::new(&home.control(), "read-tree"), home.tree());
    // Check files that were written in the second of the old index: by their times they would seem unchanged.
    if tree.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        git = git.work_tree(&tree);
    }
    git.args(["-m", "-i"]).operands([save]).run().await.map(drop)
}

impl Worktrees {
    /// Saves everything that is not ignored, if anything changed. Also imports the agent's commits.
    pub async fn save(&self, id: WorkspaceId) -> Result<Saved> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await
    }
}

impl Space {
    pub(crate) async fn save(&mut self, options: &Options, scope: &Scope) -> Result<Saved> {
        match self.save_once(options, scope).await {
            // The chain differs from the stored one: read it again, and examine everything.
            Err(_) if self.in_doubt => self.save_once(options, &Scope::All).await,
            done => done,
        }
    }

    async fn save_once(&mut self, options: &Options, scope: &Scope) -> Result<Saved> {
        // First of all: a missing folder must not look like one whose files were deleted.
        let root = Root::open(&self.home.tree())?;
        if self.in_doubt {
            self.look_again().await?;
        }
        let head = self.head();
        let new_tips = self.new_tips().await?;
        let changed = self.changed(scope).await?;
        let ignored = if rules(&changed) { self.now_ignored().await? } else { BTreeSet::new() };
        let committed = if self.head() == head { BTreeSet::new() } else { self.committed_but_not_saved().await? };
        if matches!(scope, Scope::All) {
            self.left_out.retain(|path, _| changed.contains(path));
        }
        for path in self.closed.clone() {
            self.leave_out(&path, "this folder cannot be looked into".into());
        }
        let (removed, left) = (ignored.into_iter().collect(), options.largest_save);
        let mut changes = Changes { space: self, options, left, removed, put: vec![], outdated: vec![] };
        for path in committed {
            if matches!(root.look(&path), Ok(Found::File { .. } | Found::Link(_))) {
                changes.sort_out(&root, path);
            }
        }
        for path in changed {
            changes.sort_out(&root, path);
        }
        let Changes { mut removed, put, left, mut outdated, .. } = changes;
        removed.retain(|path| self.since.get(path) != Some(&None));
        let root = Arc::new(root);
        let committed = self.as_committed(&root, &outdated).await?;
        outdated.retain(|path| !committed.contains_key(path));
        removed.extend(self.store.having(self.tree.as_str(), &outdated).await?);
        let mut put: Vec<(PathBuf, Option<Content>)> = if options.largest_save - left <= AT_ONCE {
            self.read(&root, options, put).await
        } else {
            put.into_iter().map(|path| (path, None)).collect()
        };
        for (path, committed) in committed {
            self.left_out.remove(&path);
            let content = Content::Known(committed);
            if self.since.get(&path) != Some(&content.print()) {
                put.push((path, Some(content)));
            }
        }
        let told = !self.untold(matches!(scope, Scope::All));
        let new = if removed.is_empty() && put.is_empty() && new_tips.is_empty() && told {
            None
        } else {
            Some(self.write(options, &root, removed, put, new_tips).await?)
        };
        let left_out = self.left_out.values().cloned().collect();
        Ok(Saved { new, left_out, not_kept: self.not_kept.clone() })
    }

    /// Reads small files before writing anything: a touched file with the saved content is no change.
    async fn read(
        &mut self,
        root: &Arc<Root>,
        options: &Options,
        put: Vec<PathBuf>,
    ) -> Vec<(PathBuf, Option<Content>)> {
        let mut read = Vec::new();
        for path in put {
            let content = Content::read(root.clone(), path.clone(), options.largest_file).await;
            match &content {
                Content::Not(why) => self.leave_out(&path, why.clone()),
                _ if self.since.get(&path) == Some(&content.print()) => {}
                _ => read.push((path, Some(content))),
            }
        }
        read
    }

    async fn write(
        &mut self,
        options: &Options,
        root: &Arc<Root>,
        removed: Vec<PathBuf>,
        put: Vec<(PathBuf, Option<Content>)>,
        tips: Vec<Oid>,
    ) -> Result<Save> {
        let mut parents = vec![self.saved.clone()];
        parents.extend(tips.iter().cloned());
        let note = Note {
            at: now(),
            files: u32::try_from(removed.len() + put.len()).unwrap_or(u32::MAX),
            head: self.head().map(|head| head.to_string()),
            left_out: self.left_out.values().take(MOST_LEFT_OUT).cloned().collect(),
            restored: self.restored.take(),
        };
        let json = serde_json::to_string(&note).unwrap_or_default();
        // Until the outcome is known: a cancelled save may have been written or not.
        self.in_doubt = true;
        let commit = Commit::start(&self.store, &saved_ref(self.facts.id), &parents, &json).await?;
        let mut prints = Vec::new();
        for path in removed {
            commit.remove(&path).await;
            prints.push((path, None));
        }
        for (path, content) in put {
            let content = match content {
                Some(content) => content,
                None => Content::read(root.clone(), path.clone(), options.largest_file).await,
            };
            let print = content.print();
            match content {
                Content::File(mode, bytes) => commit.put(&path, mode, bytes).await,
                Content::Known(committed) => commit.refer(&path, committed.mode, &committed.blob).await,
                Content::Gone => commit.remove(&path).await,
                Content::Not(why) => {
                    self.leave_out(&path, why);
                    continue;
                }
            }
            prints.push((path, print));
        }
        let written = commit.finish().await?;
        self.in_doubt = false;
        self.saved = written.commit;
        self.tree = written.tree;
        self.saved_at = Some(note.at);
        self.kept.extend(tips);
        self.since.extend(prints);
        // One save in sixteen checks whether to repack.
        if self.saved.as_str().starts_with('0') {
            self.differs.tidy(&self.store);
        }
        let Note { at, files, head, left_out, restored } = note;
        let save = Save { id: self.saved.to_string(), at, files, head, left_out, restored };
        self.noted = save.noted();
        Ok(save)
    }

    /// Whether the newest save lists other left-out files; `all`: everything was examined.
    fn untold(&self, all: bool) -> bool {
        let now: BTreeSet<&str> = self.left_out.values().take(MOST_LEFT_OUT).map(|out| out.path.as_str()).collect();
        let new = now.iter().any(|path| !self.noted.contains(*path));
        new || (all && self.noted.iter().any(|path| !now.contains(path.as_str())))
    }

    /// Makes the index agree with the newest save; expensive, so only when needed.
    pub(crate) async fn catch_up(&mut self) -> Result<()> {
        if !self.since.is_empty() {
            follow(&self.home, &self.saved).await?;
            self.since.clear();
            self.blurred = true;
        }
        Ok(())
    }

    /// Finds the newest save.
    async fn look_again(&mut self) -> Result<()> {
        if let Some((saved, tree)) = newest(&self.store, self.facts.id).await? {
            (self.saved, self.tree) = (saved, tree);
        }
        follow(&self.home, &self.saved).await?;
        let last = crate::saves::list(&self.store, self.facts.id, 1).await?.pop();
        self.noted = last.map(|save| save.noted()).unwrap_or_default();
        self.since.clear();
        self.kept.clear();
        self.blurred = true;
        self.in_doubt = false;
        Ok(())
    }

    pub(crate) fn leave_out(&mut self, path: &Path, why: String) {
        let shown = path.to_string_lossy().into_owned();
        self.left_out.insert(path.to_owned(), LeftOut { path: shown, why });
    }
}

/// Whether the set of ignored files may have changed.
pub(crate) fn rules<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> bool {
    paths.into_iter().any(|path| path.file_name().is_some_and(|name| name == ".gitignore"))
}
