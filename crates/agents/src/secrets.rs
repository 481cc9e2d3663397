//! Keeps secrets that an agent has out of the lines that are kept of it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use aho_corasick::{AhoCorasick, MatchKind};

/// The variable that names the file with the agent's own token, which changes from time to time.
const TOKEN_FILE: &str = "SHOPFLOOR_TOKEN_FILE";
/// A shorter line of a value is not masked: it would hit ordinary text.
const SHORTEST: usize = 4;

/// Whether a variable's value must not be seen, going by its name; short ones would mask half the screen.
pub fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    value.len() >= 8 && ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|sign| name.contains(sign))
}

/// The secrets that an agent of this environment has.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    values: BTreeSet<String>,
    token_file: Option<PathBuf>,
    finder: Option<AhoCorasick>,
}

impl Secrets {
    /// Those of these variables, and the token that one of them leads to.
    pub(crate) fn of(variables: impl Iterator<Item = (String, String)>) -> Self {
        let mut secrets = Self::default();
        let mut values = Vec::new();
        for (name, value) in variables {
            if name == TOKEN_FILE {
                secrets.token_file = Some(value.into());
            } else if !name.starts_with("SHOPFLOOR_") && is_secret(&name, &value) {
                values.push(value);
            }
        }
        secrets.add(&values);
        secrets
    }

    /// A line with one `•` for each character of a secret.
    pub(crate) fn masked<'a>(&mut self, line: &'a [u8]) -> Cow<'a, [u8]> {
        if let Some(token) = self.token_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) {
            self.add(&[token]);
        }
        let Some(finder) = &self.finder else { return Cow::Borrowed(line) };
        let mut masked = Vec::with_capacity(line.len());
        finder.replace_all_with_bytes(line, &mut masked, |_, secret, out| {
            out.extend("•".repeat(String::from_utf8_lossy(secret).chars().count()).as_bytes());
            true
        });
        Cow::Owned(masked)
    }

    fn add(&mut self, values: &[String]) {
        let before = self.values.len();
        let lines = values.iter().flat_map(|value| value.lines()).map(str::trim);
        for line in lines.filter(|line| line.len() >= SHORTEST) {
            let in_json = serde_json::Value::from(line).to_string();
            self.values.insert(in_json[1..in_json.len() - 1].to_owned());
            self.values.insert(line.to_owned());
        }
        if self.values.len() > before {
            self.finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.values).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        assert!(is_secret("OPENAI_API_KEY", "sk-12345678"));
        assert!(is_secret("Github_Token", "12345678"));
        assert!(!is_secret("OPENAI_API_KEY", "none"));
        assert!(!is_secret("PATH", "/usr/bin:/bin"));
    }

    #[test]
    fn what_a_line_has_of_them_is_masked_also_as_json_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let variables = [
            ("API_KEY", "sk-1234\"é"),
            ("MY_SECRET", "first line\nsecond line"),
            (TOKEN_FILE, file.to_str().unwrap()),
            ("SHOPFLOOR_TOKEN_KIND", "ordinary"),
        ];
        let mut secrets = Secrets::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter());
        let mut check = |line: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&secrets.masked(line.as_bytes())), expected);
        };
        check(r#"{"a":"sk-1234\"é"} sk-1234"é"#, r#"{"a":"••••••••••"} •••••••••"#);
        check(r"first line\nsecond line", r"••••••••••\n•••••••••••");
        check("ordinary sf_one", "ordinary sf_one");
        for token in ["sf_one", "sf_two"] {
            std::fs::write(&file, token).unwrap();
            check(token, "••••••");
        }
        check("sf_one, the older one", "••••••, the older one");
    }
}
