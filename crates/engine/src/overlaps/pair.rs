//! Work that is described against several commits, and the one at which two works are compared.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use domain::Timestamp;

use super::compare::{Side, meetings, most_exact};
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
    /// Whether the branch has no changes of its own.
    pub fn is_empty(&self) -> bool {
        self.against.get(&self.fork).is_none_or(|own| own.changes.is_empty())
    }

    /// What this work itself changes of a description. Against an older commit, what others have changed since on the base
    /// looks like changes of this work.
    fn own<'a>(&'a self, described: &'a Branch) -> Option<Own<'a>> {
        let own = self.against.get(&self.fork)?;
        let mut files: BTreeSet<&str> = own.changes.iter().flat_map(names).collect();
        let same = |change: &&Change| names(change).any(|name| files.contains(name));
        let there: Vec<&str> = described.changes.iter().filter(same).flat_map(names).collect();
        files.extend(there);
        let symbols =
            own.changes.iter().flat_map(|change| &change.symbols).map(|symbol| symbol.name.as_str()).collect();
        Some(Own { files, symbols })
    }
}

/// What a work itself changes: its files, and the names of its symbols.
struct Own<'a> {
    files: BTreeSet<&'a str>,
    symbols: BTreeSet<&'a str>,
}

/// Whether work that changes this itself meets other work there.
fn takes_part(own: Option<&Own<'_>>, meeting: &Meeting) -> bool {
    let Some(own) = own else { return true };
    let symbol = meeting.symbol.as_deref().is_none_or(|name| own.symbols.contains(name));
    match meeting.kind {
        MeetingKind::SameFile | MeetingKind::SameSymbol | MeetingKind::SameLines => {
            symbol && own.files.contains(meeting.path.as_str())
        }
        _ => !own.files.is_empty(),
    }
}

fn names(change: &Change) -> impl Iterator<Item = &str> {
    change.from.as_deref().into_iter().chain([change.path.as_str()])
}

/// A work that is prepared to be compared with many others.
pub struct Prepared<'a> {
    work: &'a Work,
    /// By commit.
    described: BTreeMap<&'a str, Described<'a>>,
}

struct Described<'a> {
    branch: &'a Branch,
    side: Side<'a>,
    /// The names by which other work can meet it.
    near: HashSet<&'a str>,
}

impl<'a> Prepared<'a> {
    /// Prepares a work.
    pub fn new(work: &'a Work) -> Self {
        let described = |(at, branch): (&'a String, &'a Branch)| {
            let near = branch.changes.iter().flat_map(near).collect();
            (at.as_str(), Described { branch, side: Side::of(branch), near })
        };
        Self { work, described: work.against.iter().map(described).collect() }
    }

    /// Where it meets another work; `None` if they cannot be compared yet.
    ///
    /// They are compared at the commit at which both are described and which git would merge from: the older one of their
    /// forks. `None` if neither is part of the other's history, or a description is missing.
    pub fn with(&self, other: &Work) -> Option<Vec<Meeting>> {
        let at = |fork: &str| Some((self.described.get(fork)?, other.against.get(fork)?));
        let (mine, theirs) = at(&self.work.fork).or_else(|| at(&other.fork))?;
        if !theirs.changes.iter().flat_map(near).any(|name| mine.near.contains(name)) {
            return Some(vec![]);
        }
        let mut met = meetings(&mine.side, &Side::of(theirs));
        if !met.is_empty() {
            let (mine, theirs) = (self.work.own(mine.branch), other.own(theirs));
            met.retain(|meeting| takes_part(mine.as_ref(), meeting) && takes_part(theirs.as_ref(), meeting));
        }
        Some(most_exact(met))
    }
}

/// The names by which a change can meet others: its paths, and the folders that it may need or leave.
fn near(change: &Change) -> impl Iterator<Item = &str> {
    let arrives = change.arrives().then_some(change.path.as_str());
    let folders = change.from.as_deref().into_iter().chain(arrives).flat_map(|path| {
        std::iter::successors(path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/')).map(|(folder, _)| folder)
    });
    names(change).chain(folders)
}

/// Where two works meet; `None` if they cannot be compared yet.
pub fn between(one: &Work, other: &Work) -> Option<Vec<Meeting>> {
    Prepared::new(one).with(other)
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
