//! A criterion as one line: `command: cargo test`, `file_exists: src/lexer.rs`, JSON, or words for a person to judge.

use protocol::{Criterion, FileFormat};

use super::near::nearest;
use super::words;

const KINDS: &[&str] = &[
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

/// Whether a line can only be a criterion; `text: …` may also be part of a description.
pub(super) fn is_one(line: &str) -> bool {
    match line.split_once(':') {
        Some((kind, _)) => kind != "text" && KINDS.contains(&kind),
        None => matches!(line.trim(), "committed" | "no_conflict_with_base" | "approved" | "merged"),
    }
}

/// Parses a criterion.
pub fn parse(text: &str) -> Result<Criterion, String> {
    let text = text.trim();
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| format!("this is not a criterion: {error}"));
    }
    let (kind, rest) = text.split_once(':').map_or((text, ""), |(kind, rest)| (kind.trim_end(), rest.trim()));
    let rest = rest.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(rest);
    let word = kind.to_ascii_lowercase().replace('-', "_");
    let needed = |what: &str| if rest.is_empty() { Err(format!("`{word}:` needs {what} after it")) } else { Ok(()) };
    match word.as_str() {
        "" => Err("it is empty".to_owned()),
        "no_conflict_with_base" if rest.is_empty() => Ok(Criterion::NoConflictWithBase {}),
        "committed" if rest.is_empty() => Ok(Criterion::Committed {}),
        "approved" if rest.is_empty() => Ok(Criterion::Approved {}),
        "merged" if rest.is_empty() => Ok(Criterion::Merged {}),
        "file_exists" => needed("a path").map(|()| Criterion::FileExists { path: rest.to_owned() }),
        "file_matches" => needed("a path").and_then(|()| file_matches(rest)),
        "command" if text.contains(':') => {
            needed("a program")?;
            Ok(Criterion::Command { argv: words::split(rest)?, exit_code: None, timeout_seconds: None })
        }
        "only_touches" => needed("a pattern").and_then(|()| Ok(Criterion::OnlyTouches { globs: words::split(rest)? })),
        "text" if text.contains(':') => needed("a text").map(|()| Criterion::Text { text: rest.to_owned() }),
        _ => match nearest(&word, KINDS.iter().copied()).filter(|_| !kind.contains(' ')) {
            Some(meant) => Err(format!(
                "`{kind}` is not a kind of criterion; did you mean `{meant}`? (write `text: …` for plain text)"
            )),
            None => Ok(Criterion::Text { text: text.to_owned() }),
        },
    }
}

/// `PATH regex=… not_regex=… min_words=… parses=…`
fn file_matches(rest: &str) -> Result<Criterion, String> {
    let mut words = words::split(rest)?.into_iter();
    let path = words.next().unwrap_or_default();
    let (mut regex, mut not_regex, mut min_words, mut parses) = (None, None, None, None);
    for word in words {
        let known = "regex=…, not_regex=…, min_words=N, parses=FORMAT";
        let (name, value) = word
            .split_once('=')
            .ok_or_else(|| format!("`{word}` is not one of: {known}; quote values with spaces: regex=\"def mul\""))?;
        match name {
            "regex" => regex = Some(value.to_owned()),
            "not_regex" => not_regex = Some(value.to_owned()),
            "min_words" => min_words = Some(value.parse().map_err(|_| format!("`{value}` is not a number of words"))?),
            "parses" => parses = Some(format(value)?),
            _ => {
                return Err(format!("`{name}` is not one of: {known}; for a JSON Schema, write the criterion as JSON"));
            }
        }
    }
    Ok(Criterion::FileMatches { path, regex, not_regex, min_words, json_schema: None, parses })
}

fn format(word: &str) -> Result<FileFormat, String> {
    let wrong = |_| format!("`{word}` is not one of: json, jsonl, toml, yaml, csv, xml, text");
    serde_json::from_value(word.into()).map_err(wrong)
}

