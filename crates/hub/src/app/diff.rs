//! The difference between two versions of a text.

use engine::handoff::{Changed, changed};
use protocol::{
    Diff, DiffKind, DiffLine, DiffRange, HandoffComparison, HandoffDetail, HandoffFact, HandoffSide, ProblemKind,
    Version,
};
use similar::{ChangeTag, TextDiff};

use crate::AppError;

/// Compares two of `versions` (newest first), line by line.
pub(crate) fn between(versions: &[Version], range: DiffRange) -> Result<Diff, AppError> {
    let newest = versions.first().map_or(0, |version| version.version);
    let to = range.to.unwrap_or(newest);
    let from = range.from.unwrap_or_else(|| to.saturating_sub(1));
    Ok(Diff { from, to, lines: lines(content(versions, from)?, content(versions, to)?) })
}

/// Compares the documents of two handoffs, or the prose of one with what it was before a person edited it. A document
/// that nobody edited is like itself.
pub(crate) fn handoffs(older: HandoffDetail, newer: Option<HandoffDetail>) -> HandoffComparison {
    let (mut from, to) = (side(&older), side(newer.as_ref().unwrap_or(&older)));
    let facts = newer.as_ref().map(|newer| facts(&older, newer)).unwrap_or_default();
    let (old, new) = match newer {
        Some(newer) => (older.body, newer.body),
        None => match older.first {
            Some(first) => {
                from.written_by = first.written_by;
                (Some(first.body), older.body)
            }
            None => (older.body.clone(), older.body),
        },
    };
    HandoffComparison { from, to, facts, lines: lines(&old.unwrap_or_default(), &new.unwrap_or_default()) }
}

/// The facts that differ; none before both documents are sealed.
fn facts(older: &HandoffDetail, newer: &HandoffDetail) -> Vec<HandoffFact> {
    let document = |detail: &HandoffDetail| detail.document.clone().unwrap_or_default();
    let all = changed(&document(older), &document(newer)).into_iter();
    all.map(|Changed { name, older, newer }| HandoffFact { name, older, newer }).collect()
}

fn side(detail: &HandoffDetail) -> HandoffSide {
    let HandoffDetail { handoff, written_by, .. } = detail;
    let title = handoff.title.clone();
    HandoffSide { handoff: handoff.id, title, written_by: *written_by, at: handoff.created_at }
}

/// What happened to each line of a text.
fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    // Without line breaks: a last line that gets a successor has not changed.
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure().timeout(std::time::Duration::from_millis(200)).diff_slices(&old, &new);
    let all = diff.iter_all_changes().map(|change| DiffLine {
        kind: match change.tag() {
            ChangeTag::Equal => DiffKind::Same,
            ChangeTag::Insert => DiffKind::Added,
            ChangeTag::Delete => DiffKind::Removed,
        },
        text: change.value().to_owned(),
    });
    all.collect()
}

fn content(versions: &[Version], wanted: u32) -> Result<&str, AppError> {
    if wanted == 0 {
        return Ok("");
    }
    let found = versions.iter().find(|version| version.version == wanted);
    found
        .map(|version| version.content.as_str())
        .ok_or_else(|| AppError::new(ProblemKind::NotFound, format!("version {wanted} not found")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Timestamp, UserId};
    use protocol::UserRef;

    fn versions(texts: &[&str]) -> Vec<Version> {
        let author = UserRef { id: UserId::generate(), name: "ann".into() };
        let at = Timestamp::from_millis(0);
        let all = (1..).zip(texts).map(|(version, text)| Version {
            version,
            author: author.clone(),
            at,
            content: (*text).to_owned(),
            author_kind: domain::AuthorKind::User,
            author_session: None,
        });
        let mut all: Vec<Version> = all.collect();
        all.reverse();
        all
    }

    #[test]
    fn the_last_change_is_shown_by_default() {
        let diff = between(&versions(&["a\nb\n", "a\nc\n"]), DiffRange::default()).unwrap();
        let shown: Vec<String> = diff.lines.iter().map(|line| format!("{:?} {}", line.kind, line.text)).collect();
        assert_eq!(shown, ["Same a", "Removed b", "Added c"]);
        assert_eq!((diff.from, diff.to), (1, 2));
    }

    #[test]
    fn a_last_line_that_is_followed_by_another_is_unchanged() {
        let diff = between(&versions(&["a", "a\n\nb"]), DiffRange::default()).unwrap();
        let kinds: Vec<DiffKind> = diff.lines.iter().map(|line| line.kind).collect();
        assert_eq!(kinds, [DiffKind::Same, DiffKind::Added, DiffKind::Added]);
    }

    #[test]
    fn the_first_version_is_compared_with_the_empty_text() {
        let diff = between(&versions(&["a"]), DiffRange::default()).unwrap();
        assert_eq!((diff.from, diff.to, diff.lines.len()), (0, 1, 1));
        let missing = DiffRange { from: Some(7), to: None };
        assert!(between(&versions(&["a"]), missing).is_err());
    }
}
