//! Conflicts between two outputs: the same lines, or contradicting changes of a file. Outputs with different bases are
//! compared only where both started from the same content.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One output's change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path; the old path if the file is deleted.
    pub path: String,
    /// The old path of a renamed file.
    pub from: Option<String>,
    /// The kind of change.
    pub change: Change,
    /// Identifies the old content; absent if the file is new or the content unknown.
    pub before: Option<String>,
    /// Identifies the new content; absent if the file is deleted.
    pub content: Option<String>,
    /// The changed lines of the base, first and last; empty for binary files. An insertion names the line before it
    /// twice.
    pub ranges: Vec<(u32, u32)>,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file is new.
    Added,
    /// The content or mode changed.
    Modified,
    /// The file was deleted.
    Deleted,
    /// The file was moved; its content may have changed.
    Renamed,
    /// The file became a symbolic link, or stopped being one.
    TypeChanged,
}

impl Change {
    /// Parses a kind; an unknown word counts as a type change, which conflicts with every other change.
    pub fn of(word: &str) -> Self {
        match word {
            "added" => Self::Added,
            "modified" => Self::Modified,
            "deleted" => Self::Deleted,
            "renamed" => Self::Renamed,
            _ => Self::TypeChanged,
        }
    }
}

/// The kind of a conflict, in order of severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Both changed the same lines of a text.
    SameLines,
    /// The two changes of a file exclude each other.
    Contradiction,
}

/// A conflict between two outputs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meeting {
    /// The file.
    pub path: String,
    /// The kind.
    pub kind: Kind,
    /// The lines of the base that both changed.
    pub lines: Option<(u32, u32)>,
    /// An explanation.
    pub why: &'static str,
}

impl fmt::Display for Meeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lines {
            Some((first, last)) if first == last => write!(f, "{}:{first}: {}", self.path, self.why),
            Some((first, last)) => write!(f, "{}:{first}-{last}: {}", self.path, self.why),
            None => write!(f, "{}: {}", self.path, self.why),
        }
    }
}

/// The conflicts between two outputs, in order of paths. `same_base` says that both started from the same commit.
pub fn meetings(one: &[File], other: &[File], same_base: bool) -> Vec<Meeting> {
    let (one, other) = (touched(one), touched(other));
    let mut found = BTreeSet::new();
    for (path, a) in &one {
        if let Some(b) = other.get(path).filter(|b| same_base || a.began_as(b)) {
            found.extend(meet(path, &a.touch, &b.touch));
        }
    }
    for (mine, theirs) in [(&one, &other), (&other, &one)] {
        let there = mine.iter().filter(|(_, place)| place.stands(same_base));
        found.extend(there.filter_map(|(path, _)| inside(path, theirs, same_base)));
    }
    found.into_iter().collect()
}

/// The most severe kind.
pub fn worst(meetings: &[Meeting]) -> Option<Kind> {
    meetings.iter().map(|meeting| meeting.kind).max()
}

/// One output's effect on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Touch<'a> {
    Created(Option<&'a str>),
    Changed(Option<&'a str>, &'a [(u32, u32)]),
    /// The file type changed.
    Turned(Option<&'a str>),
    Moved(&'a str, Option<&'a str>),
    Gone,
}

impl Touch<'_> {
    fn is_there(&self) -> bool {
        !matches!(self, Self::Gone | Self::Moved(..))
    }
}

/// A path that an output touched.
struct Place<'a> {
    touch: Touch<'a>,
    before: Before<'a>,
}

/// The old content of a path.
#[derive(PartialEq)]
enum Before<'a> {
    Nothing,
    Content(&'a str),
    Unknown,
}

impl Place<'_> {
    /// Whether both started from the same content, so that their line numbers are comparable.
    fn began_as(&self, other: &Self) -> bool {
        self.before == other.before && self.before != Before::Unknown
    }

    /// Whether a file is at the path that may conflict with a folder of the other output. With different bases, only a
    /// new file counts.
    fn stands(&self, same_base: bool) -> bool {
        self.touch.is_there() && (same_base || self.before == Before::Nothing)
    }
}

fn touched(files: &[File]) -> BTreeMap<&str, Place<'_>> {
    let mut all = BTreeMap::new();
    for file in files {
        let content = file.content.as_deref();
        let before = || file.before.as_deref().map_or(Before::Unknown, Before::Content);
        let touch = match file.change {
            Change::Added => Touch::Created(content),
            Change::Modified => Touch::Changed(content, &file.ranges),
            Change::Deleted => Touch::Gone,
            Change::TypeChanged => Touch::Turned(content),
            Change::Renamed => {
                if let Some(from) = &file.from {
                    all.insert(from.as_str(), Place { touch: Touch::Moved(&file.path, content), before: before() });
                }
                Touch::Created(content)
            }
        };
        let before = if matches!(touch, Touch::Created(_)) { Before::Nothing } else { before() };
        all.insert(file.path.as_str(), Place { touch, before });
    }
    all
}

