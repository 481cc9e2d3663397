//! Limits for the changes that a runner reports. Our runner respects them; another might not.

use domain::text::plain;
use protocol::link::{ChangedFile, Changes, MAX_CHANGED_BYTES, MAX_CHANGED_FILES, MAX_PATCH, WorkFacts};

use crate::verbs::{overlaps, workspaces};

/// The longest path, and the longest name of a commit, tree or content.
const PATH: usize = 4096;
const NAME: usize = 128;
/// The maximum number of commits.
const COMMITS: usize = 1000;

/// The changes, cut to the limits.
pub(super) fn bounded(changes: &Changes) -> Changes {
    let name = |text: &String| plain(text, NAME);
    let mut room = MAX_CHANGED_BYTES;
    let files = changes.files.iter().take(MAX_CHANGED_FILES).map_while(|file| {
        let path = short(&file.path, PATH);
        room = room.checked_sub(path.len())?;
        Some(ChangedFile { path, content: file.content.as_ref().map(name) })
    });
    let (files, more) = (files.collect(), changes.commits.len().saturating_sub(COMMITS));
    Changes {
        base: name(&changes.base),
        head: name(&changes.head),
        checked_out: changes.checked_out.clone().map(workspaces::readable),
        commits: changes.commits.iter().skip(more).map(name).collect(),
        more_commits: changes.more_commits.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)),
        tree: name(&changes.tree),
        kept: changes.kept.as_ref().filter(|commit| is_commit(commit)).cloned(),
        files,
        work: comparable(&changes.work),
        patch: short(&changes.patch, MAX_PATCH),
    }
}

/// The work as it is compared; nothing if its description is not well-formed.
fn comparable(work: &[WorkFacts]) -> Vec<WorkFacts> {
    if work.is_empty() {
        return vec![];
    }
    match overlaps::fault(work) {
        None => work.to_vec(),
        Some(fault) => {
            tracing::warn!(fault, "ignored the description of a report's work");
            vec![]
        }
    }
}

/// Whether a text is the name of a commit: nothing else is given to another runner's git.
fn is_commit(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The first `most` bytes of a text.
fn short(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

#[cfg(test)]
mod tests {
    use protocol::link::{EntryFacts, FileFacts, LineFacts};

    use super::*;

    #[test]
    fn what_is_too_long_is_cut_and_the_rest_is_as_it_was() {
        let file = ChangedFile { path: "a/ä b.txt".into(), content: None };
        let work = |path: &str| {
            let after = EntryFacts { mode: "100644".into(), content: "4".repeat(32) };
            let lines = LineFacts::Changed { hunks: vec![(1, 2, "5".repeat(32))] };
            let path = path.to_owned();
            let file = FileFacts { path, from: None, before: None, after: Some(after), lines, symbols: vec![] };
            WorkFacts { against: "0".repeat(40), files: vec![file], gone: vec![], truncated: false }
        };
        let usual = Changes {
            base: "0".repeat(40),
            head: "1".repeat(40),
            tree: "2".repeat(40),
            commits: vec!["3".repeat(40)],
            files: vec![file.clone()],
            work: vec![work("a/ä b.txt")],
            patch: "-a\n+b\u{1b}[31m\n".into(),
            ..Default::default()
        };
        assert_eq!(bounded(&usual), usual);
        let huge = Changes {
            base: "x".repeat(1 << 20),
            commits: vec!["y".repeat(1 << 10); 2 * COMMITS],
            files: vec![file.clone(); MAX_CHANGED_FILES + 10],
            work: vec![work("")],
            patch: "z".repeat(1 << 20),
            ..usual
        };
        let cut = bounded(&huge);
        assert_eq!((cut.base.len(), cut.commits.len(), cut.more_commits), (NAME, COMMITS, 1000));
        assert_eq!((cut.files.len(), cut.patch.len()), (MAX_CHANGED_FILES, MAX_PATCH));
        assert_eq!(cut.work, []);
        let long = ChangedFile { path: "p".repeat(10_000), ..file };
        let cut = bounded(&Changes { files: vec![long; MAX_CHANGED_FILES], ..huge });
        assert_eq!(cut.files.len(), MAX_CHANGED_BYTES / PATH);
    }
}
