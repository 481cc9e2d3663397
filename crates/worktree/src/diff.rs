//! A workspace's changes, file by file and line by line, within limits.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use domain::WorkspaceId;
use serde::{Deserialize, Serialize};

use crate::bare::Oid;
use crate::git::EMPTY_TREE;
use crate::patch::{exact, hunks};
use crate::scan::Scope;
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

/// Limits of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// Files that are listed.
    pub files: usize,
    /// Changed lines of one file; a file with more is listed without them.
    pub lines: u32,
    /// Total bytes of all lines.
    pub bytes: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { files: 500, lines: 3000, bytes: 2 << 20 }
    }
}

/// What was changed in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The files, in order of their paths.
    pub files: Vec<FileDiff>,
    /// The tree that was compared.
    pub tree: String,
    /// Whether files were left out because there are too many.
    pub truncated: bool,
}

/// How a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// Its content or mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It is at another path.
    Renamed,
    /// It became a link, or stopped being one.
    TypeChanged,
}

/// What was changed in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Its path now.
    pub path: String,
    /// Its path before, when it was renamed.
    pub old_path: Option<String>,
    /// How it was changed.
    pub status: FileStatus,
    /// Its mode before, as git writes it; absent when it is new.
    pub old_mode: Option<String>,
    /// Its mode now; absent when it is gone.
    pub mode: Option<String>,
    /// Whether it is not text.
    pub binary: bool,
    /// Added lines.
    pub insertions: u32,
    /// Removed lines.
    pub deletions: u32,
    /// What changed, with the lines around it.
    pub hunks: Vec<Hunk>,
    /// Whether lines were left out because there are too many.
    pub truncated: bool,
    /// Whether the lines represent the whole change exactly.
    pub exact: bool,
}

/// Lines that changed together, with those around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The number of the first line before.
    pub old_start: u32,
    /// The number of the first line now.
    pub new_start: u32,
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether its last line before has no end.
    pub old_open: bool,
    /// Whether its last line now has no end.
    pub new_open: bool,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number before; absent if it was added.
    pub old: Option<u32>,
    /// Its number now; absent if it was removed.
    pub new: Option<u32>,
    /// Its text, without the line feed.
    pub text: String,
}

/// One changed file, before its lines are read.
#[derive(Debug)]
struct Entry {
    old: Option<PathBuf>,
    path: PathBuf,
    status: FileStatus,
    modes: (Option<String>, Option<String>),
    numbers: Option<(u32, u32)>,
}

impl Worktrees {
    /// Saves, then compares with the commit where the workspace's branch left the base. An earlier `tree` is compared
    /// instead of the save, unless it is gone.
    pub async fn diff(&self, id: WorkspaceId, tree: Option<&str>, limits: &DiffLimits) -> Result<Diff> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let space = self.found(id, &mut space).await?;
        space.save(self.options(), &Scope::All).await?;
        let base = self.base(space).await?;
        let head = match space.head() {
            Some(head) if space.not_kept.is_none() => Some(head),
            _ => space.facts.base_commit.as_deref().and_then(|base| base.parse().ok()),
        };
        let from = space.ground(base.as_ref(), head.as_ref()).await?;
        let from = from.as_ref().map_or(EMPTY_TREE, |from| from.as_str());
        let earlier: Option<Oid> = tree.and_then(|tree| tree.parse().ok()).filter(|tree| *tree != space.tree);
        if let Some(earlier) = earlier
            && space.store.git("cat-file").args(["-e"]).operands([format!("{earlier}^{{tree}}")]).run().await.is_ok()
        {
            return space.store.diff(from, &earlier, |_| false, limits).await;
        }
        let left_out = |path: &Path| space.left_out.contains_key(path);
        space.store.diff(from, &space.tree, left_out, limits).await
    }

    /// Compares work that was kept under a name with a commit that it started from.
    pub async fn diff_kept(&self, location: &Location, name: &str, base: &Oid, limits: &DiffLimits) -> Result<Diff> {
        let store = Store(self.layout().store(Some(location)));
        let gone = || Error::NoWork { name: name.to_owned(), why: "it is not kept here any more".into() };
        let work = self.kept(location, name).await?.ok_or_else(gone)?;
        let tree = store.tree_of(&work).await?;
        store.diff(base.as_str(), &tree, |_| false, limits).await
    }
}

