//! Reads unified hunks, with the numbers that each line had and has.

use crate::diff::{Hunk, Line};

const LONGEST_LINE: usize = 2000;

/// The hunks of one file's patch.
pub(crate) fn hunks(patch: &[u8]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let (mut old, mut new) = (0, 0);
    let (mut old_left, mut new_left) = (0, 0);
    for line in patch.split(|b| *b == b'\n') {
        if old_left == 0 && new_left == 0 {
            if let Some(((old_start, old_count), (new_start, new_count))) = head(line) {
                (old, new, old_left, new_left) = (old_start, new_start, old_count, new_count);
                hunks.push(Hunk { old_start, new_start, lines: vec![] });
            }
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let text = String::from_utf8_lossy(line.get(1..).unwrap_or_default());
        let text: String = text.trim_end_matches('\r').chars().take(LONGEST_LINE).collect();
        let (goes, comes) = match line.first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            Some(b' ') => (true, true),
            // "\ No newline at end of file"
            _ => continue,
        };
        hunk.lines.push(Line { old: goes.then_some(old), new: comes.then_some(new), text });
        if goes {
            (old, old_left) = (old + 1, old_left.saturating_sub(1));
        }
        if comes {
            (new, new_left) = (new + 1, new_left.saturating_sub(1));
        }
    }
    hunks
}

/// `@@ -1,2 +3,4 @@`: where a hunk starts and how long it is, before and now.
fn head(line: &[u8]) -> Option<((u32, u32), (u32, u32))> {
    let text = std::str::from_utf8(line.get(..80.min(line.len()))?).ok().or_else(|| {
        // What follows the second @@ is the file's own text.
        let end = line.windows(3).skip(3).position(|w| w == b" @@")? + 6;
        std::str::from_utf8(line.get(..end)?).ok()
    })?;
    let ranges = text.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_numbers() {
        let patch = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ fn \xff\n a\n---- odd\n+++ odder\n+c\r\n d\n\\ No newline\n@@ -9 +10,0 @@\n-z\n";
        let hunks = hunks(patch);
        assert_eq!(hunks.len(), 2);
        let told: Vec<_> = hunks[0].lines.iter().map(|l| (l.old, l.new, l.text.as_str())).collect();
        assert_eq!(
            told,
            [
                (Some(3), Some(3), "a"),
                (Some(4), None, "--- odd"),
                (None, Some(4), "++ odder"),
                (None, Some(5), "c"),
                (Some(5), Some(6), "d")
            ]
        );
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (9, 10));
        assert_eq!((hunks[1].lines[0].old, hunks[1].lines[0].new), (Some(9), None));
    }
}
