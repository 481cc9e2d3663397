//! The order in which branches are merged.

use std::collections::BTreeSet;

use domain::CandidateId;

use super::Entry;
use crate::tasks::order::queue_key;

/// Orders the branches: fixes first, then by priority and age, each behind those that it builds on. The branches in
/// `started` stay in front, in their order, so that what was tested about them still counts.
///
/// Of two neighbours that change the same file, the second gives way to the next one if that one is as important: a
/// branch is moved by one place at most.
pub fn order(entries: &[Entry], started: &[CandidateId]) -> Vec<CandidateId> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    let place = |entry: &Entry| started.iter().position(|id| *id == entry.id).unwrap_or(usize::MAX);
    sorted.sort_by_key(|entry| (place(entry), !entry.fix, queue_key(entry.added_at, entry.priority), entry.id));
    let fixed = sorted.iter().filter(|entry| started.contains(&entry.id)).count();
    apart(&mut sorted[fixed..]);
    behind_dependencies(&sorted)
}

fn apart(sorted: &mut [&Entry]) {
    let mut at = 1;
    while at + 1 < sorted.len() {
        let (before, here, next) = (sorted[at - 1], sorted[at], sorted[at + 1]);
        let alike = (here.fix, here.priority) == (next.fix, next.priority);
        if alike && overlap(before, here) && !overlap(before, next) {
            sorted.swap(at, at + 1);
            at += 1;
        }
        at += 1;
    }
}

fn overlap(one: &Entry, other: &Entry) -> bool {
    one.paths.iter().any(|path| other.paths.contains(path))
}

fn behind_dependencies(sorted: &[&Entry]) -> Vec<CandidateId> {
    let mut waiting: Vec<&Entry> = sorted.to_vec();
    let mut ordered: Vec<CandidateId> = Vec::with_capacity(sorted.len());
    while !waiting.is_empty() {
        let open: BTreeSet<CandidateId> = waiting.iter().map(|entry| entry.id).collect();
        let free = |entry: &&Entry| !entry.after.iter().any(|id| *id != entry.id && open.contains(id));
        // A circle cannot be ordered: its first member goes, as if it depended on nothing.
        let at = waiting.iter().position(free).unwrap_or(0);
        ordered.push(waiting.remove(at).id);
    }
    ordered
}
