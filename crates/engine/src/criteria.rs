//! Whether what a criterion is written in can be used: regular expressions, patterns, JSON Schemas. The rules are the same
//! where a task is added and where its work is checked.

mod weight;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use jsonschema::{PatternOptions, Validator};
use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

/// What a regular expression may take once it is built; with the limit of files, this bounds how long it runs.
const LARGEST_REGEX: usize = 256 << 10;

/// What a JSON Schema may stand for when its references are followed; with more, a few lines take longer than anybody waits.
const HEAVIEST_SCHEMA: u64 = 100_000;

const MOST_PATTERNS: usize = 500;

/// What somebody else wrote is not repeated for longer than this.
const SHOWN: usize = 500;

/// A regular expression, or why it is none. `^` and `$` stand for the ends of lines, as people who search files expect.
pub fn regex(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).multi_line(true).crlf(true).size_limit(LARGEST_REGEX).build();
    // The line of a long error that says what is wrong.
    let last = |error: regex::Error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    built.map_err(|error| short(&last(error)))
}

/// A JSON Schema, or why it is none, with the place in it. Nothing outside of it is ever fetched.
pub fn json_schema(schema: &Value) -> Result<Validator, String> {
    if weight::weight(schema) > HEAVIEST_SCHEMA {
        return Err(format!("its references stand for more than {HEAVIEST_SCHEMA} values"));
    }
    let options = jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(LARGEST_REGEX));
    options.build(schema).map_err(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { String::new() } else { format!("`{at}`: ") };
        short(&format!("{at}{error}"))
    })
}

/// Patterns of paths, or which of them is none, and why. One without a wildcard names a folder with all that is in it, too.
pub fn patterns(globs: &[String]) -> Result<GlobSet, String> {
    if globs.len() > MOST_PATTERNS {
        return Err(format!("there are more than {MOST_PATTERNS} patterns"));
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let wrong = |why: &str| short(&format!("`{}`: {why}", glob.escape_debug()));
        if glob.starts_with('!') {
            return Err(wrong("it takes something out; name what may be changed"));
        }
        let trimmed = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
        let below = if trimmed.is_empty() || trimmed == "." { "**".to_owned() } else { format!("{trimmed}/**") };
        for pattern in [trimmed.to_owned(), below] {
            let built = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(built.map_err(|error| wrong(&error.kind().to_string()))?);
        }
    }
    set.build().map_err(|error| short(&error.to_string()))
}

fn short(text: &str) -> String {
    domain::text::plain(text, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_cannot_be_used_says_why() {
        assert!(regex("^a+$").unwrap().is_match(b"b\naa\n"));
        assert_eq!(regex("(").unwrap_err(), "unclosed group");
        assert!(regex("(a{999}){999}").unwrap_err().contains("size limit"));
        assert!(patterns(&["src".to_owned()]).unwrap().is_match("src/a.rs"));
        for (globs, why) in [("[", "`[`: "), ("!src", "takes something out")] {
            let said = patterns(&[globs.to_owned()]).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        assert!(json_schema(&json!({ "type": "object", "required": ["a"] })).unwrap().is_valid(&json!({ "a": 1 })));
        let check = |schema: Value, why: &str| {
            let said = json_schema(&schema).unwrap_err();
            assert!(said.contains(why), "{schema}: {said}");
        };
        check(json!({ "type": "objekt" }), "`/type`: \"objekt\"");
        check(json!({ "properties": { "a": { "minimum": "1" } } }), "`/properties/a/minimum`");
        check(json!({ "properties": { "a": { "pattern": "(" } } }), "(");
        check(json!({ "$ref": "https://example.org/schema.json" }), "example.org");
        check(json!({ "$ref": "#/$defs/missing" }), "missing");
        check(json!("object"), "object");
        let doubled =
            |n: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/d{n}") }, { "$ref": format!("#/$defs/d{n}") }] });
        let mut defs: serde_json::Map<String, Value> = (0..45).map(|n| (format!("d{n}"), doubled(n + 1))).collect();
        defs.insert("d45".to_owned(), json!({ "type": "object" }));
        let schema = json!({ "$ref": "#/$defs/d0", "unevaluatedProperties": false, "$defs": defs });
        assert!(schema.to_string().len() < 4096);
        check(schema, "more than 100000");
    }
}
