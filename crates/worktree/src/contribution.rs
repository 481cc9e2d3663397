//! What a candidate adds to a stack, compared with what it changes by itself: line by line, wherever the lines moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Result;
use crate::bare::Oid;
use crate::scan::paths;
use crate::store::Store;

/// Maximum size of a patch.
const LARGEST: usize = 512 << 20;

/// What a level of a stack adds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contribution {
    /// The paths that it changes.
    pub paths: Vec<String>,
    /// Those that it changes in another way than the candidate by itself. Empty: it adds what was proposed.
    pub differs: Vec<String>,
}

/// How often each line was added, less how often it was removed. Independent of how a diff aligns lines.
type Lines = HashMap<u64, i64>;
type Files = BTreeMap<Vec<u8>, Lines>;

impl Store {
    /// Compares what `level` adds to `below` with what `head` changed since it left the base at `fork`.
    pub(crate) async fn contribution(&self, below: &Oid, level: &Oid, fork: &Oid, head: &Oid) -> Result<Contribution> {
        let git = self.git("diff-tree").args(["-r", "-z", "--no-renames", "--name-only", "--ignore-submodules=none"]);
        let names = paths(&git.operands([below, level]).run().await?);
        let names = names.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let (adds, alone) = (self.net(below, level).await?, self.net(fork, head).await?);
        if adds == alone {
            return Ok(Contribution { paths: names, differs: vec![] });
        }
        let there = self.net(fork, below).await?;
        Ok(Contribution { paths: names, differs: differing(&adds, &alone, &there) })
    }

    /// The net change of each file.
    async fn net(&self, from: &Oid, to: &Oid) -> Result<Files> {
        let git = self.git("diff-tree").args([
            "-r",
            "-p",
            "--unified=0",
            "--no-renames",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "--full-index",
            "--ignore-submodules=none",
        ]);
        Ok(read(&git.operands([from, to]).limit(LARGEST).run().await?))
    }
}

/// Reads a patch without context. The key of a file is its header, which names its path.
fn read(patch: &[u8]) -> Files {
    let mut files = Files::new();
    let (mut name, mut lines, mut inside) = (None, Lines::new(), false);
    let mut index: &[u8] = b"";
    for line in patch.split(|b| *b == b'\n') {
        if let Some(header) = line.strip_prefix(b"diff --git ") {
            if let Some(name) = name.replace(header.to_vec()) {
                files.insert(name, std::mem::take(&mut lines));
            }
            inside = false;
        } else if line.starts_with(b"@@ ") {
            inside = true;
        } else if inside {
            let sign = match line.first() {
                Some(b'+') => 1,
                Some(b'-') => -1,
                _ => continue,
            };
            *lines.entry(hash(&line[1..])).or_default() += sign;
        } else if let Some(ids) = line.strip_prefix(b"index ") {
            index = ids;
        } else if line.starts_with(b"Binary files ") {
            // Its new content stands for it.
            let new = index.split(|b| *b == b'.').next_back().unwrap_or_default();
            *lines.entry(hash(new)).or_default() += 1;
        } else if ["old mode ", "new mode ", "new file mode ", "deleted file mode "]
            .iter()
            .any(|w| line.starts_with(w.as_bytes()))
        {
            *lines.entry(hash(line)).or_default() += 1;
        }
    }
    files.extend(name.map(|name| (name, lines)));
    for lines in files.values_mut() {
        lines.retain(|_, count| *count != 0);
    }
    files.retain(|_, lines| !lines.is_empty());
    files
}

fn hash(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// The files whose difference has no explanation: not what was there already, and not moved to another path.
fn differing(adds: &Files, alone: &Files, there: &Files) -> Vec<String> {
    let none = Lines::new();
    let of = |files: &Files, name: &Vec<u8>| files.get(name).unwrap_or(&none).clone();
    let all: BTreeSet<&Vec<u8>> = adds.keys().chain(alone.keys()).collect();
    let odd: Vec<&Vec<u8>> =
        all.into_iter().filter(|name| !explained(&of(adds, name), &of(alone, name), &of(there, name))).collect();
    // Somebody moved a file that the candidate changes, or the other way round: then it fits over all files together.
    let sum = |files: &Files| {
        let mut sum = Lines::new();
        for (line, count) in odd.iter().flat_map(|name| of(files, name)) {
            *sum.entry(line).or_default() += count;
        }
        sum
    };
    if explained(&sum(adds), &sum(alone), &sum(there)) {
        return vec![];
    }
    odd.into_iter().map(|header| path(header)).collect()
}

/// Whether a level adds what its candidate changes, less what was there already.
fn explained(adds: &Lines, alone: &Lines, there: &Lines) -> bool {
    let of = |lines: &Lines, line: &u64| lines.get(line).copied().unwrap_or(0);
    adds.keys().chain(alone.keys()).all(|line| {
        let (adds, alone, there) = (of(adds, line), of(alone, line), of(there, line));
        let missing = alone - adds;
        missing == 0
            || (missing.signum() == alone.signum()
                && missing.signum() == there.signum()
                && missing.abs() <= alone.abs()
                && missing.abs() <= there.abs())
    })
}

/// The path in a header `a/PATH b/PATH`, of which both are the same.
fn path(header: &[u8]) -> String {
    let half = header.get(..header.len() / 2).unwrap_or_default();
    let text = String::from_utf8_lossy(half).into_owned();
    let text = text.trim_matches('"');
    text.strip_prefix("a/").unwrap_or(text).to_owned()
}
