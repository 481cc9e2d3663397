use globset::{Glob, GlobBuilder};
use proptest::prelude::*;

use super::*;

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn patterns_that_can_name_the_same_file_meet() {
    for (one, other, expected) in [
        ("src/a.rs", "src/a.rs", true),
        ("src/a.rs", "./src/a.rs", true),
        ("src/a.rs", "src/b.rs", false),
        ("src", "src/a.rs", true),
        ("src/", "src/deep/a.rs", true),
        ("src", "srcs/a.rs", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/deep/a.rs", false),
        ("src/*.rs", "src", true),
        ("src/*.rs", "src/b*", true),
        ("src/a*", "src/b*", false),
        ("src/*.rs", "src/*.md", false),
        ("src/a*.rs", "src/*b.rs", true),
        ("src/**", "src/deep/a.rs", true),
        ("src/**", "docs/**", false),
        ("**/*.md", "docs/a.md", true),
        ("**/*.md", "src/a.rs", false),
        ("**/*.md", "docs", true),
        ("**/tests/**", "crates/*/tests/it.rs", true),
        ("src/{lexer,parser}.rs", "src/parser.rs", true),
        ("src/{lexer,parser}.rs", "src/l*", true),
        ("src/{lexer,parser}.rs", "src/[a-k]*", false),
        ("src/[!a].rs", "src/a.rs", false),
        ("src/[!a].rs", "src/b.rs", true),
        (r"src/\[id\].ts", "src/[id].ts", false),
        (r"src/\[id\].ts", "src", true),
        ("crates/*/", "crates/hub/src/a.rs", true),
        ("crates/*", "crates/hub/src/a.rs", false),
        ("**", "anything/at/all", true),
        ("Makefile", "Makefile", true),
        (".github", ".github/workflows/ci.yml", true),
        ("größe/*.txt", "größe/ä.txt", true),
    ] {
        let (one, other) = (pattern(one), pattern(other));
        assert_eq!(one.meets(&other), expected, "{} and {}", one.text(), other.text());
        assert_eq!(other.meets(&one), expected, "{} and {}", other.text(), one.text());
    }
}

#[test]
fn patterns_name_paths() {
    for (text, path, expected) in [
        ("src/a.rs", "src/a.rs", true),
        ("src", "src/deep/a.rs", true),
        ("v1.2", "v1.2/a.rs", true),
        ("src/a.rs", "src/a.rs.orig", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/deep/a.rs", false),
        ("**/*.md", "a.md", true),
        ("**/*.md", "src/a.rs", false),
        ("crates/*/", "crates/hub/src/a.rs", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
    ] {
        assert_eq!(pattern(text).names(path), expected, "{text} and {path}");
    }
}

#[test]
fn wrong_patterns_are_refused_with_what_to_do() {
    for (text, part) in [
        ("", "is empty"),
        ("  ", "is empty"),
        ("./", "is empty"),
        ("/etc/passwd", "root of the repository"),
        ("../up", "`..`"),
        ("a//b", "``"),
        ("a/./b", "`.`"),
        ("a\nb", "control character"),
        ("src/[a", "add `]`"),
        ("src/{a,b", "add `}`"),
        ("src/[]", "names no character"),
        ("src/[z-a]", "names no character"),
        ("src/a\\", "backslash"),
        ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 32"),
    ] {
        let error = Pattern::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = Pattern::parse(&"a".repeat(MAX_PATTERN + 1)).unwrap_err();
    assert_eq!(error, PatternError::Long(MAX_PATTERN + 1));
}

#[test]
fn what_is_no_pattern_stands_for_everything_after_its_start() {
    let odd = Pattern::lenient("src/deep/[a");
    assert!(odd.names("src/deep/x/y.rs") && odd.meets(&pattern("src/**")));
    assert!(!odd.names("docs/a.md") && !odd.meets(&pattern("docs/**")));
    assert!(Pattern::lenient("../x/[").names("x/a"));
}

/// Paths over few names, so that patterns often match them.
fn paths() -> Vec<String> {
    let names = ["a", "b", "ab", "a.x", "c"];
    let mut all: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    for _ in 0..2 {
        let deeper: Vec<String> =
            all.iter().flat_map(|path| names.iter().map(move |name| format!("{path}/{name}"))).collect();
        all.extend(deeper);
    }
    all.sort();
    all.dedup();
    all
}

/// Globs: what globset does, is right.
fn glob() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        3 => "[abc]{1,2}",
        2 => r"[ab*?]{1,3}",
        1 => Just("**".to_owned()),
        1 => Just("*".to_owned()),
        1 => Just("{a,b}".to_owned()),
        1 => Just("[a-b]".to_owned()),
        1 => Just("{a,b*}.x".to_owned()),
    ];
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn oracle(text: &str) -> globset::GlobMatcher {
    let glob: Glob = GlobBuilder::new(text).literal_separator(true).build().expect(text);
    glob.compile_matcher()
}

proptest! {
    #[test]
    fn globs_name_what_globset_matches(text in glob()) {
        let (mine, theirs) = (pattern(&text), oracle(&text));
        for path in paths() {
            let below = mine.below.is_some() && path.starts_with(&format!("{text}/"));
            prop_assert_eq!(mine.names(&path), theirs.is_match(&path) || below, "{} and {}", &text, path);
        }
    }

    #[test]
    fn patterns_of_one_file_meet(one in glob(), other in glob()) {
        let (one, other) = (pattern(&one), pattern(&other));
        prop_assert_eq!(one.meets(&other), other.meets(&one));
        prop_assert!(one.meets(&one));
        let common = paths().into_iter().find(|path| one.names(path) && other.names(path));
        // `a.x` is a file.
        if let Some(path) = common.filter(|path| !path.contains(".x/")) {
            prop_assert!(one.meets(&other), "{} and {} both name {}", one.text(), other.text(), path);
        }
    }

    #[test]
    fn globs_meet_only_with_a_file_in_common(one in glob(), other in glob()) {
        let (one, other) = (pattern(&one), pattern(&other));
        let short = |pattern: &Pattern| !pattern.text().contains("**") && !pattern.text().contains("??");
        if one.glob && other.glob && short(&one) && short(&other) && one.meets(&other) {
            let names = ["a", "b", "c", "ab", "ba", "aa", "bb", "aba", "bab", "aab", "abb", "baa", "bba", "aaa", "bbb",
                "a.x", "b.x", "ab.x", "ba.x", "abab", "baba", "aabb", "bbaa", "abba", "baab", "abaa", "aaba", "babb", "bbab",
                "ac", "ca", "bc", "cb", "cc", "acb", "bca", "cab", "cba", "abc", "bac", "bb.x", "bab.x", "cac", "cbc"];
            let depth = one.text().split('/').count();
            let mut found = vec![String::new()];
            for _ in 0..depth {
                found = found
                    .iter()
                    .flat_map(|path| names.iter().map(move |name| if path.is_empty() { (*name).to_owned() } else { format!("{path}/{name}") }))
                    .filter(|path| {
                        let at = path.split('/').count();
                        let cut = |text: &str| text.split('/').take(at).collect::<Vec<_>>().join("/");
                        pattern(&cut(one.text())).names(path) && pattern(&cut(other.text())).names(path)
                    })
                    .take(3)
                    .collect();
            }
            prop_assert!(!found.is_empty(), "{} and {}", one.text(), other.text());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}", other in "[a-c/*?{},\\[\\]!^-]{0,20}") {
        for text in [text, other] {
            if let Ok(read) = Pattern::parse(&text) {
                prop_assert!(read.meets(&read), "{}", &text);
                prop_assert_eq!(Pattern::parse(read.text()), Ok(read));
            }
            prop_assert!(Pattern::lenient(&text).meets(&pattern("**")));
        }
    }
}
