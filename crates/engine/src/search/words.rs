//! Words of a text, folded so that case and accents do not matter.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// The maximum length of a word in characters; the rest of a longer one is ignored.
const LONGEST: usize = 48;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word in lower case, without accents.
    pub folded: String,
    /// The bytes of the text that it is made from.
    pub at: Range<usize>,
}

/// The words of a text, in order. A word is a run of letters and digits; an ideograph is a word of its own.
pub fn words(text: &str) -> impl Iterator<Item = Word> {
    runs(text).filter_map(|at| {
        let folded = fold(&text[at.clone()]);
        (!folded.is_empty()).then_some(Word { folded, at })
    })
}

/// The parts of an identifier such as `takeTask` or `HTTPServer`; none if it has only one.
pub(super) fn parts(identifier: &str) -> Vec<Range<usize>> {
    let letters: Vec<(usize, char)> = identifier.char_indices().collect();
    let mut starts = vec![0];
    for at in 1..letters.len() {
        let (before, (start, this)) = (letters[at - 1].1, letters[at]);
        let next = letters.get(at + 1).map(|(_, next)| *next);
        let hump = before.is_lowercase() && this.is_uppercase();
        let end_of_capitals = before.is_uppercase() && this.is_uppercase() && next.is_some_and(char::is_lowercase);
        if hump || end_of_capitals {
            starts.push(start);
        }
    }
    if starts.len() == 1 {
        return Vec::new();
    }
    let ends = starts[1..].iter().copied().chain([identifier.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Lower case without accents: `Éclair` and `eclair` are equal.
pub(super) fn fold(text: &str) -> String {
    let plain = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    plain.filter(|c| c.is_alphanumeric()).take(LONGEST).collect()
}

/// Scripts that are written without spaces.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = letters.by_ref().find(|(_, c)| c.is_alphanumeric())?;
        let mut end = start + first.len_utf8();
        if !is_ideograph(first) {
            let belongs = |c: char| (c.is_alphanumeric() && !is_ideograph(c)) || is_combining_mark(c);
            while let Some((at, c)) = letters.next_if(|(_, c)| belongs(*c)) {
                end = at + c.len_utf8();
            }
        }
        Some(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = words(text).map(|word| word.folded).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits_without_case_and_accents() {
        check("Fix the Éclair-parser (v2)", &["fix", "the", "eclair", "parser", "v2"]);
        check("src/a_b.rs", &["src", "a", "b", "rs"]);
        check("e\u{301}te\u{301}", &["ete"]);
        check("検索 ok", &["検", "索", "ok"]);
        check(" … ", &[]);
    }

    #[test]
    fn an_identifier_has_parts() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = parts(text).into_iter().map(|at| &text[at]).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("takeTask", &["take", "Task"]);
        check("HTTPServer", &["HTTP", "Server"]);
        check("Server", &[]);
        check("", &[]);
    }

    proptest::proptest! {
        #[test]
        fn every_word_is_part_of_its_text(text in "\\PC{0,40}") {
            let mut end = 0;
            for word in words(&text) {
                assert!(word.at.start >= end && text.get(word.at.clone()).is_some(), "{word:?}");
                assert!(word.folded.chars().all(char::is_alphanumeric) && word.folded.chars().count() <= LONGEST);
                end = word.at.end;
            }
            for at in parts(&text) {
                assert!(text.get(at).is_some());
            }
        }
    }
}
