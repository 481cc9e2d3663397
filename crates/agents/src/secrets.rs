//! Keeps secrets that an agent has out of the lines that are kept of it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;

use aho_corasick::{AhoCorasick, MatchKind};

/// The variable that names the file with the agent's own token, which changes from time to time.
const TOKEN_FILE: &str = "SHOPFLOOR_TOKEN_FILE";
/// A shorter line of a value is not masked: it would hit ordinary text.
const SHORTEST: usize = 4;
/// A shorter value is not one of a secret: it would mask half the screen.
const LEAST: usize = 8;
/// How our own tokens begin, and how many digits follow.
const TOKEN: (&[u8], usize) = (b"sf_", 64);

/// What of a variable must not be seen: all of it, going by its name, and the password in an address, as proxies have.
pub fn secrets_in<'a>(name: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let name = name.to_ascii_uppercase();
    let signs = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
    let whole = signs.iter().any(|sign| name.contains(sign)).then_some(value);
    whole.into_iter().chain(passwords(value)).filter(|secret| secret.len() >= LEAST)
}

/// The password in `scheme://user:password@host`, also where it has a `/` in it that should be written otherwise.
fn passwords(address: &str) -> impl Iterator<Item = &str> {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let logins = [host, rest].into_iter().filter_map(|part| part.rsplit_once('@'));
    logins.filter_map(|(login, _)| login.split_once(':')).map(|(_, password)| password)
}

/// The secrets that an agent of this environment has, and tokens of our own, whosever they are.
#[derive(Debug, Default)]
pub struct Secrets {
    values: BTreeSet<String>,
    token_file: Option<PathBuf>,
    finder: Option<AhoCorasick>,
}

impl Secrets {
    /// Those of these variables, and the token that one of them leads to.
    pub fn of(variables: impl Iterator<Item = (String, String)>) -> Self {
        let mut secrets = Self::default();
        let mut values = Vec::new();
        for (name, value) in variables {
            if name == TOKEN_FILE {
                secrets.token_file = Some(value.into());
            } else if !name.starts_with("SHOPFLOOR_") {
                values.extend(secrets_in(&name, &value).map(str::to_owned));
            }
        }
        secrets.add(&values);
        secrets
    }

    /// A line with one `•` for each character of a secret.
    pub fn masked<'a>(&mut self, line: &'a [u8]) -> Cow<'a, [u8]> {
        match self.known(line) {
            Cow::Borrowed(line) => without_tokens(line),
            Cow::Owned(line) => Cow::Owned(without_tokens(&line).into_owned()),
        }
    }

    /// The same of a line that is text.
    pub fn masked_text(&mut self, line: &str) -> String {
        String::from_utf8_lossy(&self.masked(line.as_bytes())).into_owned()
    }

    fn known<'a>(&mut self, line: &'a [u8]) -> Cow<'a, [u8]> {
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
            let in_json = &in_json[1..in_json.len() - 1];
            // Some write JSON without any other characters than those of ASCII.
            let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let in_ascii = in_json.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect();
            self.values.extend([in_json.to_owned(), in_ascii, line.to_owned()]);
        }
        if self.values.len() > before {
            self.finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.values).ok();
        }
    }
}

/// A line with one `•` for each character of a token of ours, which is known by its form.
fn without_tokens(line: &[u8]) -> Cow<'_, [u8]> {
    let (start, digits) = TOKEN;
    let length = start.len() + digits;
    let is_token = |part: &[u8]| part.starts_with(start) && part[start.len()..].iter().all(u8::is_ascii_hexdigit);
    let Some(first) = line.windows(length).position(is_token) else { return Cow::Borrowed(line) };
    let mut masked = line[..first].to_vec();
    masked.extend("•".repeat(length).as_bytes());
    masked.extend_from_slice(&without_tokens(&line[first + length..]));
    Cow::Owned(masked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        let secrets = |name: &str, value: &'static str| secrets_in(name, value).collect::<Vec<_>>();
        assert_eq!(secrets("OPENAI_API_KEY", "sk-12345678"), ["sk-12345678"]);
        assert_eq!(secrets("Github_Token", "12345678"), ["12345678"]);
        assert!(secrets("OPENAI_API_KEY", "none").is_empty());
        assert!(secrets("PATH", "/usr/bin:/bin").is_empty());
    }

    #[test]
    fn a_password_in_an_address_is_one() {
        let secrets = |value: &'static str| secrets_in("HTTPS_PROXY", value).collect::<Vec<_>>();
        assert_eq!(secrets("http://ann:pass@word:/1@127.0.0.1:9/"), ["pass@word:/1"]);
        assert!(secrets("http://ann:password@127.0.0.1:9/x@y").contains(&"password"));
        for none in ["http://127.0.0.1:9/", "http://ann@127.0.0.1:9", "http://ann:short@host", "ann:password@host"] {
            assert!(secrets(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn our_own_tokens_are_known_by_their_form() {
        let token = format!("sf_{}", "0123456789abcdef".repeat(4));
        let line = format!("a {token}{token} sf_0123 {}", token.replace('f', "g"));
        let masked = Secrets::default().masked(line.as_bytes()).into_owned();
        let expected = format!("a {} sf_0123 {}", "•".repeat(2 * token.len()), token.replace('f', "g"));
        assert_eq!(String::from_utf8(masked).unwrap(), expected);
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
        check(r#"{"a":"sk-1234\"\u00e9"}"#, r#"{"a":"•••••••••••••••"}"#);
        check(r"first line\nsecond line", r"••••••••••\n•••••••••••");
        check("ordinary sf_one", "ordinary sf_one");
        for token in ["sf_one", "sf_two"] {
            std::fs::write(&file, token).unwrap();
            check(token, "••••••");
        }
        check("sf_one, the older one", "••••••, the older one");
    }
}
