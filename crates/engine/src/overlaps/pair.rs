//! Work that is described against several commits, and the one at which two works are compared.

use std::collections::{BTreeMap, BTreeSet};

use domain::Timestamp;

use super::compare::{meetings, most_exact};
use super::{Branch, Change, Meeting, MeetingKind};

/// The work on a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The commit where the branch left its base.
    pub fork: String,
    /// The changes against that commit and against older ones that others' branches left from.
    pub against: BTreeMap<String, Branch>,
}

impl Work {
    /// The commit at which both works are described and which git would merge from: the older one of their forks. `None`
    /// if neither is part of the other's history, or a description is missing.
    fn common<'a>(&'a self, other: &'a Self) -> Option<(&'a Branch, &'a Branch)> {
        let at = |fork: &str| Some((self.against.get(fork)?, other.against.get(fork)?));
        at(&self.fork).or_else(|| at(&other.fork))
    }

    /// Whether this work itself meets another there. Against an older commit, what others have changed since on the base
    /// looks like changes of this work.
    fn takes_part(&self, described: &Branch, meeting: &Meeting) -> bool {
        let Some(own) = self.against.get(&self.fork) else { return true };
        if !matches!(meeting.kind, MeetingKind::SameFile | MeetingKind::SameSymbol | MeetingKind::SameLines) {
            return !own.changes.is_empty();
        }
        let mut symbols = own.changes.iter().flat_map(|change| &change.symbols);
        if meeting.symbol.as_ref().is_some_and(|name| !symbols.any(|symbol| symbol.name == *name)) {
            return false;
        }
        let touched: BTreeSet<&str> = own.changes.iter().flat_map(names).collect();
        let mut there = described.changes.iter().filter(|change| names(change).any(|name| name == meeting.path));
        touched.contains(meeting.path.as_str()) || there.any(|change| names(change).any(|name| touched.contains(name)))
    }
}

fn names(change: &Change) -> impl Iterator<Item = &str> {
    change.from.as_deref().into_iter().chain([change.path.as_str()])
}

/// Where two works meet; `None` if they cannot be compared yet.
pub fn between(one: &Work, other: &Work) -> Option<Vec<Meeting>> {
    let (mine, theirs) = one.common(other)?;
    let mut met = meetings(mine, theirs);
    met.retain(|meeting| one.takes_part(mine, meeting) && other.takes_part(theirs, meeting));
    Some(most_exact(met))
}

/// How long a conflict must have been gone before people are told of it again, in milliseconds.
const AGAIN_MS: i64 = 30 * 60_000;

/// Whether to tell people of a conflict: once, and again only if it was gone for a while. `told` is when they were last
/// told, `gone` since when there was no conflict before this one.
pub fn tells(told: Option<Timestamp>, gone: Option<Timestamp>, now: Timestamp) -> bool {
    let while_gone = |gone: Timestamp| now.as_millis() - gone.as_millis() >= AGAIN_MS;
    told.is_none() || gone.is_some_and(while_gone)
}

#[cfg(test)]
mod tests {
    use super::super::{Change, Content, Entry, EntryKind, Hunk, MeetingKind, Symbol};
    use super::*;

    fn branch(first: u32, new: &str) -> Branch {
        let change = Change {
            path: "a".into(),
            from: None,
            before: Some(EntryKind::File),
            after: Some(Entry { kind: EntryKind::File, content: new.into() }),
            content: Content::Lines(vec![Hunk { first, end: first + 1, new: new.into() }]),
            symbols: vec![Symbol { name: format!("f{first}"), before: None, after: Some(new.into()) }],
        };
        Branch { changes: vec![change], ..Branch::default() }
    }

    fn work(fork: &str, against: &[(&str, u32)], new: &str) -> Work {
        let against = against.iter().map(|(at, first)| ((*at).to_owned(), branch(*first, new))).collect();
        Work { fork: fork.into(), against }
    }

    #[test]
    fn works_are_compared_at_the_older_fork() {
        let old = work("old", &[("old", 5), ("older", 50)], "x");
        let new = work("new", &[("new", 70), ("old", 5), ("older", 60)], "y");
        for (one, other) in [(&old, &new), (&new, &old)] {
            let found = between(one, other).unwrap();
            assert_eq!((found.len(), found[0].kind), (1, MeetingKind::SameLines));
        }
        let elsewhere = work("elsewhere", &[("elsewhere", 5)], "z");
        assert_eq!(between(&old, &elsewhere), None, "no common commit is known");
    }

    #[test]
    fn what_others_changed_on_the_base_is_nobodys_work() {
        let old = work("old", &[("old", 5)], "x");
        let mut new = work("new", &[("new", 70), ("old", 5)], "y");
        assert_eq!(between(&old, &new).map(|met| met.len()), Some(1));
        new.against.insert("new".into(), Branch::default());
        assert_eq!(between(&old, &new), Some(vec![]), "it has no changes of its own");
        assert_eq!(between(&new, &old), Some(vec![]));
    }

    #[test]
    fn people_are_told_once_and_again_after_a_while() {
        let at = Timestamp::from_millis;
        assert!(tells(None, None, at(0)));
        assert!(!tells(Some(at(0)), None, at(AGAIN_MS * 2)), "it was never gone");
        assert!(!tells(Some(at(0)), Some(at(10)), at(1000)), "it was gone for a moment");
        assert!(tells(Some(at(0)), Some(at(10)), at(10 + AGAIN_MS)));
    }
}
