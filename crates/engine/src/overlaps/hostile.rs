//! Forged and enormous descriptions: the worst that may follow is a wrong warning.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Branch, Change, Content, Entry, EntryKind, Hunk, Symbol, Work, between, overlaps};

/// Names of every kind: twins by case, a line feed, a leading dash, what is left of bytes that are not UTF-8, folders.
const NAMES: [&str; 14] =
    ["a", "A", "b", "a/b", "a/B", "a/b/c", "-x", "--", "a\nb", "\u{fffd}", "/", "//", "", "a/../b"];

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => (1_usize..400).prop_map(|depth| "d/".repeat(depth)),
    ]
}

fn kind() -> impl Strategy<Value = EntryKind> {
    use EntryKind::{Executable, File, Link, Submodule};
    proptest::sample::select(vec![File, Executable, Link, Submodule])
}

/// Lines in any order, also backwards, overlapping and beyond every file.
fn hunk() -> impl Strategy<Value = Hunk> {
    let line = || prop_oneof![0_u32..12, Just(u32::MAX), Just(u32::MAX - 1), any::<u32>()];
    (line(), line(), "[xy]?").prop_map(|(first, end, new)| Hunk { first, end, new })
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Same),
        Just(Content::Whole),
        proptest::collection::vec(hunk(), 0..8).prop_map(Content::Lines)
    ]
}

/// Symbols of few names and codes, also without any, twice, or unchanged.
fn symbols() -> impl Strategy<Value = Vec<Symbol>> {
    let code = || proptest::option::of("[xy]?".prop_map(String::from));
    let symbol = ("[fg]?", code(), code()).prop_map(|(name, before, after)| Symbol { name, before, after });
    proptest::collection::vec(symbol, 0..4)
}

fn change() -> impl Strategy<Value = Change> {
    let entry = (kind(), "[xy]?").prop_map(|(kind, content)| Entry { kind, content });
    let (from, before, after) =
        (proptest::option::of(name()), proptest::option::of(kind()), proptest::option::of(entry));
    (name(), from, before, after, content(), symbols()).prop_map(|(path, from, before, after, content, symbols)| {
        Change { path, from, before, after, content, symbols }
    })
}

fn branch() -> impl Strategy<Value = Branch> {
    (proptest::collection::vec(change(), 0..10), proptest::collection::btree_set(name(), 0..4))
        .prop_map(|(changes, gone)| Branch { changes, gone })
}

fn work() -> impl Strategy<Value = Work> {
    ("[pqr]", proptest::collection::btree_map("[pqr]", branch(), 0..3))
        .prop_map(|(fork, against)| Work { fork, against })
}

/// How many places can be named at most: one for each changed place and symbol, and a few for each path.
fn most(branch: &Branch) -> usize {
    let lines = |change: &Change| match &change.content {
        Content::Lines(hunks) => hunks.len(),
        Content::Same | Content::Whole => 0,
    };
    branch.changes.iter().map(|change| lines(change) + change.symbols.len() + 4).sum()
}

proptest! {
    #[test]
    fn forged_descriptions_give_a_bounded_number_of_places(one in branch(), other in branch()) {
        let found = overlaps(&one, &other);
        prop_assert!(found.len() <= most(&one) + most(&other), "{}", found.len());
        let changed = |path: &str| {
            let names = |change: &Change| change.path == path || change.from.as_deref() == Some(path);
            one.changes.iter().chain(&other.changes).any(names)
        };
        for place in &found {
            prop_assert!(changed(&place.path), "{:?} is nobody's", place.path);
            prop_assert!(place.lines.is_none_or(|(first, last)| first >= 1 && last >= 1), "{place:?}");
            prop_assert!(!place.to_string().is_empty());
        }
    }

    #[test]
    fn works_that_are_compared_quickly_meet_as_their_branches_do(one in branch(), other in branch()) {
        let work = |mut branch: Branch| {
            // The root is never gone.
            branch.gone.remove("");
            Work { fork: "f".into(), against: BTreeMap::from([("f".into(), branch)]) }
        };
        let (one, other) = (work(one), work(other));
        prop_assert_eq!(between(&one, &other).unwrap(), overlaps(&one.against["f"], &other.against["f"]));
    }

    #[test]
    fn forged_works_are_compared_only_at_a_commit_that_both_name(one in work(), other in work()) {
        let common = [&one.fork, &other.fork].into_iter().any(|fork| {
            one.against.contains_key(fork) && other.against.contains_key(fork)
        });
        prop_assert_eq!(between(&one, &other).is_some(), common);
        prop_assert_eq!(between(&other, &one).is_some(), common);
    }
}

/// As many files with as many changed places each, on every second line.
fn enormous(files: usize, places: u32, shift: u32) -> Work {
    let hunk = |at: u32| Hunk { first: at * 2 + shift, end: at * 2 + shift + 1, new: String::new() };
    let change = |at: usize| Change {
        path: format!("folder{}/file{at}", at % 100),
        from: None,
        before: Some(EntryKind::File),
        after: Some(Entry { kind: EntryKind::File, content: format!("{shift}") }),
        content: Content::Lines((0..places).map(hunk).collect()),
        symbols: vec![],
    };
    let branch = Branch { changes: (0..files).map(change).collect(), ..Branch::default() };
    Work { fork: "f".into(), against: BTreeMap::from([("f".into(), branch)]) }
}

#[test]
fn a_hundred_thousand_files_and_a_million_places_are_compared_to_the_end() {
    let found = between(&enormous(100_000, 1, 0), &enormous(100_000, 1, 1)).unwrap();
    assert_eq!(found.len(), 100_000);
    let found = between(&enormous(100, 10_000, 0), &enormous(100, 10_000, 1)).unwrap();
    assert_eq!(found.len(), 100, "places that touch are one");
    assert!(between(&enormous(10, 100_000, 0), &enormous(10, 100_000, 0)).unwrap().is_empty(), "they are alike");
}

#[test]
fn deep_folders_that_moved_are_counted_once_for_each_level() {
    let deep = |at: u32, root: &str| format!("{root}/{}f{at}", "d/".repeat(1000));
    let moved = |at: u32| Change {
        path: deep(at, "new"),
        from: Some(deep(at, "old")),
        before: Some(EntryKind::File),
        after: Some(Entry { kind: EntryKind::File, content: String::new() }),
        content: Content::Same,
        symbols: vec![],
    };
    let gone = (0..=1000).map(|depth| format!("old{}", "/d".repeat(depth))).collect();
    let mover = Branch { changes: (0..100).map(moved).collect(), gone };
    let mut added = moved(0);
    (added.path, added.from, added.before) = (format!("old/{}new", "d/".repeat(1000)), None, None);
    let adder = Branch { changes: vec![added], ..Branch::default() };
    assert_eq!(overlaps(&mover, &adder).len(), 1);
}
