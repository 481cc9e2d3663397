//! Compares the changes of two branches as `git merge` would.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::change::{Branch, Change, Content, Entry, EntryKind};
use super::{folders, lines, symbols};

/// How two changes meet, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeetingKind {
    /// Both branches change the file; git merges the changes.
    SameFile,
    /// One branch moves the file that the other changes, or the folder that the other adds to.
    RenamedUnder,
    /// Both change the same function, method or type, at different lines; git merges the changes.
    SameSymbol,
    /// Both change the same lines, or lines that touch: git asks a person.
    SameLines,
    /// The two changes exclude each other: git asks a person.
    Contradiction,
    /// The changes conflict with what has come to the base branch: git asks a person.
    Base,
}

impl MeetingKind {
    /// Whether git could not merge the two.
    pub fn conflicts(self) -> bool {
        self >= Self::SameLines
    }
}

/// A place where the changes of two branches meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meeting {
    /// The path, as the common commit has it, or the new one.
    pub path: String,
    /// How they meet.
    pub kind: MeetingKind,
    /// The lines of the common commit's file, first and last.
    pub lines: Option<(u32, u32)>,
    /// The symbol that both change.
    pub symbol: Option<String>,
    /// An explanation.
    pub why: &'static str,
}

impl fmt::Display for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            Some((first, last)) if first == last => write!(f, "{}:{first}: {}", self.path, self.why)?,
            Some((first, last)) => write!(f, "{}:{first}-{last}: {}", self.path, self.why)?,
            None => write!(f, "{}: {}", self.path, self.why)?,
        }
        self.symbol.iter().try_for_each(|symbol| write!(f, " ({symbol})"))
    }
}

/// Where the changes of two branches meet, in order of the paths. Both describe their changes against the same commit.
pub fn overlaps(one: &Branch, other: &Branch) -> Vec<Meeting> {
    most_exact(meetings(&Side::of(one), &Side::of(other)))
}

/// Leaves out *same file* where symbols of the file meet.
pub(super) fn most_exact(mut found: Vec<Meeting>) -> Vec<Meeting> {
    let at_symbol = |meeting: &&Meeting| meeting.kind == MeetingKind::SameSymbol;
    let told: BTreeSet<String> = found.iter().filter(at_symbol).map(|meeting| meeting.path.clone()).collect();
    found.retain(|meeting| meeting.kind != MeetingKind::SameFile || !told.contains(&meeting.path));
    found
}

/// As [`overlaps`], with *same file* also where symbols of the file meet.
pub(super) fn meetings(a: &Side<'_>, b: &Side<'_>) -> Vec<Meeting> {
    let mut found = BTreeSet::new();
    for (path, mine) in &a.old {
        if let Some(theirs) = b.old.get(path) {
            found.extend(same_origin(path, mine, theirs));
        }
    }
    for (path, mine) in &a.new {
        if let Some(theirs) = b.new.get(path) {
            found.extend(same_target(path, (a, mine), (b, theirs)));
        }
    }
    for (x, y) in [(a, b), (b, a)] {
        found.extend(
            x.paths
                .iter()
                .filter(|path| folders::below(path, &y.paths).is_some())
                .map(|path| contradiction(path, "it is a file on one branch and a folder on the other")),
        );
        found.extend(y.new.values().filter_map(|change| into_moved_folder(x, y, change)));
    }
    found.into_iter().collect()
}

/// The changes of a branch by path.
pub(super) struct Side<'a> {
    /// By the path that the common commit has.
    old: BTreeMap<&'a str, &'a Change>,
    /// The files that are new at their path.
    new: BTreeMap<&'a str, &'a Change>,
    /// The paths of `new`.
    paths: BTreeSet<&'a str>,
    folders: BTreeMap<&'a str, Option<&'a str>>,
}

impl<'a> Side<'a> {
    pub(super) fn of(branch: &'a Branch) -> Self {
        let old = branch.changes.iter().filter_map(|change| Some((change.old_path()?, change))).collect();
        let arrives = |change: &&Change| change.arrives();
        let new: BTreeMap<_, _> =
            branch.changes.iter().filter(arrives).map(|change| (change.path.as_str(), change)).collect();
        let paths = new.keys().copied().collect();
        Self { old, new, paths, folders: folders::moved(branch) }
    }
}

