//! Runners' descriptions of work: checked, and as the comparison takes them.

use std::collections::BTreeSet;

use engine::overlaps::{Branch, Change, Content, Entry, EntryKind, Hunk, Symbol, Work};
use protocol::link::{
    FileFacts, LineFacts, MAX_FILE_SYMBOLS, MAX_FORKS, MAX_SYMBOL_NAME, MAX_WORK_BYTES, MAX_WORK_FILES, MAX_WORK_HUNKS,
    MAX_WORK_NAMES, MAX_WORK_SYMBOLS, SymbolFacts, WorkFacts,
};
use sha2::{Digest, Sha256};

/// Maximum length of a path.
const PATH: usize = 4096;
/// Maximum length of a hash.
const HASH: usize = 64;
/// Names that are longer are stored by their hash: an index has room for shorter ones.
const NAME: usize = 512;

/// Why a description is refused; `None` if it is well-formed.
pub(crate) fn fault(work: &[WorkFacts]) -> Option<&'static str> {
    let files = || work.iter().flat_map(|work| &work.files);
    let hunks = |file: &FileFacts| match &file.lines {
        LineFacts::Changed { hunks } => hunks.len(),
        LineFacts::Same {} | LineFacts::Whole {} => 0,
    };
    let bytes = |file: &FileFacts| file.path.len() + file.from.as_ref().map_or(0, String::len);
    let symbols = || files().flat_map(|file| &file.symbols);
    let commits: BTreeSet<&str> = work.iter().map(|work| work.against.as_str()).collect();
    if work.is_empty() || work.len() > MAX_FORKS + 1 || commits.len() != work.len() {
        return Some("it is against no commit, too many, or the same one twice");
    }
    if !commits.iter().all(|id| matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit())) {
        return Some("it is against something that is not a commit");
    }
    if files().count() > MAX_WORK_FILES || work.iter().any(|work| work.gone.len() > MAX_WORK_FILES) {
        return Some("it has too many files");
    }
    if files().map(hunks).sum::<usize>() > MAX_WORK_HUNKS {
        return Some("it has too many changed places");
    }
    if symbols().count() > MAX_WORK_SYMBOLS || symbols().map(length).sum::<usize>() > MAX_WORK_NAMES {
        return Some("it has too many changed symbols");
    }
    if files().map(bytes).sum::<usize>() > MAX_WORK_BYTES {
        return Some("its paths are too long");
    }
    files().find_map(file_fault).or_else(|| {
        let long = work.iter().flat_map(|work| &work.gone).any(|folder| folder.len() > PATH);
        long.then_some("a folder has too long a name")
    })
}

fn file_fault(file: &FileFacts) -> Option<&'static str> {
    let path = |path: &str| !path.is_empty() && path.len() <= PATH && !path.contains('\0');
    if !path(&file.path) || !file.from.as_deref().is_none_or(path) {
        return Some("a file has no path, or too long a one");
    }
    if file.before.is_none() && file.after.is_none() {
        return Some("a file is neither there before nor after");
    }
    let after = file.after.as_ref();
    let modes = file.before.iter().chain(after.map(|after| &after.mode));
    if !modes.into_iter().all(|mode| kind(mode).is_some()) || after.is_some_and(|after| after.content.len() > HASH) {
        return Some("a file has an unknown mode, or no hash");
    }
    if file.symbols.len() > MAX_FILE_SYMBOLS || file.symbols.iter().any(strange) {
        return Some("a file has too many symbols, or one without a name or hash");
    }
    let LineFacts::Changed { hunks } = &file.lines else { return None };
    let mut end = 0;
    for (first, last, new) in hunks {
        if *first < end || last < first || new.len() > HASH {
            return Some("changed lines are out of order");
        }
        end = *last;
    }
    None
}

fn length(symbol: &SymbolFacts) -> usize {
    symbol.name.len() + symbol.before.iter().chain(&symbol.after).map(String::len).sum::<usize>()
}

fn strange(symbol: &SymbolFacts) -> bool {
    let name = &symbol.name;
    let mut hashes = symbol.before.iter().chain(&symbol.after).peekable();
    let named = !name.is_empty() && name.len() <= MAX_SYMBOL_NAME && !name.contains(char::is_control);
    !named || hashes.peek().is_none() || hashes.any(|hash| hash.len() > HASH)
}

/// The kind of an entry by its mode, as git writes it.
fn kind(mode: &str) -> Option<EntryKind> {
    Some(match mode {
        "100644" | "100664" => EntryKind::File,
        "100755" => EntryKind::Executable,
        "120000" => EntryKind::Link,
        "160000" => EntryKind::Submodule,
        _ => return None,
    })
}

/// The work as the comparison takes it; `None` without any description.
pub(crate) fn work(described: Vec<WorkFacts>) -> Option<Work> {
    let fork = described.first()?.against.clone();
    Some(Work { fork, against: described.into_iter().map(|work| (work.against.clone(), branch(work))).collect() })
}

fn branch(work: WorkFacts) -> Branch {
    Branch { changes: work.files.into_iter().map(change).collect(), gone: work.gone.into_iter().collect() }
}

fn change(file: FileFacts) -> Change {
    Change {
        path: file.path,
        from: file.from,
        before: file.before.as_deref().and_then(kind),
        after: file.after.and_then(|after| Some(Entry { kind: kind(&after.mode)?, content: after.content })),
        content: match file.lines {
            LineFacts::Same {} => Content::Same,
            LineFacts::Whole {} => Content::Whole,
            LineFacts::Changed { hunks } => {
                Content::Lines(hunks.into_iter().map(|(first, end, new)| Hunk { first, end, new }).collect())
            }
        },
        symbols: file
            .symbols
            .into_iter()
            .map(|SymbolFacts { name, before, after }| Symbol { name, before, after })
            .collect(),
    }
}

/// Maximum number of names of a work; folders beyond it are left out. Someone could make a thousand folders with one path.
const NAMES: usize = 20_000;

/// The files and folders that a work touches: two works without a common name do not meet.
pub(super) fn names(described: &[WorkFacts]) -> BTreeSet<String> {
    let files = || described.iter().flat_map(|work| &work.files);
    let mut names: BTreeSet<String> =
        files().flat_map(|file| file.from.iter().chain([&file.path])).map(|path| short(path)).collect();
    for file in files() {
        let arrives = file.before.is_none() || file.from.is_some();
        // A file may arrive where another work has a folder, or in a folder that another work moves.
        let folders = file.from.iter().chain(arrives.then_some(&file.path));
        for path in folders {
            let mut rest = path.as_str();
            while let Some((folder, _)) = rest.rsplit_once('/').filter(|_| names.len() < NAMES) {
                names.insert(short(folder));
                rest = folder;
            }
        }
    }
    names
}

fn short(name: &str) -> String {
    if name.len() <= NAME {
        return name.to_owned();
    }
    let hash: String = Sha256::digest(name).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("//{hash}")
}
