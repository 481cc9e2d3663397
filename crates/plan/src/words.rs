//! Splits a line into words like a shell, with quotes and without expansion.

/// The words of `text`; quotes keep white space, a backslash keeps the next character.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(c),
            (_, '\\') => match characters.next() {
                // In double quotes, a backslash escapes only special characters.
                Some(next) if quote.is_some() && !matches!(next, '"' | '\\' | '$' | '`') => {
                    word.get_or_insert_default().extend(['\\', next]);
                }
                Some(next) => word.get_or_insert_default().push(next),
                None => return Err("the line ends with a backslash".to_owned()),
            },
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the quote {open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// Joins words into a line that `split` splits again.
pub fn join(words: &[String]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./:=@%+,*?[]{}".contains(c));
    let quoted = |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_keep_words_together() {
        let check = |text: &str, words: &[&str]| assert_eq!(split(text).unwrap(), words, "{text}");
        check("cargo  test --all", &["cargo", "test", "--all"]);
        check(r#"sh -c "a b" '' 'c"d'"#, &["sh", "-c", "a b", "", "c\"d"]);
        check(r#"a\ b "c\"d\n""#, &["a b", "c\"d\\n"]);
        check("", &[]);
        assert!(split("a 'b").unwrap_err().contains("not closed"));
        assert!(split("a\\").is_err());
    }

    proptest! {
        #[test]
        fn join_and_split_round_trip(words in proptest::collection::vec(any::<String>(), 0..5)) {
            prop_assert_eq!(split(&join(&words)).unwrap(), words);
        }
    }
}
