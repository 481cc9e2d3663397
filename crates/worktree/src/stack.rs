//! Builds a stack of candidates on a base, in memory. The same base, heads, titles and methods give the same commits on
//! every runner, and a stack that continues on one of its own levels gives the same levels again.

use crate::bare::Oid;
use crate::contribution::Contribution;
use crate::git::failed;
use crate::merge::{Merged, New, subject};
use crate::store::Store;
use crate::{Location, Result, Worktrees};

/// Most commits of one candidate that are replayed.
const MOST_COMMITS: usize = 1000;

/// Names, in a squash commit, the commit that was squashed.
const SQUASHED: &str = "Squashed";
const MOST_SQUASHED: &str = "--max-count=1000";

/// How a candidate becomes part of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// A merge commit.
    Merge,
    /// One commit with all of its changes, by the author of its last commit.
    Squash,
    /// Its commits, one after the other; without its merge commits.
    Rebase,
}

/// A commit to put on a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Names it in the answer.
    pub name: String,
    /// Its commit, in the store.
    pub head: Oid,
    /// The subject of its merge or squash commit.
    pub title: String,
    /// How it is put there.
    pub method: Method,
}

/// A candidate in a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Which candidate.
    pub name: String,
    /// What became of it.
    pub built: Stacked,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stacked {
    /// It is on the stack.
    Built {
        /// The commit with this candidate on top of those before it: theirs, if everything in it is in them.
        commit: Oid,
        /// Its tree.
        tree: Oid,
        /// What it adds.
        contribution: Contribution,
    },
    /// It was left out: everything in it is in the base already.
    Contained,
    /// It was left out: it conflicts.
    Conflict {
        /// The files in conflict; none if the histories have nothing in common.
        paths: Vec<String>,
        /// Whether it conflicts with the base already, and not only with candidates before it.
        with_base: bool,
    },
}

impl Worktrees {
    /// Builds a stack of candidates; one that cannot be built is left out. All commits must be in the store.
    pub async fn stack(&self, location: &Location, base: &Oid, candidates: &[Candidate]) -> Result<Vec<Level>> {
        let store = Store(self.layout().store(Some(location)));
        self.prepare(&store).await?;
        let mut top = Top { commit: base.clone(), tree: store.tree_of(base).await? };
        let mut levels = Vec::new();
        for candidate in candidates {
            let built = self.built_before(&store, base, &top.commit, candidate).await?;
            let built = match built {
                Some(built) => built,
                None => store.put_on(base, &top, candidate).await?,
            };
            self.built().remember(&store, base, &top.commit, candidate, &built);
            if let Stacked::Built { commit, tree, .. } = &built {
                top = Top { commit: commit.clone(), tree: tree.clone() };
            }
            levels.push(Level { name: candidate.name.clone(), built });
        }
        Ok(levels)
    }

    /// The level as an earlier stack has it, unless its commit is gone: stores are deleted to free disk space.
    async fn built_before(
        &self,
        store: &Store,
        base: &Oid,
        top: &Oid,
        candidate: &Candidate,
    ) -> Result<Option<Stacked>> {
        let Some(built) = self.built().find(store, base, top, candidate) else { return Ok(None) };
        let here = match &built {
            Stacked::Built { commit, .. } => store.has(commit).await?,
            Stacked::Contained | Stacked::Conflict { .. } => true,
        };
        Ok(here.then_some(built))
    }
}

/// The last level of a stack that is being built.
struct Top {
    commit: Oid,
    tree: Oid,
}

/// A commit and its tree, or the paths in conflict.
type Put = std::result::Result<(Oid, Oid), Vec<String>>;

impl Store {
    async fn put_on(&self, base: &Oid, top: &Top, candidate: &Candidate) -> Result<Stacked> {
        let (head, Top { commit: top, tree: before }) = (&candidate.head, top);
        // Also an error if the candidate's commit is not here.
        let forks = self.forks(base, head).await?;
        if forks.contains(head) {
            return Ok(Stacked::Contained);
        }
        let put = match top != base && self.is_ancestor(head, top.as_str()).await? == Some(true) {
            true => Ok((top.clone(), before.clone())),
            false => self.put(top, candidate).await?,
        };
        let (commit, tree) = match put {
            Ok(put) => put,
            Err(paths) => {
                let with_base = top == base || matches!(self.merge(base, head).await?, Merged::Conflict(_));
                return Ok(Stacked::Conflict { paths, with_base });
            }
        };
        if tree == *before {
            // What is only in candidates before it lands with them or not at all.
            return match top == base || self.adds_nothing(base, candidate).await? {
                true => Ok(Stacked::Contained),
                false => Ok(Stacked::Built { commit: top.clone(), tree, contribution: Contribution::default() }),
            };
        }
        let fork = self.joined(forks).await?.unwrap_or_else(|| base.clone());
        let contribution = self.contribution(top, &commit, &fork, head).await?;
        Ok(Stacked::Built { commit, tree, contribution })
    }

    async fn put(&self, top: &Oid, candidate: &Candidate) -> Result<Put> {
        match candidate.method {
            Method::Merge | Method::Squash => self.put_merged(top, candidate).await,
            Method::Rebase => self.put_replayed(top, &candidate.head).await,
        }
    }

    /// The merge bases of a branch and the base; none if their histories have nothing in common.
    async fn forks(&self, base: &Oid, head: &Oid) -> Result<Vec<Oid>> {
        let ended = self.git("merge-base").args(["--all"]).operands([base, head]).ended(|_| {}).await?;
        match ended.status.code() {
            Some(0 | 1) => {
                let said = String::from_utf8_lossy(&ended.stdout);
                Ok(said.lines().filter_map(|id| id.parse().ok()).collect())
            }
            // Which commit is missing?
            _ => Err(self.tree_of(head).await.err().unwrap_or_else(|| failed("merge-base", &ended))),
        }
    }

