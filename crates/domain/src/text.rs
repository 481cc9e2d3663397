//! Limits on texts, and what is parsed from them.

/// Why a text was refused; names the field and the limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Only white space in a required field.
    #[error("`{field}` is empty: write at least one visible character")]
    Empty {
        /// The field that was refused.
        field: &'static str,
    },
    /// More bytes than the field holds.
    #[error("`{field}` has {length} bytes; the limit is {limit}")]
    TooLong {
        /// The field that was refused.
        field: &'static str,
        /// How many bytes were given.
        length: usize,
        /// How many bytes it holds.
        limit: usize,
    },
    /// A character that cannot be shown or stored.
    #[error("`{field}` has a control character (U+{code:04X}) at byte {position}: remove it")]
    Control {
        /// The field that was refused.
        field: &'static str,
        /// The character's code point.
        code: u32,
        /// Where it stands.
        position: usize,
    },
    /// An invisible character.
    #[error("`{field}` has a character that cannot be seen (U+{code:04X}) at byte {position}: remove it")]
    Invisible {
        /// The field that was refused.
        field: &'static str,
        /// The character's code point.
        code: u32,
        /// Where it stands.
        position: usize,
    },
    /// Scripts that are not written together.
    #[error(
        "`{field}` mixes letters of several scripts in `{word}`, which could be taken for another name: use one script"
    )]
    Mixed {
        /// The field that was refused.
        field: &'static str,
        /// The word.
        word: String,
    },
}

/// A field's name in error messages, its size, and whether it may have several lines.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The field's name as in the protocol.
    pub name: &'static str,
    /// The most bytes that it holds.
    pub limit: usize,
    /// Whether line breaks and tabs are allowed.
    pub lines: bool,
    /// Whether it may be empty.
    pub optional: bool,
}

/// A project's free text: name, goals, constraints.
pub const PROJECT_CONTENT: Field = Field { name: "content", limit: 64 * 1024, lines: true, optional: false };
/// An activity's free text: intent, plan, blockers.
pub const ACTIVITY_CONTENT: Field = Field { name: "content", limit: 64 * 1024, lines: true, optional: false };
/// One chat message.
pub const MESSAGE_CONTENT: Field = Field { name: "content", limit: 16 * 1024, lines: true, optional: false };
/// The name of a user, runner, token or link.
pub const NAME: Field = Field { name: "name", limit: 80, lines: false, optional: false };
/// Where a repository is.
pub const REPOSITORY: Field = Field { name: "repositories.location", limit: 1024, lines: false, optional: false };
/// A branch name.
pub const BRANCH: Field = Field { name: "repositories.base_branch", limit: 255, lines: false, optional: false };
/// A prompt.
pub const PROMPT: Field = Field { name: "prompt", limit: 64 * 1024, lines: true, optional: true };
/// The name of an adapter.
pub const AGENT: Field = Field { name: "agent", limit: 80, lines: false, optional: false };
/// The name of a model.
pub const MODEL: Field = Field { name: "model", limit: 200, lines: false, optional: false };
/// A shell command that prepares a workspace.
pub const SETUP: Field = Field { name: "repositories.setup", limit: 4096, lines: true, optional: false };
/// A shell command that runs before a workspace is deleted.
pub const TEARDOWN: Field = Field { name: "repositories.teardown", limit: 4096, lines: true, optional: false };
/// A pattern of ignored files to copy into a workspace.
pub const COPY: Field = Field { name: "repositories.copy", limit: 255, lines: false, optional: false };
/// What a link points at.
pub const LINK_TARGET: Field = Field { name: "links.target", limit: 512, lines: false, optional: false };
/// The key that makes a retry safe.
pub const IDEMPOTENCY_KEY: Field = Field { name: "key", limit: 128, lines: false, optional: false };

/// How many links an activity may have.
pub const MAX_LINKS: usize = 100;
/// How many arguments a session's command may have, and their total length.
pub const MAX_ARGV: (usize, usize) = (500, 64 * 1024);
/// How many patterns of ignored files a repository may name.
pub const MAX_COPIES: usize = 50;
/// How many repositories a project may name.
pub const MAX_REPOSITORIES: usize = 50;

impl Field {
    /// Refuses an invalid text, with the reason.
    pub fn check(&self, text: &str) -> Result<(), TextError> {
        let field = self.name;
        if !self.optional && text.trim().is_empty() {
            return Err(TextError::Empty { field });
        }
        if text.len() > self.limit {
            return Err(TextError::TooLong { field, length: text.len(), limit: self.limit });
        }
        let bad = text.char_indices().find(|(_, c)| is_forbidden(*c, self.lines));
        match bad {
            Some((position, c)) => Err(TextError::Control { field, code: c as u32, position }),
            None => Ok(()),
        }
    }
}

