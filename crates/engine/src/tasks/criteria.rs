//! Validation of criteria: regular expressions, patterns and JSON Schemas. The same rules apply when a task is added
//! and when its work is checked.

mod schema;
mod walk;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::bytes::{Regex, RegexBuilder};

pub use schema::{json_schema, json_schema_fault};

/// The maximum size of a compiled regular expression; together with the file size limit, this bounds its run time.
const LARGEST_REGEX: usize = 256 << 10;

const MOST_PATTERNS: usize = 500;

/// The maximum length of quoted foreign text.
const SHOWN: usize = 500;

/// Compiles a regular expression, or says what is wrong. `^` and `$` match at line ends, as in file search.
pub fn regex(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).multi_line(true).crlf(true).size_limit(LARGEST_REGEX).build();
    // Only the line of a long error that names the fault.
    let last = |error: regex::Error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
    };
    built.map_err(|error| short(&last(error)))
}

/// Compiles path patterns, or says which one is invalid and why. A pattern without a wildcard also matches everything
/// inside a folder of that name.
pub fn patterns(globs: &[String]) -> Result<GlobSet, String> {
    if globs.len() > MOST_PATTERNS {
        return Err(format!("there are more than {MOST_PATTERNS} patterns"));
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let wrong = |why: &str| short(&format!("`{}`: {why}", glob.escape_debug()));
        if glob.starts_with('!') {
            return Err(wrong("it excludes files; name the files that may be changed"));
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

    #[test]
    fn a_bad_pattern_is_refused_with_the_reason() {
        assert!(regex("^a+$").unwrap().is_match(b"b\naa\n"));
        assert_eq!(regex("(").unwrap_err(), "unclosed group");
        assert!(regex("(a{999}){999}").unwrap_err().contains("size limit"));
        assert!(patterns(&["src".to_owned()]).unwrap().is_match("src/a.rs"));
        for (globs, why) in [("[", "`[`: "), ("!src", "excludes files")] {
            let said = patterns(&[globs.to_owned()]).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