impl Store {
    /// Compares with a tree, which lacks the files that were left out of it.
    async fn diff(&self, from: &str, to: &Oid, left_out: impl Fn(&Path) -> bool, limits: &DiffLimits) -> Result<Diff> {
        let git = self.git("diff-tree").args(SAFE).args(["--raw", "--numstat", "-z"]);
        let mut entries = entries(&git.operands([from, to.as_str()]).run().await?);
        let truncated = entries.len() > limits.files;
        entries.truncate(limits.files);
        for entry in entries.iter_mut().filter(|entry| left_out(&entry.path)) {
            // The file exists; only the save does not have it.
            (entry.status, entry.numbers) = (FileStatus::Modified, None);
        }
        let small = |entry: &&Entry| entry.numbers.is_some_and(|(i, d)| i.saturating_add(d) <= limits.lines);
        let wanted: Vec<&Entry> = entries.iter().filter(small).collect();
        let mut sections = match self.patch(from, to, &wanted, limits.bytes).await {
            Ok(sections) => sections.into_iter().map(Some).collect(),
            // Too much together: one by one until the limit is reached.
            Err(Error::TooMuch { .. }) => {
                let (mut sections, mut left) = (Vec::new(), limits.bytes);
                for entry in &wanted {
                    let one =
                        self.patch(from, to, &[entry], left.min(256 << 10)).await.ok().and_then(|mut one| one.pop());
                    left = left.saturating_sub(one.as_ref().map_or(0, Vec::len));
                    sections.push(one);
                }
                sections
            }
            Err(error) => return Err(error),
        }
        .into_iter();
        let mut files = Vec::new();
        for entry in &entries {
            let text = if small(&entry) { sections.next().flatten() } else { None };
            let binary = entry.numbers.is_none();
            let (insertions, deletions) = entry.numbers.unwrap_or_default();
            let exact = text.as_ref().is_some_and(|text| exact(text));
            let (old_mode, mode) = entry.modes.clone();
            files.push(FileDiff {
                old_mode,
                mode,
                exact,
                path: entry.path.to_string_lossy().into_owned(),
                old_path: entry.old.as_ref().map(|old| old.to_string_lossy().into_owned()),
                status: entry.status,
                binary,
                insertions,
                deletions,
                truncated: text.is_none() && !binary,
                hunks: text.map(|text| hunks(&text)).unwrap_or_default(),
            });
        }
        Ok(Diff { files, tree: to.to_string(), truncated })
    }

    /// The patches of some entries, one for each, in their order.
    async fn patch(&self, from: &str, to: &Oid, entries: &[&Entry], limit: usize) -> Result<Vec<Vec<u8>>> {
        if entries.is_empty() {
            return Ok(vec![]);
        }
        let mut paths: Vec<OsString> = vec!["--".into()];
        for entry in entries {
            paths.extend(entry.old.iter().chain([&entry.path]).map(|path| path.clone().into_os_string()));
        }
        let git = self.git("diff-tree").args(SAFE).args(["-p", "--unified=3"]);
        let out = git.operands([from, to.as_str()]).args(paths).limit(limit).run().await?;
        let mut sections: Vec<Vec<u8>> = Vec::new();
        for line in out.split_inclusive(|b| *b == b'\n') {
            // Lines of files are indented by one character: only a header can start like this.
            if line.starts_with(b"diff --git ") {
                sections.push(Vec::new());
            }
            if let Some(section) = sections.last_mut() {
                section.extend_from_slice(line);
            }
        }
        let mut sections = sections.into_iter();
        let each = entries.iter().map(|entry| {
            let mut text = sections.next().unwrap_or_default();
            // A change of type is a deletion and an addition.
            if entry.status == FileStatus::TypeChanged {
                text.extend(sections.next().unwrap_or_default());
            }
            text
        });
        Ok(each.collect())
    }
}

pub(crate) const SAFE: [&str; 5] = ["-r", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];

/// Reads `--raw --numstat -z`: first all paths with their status, then all numbers in the same order.
fn entries(out: &[u8]) -> Vec<Entry> {
    use std::os::unix::ffi::OsStringExt;
    let path = |name: &[u8]| PathBuf::from(OsString::from_vec(name.to_vec()));
    let mut entries: Vec<Entry> = Vec::new();
    let mut numbers = Vec::new();
    let mut fields = out.split(|b| *b == 0);
    while let Some(field) = fields.next() {
        if field.first() == Some(&b':') {
            let letter = field.iter().rev().find(|b| b.is_ascii_alphabetic());
            let status = match letter {
                Some(b'A') => FileStatus::Added,
                Some(b'D') => FileStatus::Deleted,
                Some(b'R' | b'C') => FileStatus::Renamed,
                Some(b'T') => FileStatus::TypeChanged,
                _ => FileStatus::Modified,
            };
            let first = fields.next().map(path).unwrap_or_default();
            let second = if status == FileStatus::Renamed { fields.next().map(path) } else { None };
            let (old, path) = match second {
                Some(second) => (Some(first), second),
                None => (None, first),
            };
            let mode = |at: usize| field.get(at..at + 6).and_then(|mode| std::str::from_utf8(mode).ok());
            let mode = |at: usize| mode(at).filter(|mode| *mode != "000000").map(str::to_owned);
            entries.push(Entry { old, path, status, modes: (mode(1), mode(8)), numbers: None });
        } else if !field.is_empty() {
            let text = String::from_utf8_lossy(field);
            let mut columns = text.splitn(3, '\t');
            let mut number = || columns.next().and_then(|n| n.parse::<u32>().ok());
            let pair = number().zip(number());
            numbers.push(pair);
            if columns.next() == Some("") {
                fields.next();
                fields.next();
            }
        }
    }
    for (entry, pair) in entries.iter_mut().zip(numbers) {
        entry.numbers = pair;
    }
    entries
}
