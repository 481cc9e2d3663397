//! Near-duplicates: tasks with nearly the same text.
//!
//! Two titles are near if the significant words of one are those of the other plus at most a few. If each has a word
//! that the other lacks, they are different tasks, like chapter 1 and chapter 2.

use std::collections::BTreeSet;

use crate::tasks::files::lists_overlap;

/// The minimum similarity of two titles when one has extra words.
const ALIKE: f64 = 0.75;
/// The minimum similarity of the remaining texts, if both have one.
const AGREE: f64 = 0.5;

/// Words without significance.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "into", "is", "it", "its", "of", "on", "or",
    "our", "please", "should", "so", "such", "that", "the", "their", "then", "there", "these", "this", "those", "to",
    "we", "which", "will", "with", "your",
];

/// The compared parts of a task: the words of its title, those of the rest, and its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gist {
    title: BTreeSet<String>,
    rest: BTreeSet<String>,
    files: Vec<String>,
}

impl Gist {
    /// The gist of a task with these files to change.
    pub fn of(description: &str, files: &[String]) -> Self {
        let text = description.trim_start();
        let (title, rest) = text.split_once(['\n', '\r']).unwrap_or((text, ""));
        Self { title: words(title), rest: words(rest), files: files.to_vec() }
    }

    /// Two hashes for finding near-duplicates: the first is equal for the same words, the second probably for a few
    /// extra words.
    pub fn numbers(&self) -> [i64; 2] {
        let all = self.title.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let least = self.title.iter().map(|word| hash(word, 0x9e_37_79_b9_7f_4a_7c_15)).min().unwrap_or(0);
        [hash(&all, 0x51_7c_c1_b7_27_22_0a_95).cast_signed(), least.cast_signed()]
    }

    /// Whether two gists are near-duplicates.
    pub fn is_near(&self, other: &Self) -> bool {
        let elsewhere = !self.files.is_empty() && !other.files.is_empty() && !lists_overlap(&self.files, &other.files);
        let apart = !self.title.is_subset(&other.title) && !other.title.is_subset(&self.title);
        if elsewhere || apart || likeness(&self.title, &other.title) < ALIKE {
            return false;
        }
        self.rest.is_empty() || other.rest.is_empty() || likeness(&self.rest, &other.rest) >= AGREE
    }
}

/// The similarity of two sets, from 0 to 1.
fn likeness(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// The stems of the significant words of a text; of all words if none is significant.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase().replace("'s", "").replace("’s", "");
    let all = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let meant: BTreeSet<String> = all().filter(|word| !STOP.contains(word)).map(stem).collect();
    if meant.is_empty() { all().map(str::to_owned).collect() } else { meant }
}

/// A word without its inflectional ending.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let word = match word {
        _ if word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if ["sses", "xes", "zes", "ches", "shes"].iter().any(|end| word.ends_with(end)) => cut(word, 2).to_owned(),
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            cut(word, 1).to_owned()
        }
        _ => word.to_owned(),
    };
    let ending = ["ing", "ed"].iter().find(|end| word.ends_with(*end)).map(|end| cut(&word, end.len()));
    let stem = ending.filter(|stem| stem.len() > 2 && stem.contains(['a', 'e', 'i', 'o', 'u', 'y'])).unwrap_or(&word);
    let bytes = stem.as_bytes();
    // Undouble the consonant of "stopping", but not of "call".
    let doubled = stem.len() < word.len() && bytes.len() > 2 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
    let stem = if doubled && !stem.ends_with(['l', 's', 'z']) { cut(stem, 1) } else { stem };
    stem.strip_suffix('e').filter(|stem| stem.len() > 2).unwrap_or(stem).to_owned()
}

fn cut(word: &str, count: usize) -> &str {
    &word[..word.len() - count]
}

