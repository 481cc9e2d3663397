//! A criterion as one line: `command: cargo test`, `file_exists: src/lexer.rs`, JSON, or words for a person to judge.

use domain::near::{self, CRITERIA};
use protocol::{Criterion, FileFormat};

use super::words;

/// Whether a line can only be a criterion; `text: …` may also be part of a description.
pub(super) fn is_one(line: &str) -> bool {
    match line.split_once(':') {
        Some((kind, _)) => kind != "text" && CRITERIA.contains(&kind),
        None => matches!(line.trim(), "committed" | "no_conflict_with_base" | "approved" | "merged"),
    }
}

/// Parses a criterion.
pub fn parse(text: &str) -> Result<Criterion, String> {
    let text = text.trim();
    if text.starts_with('{') {
        return json(text);
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
        "no_conflict_with_base" | "committed" | "approved" | "merged" => Err(format!(
            "`{word}` takes nothing after it; for a text that a person judges, write `text: {}`",
            shortened(text)
        )),
        "command" | "text" => Err(format!("`{word}` needs more: write `{word}: …`")),
        _ => {
            unknown(text, kind)?;
            Ok(Criterion::Text { text: text.to_owned() })
        }
    }
}

/// Parses a criterion that is written as JSON.
fn json(text: &str) -> Result<Criterion, String> {
    let read = serde_json::from_str::<serde_json::Value>(text).and_then(|value| {
        let kind = value["kind"].as_str().filter(|kind| !CRITERIA.contains(kind)).map(str::to_owned);
        kind.map_or_else(|| serde_json::from_value(value).map(Ok), |kind| Ok(Err(kind)))
    });
    match read {
        Ok(Ok(criterion)) => Ok(criterion),
        Ok(Err(kind)) => {
            let meant = near::criterion(&kind).map(|meant| format!("did you mean `{meant}`?"));
            let meant = meant.unwrap_or_else(|| format!("known: {}", CRITERIA.join(", ")));
            Err(format!("`{kind}` is not a kind of criterion; {meant}"))
        }
        Err(error) => Err(format!("this is not a criterion: {error}")),
    }
}

/// Refuses a line that names a kind of criterion which does not exist: one lower-case word directly followed by `: `, or
/// a single word that resembles a kind. All other lines are texts; `text: …` makes a text of any line.
fn unknown(text: &str, kind: &str) -> Result<(), String> {
    let label = text.split_once(':').is_some_and(|(word, rest)| is_word(word) && !rest.starts_with(|c| c != ' '));
    let meant = if kind.contains(char::is_whitespace) { None } else { near::criterion(kind) };
    let other = if label { meant } else { meant.filter(|_| !near::is_other_word(kind)) };
    match (other, label) {
        (Some(meant), _) => Err(format!(
            "`{kind}` is not a kind of criterion; did you mean `{meant}`? For a text that a person judges, write `text: {}`",
            shortened(text)
        )),
        (None, true) => Err(format!(
            "`{kind}` is not a kind of criterion; known: {}. For a text that a person judges, write `text: {}`",
            CRITERIA.join(", "),
            shortened(text)
        )),
        (None, false) => Ok(()),
    }
}

/// A lower-case word, such as `command` or `file_exists`.
fn is_word(text: &str) -> bool {
    let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(inside)
}

/// The beginning of a text, for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
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
        check("Note: short", text("Note: short"));
        check("text: note: short", text("note: short"));
        check("It works: no panic", text("It works: no panic"));
        check("https://example.org/ answers", text("https://example.org/ answers"));
        check("ratio 2:1 holds", text("ratio 2:1 holds"));
        check("12: the clock strikes", text("12: the clock strikes"));
        check("check", text("check"));
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
            ("cmd: cargo test", "did you mean `command`"),
            ("run: make", "write `text: run: make`"),
            ("committed: everything", "takes nothing after it"),
            ("command", "write `command: …`"),
            ("cmd:", "did you mean `command`"),
            ("note: short", "did you mean `text`"),
            ("performance: it is fast", "known: file_exists, file_matches, command"),
            ("aproved", "did you mean `approved`"),
            ("commited", "did you mean `committed`"),
            ("command:", "needs a program"),
            ("command: 'a", "not closed"),
            ("file_matches: a.json min_words=many", "number of words"),
            ("file_matches: a.json parses=word", "json, jsonl"),
            ("file_matches: a.json big", "not one of"),
            ("{\"kind\": \"nothing\"}", "`nothing` is not a kind of criterion; known: file_exists,"),
            ("{\"kind\": \"tests\"}", "did you mean `command`?"),
            ("{\"kind\": \"file_exists\"}", "not a criterion: missing field `path`"),
            ("{\"kind\"", "not a criterion: EOF"),
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
