//! Near-duplicates: tasks that say nearly the same.

use std::collections::BTreeSet;

/// From which likeness on two descriptions count as nearly the same.
const ALIKE: f64 = 0.75;

/// What is compared of a description: its words in pairs, in lower case, so that order counts a little.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gist(BTreeSet<String>);

impl Gist {
    /// The gist of a description.
    pub fn of(description: &str) -> Self {
        let lower = description.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let mut parts: BTreeSet<String> = words.windows(2).map(|pair| pair.join(" ")).collect();
        parts.extend(words.iter().map(|word| (*word).to_owned()));
        Self(parts)
    }

    /// How alike two are, from 0 to 1.
    pub fn likeness(&self, other: &Self) -> f64 {
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 1.0 } else { common as f64 / all as f64 }
    }

    /// Two numbers that nearly equal texts are likely to share: the least of their parts, in two orders.
    pub fn numbers(&self) -> [i64; 2] {
        [0x51_7c_c1_b7_27_22_0a_95, 0x9e_37_79_b9_7f_4a_7c_15]
            .map(|seed: u64| self.0.iter().map(|part| hash(part, seed)).min().unwrap_or(0).cast_signed())
    }

    /// Whether two say nearly the same.
    pub fn is_near(&self, other: &Self) -> bool {
        self.likeness(other) >= ALIKE
    }
}

/// FNV-1a with a seed, mixed: the same on every machine and in every version, because numbers are stored.
fn hash(text: &str, seed: u64) -> u64 {
    let mixed = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_texts_are_likely_to_share_a_number() {
        let shares = |a: &str, b: &str| {
            let (a, b) = (Gist::of(a).numbers(), Gist::of(b).numbers());
            a.iter().zip(&b).any(|(one, other)| one == other)
        };
        assert!(shares("Fix the login page on mobile Safari", "fix the login page on mobile safari!"));
        let text = "Write unit tests for the parser and its handling of comments, strings and numbers in file";
        let near = (0..100).filter(|n| shares(&format!("{text} a{n}"), &format!("{text} b{n}"))).count();
        assert!(near > 80, "{near} of 100");
        assert!(!shares("Add a cache", "Paint doors"));
        assert_eq!(Gist::of("stored").numbers(), Gist::of("stored").numbers());
    }

    #[test]
    fn what_says_the_same_in_nearly_the_same_words_is_near() {
        let near = |a: &str, b: &str| Gist::of(a).is_near(&Gist::of(b));
        assert!(near("Fix the login page on mobile Safari", "fix the login page on mobile safari!"));
        assert!(near(
            "Write unit tests for the parser's handling of comments and strings",
            "Write unit tests for the parser's handling of comments and strings.",
        ));
        assert!(!near("Fix the login page", "Fix the logout page"));
        assert!(!near("Summarise chapter 1", "Summarise chapter 2"));
        assert!(!near("Add a cache", "Remove the cache"));
    }
}
