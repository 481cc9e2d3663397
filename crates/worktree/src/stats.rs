//! The differences between a workspace and its base branch, counted from our own commits and trees.

use domain::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::bare::{Oid, oid};
use crate::git::{EMPTY_TREE, Git};
use crate::layout::folder;
use crate::merge::Merged;
use crate::process::Input;
use crate::scan::{Scope, paths};
use crate::space::{Counted, Space};
use crate::{Result, Worktrees};

/// The differences between a workspace and its base branch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitStats {
    /// The branch that is checked out; absent when it is a commit.
    pub branch: Option<String>,
    /// The commit that is checked out; absent before the first one.
    pub head: Option<String>,
    /// The base branch's newest commit, as last fetched.
    pub base: Option<String>,
    /// Commits that the base does not have.
    pub ahead: u32,
    /// Commits of the base that the branch does not have.
    pub behind: u32,
    /// Changed files against the base, those that are not committed included.
    pub files: u32,
    /// Added lines.
    pub insertions: u32,
    /// Removed lines.
    pub deletions: u32,
    /// Files that are in no commit yet.
    pub untracked: u32,
    /// Whether anything is not committed.
    pub uncommitted: bool,
    /// Commits of any local branch or stash that no remote branch has.
    pub unpushed: u32,
    /// Files that would conflict with the base; absent if unknown.
    pub conflict_with_base: Option<Vec<String>>,
    /// When work was last saved; absent if there was nothing to save yet.
    pub saved_at: Option<Timestamp>,
    /// What is wrong with the agent's `.git`, or could not be saved; for people.
    pub problem: Option<String>,
}

impl Worktrees {
    /// Saves, then counts what has changed.
    pub async fn stats(&self, id: WorkspaceId) -> Result<GitStats> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        space.count(base).await
    }

    /// The newest commit of a workspace's base branch, as last fetched.
    pub(crate) async fn base(&self, space: &Space) -> Result<Option<Oid>> {
        let Some(name) = &space.facts.base else { return Ok(None) };
        let key = (space.store.0.clone(), name.to_string());
        if let Some(known) = self.heads().lock().get(&key) {
            return Ok(known.clone());
        }
        let head = space.store.head(name).await?;
        // A deleted branch: the workspace's start still shows its changes.
        let head = head.or_else(|| space.facts.base_commit.as_deref().and_then(|base| base.parse().ok()));
        self.heads().lock().insert(key, head.clone());
        Ok(head)
    }
}

impl Space {
    /// Counts from the newest save.
    pub(crate) async fn count(&mut self, base: Option<Oid>) -> Result<GitStats> {
        let from = Counted { tree: self.tree.clone(), base, refs: self.refs.clone(), left_out: self.left_out.len() };
        if let Some((known, stats)) = &self.counted
            && *known == from
        {
            return Ok(GitStats { saved_at: self.saved_at, problem: self.problem(), ..stats.clone() });
        }
        let stats = self.count_changes(from.base.as_ref()).await?;
        self.counted = Some((from, stats.clone()));
        Ok(stats)
    }

    fn problem(&self) -> Option<String> {
        if let Err(why) = &self.refs {
            return Some(why.clone());
        }
        if let Some(why) = &self.not_kept {
            return Some(why.clone());
        }
        let first = self.left_out.values().next()?;
        let more = self.left_out.len() - 1;
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        Some(format!("{} is not saved: {}{more}", first.path, first.why))
    }

