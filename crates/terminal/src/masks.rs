//! Replaces known secrets in a stream of bytes, even if they arrive in pieces, or if colours or line breaks split them.

use std::time::{Duration, Instant};

use aho_corasick::{AhoCorasick, MatchKind};
use domain::letters::Letters;
use memchr::memmem::Finder;

/// Shorter values are not masked: they would match ordinary text.
const SHORTEST: usize = 4;

/// How many bytes of a possible secret are shown after a while: a person who types the first letter of a secret wants
/// to see it.
const LET_THROUGH: usize = 3;

/// Less than people notice, and more than a program needs to write the rest of a secret.
const HOLD: Duration = Duration::from_millis(20);

/// Up to this number of secrets, searching for each is faster.
const FEW: usize = 8;

/// A stream filter that writes one `•` for each character of a secret.
pub struct Masks {
    finder: Option<AhoCorasick>,
    /// One searcher for each secret, if there are few.
    few: Option<Vec<Finder<'static>>>,
    secrets: Vec<Vec<u8>>,
    /// A possible beginning of a secret: first the shown part, then the held-back part.
    seen: Vec<u8>,
    released: usize,
    held_since: Option<Instant>,
}

impl Masks {
    /// Masks these values; of a value with several lines, each line.
    pub fn new(values: &[String]) -> Masks {
        Masks::of(forms(values))
    }

    fn of(mut secrets: Vec<Vec<u8>>) -> Masks {
        secrets.sort();
        secrets.dedup();
        let finder = (!secrets.is_empty())
            .then(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&secrets).ok())
            .flatten();
        let few = (secrets.len() <= FEW).then(|| secrets.iter().map(|one| Finder::new(one).into_owned()).collect());
        Masks { finder, few, secrets, seen: Vec::new(), released: 0, held_since: None }
    }

    /// Masks these values, too, from the next byte on.
    pub fn add(&mut self, values: &[String]) {
        let all = self.secrets.iter().cloned().chain(forms(values)).collect();
        let Masks { finder, few, secrets, .. } = Masks::of(all);
        (self.finder, self.few, self.secrets) = (finder, few, secrets);
    }

    /// A separate text with its secrets replaced.
    pub fn masked(&self, text: &str) -> String {
        let Some(finder) = &self.finder else { return text.to_owned() };
        let (view, mut out, mut done) = (Letters::of(text.as_bytes()), Vec::with_capacity(text.len()), 0);
        for found in finder.find_iter(&view.bytes) {
            let (start, end) = (view.raw(found.start()), view.raw(found.end() - 1) + 1);
            out.extend_from_slice(&text.as_bytes()[done..start]);
            view.hide(text.as_bytes(), start, end, &mut out);
            done = end;
        }
        out.extend_from_slice(&text.as_bytes()[done..]);
        // Text stays text: whole characters are replaced.
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Whether there is nothing to mask, so that bytes can bypass this.
    pub fn is_empty(&self) -> bool {
        self.finder.is_none()
    }

    /// Processes bytes and appends what may be shown to `out`; a possible beginning of a secret is held back.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if self.is_empty() {
            out.extend_from_slice(bytes);
            return;
        }
        self.seen.extend_from_slice(bytes);
        let view = Letters::of(&self.seen);
        let (done, unsure) = self.replace(&view, true, out);
        let start = unsure.or_else(|| self.possible_start(&view, done)).unwrap_or(self.seen.len());
        let shown = done.max(self.released);
        let until = start.max(shown);
        out.extend_from_slice(&self.seen[shown..until]);
        self.seen.drain(..start);
        self.released = until - start;
        self.held_since = (self.released < self.seen.len()).then(Instant::now);
        // A finished line is shown and recorded at once, although a secret may continue in the next.
        if matches!(self.seen.last(), Some(b'\r' | b'\n')) {
            self.let_through(out);
        }
    }

    /// When to call [`Masks::let_through`], if anything is held back only for a while.
    pub fn due(&self) -> Option<Instant> {
        self.held_since.filter(|_| self.is_little()).map(|since| since + HOLD)
    }

    /// Appends a short held-back part; a longer one stays held back.
    pub fn let_through(&mut self, out: &mut Vec<u8>) {
        if self.is_little() {
            out.extend_from_slice(&self.seen[self.released..]);
            self.released = self.seen.len();
            self.held_since = None;
        }
    }

    fn is_little(&self) -> bool {
        self.seen.len() <= LET_THROUGH || Letters::of(&self.seen).bytes.len() <= LET_THROUGH
    }

    /// Appends the held-back part: the stream has ended.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let (done, _) = self.replace(&Letters::of(&self.seen), false, out);
        out.extend_from_slice(&self.seen[done.max(self.released)..]);
        self.seen.clear();
        self.released = 0;
        self.held_since = None;
    }

    /// Appends everything up to the last secret, masked; returns where that ends, and where a possibly longer secret
    /// begins.
    fn replace(&self, view: &Letters, more: bool, out: &mut Vec<u8>) -> (usize, Option<usize>) {
        let mut done = 0;
        let none = self.few.as_ref().is_some_and(|few| few.iter().all(|one| one.find(&view.bytes).is_none()));
        let Some(finder) = self.finder.as_ref().filter(|_| !none) else { return (0, None) };
        for found in finder.find_iter(&view.bytes) {
            let (start, end) = (view.raw(found.start()), view.raw(found.end() - 1) + 1);
            if more && self.begins_longer(&view.bytes[found.start()..]) {
                return (done, Some(start));
            }
            let shown = done.max(self.released);
            if shown < start {
                out.extend_from_slice(&self.seen[shown..start]);
            }
            view.hide(&self.seen, start.max(shown), end, out);
            done = end;
        }
        (done, None)
    }

    fn begins_longer(&self, bytes: &[u8]) -> bool {
        self.secrets.iter().any(|secret| secret.len() > bytes.len() && secret.starts_with(bytes))
    }

    /// Where the longest possible beginning of a secret at the end starts.
    fn possible_start(&self, view: &Letters, from: usize) -> Option<usize> {
        let tail = &view.bytes[view.visible(from)..];
        let longest = self
            .secrets
            .iter()
            .filter_map(|secret| {
                let most = tail.len().min(secret.len() - 1);
                (1..=most).rev().find(|length| tail.ends_with(&secret[..*length]))
            })
            .max()?;
        Some(view.raw(view.bytes.len() - longest))
    }
}

