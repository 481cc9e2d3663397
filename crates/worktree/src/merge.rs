//! Merges and commits in memory: in the store, by our rules, without a working copy.

use crate::bare::{Oid, oid};
use crate::git::failed;
use crate::options::Author;
use crate::process::{Ended, Input};
use crate::scan::paths;
use crate::store::Store;
use crate::{Error, Result};

/// How many paths in conflict are named.
const MOST_PATHS: usize = 1000;
/// Maximum length of a subject.
const SUBJECT: usize = 200;

/// The result of merging two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Merged {
    /// The merged files.
    Clean(Oid),
    /// The paths in conflict; none if the histories have nothing in common.
    Conflict(Vec<String>),
}

/// A commit to write. Its time is that of its newest source, so that the same sources give the same commit everywhere.
#[derive(Debug)]
pub(crate) struct New<'a> {
    pub(crate) tree: &'a Oid,
    pub(crate) parents: &'a [&'a Oid],
    /// The author's line as git writes it, time included; Shopfloor itself when absent.
    pub(crate) author: Option<Vec<u8>>,
    /// Other headers to keep, such as the encoding of the message.
    pub(crate) encoding: Option<Vec<u8>>,
    pub(crate) message: Vec<u8>,
    /// Seconds since 1970.
    pub(crate) at: i64,
}

/// The parts of an existing commit.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) parents: Vec<Oid>,
    pub(crate) author: Option<Vec<u8>>,
    pub(crate) encoding: Option<Vec<u8>>,
    pub(crate) message: Vec<u8>,
}

impl Store {
    /// What git says about a merge: the tree, which has markers where the commits conflict, then the paths in conflict.
    pub(crate) async fn merge_tree(&self, ours: &Oid, theirs: &Oid) -> Result<Ended> {
        let git = self.git("merge-tree").args(["--write-tree", "--name-only", "--no-messages", "-z"]);
        git.operands([ours, theirs]).ended(|_| {}).await
    }

    /// Merges two commits.
    pub(crate) async fn merge(&self, ours: &Oid, theirs: &Oid) -> Result<Merged> {
        let ended = self.merge_tree(ours, theirs).await?;
        match ended.status.code() {
            Some(0) => {
                let tree = ended.stdout.split(|b| *b == 0).next().unwrap_or_default();
                oid(&String::from_utf8_lossy(tree)).map(Merged::Clean)
            }
            Some(1) => {
                let mut names: Vec<String> =
                    paths(&ended.stdout).iter().skip(1).map(|name| name.to_string_lossy().into_owned()).collect();
                names.dedup();
                names.truncate(MOST_PATHS);
                Ok(Merged::Conflict(names))
            }
            _ if ended.stderr.contains("unrelated histories") => Ok(Merged::Conflict(vec![])),
            _ => Err(failed("merge-tree", &ended)),
        }
    }

    /// Writes a commit.
    pub(crate) async fn write_commit(&self, new: New<'_>) -> Result<Oid> {
        let shopfloor = format!("Shopfloor <shopfloor@localhost> {} +0000", new.at).into_bytes();
        let mut bytes = format!("tree {}\n", new.tree).into_bytes();
        for parent in new.parents {
            bytes.extend_from_slice(format!("parent {parent}\n").as_bytes());
        }
        let author = new.author.as_ref().unwrap_or(&shopfloor);
        for (name, value) in
            [("author", Some(author)), ("committer", Some(&shopfloor)), ("encoding", new.encoding.as_ref())]
        {
            if let Some(value) = value {
                bytes.extend_from_slice(name.as_bytes());
                bytes.push(b' ');
                bytes.extend_from_slice(value);
                bytes.push(b'\n');
            }
        }
        bytes.push(b'\n');
        bytes.extend_from_slice(&new.message);
        let git = self.git("hash-object").args(["-t", "commit", "-w", "--stdin"]);
        oid(&git.input(Input::Bytes(bytes)).line().await?)
    }

    /// Writes the merge of two commits.
    pub(crate) async fn write_merge(
        &self,
        tree: &Oid,
        parents: &[&Oid],
        title: &str,
        author: Option<&Author>,
    ) -> Result<Oid> {
        let at = self.newest(parents).await?;
        let author = author.map(|author| line(author, at));
        let message = format!("Merge {}\n", subject(title)).into_bytes();
        self.write_commit(New { tree, parents, author, encoding: None, message, at }).await
    }

    /// When the newest of some commits was made, in seconds since 1970.
    pub(crate) async fn newest(&self, commits: &[&Oid]) -> Result<i64> {
        let git = self.git("rev-list").args(["--no-walk", "--no-commit-header", "--format=%ct"]);
        let said = git.operands(commits).line().await?;
        Ok(said.lines().filter_map(|time| time.parse().ok()).max().unwrap_or(0))
    }

    /// Reads a commit.
    pub(crate) async fn read_commit(&self, commit: &Oid) -> Result<Read> {
        let bytes = self.git("cat-file").args(["commit"]).operands([commit]).limit(16 << 20).run().await?;
        let end = bytes.windows(2).position(|two| two == b"\n\n").unwrap_or(bytes.len());
        let (head, message) = bytes.split_at(end);
        let value = |name: &[u8]| {
            let mut lines = head.split(|b| *b == b'\n');
            lines.find_map(|line| line.strip_prefix(name)).map(<[u8]>::to_vec)
        };
        let parents = head.split(|b| *b == b'\n').filter_map(|line| line.strip_prefix(b"parent "));
        Ok(Read {
            parents: parents.filter_map(|id| String::from_utf8_lossy(id).parse().ok()).collect(),
            author: value(b"author "),
            encoding: value(b"encoding "),
            message: message.get(2..).unwrap_or_default().to_vec(),
        })
    }

    /// The tree of a commit; an error if it is not here.
    pub(crate) async fn tree_of(&self, commit: &Oid) -> Result<Oid> {
        let git = self.git("rev-parse").args(["--verify", "--quiet"]).operands([format!("{commit}^{{tree}}")]);
        let ended = git.ended(|_| {}).await?;
        match ended.status.success() {
            true => oid(&String::from_utf8_lossy(&ended.stdout)),
            false => Err(Error::NoWork { name: commit.to_string(), why: "the commit is not in its store".into() }),
        }
    }

    /// Whether a commit is here.
    pub(crate) async fn has(&self, commit: &Oid) -> Result<bool> {
        Ok(self.is_ancestor(commit, commit.as_str()).await?.is_some())
    }
}

/// An author as a commit names them.
pub(crate) fn line(author: &Author, at: i64) -> Vec<u8> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_control() && !"<>".contains(*c)).collect::<String>();
    format!("{} <{}> {at} +0000", plain(&author.name).trim(), plain(&author.email).trim()).into_bytes()
}

/// A title as a message's first line.
pub(crate) fn subject(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    let plain: String = words.join(" ").chars().filter(|c| !c.is_control()).take(SUBJECT).collect();
    if plain.is_empty() { "untitled work".to_owned() } else { plain }
}
