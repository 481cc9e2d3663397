//! Parses unified hunks, with the old and new number of each line.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

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
                hunks.push(Hunk { old_start, new_start, lines: vec![], old_open: false, new_open: false });
            } else if line.starts_with(b"\\ ") {
                open(&mut hunks);
            }
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        let text = String::from_utf8_lossy(line.get(1..).unwrap_or_default());
        let text: String = text.chars().take(LONGEST_LINE).collect();
        let (goes, comes) = match line.first() {
            Some(b'-') => (true, false),
            Some(b'+') => (false, true),
            Some(b' ') => (true, true),
            Some(b'\\') => {
                open(&mut hunks);
                continue;
            }
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

/// "\ No newline at end of file": the line before it is the last one, and has no end.
fn open(hunks: &mut [Hunk]) {
    let Some(hunk) = hunks.last_mut() else { return };
    let Some(line) = hunk.lines.last() else { return };
    hunk.old_open |= line.old.is_some();
    hunk.new_open |= line.new.is_some();
}

/// Whether the hunks represent a patch completely: every line is text, and none is too long.
pub(crate) fn exact(patch: &[u8]) -> bool {
    let whole = |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| line.chars().count() <= LONGEST_LINE);
    patch
        .split(|b| *b == b'\n')
        .skip_while(|line| !line.starts_with(b"@@ "))
        .all(|line| line.starts_with(b"@@ ") || whole(line))
}

/// Changed lines of a file, from its patch without context.
pub(crate) struct Edit {
    /// The number of lines before the change.
    pub(crate) first: u32,
    /// The number of lines up to the end of the change.
    pub(crate) end: u32,
    /// A hash of the new lines.
    pub(crate) new: Sha256,
}

/// The edits of each file in a patch without context, in order. `begin` starts the hash of an edit's new lines, for a
/// path.
///
/// The key is the path before. Files without changed lines, or that are not text, are not included.
pub(crate) fn edits(patch: &[u8], begin: impl Fn(&[u8]) -> Sha256) -> BTreeMap<Vec<u8>, Vec<Edit>> {
    let mut all: BTreeMap<Vec<u8>, Vec<Edit>> = BTreeMap::new();
    let mut name: Option<Vec<u8>> = None;
    let (mut old_left, mut new_left, mut added) = (0, 0, false);
    for line in patch.split(|b| *b == b'\n') {
        let current = || name.as_ref();
        if line.first() == Some(&b'\\') {
            // "\ No newline at end of file" is about the line before it.
            if let Some(edit) = current().filter(|_| added).and_then(|name| all.get_mut(name)?.last_mut()) {
                edit.new.update(line);
            }
        } else if old_left > 0 || new_left > 0 {
            match line.first() {
                Some(b'-') => (old_left, added) = (u32::saturating_sub(old_left, 1), false),
                Some(b'+') => {
                    (new_left, added) = (u32::saturating_sub(new_left, 1), true);
                    if let Some(edit) = current().and_then(|name| all.get_mut(name)?.last_mut()) {
                        edit.new.update(line);
                        edit.new.update(b"\n");
                    }
                }
                _ => {}
            }
        } else if line.starts_with(b"diff --git ") {
            (name, added) = (None, false);
        } else if let Some(path) = line.strip_prefix(b"rename from ") {
            name = Some(unquoted(path));
        } else if let Some(path) = line.strip_prefix(b"--- ") {
            name = name.or_else(|| Some(unquoted(path).strip_prefix(b"a/")?.to_vec()));
        } else if let Some(((start, count), (_, new_count))) = head(line) {
            (old_left, new_left, added) = (count, new_count, false);
            if let Some(name) = &name {
                let first = if count == 0 { start } else { start.saturating_sub(1) };
                let edit = Edit { first, end: first.saturating_add(count), new: begin(name) };
                all.entry(name.clone()).or_default().push(edit);
            }
        }
    }
    all
}

/// A path in a patch: one with unusual characters is quoted, with a tab after it if it has blanks.
fn unquoted(path: &[u8]) -> Vec<u8> {
    let path = path.strip_suffix(b"\t").unwrap_or(path);
    let Some(inner) = path.strip_prefix(b"\"").and_then(|path| path.strip_suffix(b"\"")) else { return path.to_vec() };
    let mut plain = Vec::new();
    let mut bytes = inner.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'3') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    value = value * 8 + bytes.next_if(u8::is_ascii_digit).map_or(0, |digit| u32::from(digit - b'0'));
                }
                plain.push(u8::try_from(value).unwrap_or(b'?'));
            }
            Some(letter) => plain.push(match letter {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                other => other,
            }),
            None => {}
        }
    }
    plain
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
                (None, Some(5), "c\r"),
                (Some(5), Some(6), "d")
            ]
        );
        assert!(hunks[0].old_open && hunks[0].new_open && !hunks[1].old_open);
        assert!(exact(b"@@ -1 +1 @@ \xff\n-a\n+\xc3\xa4\n") && !exact(b"@@ -1 +1 @@\n-a\n+\xff\n"));
        assert_eq!((hunks[1].old_start, hunks[1].new_start), (9, 10));
        assert_eq!((hunks[1].lines[0].old, hunks[1].lines[0].new), (Some(9), None));
    }
}