/// The lines of values, plain and in JSON.
fn forms(values: &[String]) -> Vec<Vec<u8>> {
    let lines = values.iter().flat_map(|value| value.lines()).map(str::trim).filter(|line| line.len() >= SHORTEST);
    let in_json = |line: &str| {
        let text = serde_json::Value::from(line).to_string();
        text.as_bytes()[1..text.len() - 1].to_vec()
    };
    lines.flat_map(|line| [line.as_bytes().to_vec(), in_json(line)]).collect()
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
            assert_eq!(masked(&["ghp_abcdef"], &[&text[..cut], &text[cut..]]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(masked(&["ghp_abcdef"], &bytes), whole);
        let bytes: Vec<&[u8]> = b"abcdabcdefgh abcd".chunks(1).collect();
        assert_eq!(masked(&["abcd", "abcdefgh"], &bytes), "•••••••••••• ••••", "one is the beginning of the other");
    }

    #[test]
    fn a_secret_is_found_through_colours_and_ends_of_lines() {
        let colours = b"a ghp\x1b[31m_ab\x1b[0;1mcd\x1b(Bef b";
        let masked_colours = "a •••\u{1b}[31m•••\u{1b}[0;1m••\u{1b}(B•• b";
        assert_eq!(masked(&["ghp_abcdef"], &[colours]), masked_colours);
        for cut in 0..colours.len() {
            assert_eq!(masked(&["ghp_abcdef"], &[&colours[..cut], &colours[cut..]]), masked_colours, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = colours.chunks(1).collect();
        assert_eq!(masked(&["ghp_abcdef"], &bytes), masked_colours);
        assert_eq!(
            masked(&["ghp_abcdef"], &[b"x ghp_a\r\nbcdef\r\ny"]),
            "x •••••\r\n•••••\r\ny",
            "wrapped by a program"
        );
        let escape = masked(&["abcdefgh"], &[b"\x1babcdefgh"]);
        assert_eq!(escape, "\u{1b}••••••••", "an escape of a terminal's own takes no letter");
        assert_eq!(masked(&["sécrèt"], &["s\u{1b}[1mé\ncr\u{1b}[0mèt".as_bytes()]), "•\u{1b}[1m•\n••\u{1b}[0m••");
        let masks = Masks::new(&["ghp_abcdef".to_owned()]);
        assert_eq!(masks.masked("a ghp_\u{1b}[1mabc\ndef b"), "a ••••\u{1b}[1m•••\n••• b");
        assert_eq!(masks.masked("ghp_ab\ncd"), "ghp_ab\ncd");
        assert_eq!(masks.masked("\u{1b}]0;ghp_abcdef\u{7}"), "\u{1b}]0;••••••••••\u{7}", "in a title");
    }

    #[test]
    fn a_finished_line_is_passed_on_whole() {
        let mut masks = Masks::new(&["npm_0123456789".to_owned()]);
        let mut out = Vec::new();
        masks.push(b"what is on\r\n", &mut out);
        assert_eq!(out, b"what is on\r\n", "not without its last letter, which begins a secret");
        masks.push(b"pm_0123456789\r\nnpm_\r\n", &mut out);
        masks.push(b"0123456789", &mut out);
        masks.finish(&mut out);
        let expected = "what is on\r\n•••••••••••••\r\n••••\r\n••••••••••";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_possible_start_of_a_secret_is_shown_after_a_moment() {
        let mut masks = Masks::new(&["secret-value".to_owned()]);
        let mut out = Vec::new();
        masks.push(b"done: s\x1b[0m\x1b[K", &mut out);
        assert_eq!(out, b"done: ");
        assert!(masks.due().is_some(), "one letter with its colours is shown after a moment");
        masks.let_through(&mut out);
        assert_eq!(out, b"done: s\x1b[0m\x1b[K");
        let mut out = Vec::new();
        masks.push(b"secret-", &mut out);
        for _ in 0..10_000 {
            masks.push(b"\n", &mut out);
            assert!(masks.seen.len() < 200, "{}", masks.seen.len());
        }
        masks.push(b"\x1b]0;", &mut out);
        for _ in 0..10_000 {
            masks.push(b"title", &mut out);
            assert!(masks.seen.len() < 200, "{}", masks.seen.len());
        }
        assert!(out.len() > 50_000);
    }

    #[test]
    fn a_secret_that_comes_later_is_masked_from_then_on() {
        let mut masks = Masks::new(&["ghp_abcdef".to_owned()]);
        let mut out = Vec::new();
        masks.push(b"sf_second ghp_abc", &mut out);
        masks.add(&["sf_second".to_owned()]);
        masks.push(b"def sf_second", &mut out);
        masks.finish(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "sf_second •••••••••• •••••••••");
    }

    #[test]
    fn the_first_letters_are_not_held_back_for_long() {
        let mut masks = Masks::new(&["secret-value".to_owned()]);
        let mut out = Vec::new();
        masks.push(b"x", &mut out);
        assert_eq!((out.as_slice(), masks.due()), (&b"x"[..], None));
        masks.push(b"se", &mut out);
        assert_eq!(out, b"x");
        assert!(masks.due().is_some());
        masks.let_through(&mut out);
        assert_eq!((out.as_slice(), masks.due()), (&b"xse"[..], None));
        masks.push(b"cret", &mut out);
        masks.let_through(&mut out);
        assert_eq!((out.as_slice(), masks.due()), (&b"xse"[..], None), "so much of it is held back for good");
        masks.push(b"-value.", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "xse••••••••••.");
        let mut out = Vec::new();
        masks.push(b"secr", &mut out);
        masks.push(b"x", &mut out);
        assert_eq!(out, b"secrx");
    }

    #[test]
    fn overlapping_secrets_and_lines_of_a_key() {
        assert_eq!(masked(&["abcd", "abcdefgh"], &[b"xabcdefghx"]), "x••••••••x");
        assert_eq!(masked(&["line one\nline two"], &[b"line one\r\nline two"]), "••••••••\r\n••••••••");
        assert_eq!(masked(&["abc"], &[b"abc"]), "abc");
        let json = br#"{"key":"say \"hi\" \\"} say "hi" \"#;
        assert_eq!(masked(&[r#"say "hi" \"#], &[json]), r#"{"key":"•••••••••••••"} ••••••••••"#, "as JSON writes it");
    }
}
