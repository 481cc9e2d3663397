//! Suggestions for misspelled words, and the words for acceptance criteria.

/// The most similar candidate, if it is similar enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
pub fn hint<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// The kinds of acceptance criteria, as they are written before a colon and as `kind` in JSON.
pub const CRITERIA: &[&str] = &[
    "file_exists",
    "file_matches",
    "command",
    "only_touches",
    "no_conflict_with_base",
    "committed",
    "approved",
    "merged",
    "text",
];

/// Other common words for a kind of criterion.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("cmd", "command"),
    ("run", "command"),
    ("exec", "command"),
    ("shell", "command"),
    ("sh", "command"),
    ("bash", "command"),
    ("test", "command"),
    ("tests", "command"),
    ("check", "command"),
    ("file", "file_exists"),
    ("exists", "file_exists"),
    ("path", "file_exists"),
    ("matches", "file_matches"),
    ("contains", "file_matches"),
    ("regex", "file_matches"),
    ("grep", "file_matches"),
    ("touches", "only_touches"),
    ("only", "only_touches"),
    ("files", "only_touches"),
    ("conflict", "no_conflict_with_base"),
    ("no_conflict", "no_conflict_with_base"),
    ("no_conflicts", "no_conflict_with_base"),
    ("commit", "committed"),
    ("approve", "approved"),
    ("approval", "approved"),
    ("merge", "merged"),
    ("person", "text"),
    ("human", "text"),
    ("manual", "text"),
    ("note", "text"),
];

/// The kind of criterion that an unknown word probably means.
pub fn criterion(word: &str) -> Option<&'static str> {
    let word = word.trim().to_ascii_lowercase().replace('-', "_");
    let other = OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, kind)| *kind);
    other.or_else(|| nearest(&word, CRITERIA.iter().copied()))
}

/// Whether a word is another common word for a kind, which may also be an ordinary word.
pub fn is_other_word(word: &str) -> bool {
    OTHER_WORDS.iter().any(|(other, _)| other.eq_ignore_ascii_case(word))
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

    #[test]
    fn other_words_for_a_criterion_are_known() {
        assert_eq!(criterion("cmd"), Some("command"));
        assert_eq!(criterion("Comand"), Some("command"));
        assert_eq!(criterion("file-exist"), Some("file_exists"));
        assert_eq!(criterion("performance"), None);
        for (word, kind) in OTHER_WORDS {
            assert!(CRITERIA.contains(kind) && !CRITERIA.contains(word), "{word}");
        }
    }
}
