//! The visible letters of bytes, without colours, moves and line breaks, for finding secrets.

use memchr::{memchr3, memchr3_iter};

/// Letters with a larger gap do not belong together.
const GAP: usize = 64;
/// Separates letters that do not belong together; no secret contains it.
const APART: u8 = 0;

const ESCAPE: u8 = 0x1b;
/// How programs write an escape in text, especially JSON, after a backslash.
const ESCAPES: [&[u8]; 4] = [b"u001b", b"u001B", b"x1b", b"033"];

/// The letters of some bytes, and their positions.
#[derive(Debug)]
pub struct Letters {
    /// The letters, one after the other.
    pub bytes: Vec<u8>,
    /// Where runs of letters begin: here, and in the bytes.
    runs: Vec<(usize, usize)>,
    /// How many bytes there are.
    length: usize,
}

impl Letters {
    /// All of the bytes, whatever they are.
    pub fn plain(raw: &[u8]) -> Self {
        Self::between(raw, |_| None)
    }

    /// What a terminal shows of the bytes.
    pub fn of(raw: &[u8]) -> Self {
        let next = |from: usize| memchr3(ESCAPE, b'\r', b'\n', &raw[from..]).map(|found| from + found);
        Self::between(raw, |from| next(from).map(|at| (at, at + hidden(&raw[at..]))))
    }

    /// The same, also without line breaks and escapes as JSON writes them, once or nested.
    pub fn quoted(raw: &[u8]) -> Self {
        let mut written = memchr3_iter(ESCAPE, b'\\', b'\n', raw).chain(std::iter::once(raw.len())).peekable();
        let returns = |from: usize, to: usize| memchr::memchr(b'\r', &raw[from..to]).map(|found| from + found);
        Self::between(raw, |mut from| {
            loop {
                while written.next_if(|at| *at < from).is_some() {}
                let until = written.peek().copied().unwrap_or(raw.len());
                if let Some(at) = returns(from, until) {
                    return Some((at, at + 1));
                }
                let length = quoted(raw.get(until..).filter(|rest| !rest.is_empty())?);
                if length > 0 {
                    return Some((until, until + length));
                }
                let backslashes = raw[until..].iter().take_while(|byte| **byte == b'\\').count();
                from = until + backslashes.max(1);
            }
        })
    }

    /// All bytes except what `next` finds: where something that is not a letter begins, and where it ends.
    fn between(raw: &[u8], mut next: impl FnMut(usize) -> Option<(usize, usize)>) -> Self {
        let mut letters = Self { bytes: Vec::with_capacity(raw.len()), runs: Vec::new(), length: raw.len() };
        let (mut at, mut gap) = (0, 0);
        while at < raw.len() {
            let (until, end) = next(at).unwrap_or((raw.len(), raw.len()));
            if until > at {
                letters.runs.push((letters.bytes.len(), at));
                letters.bytes.extend_from_slice(&raw[at..until]);
                gap = until;
            }
            if until == raw.len() {
                break;
            }
            at = end;
            if at - gap > GAP && letters.bytes.last() != Some(&APART) {
                letters.runs.push((letters.bytes.len(), until));
                letters.bytes.push(APART);
            }
        }
        letters
    }

    /// The position of a letter in the bytes.
    pub fn raw(&self, letter: usize) -> usize {
        let run = self.runs.partition_point(|(start, _)| *start <= letter);
        run.checked_sub(1).map_or(self.length, |run| self.runs[run].1 + (letter - self.runs[run].0))
    }

    /// How many letters come before a position in the bytes.
    pub fn visible(&self, raw: usize) -> usize {
        let run = self.runs.partition_point(|(_, start)| *start < raw);
        let Some(run) = run.checked_sub(1) else { return 0 };
        let end = self.runs.get(run + 1).map_or(self.bytes.len(), |(start, _)| *start);
        (self.runs[run].0 + (raw - self.runs[run].1)).min(end)
    }

    /// Appends a part of the bytes with a `•` for each letter; what is between letters stays.
    pub fn hide(&self, raw: &[u8], start: usize, end: usize, out: &mut Vec<u8>) {
        let mut at = start;
        while at < end {
            let letters = self.visible(at + 1) > self.visible(at);
            if !letters {
                out.push(raw[at]);
            } else if (raw[at] & 0xC0) != 0x80 {
                out.extend_from_slice("•".as_bytes());
            }
            at += 1;
        }
    }
}

/// How many bytes at the beginning are not letters: a line break, or a sequence that colours or moves. Titles and links
/// are readable text: only the escape that begins them is skipped.
fn hidden(bytes: &[u8]) -> usize {
    match bytes {
        [ESCAPE, rest @ ..] => 1 + sequence(rest),
        _ => 1,
    }
}

/// The same with backslashes before the name of an escape or of a line break; `None` if it is something else.
fn quoted(bytes: &[u8]) -> usize {
    let backslashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    if backslashes == 0 {
        return hidden(bytes);
    }
    let rest = &bytes[backslashes..];
    if let Some(name) = ESCAPES.iter().find(|name| rest.starts_with(name)) {
        return backslashes + name.len() + sequence(&rest[name.len()..]);
    }
    match rest {
        [b'n' | b'r', ..] => backslashes + 1,
        [b'e', after @ ..] if sequence(after) > 0 => backslashes + 1 + sequence(after),
        _ => 0,
    }
}

/// The length of an escape's parameters.
fn sequence(bytes: &[u8]) -> usize {
    let up_to_last = |inner: std::ops::RangeInclusive<u8>| {
        let last = bytes.iter().skip(1).position(|byte| !inner.contains(byte));
        last.map_or(bytes.len(), |found| found + 2)
    };
    match bytes {
        [b'[', ..] => up_to_last(0x20..=0x3f),
        [0x20..=0x2f, ..] => up_to_last(0x20..=0x2f),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_visible_text() {
        let check = |raw: &str, shown: &str, quoted: &str| {
            assert_eq!(String::from_utf8_lossy(&Letters::of(raw.as_bytes()).bytes), shown, "{raw:?}");
            assert_eq!(String::from_utf8_lossy(&Letters::quoted(raw.as_bytes()).bytes), quoted, "{raw:?}");
        };
        check("plain", "plain", "plain");
        check("a\u{1b}[31mb\r\nc\u{1b}(Bd", "abcd", "abcd");
        check(r"a\u001b[0;1mb\nc\r\nd", r"a\u001b[0;1mb\nc\r\nd", "abcd");
        check(r"a\\u001b[1mb\\nc\x1b[0md\033[Ke\e[mf", r"a\\u001b[1mb\\nc\x1b[0md\033[Ke\e[mf", "abcdef");
        check(r"\t\end \", r"\t\end \", r"\t\end \");
        check("", "", "");
    }

    #[test]
    fn only_letters_are_hidden() {
        let raw = br"x ab\u001b[1mcd\nef y";
        let letters = Letters::quoted(raw);
        let mut out = Vec::new();
        letters.hide(raw, letters.raw(2), letters.raw(7) + 1, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), r"••\u001b[1m••\n••");
    }
}
