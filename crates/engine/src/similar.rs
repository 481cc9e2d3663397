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

    /// Whether two say nearly the same.
    pub fn is_near(&self, other: &Self) -> bool {
        self.likeness(other) >= ALIKE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
