//! Short names of tasks, such as `CALC-12`: the key of the project, and the task's number in it.

use std::fmt;
use std::str::FromStr;

/// Letters of a key at least and at most, and digits at most.
const LETTERS: std::ops::RangeInclusive<usize> = 2..=6;
const DIGITS: usize = 4;

/// The letters that a key takes from a name of one word.
const OF_ONE_WORD: usize = 4;

/// The key of a project whose name has no letters to make one from.
const NAMELESS: &str = "TASK";

/// A text that is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has 2 to 6 letters from A to Z, then at most 4 digits, such as `CALC` or `CALC2`")]
pub struct KeyError;

/// A text that is not the short name of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a short name is a project's key and a number, such as `CALC-12`")]
pub struct ShortError;

/// The short name of a task.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Short {
    /// The project's key, in upper case.
    pub key: String,
    /// Counts the tasks of a project from 1.
    pub number: u32,
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.key, self.number)
    }
}

impl FromStr for Short {
    type Err = ShortError;

    fn from_str(text: &str) -> Result<Self, ShortError> {
        let (key, number) = text.trim().rsplit_once('-').ok_or(ShortError)?;
        let key = key_from(key).map_err(|_| ShortError)?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|number| digits && *number > 0).ok_or(ShortError)?;
        Ok(Self { key, number })
    }
}

/// A key in upper case, or why the text is not one.
pub fn key_from(text: &str) -> Result<String, KeyError> {
    let key = text.to_ascii_uppercase();
    let digits = key.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let numeric = digits.len() <= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    match numeric && LETTERS.contains(&(key.len() - digits.len())) {
        true => Ok(key),
        false => Err(KeyError),
    }
}

/// The key for a project of this name: its first letters, or the initials of its words, and a number if it is taken.
pub fn free_key(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let made = derived(name);
    let numbered = (2..10_u32.pow(4)).map(|number| format!("{made}{number}"));
    let free = std::iter::once(made.clone()).chain(numbered).find(|key| !taken(key));
    free.unwrap_or(made)
}

fn derived(name: &str) -> String {
    let words: Vec<String> = name
        .split(|c: char| !c.is_alphanumeric())
        .map(|word| word.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_ascii_uppercase())
        .filter(|word| !word.is_empty())
        .collect();
    let key: String = match words.as_slice() {
        [one] => one.chars().take(OF_ONE_WORD).collect(),
        many => many.iter().filter_map(|word| word.chars().next()).take(*LETTERS.end()).collect(),
    };
    if LETTERS.contains(&key.len()) { key } else { NAMELESS.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_comes_from_the_name() {
        for (name, key) in [
            ("Calculator", "CALC"),
            ("calc", "CALC"),
            ("Checkout service", "CS"),
            ("The quick brown fox jumps over it", "TQBFJO"),
            ("Go", "GO"),
            ("X", "TASK"),
            ("日本語", "TASK"),
            ("v2", "TASK"),
            ("  ", "TASK"),
        ] {
            assert_eq!(free_key(name, |_| false), key, "{name}");
        }
        assert_eq!(free_key("Calc", |key| ["CALC", "CALC2"].contains(&key)), "CALC3");
    }

    #[test]
    fn a_short_name_is_read_in_any_case() {
        let short = |text: &str| text.parse::<Short>().map(|short| short.to_string());
        assert_eq!(short(" calc-12 "), Ok("CALC-12".to_owned()));
        assert_eq!(short("Calc2-7"), Ok("CALC2-7".to_owned()));
        for wrong in ["", "CALC", "CALC-", "CALC-0", "CALC-x", "C-1", "CALCULATOR-1", "2CALC-1", "CALC-+1", "CA-LC-1"] {
            assert_eq!(short(wrong), Err(ShortError), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn every_name_gets_a_valid_key(name in ".{0,60}") {
            let key = free_key(&name, |key| key.len() < 4);
            prop_assert_eq!(key_from(&key), Ok(key.clone()));
        }
    }
}