    async fn count_changes(&mut self, base: Option<&Oid>) -> Result<GitStats> {
        let refs = self.refs.clone().unwrap_or_default();
        let head = match (&refs.head, &self.refs) {
            // Without readable refs, the start is the best known commit.
            (None, Err(_)) => self.facts.base_commit.as_deref().and_then(|base| base.parse().ok()),
            (head, _) => head.clone(),
        };
        // A commit that was not imported cannot be compared with.
        let head = match head {
            Some(head) if self.not_kept.is_some() && self.store.is_ancestor(&head, head.as_str()).await?.is_none() => {
                None
            }
            head => head,
        };
        let from = self.ground(base, head.as_ref()).await?;
        let change = self.change(from.as_ref()).await?;
        let (ahead, behind) = self.ahead_behind(base, head.as_ref()).await?;
        let (uncommitted, untracked) = if head == from && !change.renamed {
            (change.files > 0, change.added)
        } else {
            let change = self.since_commit(head.as_ref()).await?;
            (change.files > 0, change.added)
        };
        Ok(GitStats {
            branch: refs.branch.clone(),
            head: refs.head.as_ref().map(Oid::to_string),
            base: base.map(Oid::to_string),
            ahead,
            behind,
            files: change.files,
            insertions: change.insertions,
            deletions: change.deletions,
            untracked,
            uncommitted: uncommitted || !self.left_out.is_empty(),
            unpushed: self.unpushed(base).await?,
            conflict_with_base: if behind == 0 { Some(vec![]) } else { self.conflicts(base, head.as_ref()).await? },
            saved_at: self.saved_at,
            problem: self.problem(),
        })
    }

    /// What the workspace's changes are compared with: what it started from, and what it has taken from the base since.
    pub(crate) async fn ground(&self, base: Option<&Oid>, head: Option<&Oid>) -> Result<Option<Oid>> {
        let left = self.merge_base(base, head).await?;
        let start: Option<Oid> = self.facts.base_commit.as_deref().and_then(|base| base.parse().ok());
        let (Some(start), Some(head)) = (start, head) else { return Ok(left) };
        if left.as_ref() == Some(&start) || self.store.is_ancestor(&start, head.as_str()).await? != Some(true) {
            return Ok(left);
        }
        let Some(left) = left else { return Ok(Some(start)) };
        if self.store.is_ancestor(&left, start.as_str()).await? == Some(true) {
            return Ok(Some(start));
        }
        if self.store.is_ancestor(&start, left.as_str()).await? == Some(true) {
            return Ok(Some(left));
        }
        match self.store.merge(&left, &start).await? {
            Merged::Clean(tree) => self.store.write_merge(&tree, &[&left, &start], "the base", None).await.map(Some),
            Merged::Conflict(_) => Ok(Some(left)),
        }
    }

    /// Where the branch left the base; `None` without common history.
    pub(crate) async fn merge_base(&self, base: Option<&Oid>, head: Option<&Oid>) -> Result<Option<Oid>> {
        let (Some(base), Some(head)) = (base, head) else { return Ok(base.cloned()) };
        if base == head {
            return Ok(Some(base.clone()));
        }
        self.store.merge_base(base, head).await
    }

    /// The differences between a commit, or nothing, and the newest save.
    async fn change(&mut self, from: Option<&Oid>) -> Result<Change> {
        let from = match from {
            None => oid(EMPTY_TREE)?,
            Some(commit) => match &self.tree_of {
                Some((known, tree)) if known == commit => tree.clone(),
                _ => {
                    let git = self.store.git("rev-parse").args(["--verify"]);
                    let tree = oid(&git.operands([format!("{commit}^{{tree}}")]).line().await?)?;
                    self.tree_of = Some((commit.clone(), tree.clone()));
                    tree
                }
            },
        };
        if from == self.tree {
            return Ok(Change::default());
        }
        Ok(Change::read(&self.differs.compare(&self.store.0, &from, &self.tree).await?))
    }

    async fn since_commit(&self, head: Option<&Oid>) -> Result<Change> {
        let from = head.map_or(EMPTY_TREE, |head| head.as_str());
        let git = self.store.git("diff-tree").args(["-r", "-z", "--no-renames", "--raw"]);
        Ok(Change::read(&git.operands([from, self.tree.as_str()]).run().await?))
    }

    /// How many files differ from the commit that is checked out.
    pub(crate) async fn uncommitted_files(&self) -> Result<u32> {
        Ok(self.since_commit(self.head().as_ref()).await?.files)
    }

    async fn ahead_behind(&self, base: Option<&Oid>, head: Option<&Oid>) -> Result<(u32, u32)> {
        let (Some(base), Some(head)) = (base, head) else { return Ok((0, 0)) };
        if base == head {
            return Ok((0, 0));
        }
        let git = self.store.git("rev-list").args(["--left-right", "--count"]);
        let line = git.operands([format!("{base}...{head}")]).line().await?;
        let mut numbers = line.split_whitespace().filter_map(|number| number.parse().ok());
        let (behind, ahead) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        Ok((ahead, behind))
    }