/// A criterion for people.
pub fn say(criterion: &Criterion) -> String {
    match criterion {
        Criterion::FileExists { path } => format!("{path} exists"),
        Criterion::FileMatches { path, regex, not_regex, min_words, json_schema, parses } => {
            let parts = [
                regex.as_ref().map(|regex| format!("has /{regex}/")),
                not_regex.as_ref().map(|regex| format!("does not have /{regex}/")),
                min_words.map(|words| format!("has at least {words} words")),
                json_schema.as_ref().map(|_| "meets its JSON Schema".to_owned()),
                parses
                    .and_then(|format| serde_json::to_value(format).ok())
                    .map(|format| format!("is valid {}", format.as_str().unwrap_or_default())),
            ];
            format!("{path} {}", parts.into_iter().flatten().collect::<Vec<_>>().join(" and "))
        }
        Criterion::Command { argv, exit_code, timeout_seconds } => {
            let code = exit_code.filter(|code| *code != 0).map(|code| format!(" with {code}")).unwrap_or_default();
            let time = timeout_seconds.map(|seconds| format!(" within {seconds} s")).unwrap_or_default();
            let ends = if code.is_empty() { " passes" } else { " ends" };
            format!("`{}`{ends}{code}{time}", words::join(argv))
        }
        Criterion::OnlyTouches { globs } => format!("touches only {}", globs.join(", ")),
        Criterion::NoConflictWithBase {} => "merges into its base branch".to_owned(),
        Criterion::Committed {} => "everything is committed".to_owned(),
        Criterion::Approved {} => "a person approves the changes".to_owned(),
        Criterion::Merged {} => "the work is merged".to_owned(),
        Criterion::Text { text } => format!("{text} (a person judges)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Criterion {
        Criterion::Text { text: text.to_owned() }
    }

    #[test]
    fn lines_become_criteria() {
        let check = |line: &str, criterion: Criterion| assert_eq!(parse(line), Ok(criterion), "{line}");
        check("file_exists: src/a b.rs", Criterion::FileExists { path: "src/a b.rs".into() });
        check("file-exists:`a`", Criterion::FileExists { path: "a".into() });
        let argv = ["sh", "-c", "exit 0"].map(str::to_owned).to_vec();
        check("command: sh -c 'exit 0'", Criterion::Command { argv, exit_code: None, timeout_seconds: None });
        check(
            "only_touches: src/** docs/*.md",
            Criterion::OnlyTouches { globs: vec!["src/**".into(), "docs/*.md".into()] },
        );
        check("committed", Criterion::Committed {});
        check("Approved", Criterion::Approved {});
        check("merged", Criterion::Merged {});
        check("No-conflict-with-base", Criterion::NoConflictWithBase {});
        check("text: committed", text("committed"));
        check("Reads well to somebody new: try it", text("Reads well to somebody new: try it"));
        check("command line help is complete", text("command line help is complete"));
        check("note: short", text("note: short"));
        check(r#"{"kind": "file_exists", "path": "x"}"#, Criterion::FileExists { path: "x".into() });
        let Ok(Criterion::FileMatches { path, regex, min_words, parses, .. }) =
            parse(r"file_matches: a.json regex='b \d' min_words=3 parses=json")
        else {
            panic!("a file that matches");
        };
        assert_eq!((path.as_str(), regex.as_deref(), min_words), ("a.json", Some(r"b \d"), Some(3)));
        assert_eq!(parses, Some(FileFormat::Json));
    }

    #[test]
    fn a_misspelled_criterion_is_refused() {
        for (line, part) in [
            ("comand: cargo test", "did you mean `command`"),
            ("file_exist: x", "did you mean `file_exists`"),
            ("aproved", "did you mean `approved`"),
            ("commited", "did you mean `committed`"),
            ("command:", "needs a program"),
            ("command: 'a", "not closed"),
            ("file_matches: a.json min_words=many", "number of words"),
            ("file_matches: a.json parses=word", "json, jsonl"),
            ("file_matches: a.json big", "not one of"),
            ("{\"kind\": \"nothing\"}", "not a criterion"),
            ("", "empty"),
        ] {
            let said = parse(line).unwrap_err();
            assert!(said.contains(part), "{line}: {said}");
        }
    }

    #[test]
    fn criteria_are_shown_in_words() {
        assert_eq!(say(&parse("command: cargo test 'a b'").unwrap()), "`cargo test 'a b'` passes");
        assert_eq!(
            say(&parse("file_matches: a min_words=3 parses=json").unwrap()),
            "a has at least 3 words and is valid json"
        );
        assert_eq!(say(&text("It is good")), "It is good (a person judges)");
    }
}
