//! Suggestions for misspelled words.

/// The most similar candidate, if it is similar enough.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long words are not typing errors, and short ones are similar to everything.
    let limit = match word.chars().count() {
        0..=2 => return None,
        3..=5 => 1,
        6..=60 => 2,
        _ => return None,
    };
    let near = candidates.into_iter().map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// `; did you mean …?`, if there is a suggestion.
pub(super) fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The edit distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_found_and_other_words_left_alone() {
        let fields = ["description", "deps", "files", "acceptance"];
        assert_eq!(nearest("desciption", fields), Some("description"));
        assert_eq!(nearest("dep", fields), Some("deps"));
        assert_eq!(nearest("acceptence", fields), Some("acceptance"));
        assert_eq!(nearest("owner", fields), None);
        assert_eq!(hint("file", fields), "; did you mean `files`?");
    }
}
