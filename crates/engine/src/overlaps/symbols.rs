//! Symbols that two branches change: git merges changes at different lines of one function, and it may work no more.

use std::collections::{BTreeMap, BTreeSet};

use super::change::Symbol;

/// The symbols that two branches changed differently, in order of their names. Of several with the same name, those
/// are the same whose code was the same before.
pub(super) fn both<'a>(mine: &'a [Symbol], theirs: &'a [Symbol]) -> BTreeSet<&'a str> {
    let mut changed: BTreeMap<(&str, Option<&str>), BTreeSet<Option<&str>>> = BTreeMap::new();
    for symbol in theirs {
        changed.entry(same(symbol)).or_default().insert(symbol.after.as_deref());
    }
    let differs = |symbol: &&Symbol| {
        changed.get(&same(symbol)).is_some_and(|after| after.iter().any(|after| *after != symbol.after.as_deref()))
    };
    mine.iter().filter(differs).map(|symbol| symbol.name.as_str()).collect()
}

fn same(symbol: &Symbol) -> (&str, Option<&str>) {
    (&symbol.name, symbol.before.as_deref())
}

#[cfg(test)]
mod tests {
    use super::super::{Branch, Change, Content, Entry, EntryKind, Hunk, MeetingKind, Work, between, overlaps};
    use super::*;

    fn symbol(name: &str, before: &str, after: &str) -> Symbol {
        let known = |code: &str| (!code.is_empty()).then(|| code.to_owned());
        Symbol { name: name.into(), before: known(before), after: known(after) }
    }

    #[test]
    fn a_symbol_meets_if_both_change_the_same_code_differently() {
        let cases = [
            ("both change it", vec![("f", "0", "1")], vec![("f", "0", "2")], vec!["f"]),
            ("alike", vec![("f", "0", "1")], vec![("f", "0", "1")], vec![]),
            ("others", vec![("f", "0", "1")], vec![("g", "0", "1")], vec![]),
            ("one removes it", vec![("f", "0", "")], vec![("f", "0", "2")], vec!["f"]),
            ("both remove it", vec![("f", "0", "")], vec![("f", "0", "")], vec![]),
            ("both add it", vec![("f", "", "1")], vec![("f", "", "2")], vec!["f"]),
            ("both add it alike", vec![("f", "", "1")], vec![("f", "", "1")], vec![]),
            ("two with one name", vec![("f", "0", "1")], vec![("f", "9", "2")], vec![]),
            (
                "several",
                vec![("c", "0", "1"), ("a", "0", "1"), ("b", "0", "1")],
                vec![("a", "0", "2"), ("b", "0", "1"), ("c", "0", "")],
                vec!["a", "c"],
            ),
        ];
        for (what, mine, theirs, expected) in cases {
            let of =
                |all: Vec<(&str, &str, &str)>| all.into_iter().map(|(n, b, a)| symbol(n, b, a)).collect::<Vec<_>>();
            let (mine, theirs) = (of(mine), of(theirs));
            for (one, other) in [(&mine, &theirs), (&theirs, &mine)] {
                assert_eq!(both(one, other).into_iter().collect::<Vec<_>>(), expected, "{what}");
            }
        }
    }

    fn change(from: Option<&str>, first: u32, names: &[&str], new: &str) -> Change {
        Change {
            path: from.map_or("a.rs", |_| "b.rs").into(),
            from: from.map(str::to_owned),
            before: Some(EntryKind::File),
            after: Some(Entry { kind: EntryKind::File, content: new.into() }),
            content: Content::Lines(vec![Hunk { first, end: first + 1, new: new.into() }]),
            symbols: names.iter().map(|name| symbol(name, "0", new)).collect(),
        }
    }

    fn branch(change: Change) -> Branch {
        Branch { changes: vec![change], ..Branch::default() }
    }

    #[test]
    fn a_symbol_is_told_instead_of_its_file_and_never_beside_a_conflict() {
        use MeetingKind::{RenamedUnder, SameFile, SameLines, SameSymbol};
        let mine = branch(change(None, 5, &["f", "g"], "x"));
        let cases = [
            (change(None, 50, &[], "y"), vec![(SameFile, None)]),
            (change(None, 50, &["h"], "y"), vec![(SameFile, None)]),
            (change(None, 50, &["g", "h"], "y"), vec![(SameSymbol, Some("g"))]),
            (change(None, 6, &["g", "h"], "y"), vec![(SameLines, None)]),
            (change(Some("a.rs"), 50, &["g"], "y"), vec![(RenamedUnder, None), (SameSymbol, Some("g"))]),
        ];
        for (theirs, expected) in cases {
            let theirs = branch(theirs);
            let found = overlaps(&mine, &theirs);
            assert_eq!(found, overlaps(&theirs, &mine));
            let told: Vec<_> = found.iter().map(|met| (met.kind, met.symbol.as_deref())).collect();
            assert_eq!(told, expected);
        }
        assert!(SameFile < RenamedUnder && RenamedUnder < SameSymbol && SameSymbol < SameLines);
        assert!(!SameSymbol.conflicts());
    }

    #[test]
    fn a_symbol_that_others_changed_on_the_base_is_nobodys_work() {
        let work = |fork: &str, own: &[&str]| Work {
            fork: fork.into(),
            against: [(fork, change(None, 50, own, "y")), ("old", change(None, 50, &["f", "g"], "y"))]
                .map(|(at, change)| (at.to_owned(), branch(change)))
                .into(),
        };
        let old =
            Work { fork: "old".into(), against: [("old".to_owned(), branch(change(None, 5, &["g"], "x")))].into() };
        for (own, expected) in [(&["f"][..], MeetingKind::SameFile), (&["g"][..], MeetingKind::SameSymbol)] {
            let found = between(&old, &work("new", own)).unwrap();
            assert_eq!(found.iter().map(|met| met.kind).collect::<Vec<_>>(), [expected]);
        }
    }
}
