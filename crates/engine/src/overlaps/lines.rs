//! Changed lines that meet: git merges two changes of a file only if at least one unchanged line is between them.

use super::change::Hunk;

/// The lines of the old content that two branches changed differently, first and last, counted from 1. Changes that
/// touch count; equal changes do not.
pub(super) fn conflicts(mine: &[Hunk], theirs: &[Hunk]) -> Vec<(u32, u32)> {
    let mut found: Vec<(u32, u32)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (mine.get(i), theirs.get(j)) {
        if a.end >= b.first && b.end >= a.first && a != b {
            let (first, end) = (a.first.min(b.first), a.end.max(b.end));
            let lines = (first.saturating_add(1).min(end.max(1)), end.max(1));
            match found.last_mut() {
                Some(last) if last.1.saturating_add(1) >= lines.0 => last.1 = last.1.max(lines.1),
                _ => found.push(lines),
            }
        }
        // The one that ends first meets nothing that follows.
        if a.end < b.end || (a.end == b.end && a.first <= b.first) {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}
