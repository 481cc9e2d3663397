//! Folders that a branch moved: git asks about files that another branch adds to them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::change::Branch;

/// The folders that a branch moved as a whole, with where most of their files went. Absent: the files went to several
/// places in equal numbers.
pub(super) fn moved(branch: &Branch) -> BTreeMap<&str, Option<&str>> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, u32>> = BTreeMap::new();
    for change in &branch.changes {
        let Some(from) = change.from.as_deref() else { continue };
        let (mut old, mut new) = (parent(from), parent(&change.path));
        // A folder whose files keep their place below it moved with its parent.
        loop {
            if old == new {
                break;
            }
            if !branch.gone.contains(old) {
                break;
            }
            *counts.entry(old).or_default().entry(new).or_default() += 1;
            if old.is_empty() || new.is_empty() || name(old) != name(new) {
                break;
            }
            (old, new) = (parent(old), parent(new));
        }
    }
    counts
        .into_iter()
        .map(|(old, targets)| {
            let most = targets.values().copied().max().unwrap_or_default();
            let mut winners = targets.iter().filter(|(_, count)| **count == most).map(|(new, _)| *new);
            let winner = winners.next();
            (old, if winners.next().is_none() { winner } else { None })
        })
        .collect()
}

/// The moved folder that a new path is in. git looks only at folders that get a new file of their own.
pub(super) fn moved_around<'a>(
    path: &str,
    moved: &BTreeMap<&'a str, Option<&'a str>>,
) -> Option<(&'a str, Option<&'a str>)> {
    moved.get_key_value(parent(path)).map(|(old, new)| (*old, *new))
}

/// The first path in a list of paths that is below `path`.
pub(super) fn below<'a>(path: &str, paths: &BTreeSet<&'a str>) -> Option<&'a str> {
    let folder = format!("{path}/");
    let from = (Bound::Included(folder.as_str()), Bound::Unbounded);
    paths.range::<str, _>(from).next().filter(|found| found.starts_with(&folder)).copied()
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
