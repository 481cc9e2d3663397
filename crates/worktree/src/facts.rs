//! Facts about a branch's changes, to tell whether they meet those of another branch: paths, changed lines and keyed
//! hashes, but no content. The key is content of the repository, so that only somebody who has it can guess.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::bare::Oid;
use crate::diff::SAFE;
use crate::parsed::{Pair, Parsed};
use crate::patch::edits;
use crate::process::Input;
use crate::store::Store;
use crate::{Error, Location, Result, Worktrees};

/// Most files of a branch; a branch with more changes is compared by its first ones.
const MOST_FILES: usize = 20_000;
/// Most text of a patch; beyond it, files are not compared by line.
const MOST_TEXT: usize = 64 << 20;
/// Most changed symbols of a file.
const MOST_SYMBOLS: usize = 200;
/// The differences between lines as `git merge` finds them.
const AS_MERGED: [&str; 4] = ["-p", "--unified=0", "--diff-algorithm=histogram", "--no-indent-heuristic"];
const ABSENT: &str = "000000";

/// The changes between a commit and a branch's work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeFacts {
    /// The changed files, in order of their paths.
    pub files: Vec<FileFacts>,
    /// The folders of the commit that are gone, as far as files of theirs were moved.
    pub gone: BTreeSet<PathBuf>,
    /// Whether files were left out because there are too many.
    pub more: bool,
}

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its path; the old path if it is deleted.
    pub path: PathBuf,
    /// The old path of a moved file.
    pub from: Option<PathBuf>,
    /// Its mode before, as git writes it; absent if it is new.
    pub before: Option<String>,
    /// Its mode now and a keyed hash of its content; absent if it is deleted.
    pub after: Option<(String, String)>,
    /// What happened to its content.
    pub lines: LineFacts,
    /// The functions, methods and types that differ, in order of their names, as far as they were found.
    pub symbols: Vec<SymbolFacts>,
}

/// The change of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolFacts {
    /// Its qualified name.
    pub name: String,
    /// A keyed hash of its code before; absent if it is new.
    pub before: Option<String>,
    /// A keyed hash of its code now; absent if it is gone.
    pub after: Option<String>,
}

/// What happened to the content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineFacts {
    /// It is the same.
    Same,
    /// These lines changed: the number of lines before the change, the number up to its end, a keyed hash of the new
    /// lines.
    Changed(Vec<(u32, u32, String)>),
    /// It is not compared by line.
    Whole,
}

impl Worktrees {
    /// The changes between two commits or trees in the store of a repository. Facts can be compared only if they come
    /// from the same `base`.
    pub async fn change_facts(&self, location: &Location, base: &Oid, work: &Oid) -> Result<ChangeFacts> {
        Store(self.layout().store(Some(location))).facts(base, work, &mut Parsed::default()).await
    }
}

impl Store {
    pub(crate) async fn facts(&self, base: &Oid, work: &Oid, parsed: &mut Parsed) -> Result<ChangeFacts> {
        let key = Key(self.git("cat-file").args(["tree"]).operands([base]).run().await?);
        let git = self.git("diff-tree").args(SAFE).args(["--raw", "-z"]);
        let mut entries = entries(&git.operands([base, work]).run().await?, &key);
        if entries.is_empty() {
            return Ok(ChangeFacts::default());
        }
        let more = entries.len() > MOST_FILES;
        entries.truncate(MOST_FILES);
        let (mut files, blobs): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
        let git = self.git("diff-tree").args(SAFE).args(AS_MERGED).limit(MOST_TEXT);
        let mut lines = match git.operands([base, work]).run().await {
            Ok(patch) => edits(&patch, |path| key.lines(path)),
            Err(Error::TooMuch { .. }) => BTreeMap::new(),
            Err(error) => return Err(error),
        };
        for file in files.iter_mut().filter(|file| file.lines == LineFacts::Whole) {
            let name = file.from.as_ref().unwrap_or(&file.path).as_os_str().as_bytes();
            if let (Some(_), Some(_), Some(edits)) = (&file.before, &file.after, lines.remove(name)) {
                let told = edits.into_iter().map(|edit| (edit.first, edit.end, hex(&edit.new.finalize())));
                file.lines = LineFacts::Changed(told.collect());
            }
        }
        self.symbols(&mut files, &blobs, &key, parsed).await?;
        let gone = self.gone(work, &files).await?;
        Ok(ChangeFacts { files, gone, more })
    }