/// FNV-1a with a seed, mixed; stable across machines and versions, because the hashes are stored.
fn hash(text: &str, seed: u64) -> u64 {
    let mixed = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gist(text: &str) -> Gist {
        Gist::of(text, &[])
    }

    fn shares(a: &Gist, b: &Gist) -> bool {
        a.numbers().iter().zip(&b.numbers()).any(|(one, other)| one == other)
    }

    #[test]
    fn pairs_that_say_the_same_are_near_and_found() {
        for (one, other) in [
            ("Write a lexer for the parser", "Write the lexer for the parser"),
            ("Fix the login page on mobile Safari", "fix the login page on mobile safari!"),
            ("Fix the login page on mobile Safari", "Fixing login pages on mobile Safari"),
            ("Write the parser's tests", "Write tests for the parser"),
            ("Add caching to the queries", "Add caches to the query"),
            ("Stop the workers", "Stopping workers"),
            ("Write the lexer for the parser", "Write the lexer for the parser\n\nIt reads UTF-8."),
        ] {
            assert!(gist(one).is_near(&gist(other)), "{one} / {other}: {:?} {:?}", gist(one), gist(other));
            assert!(shares(&gist(one), &gist(other)), "{one} / {other}");
        }
        assert!(
            gist("Write the new lexer of the parser").is_near(&gist("Write the lexer of the parser")),
            "a word more"
        );
    }

    #[test]
    fn pairs_that_differ_in_what_they_are_about_are_not_near() {
        for (one, other) in [
            ("Sketch the data model of cart", "Sketch the data model of payment"),
            ("Fix the login page", "Fix the logout page"),
            ("Summarise chapter 1", "Summarise chapter 2"),
            ("Add a cache", "Remove the cache"),
            ("Do a", "Do b"),
            ("Write the docs", "Write the docs of the parser in French"),
            ("Review the change\nLook at the parser alone", "Review the change\nSay whether tests cover billing"),
            (
                "Write unit tests for the parser's handling of comments, strings and numbers in the first file",
                "Write unit tests for the parser's handling of comments, strings and numbers in the second file",
            ),
        ] {
            assert!(!gist(one).is_near(&gist(other)), "{one} / {other}: {:?} {:?}", gist(one), gist(other));
        }
    }

    #[test]
    fn tasks_with_different_files_are_not_similar() {
        let at = |file: &str| Gist::of("Write tests", &[file.to_owned()]);
        assert!(!at("src/a.rs").is_near(&at("src/b.rs")));
        assert!(at("src/a.rs").is_near(&at("src/*.rs")) && at("src/a.rs").is_near(&at("src/a.rs")));
        assert!(at("src/a.rs").is_near(&gist("Write tests")), "which files that changes nobody knows");
    }

    #[test]
    fn a_task_with_one_more_word_is_found_as_similar() {
        let text = |n: u32| format!("Write unit tests of part{n}: its handling of comments, strings and numbers");
        let found = (0..1000).filter(|n| shares(&gist(&text(*n)), &gist(&format!("{} also{n}", text(*n))))).count();
        assert!(found > 750, "{found} of 1000");
        assert!(!shares(&gist("Add a cache"), &gist("Paint doors")));
    }

    fn some_words() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("[bcdfg][aeiou][klmnp][aeiou][kmnpt]", 2..12)
    }

    proptest! {
        #[test]
        fn words_without_meaning_change_nothing(words in some_words(), stop in 0..STOP.len()) {
            let (plain, padded) = (words.join(" "), words.join(&format!(" {} ", STOP[stop])));
            prop_assert!(gist(&plain).is_near(&gist(&padded)) && shares(&gist(&plain), &gist(&padded)));
        }

        #[test]
        fn another_word_is_another_task(words in some_words(), at in any::<prop::sample::Index>()) {
            let mut other = words.clone();
            other[at.index(words.len())] = "zzyzx".to_owned();
            let (one, other) = (gist(&words.join(" ")), gist(&other.join(" ")));
            // The removed word may occur twice: then one title is a subset of the other.
            prop_assert!(!one.is_near(&other) || one.title.is_subset(&other.title));
            prop_assert_eq!(one.is_near(&other), other.is_near(&one));
        }

        #[test]
        fn any_text_is_near_itself(text in "\\PC{0,60}") {
            prop_assert!(gist(&text).is_near(&gist(&text)) && shares(&gist(&text), &gist(&text)));
        }
    }
}