fn is_forbidden(c: char, lines: bool) -> bool {
    match c {
        '\n' | '\t' | '\r' => !lines,
        // Bidirectional overrides make a text look like another one.
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

/// A program's text, made harmless instead of refused: without control characters and overrides, and with at most
/// `limit` characters.
pub fn plain(text: &str, limit: usize) -> String {
    text.chars().filter(|c| *c == '\n' || !is_forbidden(*c, false)).take(limit).collect()
}

/// The name of a free text: its first visible line without heading marks, at most 80 characters.
pub fn title(content: &str) -> String {
    let line = content
        .split(['\n', '\r'])
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| !line.is_empty());
    let line = line.unwrap_or("Untitled");
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// The ids that a text refers to as `#act_…`, each once, in order.
pub fn references(content: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in content.split('#').skip(1) {
        let end = part.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(part.len());
        let word = &part[..end];
        let known = ["act", "tsk", "ses", "prj", "msg"].iter().any(|prefix| {
            word.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('_')).is_some_and(|hex| hex.len() == 32)
        });
        if known && !found.iter().any(|seen| seen == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// The indexes of the `names` that a text mentions as `@name`, longest name first, ignoring case.
pub fn mentions(content: &str, names: &[&str]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(names[index].len()));
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let mut found = Vec::new();
    for part in content.to_lowercase().split('@').skip(1) {
        let hit = order.iter().copied().find(|&index| {
            part.strip_prefix(lower[index].as_str())
                .is_some_and(|rest| !rest.chars().next().is_some_and(char::is_alphanumeric))
        });
        if let Some(index) = hit
            && !found.contains(&index)
        {
            found.push(index);
        }
    }
    found
}

/// A number and its noun, as `1 file` or `2 files`.
pub fn counted<N: std::fmt::Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// The plural of a regular English noun.
pub fn plural(noun: &str) -> String {
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_name_the_field() {
        let error = NAME.check(&"x".repeat(81)).unwrap_err().to_string();
        assert_eq!(error, "`name` has 81 bytes; the limit is 80");
        assert_eq!(NAME.check(" \u{00a0}").unwrap_err(), TextError::Empty { field: "name" });
        assert!(matches!(NAME.check("a\u{1b}[2J"), Err(TextError::Control { code: 0x1b, position: 1, .. })));
        assert!(NAME.check("a\nb").is_err());
        assert!(MESSAGE_CONTENT.check("a\n\tb").is_ok());
        assert!(MESSAGE_CONTENT.check("a\u{202e}b").is_err());
    }

    #[test]
    fn a_title_is_the_first_visible_line() {
        assert_eq!(title("\n  ## Ship the parser \nmore"), "Ship the parser");
        assert_eq!(title("one\rtwo"), "one");
        assert_eq!(title(" \n#\n"), "Untitled");
        assert_eq!(title(&"é".repeat(100)).chars().count(), 81);
    }

    #[test]
    fn what_a_program_says_is_made_harmless() {
        assert_eq!(plain("a\u{1b}[2J\0b\u{202e}c\td\ne", 100), "a[2Jbcd\ne");
        assert_eq!(plain(&"é".repeat(100), 3), "ééé");
    }

    #[test]
    fn references_are_found_once() {
        let id = format!("act_{}", "0".repeat(32));
        assert_eq!(references(&format!("see #{id}, and #{id}. Not #act_12 or #12")), vec![id]);
    }

    #[test]
    fn the_longest_name_is_mentioned() {
        let names = ["ann", "ann lee", "bo"];
        assert_eq!(mentions("hi @Ann Lee and @bo!", &names), vec![1, 2]);
        assert_eq!(mentions("@anna mail@bob", &names), Vec::<usize>::new());
    }

    #[test]
    fn plurals_are_english() {
        assert_eq!((counted(1_u32, "is", "are"), counted(0_usize, "file", "files")), ("1 is".into(), "0 files".into()));
        assert_eq!(["activity", "key", "task"].map(plural), ["activities", "keys", "tasks"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(content in ".{0,400}", name in ".{0,20}") {
            let shown = title(&content);
            prop_assert!(shown.chars().count() <= 81);
            references(&content);
            mentions(&content, &[&name]);
            let _ = MESSAGE_CONTENT.check(&content);
        }
    }
}