    /// Adds the symbols that differ in files whose lines changed. `blobs` are the ids of their contents.
    async fn symbols(
        &self,
        files: &mut [FileFacts],
        blobs: &[(String, String)],
        key: &Key,
        parsed: &mut Parsed,
    ) -> Result<()> {
        let pair = |(at, file): (usize, &FileFacts)| {
            let (before, after) = blobs.get(at)?;
            let changed = matches!(file.lines, LineFacts::Changed(_));
            let from = file.from.as_ref().unwrap_or(&file.path);
            Some((at, Pair::of(from, &file.path, (before, after)).filter(|_| changed)?))
        };
        let (places, pairs): (Vec<_>, Vec<_>) = files.iter().enumerate().filter_map(pair).unzip();
        self.parse(&pairs, parsed).await?;
        for (at, pair) in places.into_iter().zip(&pairs) {
            let Some(file) = files.get_mut(at) else { continue };
            let path = file.from.as_ref().unwrap_or(&file.path).as_os_str().as_bytes();
            let found = parsed.changed(pair).into_iter().take(MOST_SYMBOLS);
            file.symbols = found.map(|changed| key.symbol(path, changed)).collect();
        }
        Ok(())
    }

    /// Of the folders that files were moved out of, those that are not in a tree.
    async fn gone(&self, work: &Oid, files: &[FileFacts]) -> Result<BTreeSet<PathBuf>> {
        let moved = files.iter().filter_map(|file| file.from.as_deref());
        let folders: BTreeSet<&Path> =
            moved.flat_map(|from| from.ancestors().skip(1)).filter(|folder| !folder.as_os_str().is_empty()).collect();
        // A line feed in a name would be read as two names.
        let folders: Vec<&Path> =
            folders.into_iter().filter(|folder| !folder.as_os_str().as_bytes().contains(&b'\n')).collect();
        if folders.is_empty() {
            return Ok(BTreeSet::new());
        }
        let mut asked = Vec::new();
        for folder in &folders {
            asked.extend_from_slice(work.as_str().as_bytes());
            asked.extend_from_slice(b":");
            asked.extend_from_slice(folder.as_os_str().as_bytes());
            asked.push(b'\n');
        }
        let git = self.git("cat-file").args(["--batch-check=%(objecttype)"]).input(Input::Bytes(asked));
        let told = git.run().await?;
        let there = told.split(|b| *b == b'\n').map(|line| line == b"tree");
        Ok(folders.into_iter().zip(there).filter(|(_, there)| !there).map(|(folder, _)| folder.to_owned()).collect())
    }
}

/// Keys the hashes with the content of the base's root folder.
struct Key(Vec<u8>);

impl Key {
    fn begin(&self) -> Sha256 {
        let mut hash = Sha256::new();
        hash.update(Sha256::digest(&self.0));
        hash
    }

    fn content(&self, blob: &str) -> String {
        let mut hash = self.begin();
        hash.update(blob);
        hex(&hash.finalize())
    }

    fn lines(&self, path: &[u8]) -> Sha256 {
        let mut hash = self.begin();
        hash.update(path);
        hash.update([0]);
        hash
    }

    fn symbol(&self, path: &[u8], changed: symbols::Changed) -> SymbolFacts {
        let code = |code: [u8; 32]| {
            let mut hash = self.lines(path);
            hash.update(&changed.name);
            hash.update([0]);
            hash.update(code);
            hex(&hash.finalize())
        };
        let (before, after) = (changed.before.map(code), changed.after.map(code));
        SymbolFacts { name: changed.name, before, after }
    }
}

/// Half of a SHA-256: enough to tell changes of one file apart.
fn hex(hash: &[u8]) -> String {
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Reads `--raw -z`: modes, ids and a status, then one path or two. Each with the ids of its contents, before and now.
fn entries(out: &[u8], key: &Key) -> Vec<(FileFacts, (String, String))> {
    let path = |name: &[u8]| PathBuf::from(OsString::from_vec(name.to_vec()));
    let mut files = Vec::new();
    let mut fields = out.split(|b| *b == 0);
    while let Some(field) = fields.next() {
        let Some(field) = field.strip_prefix(b":") else { continue };
        let text = String::from_utf8_lossy(field);
        let mut columns = text.split(' ');
        let (Some(old), Some(new), Some(old_blob), Some(blob), Some(status)) =
            (columns.next(), columns.next(), columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let first = fields.next().map(path).unwrap_or_default();
        let second = if status.starts_with(['R', 'C']) { fields.next().map(path) } else { None };
        let (from, path) = match second {
            Some(second) => (Some(first), second),
            None => (None, first),
        };
        let file = FileFacts {
            path,
            from,
            before: (old != ABSENT).then(|| old.to_owned()),
            after: (new != ABSENT).then(|| (new.to_owned(), key.content(blob))),
            lines: if old_blob == blob { LineFacts::Same } else { LineFacts::Whole },
            symbols: vec![],
        };
        files.push((file, (old_blob.to_owned(), blob.to_owned())));
    }
    files
}
