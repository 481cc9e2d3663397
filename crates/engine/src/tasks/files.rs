//! Whether two tasks may change the same files, according to their patterns.

/// Whether two patterns can match the same file. Doubt counts as yes, which only delays one task.
pub fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (plain(a), plain(b));
    match (wild(a), wild(b)) {
        (None, None) => inside(a, b) || inside(b, a),
        (Some(start), None) => reaches(start, b),
        (None, Some(start)) => reaches(start, a),
        (Some(one), Some(other)) => one.starts_with(other) || other.starts_with(one),
    }
}

/// Whether any pattern of one list overlaps any of another.
pub fn lists_overlap(a: &[String], b: &[String]) -> bool {
    a.iter().any(|one| b.iter().any(|other| overlap(one, other)))
}

fn plain(pattern: &str) -> &str {
    pattern.trim_start_matches("./").trim_end_matches('/')
}

/// The part of a pattern before its first wildcard; `None` without a wildcard.
fn wild(pattern: &str) -> Option<&str> {
    pattern.find(['*', '?', '[']).map(|at| &pattern[..at])
}

/// Whether a wildcard pattern with this prefix can match a path or something below it.
fn reaches(start: &str, path: &str) -> bool {
    path.starts_with(start) || start.starts_with(&format!("{path}/")) || path.is_empty()
}

/// Whether `path` is `folder` or below it; the empty path is the whole tree.
fn inside(path: &str, folder: &str) -> bool {
    folder.is_empty() || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_that_can_name_the_same_file_overlap() {
        for (a, b, expected) in [
            ("src/a.rs", "src/a.rs", true),
            ("src/a.rs", "./src/a.rs", true),
            ("src/a.rs", "src/b.rs", false),
            ("src", "src/a.rs", true),
            ("src/", "src/a.rs", true),
            ("src", "srcs/a.rs", false),
            ("src/*.rs", "src/a.rs", true),
            ("src/*.rs", "docs/a.md", false),
            ("src/**", "src/deep/a.rs", true),
            ("**/*.md", "docs/a.md", true),
            ("src/a*", "src", true),
            ("src/a*", "src/b*", false),
            ("", "anything", true),
        ] {
            assert_eq!(overlap(a, b), expected, "{a} and {b}");
        }
    }

    proptest! {
        #[test]
        fn overlap_is_symmetric_and_reflexive(a in "[a-c/*]{0,8}", b in "[a-c/*]{0,8}") {
            prop_assert_eq!(overlap(&a, &b), overlap(&b, &a));
            prop_assert!(overlap(&a, &a));
        }
    }
}
