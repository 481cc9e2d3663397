//! What steps did elsewhere: a log that only grows, one line for each effect with its idempotency key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How often each key was noted, with the promise of its step: `again` or `once`.
pub(crate) fn read(log: &Path) -> BTreeMap<String, (String, u32)> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let mut noted: BTreeMap<String, (String, u32)> = BTreeMap::new();
    for line in text.lines() {
        let (promise, key) = line.split_once(' ').unwrap_or_else(|| panic!("`{line}` is half a line"));
        let entry = noted.entry(key.to_owned()).or_insert_with(|| (promise.to_owned(), 0));
        entry.1 += 1;
    }
    noted
}

/// Holds the log against the attempts that succeeded and all that there were. Returns how many effects there were.
pub(crate) fn check(log: &Path, succeeded: &BTreeSet<String>, all: &BTreeSet<String>) -> usize {
    let noted = read(log);
    for (key, (promise, times)) in &noted {
        assert!(all.contains(key), "{key} was done, and no attempt has this key");
        assert!(promise != "once" || *times == 1, "{key} may be done once, and was done {times} times");
    }
    for key in succeeded {
        assert!(noted.contains_key(key), "{key} succeeded, and nothing was done");
    }
    noted.len()
}