fn meet(path: &str, a: &Touch<'_>, b: &Touch<'_>) -> Vec<Meeting> {
    let one = |kind, why| vec![Meeting { path: path.to_owned(), kind, lines: None, why }];
    let contradiction = |why| one(Kind::Contradiction, why);
    match (a, b) {
        // Equal changes never conflict.
        _ if a == b => vec![],
        (Touch::Created(x), Touch::Created(y)) if same(x, y) => vec![],
        (Touch::Created(_), Touch::Created(_)) => contradiction("both added it, with different contents"),
        (Touch::Changed(x, _), Touch::Changed(y, _)) if same(x, y) => vec![],
        (Touch::Changed(_, mine), Touch::Changed(_, theirs)) if mine.is_empty() || theirs.is_empty() => {
            contradiction("both changed it, and it cannot be compared line by line")
        }
        (Touch::Changed(_, mine), Touch::Changed(_, theirs)) => common(mine, theirs)
            .into_iter()
            .map(|lines| Meeting {
                path: path.to_owned(),
                kind: Kind::SameLines,
                lines: Some(lines),
                why: "both changed these lines",
            })
            .collect(),
        (Touch::Moved(to, x), Touch::Moved(there, y)) if to == there && same(x, y) => vec![],
        (Touch::Moved(to, _), Touch::Moved(there, _)) if to == there => {
            contradiction("both moved it to the same place, with different contents")
        }
        (Touch::Moved(..), Touch::Moved(..)) => contradiction("both moved it, to different places"),
        (Touch::Gone, Touch::Moved(..)) | (Touch::Moved(..), Touch::Gone) => {
            contradiction("one deletes it, the other moves it")
        }
        (Touch::Gone, _) | (_, Touch::Gone) => contradiction("one deletes it, the other changes it"),
        (Touch::Moved(..), _) | (_, Touch::Moved(..)) => contradiction("one moves it, the other changes it"),
        (Touch::Turned(x), Touch::Turned(y)) if same(x, y) => vec![],
        (Touch::Turned(_), _) | (_, Touch::Turned(_)) => {
            contradiction("one makes it another kind of file, the other changes it")
        }
        (Touch::Created(x), Touch::Changed(y, _)) | (Touch::Changed(y, _), Touch::Created(x)) if same(x, y) => vec![],
        (Touch::Created(_), Touch::Changed(..)) | (Touch::Changed(..), Touch::Created(_)) => {
            contradiction("one puts another file in its place, the other changes it")
        }
    }
}

fn same(a: &Option<&str>, b: &Option<&str>) -> bool {
    a.is_some() && a == b
}

/// A file of one output where the other has a folder.
fn inside(path: &str, theirs: &BTreeMap<&str, Place<'_>>, same_base: bool) -> Option<Meeting> {
    let folder = format!("{path}/");
    let below = theirs.range(folder.as_str()..).take_while(|(there, _)| there.starts_with(&folder));
    below.into_iter().any(|(_, place)| place.stands(same_base)).then(|| Meeting {
        path: path.to_owned(),
        kind: Kind::Contradiction,
        lines: None,
        why: "it is a file for one and a folder for the other",
    })
}