    /// One commit for several merge bases: all of them merged, after both sides have merged the same commits on their own.
    async fn joined(&self, forks: Vec<Oid>) -> Result<Option<Oid>> {
        let mut forks = forks.into_iter();
        let Some(mut joined) = forks.next() else { return Ok(None) };
        for other in forks {
            if let Merged::Clean(tree) = self.merge(&joined, &other).await? {
                let parents = [&joined, &other];
                let both = New { tree: &tree, parents: &parents, author: None, encoding: None, message: vec![], at: 0 };
                joined = self.write_commit(both).await?;
            }
        }
        Ok(Some(joined))
    }

    async fn adds_nothing(&self, base: &Oid, candidate: &Candidate) -> Result<bool> {
        let before = self.tree_of(base).await?;
        Ok(matches!(self.put(base, candidate).await?, Ok((_, tree)) if tree == before))
    }

    async fn put_merged(&self, top: &Oid, candidate: &Candidate) -> Result<Put> {
        let Candidate { head, title, .. } = candidate;
        let ours = self.with_squashed(top, head).await?;
        let tree = match self.merge(&ours, head).await? {
            Merged::Clean(tree) => tree,
            Merged::Conflict(paths) => return Ok(Err(paths)),
        };
        let commit = if candidate.method == Method::Merge {
            self.write_merge(&tree, &[top, head], title, None).await?
        } else {
            let (author, at) = (self.read_commit(head).await?.author, self.newest(&[top, head]).await?);
            let message = format!("{}\n\n{SQUASHED}: {head}\n", subject(title)).into_bytes();
            self.write_commit(New { tree: &tree, parents: &[top], author, encoding: None, message, at }).await?
        };
        Ok(Ok((commit, tree)))
    }

    /// The top as if the branches that were squashed into it were merged: a branch that continues one of them has only
    /// its own changes then.
    async fn with_squashed(&self, top: &Oid, head: &Oid) -> Result<Oid> {
        let Some(fork) = self.merge_base(top, head).await? else { return Ok(top.clone()) };
        let git = self.git("rev-list").args(["--first-parent", "--no-commit-header", MOST_SQUASHED]);
        let git = git.args([format!("--format=%(trailers:key={SQUASHED},valueonly)")]);
        let said = git.operands([format!("{fork}..{top}")]).line().await?;
        let mut parts = vec![top.clone()];
        for squashed in said.lines().filter_map(|line| line.trim().parse::<Oid>().ok()) {
            if self.is_ancestor(&squashed, head.as_str()).await? == Some(true) {
                parts.push(squashed);
            }
        }
        if parts.len() == 1 {
            return Ok(top.clone());
        }
        let (tree, parents) = (self.tree_of(top).await?, parts.iter().collect::<Vec<_>>());
        let merged = New { tree: &tree, parents: &parents, author: None, encoding: None, message: vec![], at: 0 };
        self.write_commit(merged).await
    }

    /// Replays the commits of a candidate; those that add nothing are dropped.
    async fn put_replayed(&self, top: &Oid, head: &Oid) -> Result<Put> {
        if self.is_ancestor(top, head.as_str()).await? == Some(true) && self.is_line(top, head).await? {
            return Ok(Ok((head.clone(), self.tree_of(head).await?)));
        }
        if self.merge_base(top, head).await?.is_none() {
            return Ok(Err(vec![]));
        }
        // Without those that are on the other side already, as other commits with the same changes.
        let git =
            self.git("rev-list").args(["--reverse", "--topo-order", "--no-merges", "--cherry-pick", "--right-only"]);
        let said = git.operands([format!("{top}...{head}")]).line().await?;
        let commits: Vec<Oid> = said.lines().take(MOST_COMMITS + 1).filter_map(|id| id.parse().ok()).collect();
        if commits.len() > MOST_COMMITS {
            return Err(crate::Error::TooMuch { what: "a branch to rebase".into(), limit: MOST_COMMITS });
        }
        let (mut at, mut tree) = (top.clone(), self.tree_of(top).await?);
        for commit in &commits {
            match self.replay(&at, &tree, commit).await? {
                Ok((new, files)) => (at, tree) = (new, files),
                Err(paths) => return Ok(Err(paths)),
            }
        }
        Ok(Ok((at, tree)))
    }

    /// Whether there is no merge between two commits.
    async fn is_line(&self, from: &Oid, to: &Oid) -> Result<bool> {
        let git = self.git("rev-list").args(["--count", "--min-parents=2", "--max-count=1"]);
        Ok(git.operands([format!("{from}..{to}")]).line().await? == "0")
    }

    /// Puts one commit's changes after another commit.
    async fn replay(&self, onto: &Oid, before: &Oid, commit: &Oid) -> Result<Put> {
        let read = self.read_commit(commit).await?;
        let at = self.newest(&[onto, commit]).await?;
        // A commit beside the replayed one, with the files of the new place: their merge base is the common parent.
        let parents: Vec<&Oid> = read.parents.iter().collect();
        let beside = New { tree: before, parents: &parents, author: None, encoding: None, message: vec![], at: 0 };
        let beside = self.write_commit(beside).await?;
        match self.merge(&beside, commit).await? {
            Merged::Clean(tree) if tree == *before => Ok(Ok((onto.clone(), tree))),
            Merged::Clean(tree) => {
                let (author, encoding, message) = (read.author, read.encoding, read.message);
                let new = New { tree: &tree, parents: &[onto], author, encoding, message, at };
                Ok(Ok((self.write_commit(new).await?, tree)))
            }
            Merged::Conflict(paths) => Ok(Err(paths)),
        }
    }
}