    /// Commits that nobody else has, as far as the agent's git and our last fetch know.
    async fn unpushed(&self, base: Option<&Oid>) -> Result<u32> {
        let Ok(refs) = &self.refs else { return Ok(0) };
        let elsewhere = |tip: &Oid| refs.remote.contains(tip) || Some(tip) == base;
        let tips: Vec<Oid> = refs.tips().into_iter().filter(|tip| !elsewhere(tip)).collect();
        if tips.is_empty() || self.facts.location.is_none() {
            return Ok(0);
        }
        self.not_on_remote(&tips, refs.remote.iter()).await
    }

    /// How many commits of `tips` are neither on a branch that we fetched nor in `also`.
    pub(crate) async fn not_on_remote(&self, tips: &[Oid], also: impl Iterator<Item = &Oid>) -> Result<u32> {
        let mut input = String::new();
        for tip in tips {
            input.push_str(&format!("{tip}\n"));
        }
        for known in also {
            input.push_str(&format!("^{known}\n"));
        }
        let git = self.store.git("rev-list").args([
            "--count",
            "--ignore-missing",
            "--stdin",
            "--not",
            "--glob=refs/origin/heads/*",
        ]);
        let line = git.input(Input::Bytes(input.into_bytes())).line().await?;
        Ok(line.parse().unwrap_or(u32::MAX))
    }

    /// A merge in memory; its objects are discarded.
    async fn conflicts(&self, base: Option<&Oid>, head: Option<&Oid>) -> Result<Option<Vec<String>>> {
        let (Some(base), Some(_)) = (base, head) else { return Ok(None) };
        self.conflicts_of(base, &self.saved).await
    }

    /// The files in conflict after merging two commits; `None` if they cannot be merged at all.
    pub(crate) async fn conflicts_of(&self, base: &Oid, side: &Oid) -> Result<Option<Vec<String>>> {
        let scratch = self.home.control().join("scratch");
        folder(&scratch)?;
        let git = Git::new(&self.store.0, "merge-tree").objects(&scratch, &[&self.store.objects()]);
        let git = git.args(["--write-tree", "--name-only", "--no-messages", "-z"]);
        let ended = git.operands([base, side]).ended(|_| {}).await;
        let _ = std::fs::remove_dir_all(&scratch);
        let ended = ended?;
        match ended.status.code() {
            Some(0) => Ok(Some(vec![])),
            Some(1) => {
                let names = paths(&ended.stdout).into_iter().skip(1);
                Ok(Some(names.map(|name| name.to_string_lossy().into_owned()).take(1000).collect()))
            }
            _ => Ok(None),
        }
    }
}

/// The sum of a comparison of two trees.
#[derive(Debug, Default)]
struct Change {
    files: u32,
    added: u32,
    insertions: u32,
    deletions: u32,
    renamed: bool,
}

impl Change {
    /// Reads `--raw --numstat -z`: entries that start with a colon, then those that start with numbers.
    fn read(out: &[u8]) -> Self {
        let mut change = Self::default();
        let mut fields = out.split(|b| *b == 0);
        while let Some(field) = fields.next() {
            if field.first() == Some(&b':') {
                let status = field.iter().rev().find(|b| b.is_ascii_alphabetic());
                change.files += 1;
                change.added += u32::from(status == Some(&b'A'));
                fields.next();
                if matches!(status, Some(b'R' | b'C')) {
                    change.renamed = true;
                    fields.next();
                }
            } else if !field.is_empty() {
                let text = String::from_utf8_lossy(field);
                let mut columns = text.splitn(3, '\t');
                let mut number = || columns.next().and_then(|n| n.parse::<u32>().ok()).unwrap_or(0);
                change.insertions = change.insertions.saturating_add(number());
                change.deletions = change.deletions.saturating_add(number());
                if columns.next() == Some("") {
                    fields.next();
                    fields.next();
                }
            }
        }
        change
    }
}
