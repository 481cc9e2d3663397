//! Words with typos: what a word is indexed under, and how far two words are apart.

use std::collections::BTreeSet;

/// The shortest word in which a typo is forgiven: shorter words have too many neighbours.
const SHORTEST: usize = 4;

/// The number of leading characters in which typos are forgiven.
const LONGEST: usize = 16;

/// The word, and the word without each one of its characters. Two words that one typo separates share one of these:
/// a missing, extra, wrong or swapped character.
pub(super) fn spellings(word: &str) -> BTreeSet<String> {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < SHORTEST {
        return BTreeSet::new();
    }
    let without = |left_out: usize| {
        let kept = letters.iter().enumerate().filter(move |(at, _)| *at != left_out);
        kept.map(|(_, letter)| letter).collect()
    };
    let mut all: BTreeSet<String> = (0..letters.len().min(LONGEST)).map(without).collect();
    all.insert(word.to_owned());
    all
}

/// Whether at most one typo separates two words of which the shorter one has four characters.
pub(super) fn is_near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if long.len() < SHORTEST || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(&long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[same..], &long[same..]);
    match (short, long) {
        ([], _) => true,
        _ if short.len() < long.len() => short == &long[1..],
        ([a, b, rest @ ..], [c, d, others @ ..]) if (a, b) == (d, c) && rest == others => true,
        _ => short[1..] == long[1..],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_typo_is_near() {
        for typo in ["deploy", "depoly", "deplo", "deployy", "xdeploy", "deplpy", "eploy", "deplyo"] {
            assert!(is_near(typo, "deploy"), "{typo}");
        }
        for other in ["dploi", "deploying", "delopy", "", "dep"] {
            assert!(!is_near(other, "deploy"), "{other}");
        }
        assert!(!is_near("cat", "car"), "short words have too many neighbours");
    }

    proptest! {
        #[test]
        fn near_words_share_a_spelling(word in "[a-d]{5,9}", at in 0usize..9, kind in 0usize..4, letter in "[a-d]") {
            let mut letters: Vec<char> = word.chars().collect();
            let at = at % (letters.len() - 1);
            let letter = letter.chars().next().unwrap();
            match kind {
                0 => { letters.remove(at); }
                1 => letters.insert(at, letter),
                2 => letters[at] = letter,
                _ => letters.swap(at, at + 1),
            }
            let typo: String = letters.into_iter().collect();
            prop_assert!(is_near(&typo, &word), "{typo} {word}");
            prop_assert!(is_near(&word, &typo));
            prop_assert!(!spellings(&typo).is_disjoint(&spellings(&word)), "{typo} {word}");
        }
    }
}