/// Both change the same file of the common commit.
fn same_origin(path: &str, mine: &Change, theirs: &Change) -> Vec<Meeting> {
    let one = |meeting| vec![meeting];
    match (&mine.after, &theirs.after) {
        (None, None) => vec![],
        (None, Some(_)) => one(gone_and(path, theirs)),
        (Some(_), None) => one(gone_and(path, mine)),
        (Some(_), Some(_)) if mine.from.is_some() && theirs.from.is_some() && mine.path != theirs.path => {
            one(contradiction(path, "both branches move it, to different places"))
        }
        (Some(x), Some(y)) => {
            let mut found = content(path, (mine, x), (theirs, y));
            let moved = mine.from.is_some() || theirs.from.is_some();
            if found.is_empty() && mine != theirs && (moved || mine.content != theirs.content) {
                found.push(match moved {
                    true => meeting(path, MeetingKind::RenamedUnder, "one branch moves it, the other changes it"),
                    false => meeting(path, MeetingKind::SameFile, "both branches change it, at different places"),
                });
                found.extend(symbols::both(&mine.symbols, &theirs.symbols).into_iter().map(|symbol| Meeting {
                    symbol: Some(symbol.to_owned()),
                    ..meeting(path, MeetingKind::SameSymbol, "both branches change it, at different lines")
                }));
            }
            found
        }
    }
}

fn gone_and(path: &str, change: &Change) -> Meeting {
    match change.from {
        Some(_) => contradiction(path, "one branch deletes it, the other moves it"),
        None => contradiction(path, "one branch deletes it, the other changes it"),
    }
}

/// Merges kind and content of a file that both have.
fn content(path: &str, (mine, x): (&Change, &Entry), (theirs, y): (&Change, &Entry)) -> Vec<Meeting> {
    if x == y {
        return vec![];
    }
    let moved = mine.from.is_some() || theirs.from.is_some();
    if moved && x.kind.is_file() != y.kind.is_file() {
        return vec![contradiction(path, "one branch moves it, the other makes it another kind of file")];
    }
    let untouched =
        |change: &Change, entry: &Entry| change.content == Content::Same && change.before == Some(entry.kind);
    if untouched(mine, x) || untouched(theirs, y) {
        return vec![];
    }
    if !(x.kind.is_file() && y.kind.is_file() && mine.before.is_some_and(EntryKind::is_file)) {
        let why = match x.kind == y.kind {
            true => "both branches change it, and git does not merge such entries",
            false => "one branch makes it another kind of file, the other changes it",
        };
        return vec![contradiction(path, why)];
    }
    match (&mine.content, &theirs.content) {
        _ if x.content == y.content => vec![],
        (Content::Same, _) | (_, Content::Same) => vec![],
        (Content::Lines(mine), Content::Lines(theirs)) => lines::conflicts(mine, theirs)
            .into_iter()
            .map(|lines| Meeting {
                lines: Some(lines),
                ..meeting(path, MeetingKind::SameLines, "both branches change these lines")
            })
            .collect(),
        _ => vec![contradiction(path, "both branches change it, and it is not compared by line")],
    }
}

/// Both have a file at a path where the common commit has none.
fn same_target(path: &str, (a, mine): (&Side<'_>, &Change), (b, theirs): (&Side<'_>, &Change)) -> Option<Meeting> {
    if mine.from.is_some() && mine.from == theirs.from {
        // The same file: its content was merged.
        return None;
    }
    let alone = |change: &Change, other: &Side<'_>| {
        change.from.as_deref().and_then(|from| other.old.get(from)).is_none_or(|there| there.after.is_none())
    };
    if mine.after == theirs.after && alone(mine, b) && alone(theirs, a) {
        return None;
    }
    Some(match (mine.from.is_some(), theirs.from.is_some()) {
        (false, false) => contradiction(path, "both branches add it, with different contents"),
        (true, true) => contradiction(path, "the branches move two different files there"),
        _ => contradiction(path, "one branch adds it, the other moves a file there"),
    })
}

/// `new` is a file in a folder that the other branch moved: git asks where it belongs.
fn into_moved_folder(mover: &Side<'_>, adder: &Side<'_>, new: &Change) -> Option<Meeting> {
    let theirs = |folder: &str| adder.folders.contains_key(folder);
    let (folder, to) = folders::moved_around(&new.path, &mover.folders)?;
    if theirs(folder) || to.is_some_and(theirs) {
        return None;
    }
    let why = match to {
        Some(_) => "one branch adds it to a folder that the other moves",
        None => "one branch adds it to a folder that the other splits",
    };
    Some(contradiction(&new.path, why))
}

fn contradiction(path: &str, why: &'static str) -> Meeting {
    meeting(path, MeetingKind::Contradiction, why)
}

fn meeting(path: &str, kind: MeetingKind, why: &'static str) -> Meeting {
    Meeting { path: path.to_owned(), kind, lines: None, symbol: None, why }
}