/// The overlaps of two lists of line ranges.
fn common(mine: &[(u32, u32)], theirs: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
    let both = |a: &(u32, u32), b: &(u32, u32)| {
        let (first, last) = (a.0.max(b.0), a.1.min(b.1));
        (first <= last).then_some((first, last))
    };
    mine.iter().flat_map(|a| theirs.iter().filter_map(move |b| both(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(path: &str, change: Change, content: &str, ranges: &[(u32, u32)]) -> File {
        let content = (!content.is_empty()).then(|| content.to_owned());
        let before = (change != Change::Added).then(|| "b".to_owned());
        File { path: path.into(), from: None, change, before, content, ranges: ranges.to_vec() }
    }

    fn moved(from: &str, path: &str, content: &str) -> File {
        File { from: Some(from.into()), ..file(path, Change::Renamed, content, &[]) }
    }

    #[test]
    fn kinds_of_conflicts_are_told_apart() {
        use Change::{Added, Deleted, Modified, TypeChanged};
        use Kind::{Contradiction, SameLines};
        let text = |content: &str, ranges: &[(u32, u32)]| file("a", Modified, content, ranges);
        let cases = [
            ("other lines", text("x", &[(1, 2)]), text("y", &[(4, 9)]), None),
            ("the same lines", text("x", &[(1, 5)]), text("y", &[(4, 9)]), Some(SameLines)),
            ("two insertions at one place", text("x", &[(4, 4)]), text("y", &[(4, 4)]), Some(SameLines)),
            ("the same change", text("x", &[(1, 5)]), text("x", &[(1, 5)]), None),
            ("binary files", text("x", &[]), text("y", &[]), Some(Contradiction)),
            ("equal binary files", text("x", &[]), text("x", &[]), None),
            ("two new files", file("a", Added, "x", &[]), file("a", Added, "y", &[]), Some(Contradiction)),
            ("the same new file", file("a", Added, "x", &[]), file("a", Added, "x", &[]), None),
            ("deleted and changed", file("a", Deleted, "", &[]), text("y", &[(1, 1)]), Some(Contradiction)),
            ("deleted twice", file("a", Deleted, "", &[]), file("a", Deleted, "", &[]), None),
            ("moved and changed", moved("a", "b", "x"), text("y", &[(1, 1)]), Some(Contradiction)),
            ("moved and deleted", moved("a", "b", "x"), file("a", Deleted, "", &[]), Some(Contradiction)),
            ("moved to two places", moved("a", "b", "x"), moved("a", "c", "x"), Some(Contradiction)),
            ("moved alike", moved("a", "b", "x"), moved("a", "b", "x"), None),
            ("moved onto a new file", moved("a", "b", "x"), file("b", Added, "y", &[]), Some(Contradiction)),
            ("a link now", file("a", TypeChanged, "x", &[]), text("y", &[(1, 1)]), Some(Contradiction)),
            ("file and folder", file("a", Added, "x", &[]), file("a/b", Added, "y", &[]), Some(Contradiction)),
            ("neighbours by name", file("a", Added, "x", &[]), file("a.b", Added, "y", &[]), None),
        ];
        for (what, one, other, expected) in cases {
            for same_base in [true, false] {
                let found = meetings(std::slice::from_ref(&one), std::slice::from_ref(&other), same_base);
                assert_eq!(worst(&found), expected, "{what}: {found:?}");
            }
        }
    }

    #[test]
    fn outputs_from_different_commits_are_compared_where_both_found_the_same() {
        use Change::{Deleted, Modified};
        let text = |content: &str, before: Option<&str>| File {
            before: before.map(str::to_owned),
            ..file("a", Modified, content, &[(3, 4)])
        };
        let met = |one: File, other: File| worst(&meetings(&[one], &[other], false));
        assert_eq!(met(text("x", Some("b")), text("y", Some("b"))), Some(Kind::SameLines));
        assert_eq!(met(text("x", Some("b")), text("y", Some("c"))), None, "its lines are other lines");
        assert_eq!(met(text("x", None), text("y", None)), None, "nobody knows");
        let gone = |before: &str| File { before: Some(before.into()), ..file("a", Deleted, "", &[]) };
        assert_eq!(met(gone("b"), text("y", Some("b"))), Some(Kind::Contradiction));
        assert_eq!(met(gone("c"), text("y", Some("b"))), None);
    }

    #[test]
    fn places_are_named_for_people() {
        let (one, other) =
            (file("a", Change::Modified, "x", &[(3, 9)]), file("a", Change::Modified, "y", &[(7, 12), (1, 3)]));
        let told: Vec<_> = meetings(&[one], &[other], true).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["a:3: both changed these lines", "a:7-9: both changed these lines"]);
    }

    fn files(names: &'static str) -> impl Strategy<Value = Vec<File>> {
        let change = prop_oneof![
            Just(Change::Added),
            Just(Change::Modified),
            Just(Change::Deleted),
            Just(Change::Renamed),
            Just(Change::TypeChanged)
        ];
        let ranges = proptest::collection::vec((0_u32..20, 0_u32..5).prop_map(|(at, more)| (at, at + more)), 0..4);
        let content = || proptest::option::of("[xyz]");
        let one = (names, names, change, content(), content(), ranges).prop_map(
            |(path, from, change, before, content, ranges)| File {
                path,
                before: before.filter(|_| change != Change::Added),
                from: (change == Change::Renamed).then_some(from),
                change,
                content: content.filter(|_| change != Change::Deleted),
                ranges,
            },
        );
        proptest::collection::vec(one, 0..8)
    }

    proptest! {
        #[test]
        fn conflicts_do_not_depend_on_the_order_of_the_outputs(one in files("[ab](/[ab])?"), other in files("[ab](/[ab])?")) {
            for same_base in [true, false] {
                prop_assert_eq!(meetings(&one, &other, same_base), meetings(&other, &one, same_base));
            }
        }

        #[test]
        fn outputs_of_other_files_never_meet(one in files("[ab](/[ab])?"), other in files("[cd](/[cd])?")) {
            prop_assert_eq!(meetings(&one, &other, true), vec![]);
        }

        #[test]
        fn an_empty_output_conflicts_with_nothing(one in files("[ab](/[ab])?")) {
            prop_assert_eq!(meetings(&one, &[], true), vec![]);
        }

        #[test]
        fn another_base_makes_nothing_meet(one in files("[ab](/[ab])?"), other in files("[ab](/[ab])?")) {
            let near = meetings(&one, &other, true);
            prop_assert!(meetings(&one, &other, false).iter().all(|far| near.contains(far)));
        }
    }
}
