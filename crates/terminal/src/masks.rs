//! Replaces known secret values in a stream of bytes, also when they arrive in pieces.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem::Finder;

/// A value shorter than this is not masked: it would hit ordinary text.
const SHORTEST: usize = 4;

/// So many bytes of a possible secret are let through before the rest is held back. Without it, a person who types the
/// first letter of a secret would not see it.
const LET_THROUGH: usize = 3;

/// So few secrets are found faster by looking for one after the other.
const FEW: usize = 8;

/// A stream filter that puts one `•` for each character of a secret.
pub struct Masks {
    finder: Option<AhoCorasick>,
    /// One for each secret, if there are few: they say whether there is anything to replace.
    few: Option<Vec<Finder<'static>>>,
    secrets: Vec<Vec<u8>>,
    /// The end of what has been seen: first what was let through already, then what is held back.
    seen: Vec<u8>,
    released: usize,
}

impl Masks {
    /// Masks these values; of a value with several lines, each line.
    pub fn new(values: &[String]) -> Masks {
        let mut secrets: Vec<Vec<u8>> = values
            .iter()
            .flat_map(|value| value.lines())
            .map(|line| line.trim().as_bytes().to_vec())
            .filter(|line| line.len() >= SHORTEST)
            .collect();
        secrets.sort();
        secrets.dedup();
        let finder = (!secrets.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&secrets).ok())
            .flatten();
        let few = (secrets.len() <= FEW).then(|| secrets.iter().map(|one| Finder::new(one).into_owned()).collect());
        Masks { finder, few, secrets, seen: Vec::new(), released: 0 }
    }

    /// Whether there is nothing to mask, so that bytes need not pass through here.
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Takes bytes in, appends what may be shown to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Some(finder) = &self.finder else {
            out.extend_from_slice(bytes);
            return;
        };
        self.seen.extend_from_slice(bytes);
        let mut done = 0;
        let none = self.few.as_ref().is_some_and(|few| few.iter().all(|one| one.find(&self.seen).is_none()));
        for found in finder.find_iter(if none { &[][..] } else { &self.seen }) {
            let shown = done.max(self.released);
            if shown < found.start() {
                out.extend_from_slice(&self.seen[shown..found.start()]);
            }
            let hidden = &self.seen[found.start().max(shown)..found.end()];
            let characters = hidden.iter().filter(|byte| (**byte & 0xC0) != 0x80).count();
            for _ in 0..characters {
                out.extend_from_slice("•".as_bytes());
            }
            done = found.end();
        }
        let hold = self.possible_start(done);
        let shown = done.max(self.released);
        let until = hold.unwrap_or(self.seen.len()).max(shown);
        out.extend_from_slice(&self.seen[shown..until]);
        // What was let through is still needed to recognise the secret that it may begin.
        let keep = until.saturating_sub(LET_THROUGH).max(done).min(hold.unwrap_or(usize::MAX));
        self.released = until - keep;
        self.seen.drain(..keep);
    }

    /// Appends what was held back: the stream has ended.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.seen[self.released..]);
        self.seen.clear();
        self.released = 0;
    }

    /// Where the longest possible start of a secret at the end of what was seen begins.
    fn possible_start(&self, from: usize) -> Option<usize> {
        let tail = &self.seen[from..];
        let longest = self
            .secrets
            .iter()
            .filter_map(|secret| {
                let most = tail.len().min(secret.len() - 1);
                (LET_THROUGH + 1..=most).rev().find(|length| tail.ends_with(&secret[..*length]))
            })
            .max()?;
        Some(self.seen.len() - longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(values: &[&str], pieces: &[&[u8]]) -> String {
        let mut masks = Masks::new(&values.iter().map(|value| value.to_string()).collect::<Vec<_>>());
        let mut out = Vec::new();
        for piece in pieces {
            masks.push(piece, &mut out);
        }
        masks.finish(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_secret_is_replaced_wherever_it_is_cut() {
        let text = b"before ghp_abcdef after ghp_abc ghp_abcdef";
        let whole = "before •••••••••• after ghp_abc ••••••••••";
        assert_eq!(masked(&["ghp_abcdef"], &[text]), whole);
        for cut in 0..text.len() {
            let out = masked(&["ghp_abcdef"], &[&text[..cut], &text[cut..]]);
            assert!(!out.contains("abcdef"), "cut at {cut}: {out}");
            assert!(out.contains(" after ghp_abc "), "cut at {cut}: {out}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        let out = masked(&["ghp_abcdef"], &bytes);
        assert_eq!(out, "before ghp••••••• after ghp_abc ghp•••••••");
    }

    #[test]
    fn the_first_letters_are_not_held_back() {
        let mut masks = Masks::new(&["secret-value".to_owned()]);
        let mut out = Vec::new();
        masks.push(b"s", &mut out);
        assert_eq!(out, b"s");
        masks.push(b"ec", &mut out);
        assert_eq!(out, b"sec");
        masks.push(b"r", &mut out);
        assert_eq!(out, b"sec");
        masks.push(b"x", &mut out);
        assert_eq!(out, b"secrx");
    }

    #[test]
    fn overlapping_secrets_and_lines_of_a_key() {
        assert_eq!(masked(&["abcd", "abcdefgh"], &[b"xabcdefghx"]), "x••••••••x");
        assert_eq!(masked(&["line one\nline two"], &[b"line one\r\nline two"]), "••••••••\r\n••••••••");
        assert_eq!(masked(&["abc"], &[b"abc"]), "abc");
    }
}
