//! Masks an agent's secrets in its stored lines.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use aho_corasick::{AhoCorasick, MatchKind};
use domain::letters::Letters;

/// The variable that names the file with the agent's own token, which changes.
const TOKEN_FILE: &str = "SHOPFLOOR_TOKEN_FILE";
/// Shorter lines of a value are not masked: they would match ordinary text.
const SHORTEST: usize = 4;
/// Shorter values are not treated as secrets: they would mask half the screen.
const LEAST: usize = 8;
/// The prefix of our own tokens, and their number of digits.
const TOKEN: (&[u8], usize) = (b"sf_", 64);

/// The secret part of a variable: all of it, by its name, or the password in an address, as in proxies.
pub fn secrets_in<'a>(name: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let name = name.to_ascii_uppercase();
    let signs = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];
    let whole = signs.iter().any(|sign| name.contains(sign)).then_some(value);
    whole.into_iter().chain(passwords(value)).filter(|secret| secret.len() >= LEAST)
}

/// The password in `scheme://user:password@host`, even with an unescaped `/`.
fn passwords(address: &str) -> impl Iterator<Item = &str> {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let logins = [host, rest].into_iter().filter_map(|part| part.rsplit_once('@'));
    logins.filter_map(|(login, _)| login.split_once(':')).map(|(_, password)| password)
}

/// The secrets of an agent's environment, and all of our own tokens.
#[derive(Debug, Default)]
pub struct Secrets {
    values: BTreeSet<String>,
    token_file: Option<PathBuf>,
    finder: Option<AhoCorasick>,
}

impl Secrets {
    /// Those of these variables, and the token that one of them points to.
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

    /// The output with one `•` for each character of a secret, even if colours or line breaks split it.
    pub fn masked<'a>(&mut self, printed: &'a [u8]) -> Cow<'a, [u8]> {
        if let Some(token) = self.token_file.as_ref().and_then(|file| std::fs::read_to_string(file).ok()) {
            self.add(&[token]);
        }
        // First as it stands: what looks like a line break may be part of a secret.
        let printed = self.hide(printed, Letters::plain);
        match self.hide(&printed, Letters::quoted) {
            Cow::Borrowed(_) => printed,
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }

    /// The same of what is text.
    pub fn masked_text(&mut self, printed: &str) -> String {
        String::from_utf8_lossy(&self.masked(printed.as_bytes())).into_owned()
    }

    /// Whether a line ends with a possible beginning of a secret.
    pub fn may_go_on(&self, line: &[u8]) -> bool {
        let letters = Letters::quoted(line).bytes;
        let begins = |secret: &[u8]| (SHORTEST..secret.len()).any(|most| letters.ends_with(&secret[..most]));
        let digits = letters.iter().rev().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let of_ours = digits < TOKEN.1 && letters[..letters.len() - digits].ends_with(TOKEN.0);
        of_ours || self.values.iter().any(|value| begins(value.as_bytes()))
    }

    fn hide<'a>(&self, printed: &'a [u8], letters: fn(&[u8]) -> Letters) -> Cow<'a, [u8]> {
        let letters = letters(printed);
        let known = self.finder.iter().flat_map(|finder| finder.find_iter(&letters.bytes).map(|found| found.range()));
        let mut found: Vec<Range<usize>> = known.chain(tokens(&letters.bytes)).collect();
        if found.is_empty() {
            return Cow::Borrowed(printed);
        }
        found.sort_by_key(|range| range.start);
        let (mut masked, mut done) = (Vec::with_capacity(printed.len()), 0);
        for range in found {
            let (start, end) = (letters.raw(range.start).max(done), letters.raw(range.end - 1) + 1);
            if start < end {
                masked.extend_from_slice(&printed[done..start]);
                letters.hide(printed, start, end, &mut masked);
                done = end;
            }
        }
        masked.extend_from_slice(&printed[done..]);
        Cow::Owned(masked)
    }

    fn add(&mut self, values: &[String]) {
        let before = self.values.len();
        let lines = values.iter().flat_map(|value| value.lines()).map(str::trim);
        for line in lines.filter(|line| line.len() >= SHORTEST) {
            let in_json = serde_json::Value::from(line).to_string();
            let in_json = &in_json[1..in_json.len() - 1];
            // Some write JSON in ASCII only.
            let units = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let in_ascii = in_json.chars().map(|c| if c.is_ascii() { c.to_string() } else { units(c) }).collect();
            self.values.extend([in_json.to_owned(), in_ascii, line.to_owned()]);
        }
        if self.values.len() > before {
            self.finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.values).ok();
        }
    }
}

/// Our own tokens, recognized by their form.
fn tokens(letters: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let (start, digits) = TOKEN;
    let length = start.len() + digits;
    let begins = memchr::memmem::find_iter(letters, start).map(move |at| at..at + length);
    begins.filter(move |range| {
        let rest = letters.get(range.start + start.len()..range.end);
        rest.is_some_and(|rest| rest.iter().all(u8::is_ascii_hexdigit))
    })
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
    fn passwords_in_addresses_are_secrets() {
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
    fn secrets_in_a_line_are_masked_in_plain_text_and_in_json() {
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

    #[test]
    fn colours_and_ends_of_lines_do_not_show_a_secret() {
        let token = format!("sf_{}", "0123456789abcdef".repeat(4));
        let mut secrets = Secrets::of([("API_KEY".to_owned(), "hunter2hunter2".to_owned())].into_iter());
        for between in ["\u{1b}[31m", "\n", "\r\n", r"\u001b[0m", r"\n", r"\\n", "\u{1b}(B\u{1b}[1m"] {
            for secret in ["hunter2hunter2", token.as_str()] {
                for cut in 1..secret.len() {
                    let (first, second) = secret.split_at(cut);
                    let printed = format!("a {first}{between}{second} b");
                    let masked = secrets.masked_text(&printed);
                    let hidden = format!("a {}{between}{} b", "•".repeat(first.len()), "•".repeat(second.len()));
                    assert_eq!(masked, hidden);
                }
            }
        }
    }

    #[test]
    fn a_line_that_may_end_within_a_secret_is_recognised() {
        let secrets = Secrets::of([("API_KEY".to_owned(), "swordfish-0815".to_owned())].into_iter());
        let token = format!("sf_{}", "0123456789abcdef".repeat(4));
        for (line, goes_on) in [
            ("login swordfish\n", true),
            ("login swo\u{1b}[1mrdfish\n", true),
            ("login swo\n", false),
            ("login swordfish-0815\n", false),
            (&token[..20], true),
            (&token, false),
            ("", false),
        ] {
            assert_eq!(secrets.may_go_on(line.as_bytes()), goes_on, "{line}");
        }
    }
}
