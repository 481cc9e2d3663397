//! Recognizes hold-ups, which are not the fault of the agent's work, in the agent's own words; the words are data.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::adapter::{Adapter, Pattern};
use crate::limit::{self, Retry};
use crate::text;

/// How much of the agent's words to repeat.
const MESSAGE: usize = 300;

/// Why an agent cannot work, whatever its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The provider rejects the agent's login.
    Auth,
    /// The provider's limit is reached.
    RateLimit,
    /// The provider answers with errors.
    Overloaded,
    /// The provider does not answer, or disconnects.
    Network,
    /// The agent itself could not start.
    StartUp,
}

/// Something that holds an agent up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldUp {
    /// Why.
    pub cause: Cause,
    /// The agent's words for it, on one line.
    pub message: String,
    /// When to retry, if the provider says so.
    pub retry: Option<Retry>,
}

/// The effect of a matching rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Auth,
    RateLimit,
    Overloaded,
    Network,
    StartUp,
    /// Not a hold-up.
    None,
}

/// A rule for a cause. The common rules are applied to the group `words` first, if there is one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CauseRule {
    cause: Verdict,
    /// Must match.
    #[serde(rename = "match")]
    pattern: Pattern,
    /// Must not match.
    unless: Option<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    cause: Vec<CauseRule>,
}

impl HoldUp {
    /// A hold-up in the agent's words.
    pub(crate) fn new(cause: Cause, words: &str, retry: Option<Retry>) -> Self {
        let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        Self { cause, message: text::shorten(&text::plain(&line), MESSAGE), retry }
    }
}

impl CauseRule {
    fn fits(&self, words: &str) -> bool {
        self.pattern.0.is_match(words) && !self.unless.as_ref().is_some_and(|unless| unless.0.is_match(words))
    }
}

impl Verdict {
    fn cause(self) -> Option<Cause> {
        Some(match self {
            Self::Auth => Cause::Auth,
            Self::RateLimit => Cause::RateLimit,
            Self::Overloaded => Cause::Overloaded,
            Self::Network => Cause::Network,
            Self::StartUp => Cause::StartUp,
            Self::None => return None,
        })
    }
}

/// What an agent's words mean: a limit, another cause, or neither.
pub fn hold_up(adapter: &Adapter, words: &str) -> Option<HoldUp> {
    let Some(own) = adapter.cause.iter().find(|rule| rule.fits(words)) else { return usual(adapter, words) };
    let cause = own.cause.cause()?;
    let found = own.pattern.0.captures(words).and_then(|found| found.name("words"));
    let quoted = found.map(|found| found.as_str()).filter(|quoted| !quoted.trim().is_empty());
    let said = quoted.and_then(|quoted| usual(adapter, quoted));
    Some(said.unwrap_or_else(|| HoldUp::new(cause, quoted.unwrap_or(words), limit::until(words))))
}

/// The same by the adapter's own rules only, for words that may not be the agent's.
pub fn own_hold_up(adapter: &Adapter, words: &str) -> Option<HoldUp> {
    adapter.cause.iter().any(|rule| rule.fits(words)).then(|| hold_up(adapter, words)).flatten()
}

/// What the common rules find in the words.
fn usual(adapter: &Adapter, words: &str) -> Option<HoldUp> {
    if let Some(limit) = limit::of(&adapter.limit, words) {
        return Some(HoldUp::new(Cause::RateLimit, words, limit.retry));
    }
    let rule = common().cause.iter().find(|rule| rule.fits(words))?;
    Some(HoldUp::new(rule.cause.cause()?, words, limit::until(words)))
}

fn common() -> &'static Common {
    static COMMON: OnceLock<Common> = OnceLock::new();
    COMMON.get_or_init(|| toml::from_str(include_str!("builtin/causes.toml")).expect("it comes with us, and is tested"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn adapter(own: &str) -> Adapter {
        let text = format!("name = \"x\"\nlabel = \"X\"\ncommand = [\"x\"]\n{own}\n[headless]\n");
        Adapter::parse(Path::new("x.toml"), &text).unwrap()
    }

    #[test]
    fn causes_are_recognized_in_the_words_of_providers() {
        use Cause::{Auth, Network, Overloaded, RateLimit};
        for (words, cause) in [
            ("unexpected status 401 Unauthorized: no such key, url: http://h/v1/responses", Auth),
            ("Invalid API key · Please run /login", Auth),
            ("Missing environment variable: `OPENAI_API_KEY`.", Auth),
            ("Your access token could not be refreshed. Please log out and sign in again.", Auth),
            ("403 Forbidden: permission_error", Auth),
            ("exceeded retry limit, last status: 429 Too Many Requests", RateLimit),
            ("We’re currently experiencing high demand, which may cause temporary errors.", Overloaded),
            ("unexpected status 503 Service Unavailable: try later", Overloaded),
            ("API Error: 500 {\"type\":\"error\",\"error\":{\"type\":\"api_error\"}}", Overloaded),
            ("the script refuses with 500", Overloaded),
            ("stream disconnected before completion: stream closed before response.completed", Network),
            ("AI_APICallError: Cannot connect to API: The socket connection was closed unexpectedly.", Network),
            ("error sending request for url (http://h/v1)", Network),
            ("getaddrinfo ENOTFOUND api.example.com", Network),
        ] {
            let found = hold_up(&adapter(""), words).map(|found| (found.cause, found.message));
            assert_eq!(found, Some((cause, words.to_owned())), "{words}");
        }
    }

    #[test]
    fn errors_that_the_agent_can_fix_are_not_hold_ups() {
        for words in [
            "Model metadata for `scripted` not found. Defaulting to fallback metadata",
            "context length exceeded: your input exceeds the limit of 200000 tokens",
            "apply_patch failed: no such file",
            "the file has 500 lines",
            "the page says 404 Not Found",
            "the test expects `401 lines`",
        ] {
            assert_eq!(hold_up(&adapter(""), words), None, "{words}");
        }
    }

    #[test]
    fn an_agents_own_words_come_first() {
        let own = adapter("[[cause]]\ncause = \"start_up\"\nmatch = 'database is locked'");
        let found = hold_up(&own, "Error: database is locked\n  while connecting: 500 Internal Server Error");
        let message = "Error: database is locked while connecting: 500 Internal Server Error".to_owned();
        assert_eq!(found, Some(HoldUp { cause: Cause::StartUp, message, retry: None }));
    }

    #[test]
    fn quoted_words_count_more_than_the_line_around_them() {
        let own = "[[cause]]\ncause = \"none\"\nmatch = 'small=true'\n\
                   [[cause]]\ncause = \"overloaded\"\nmatch = 'stream error.* error=\"(?P<words>[^\"]*)'";
        let own = adapter(own);
        let found = |words: &str| hold_up(&own, words).map(|found| (found.cause, found.message));
        let line = |quoted: &str| format!("level=ERROR stream error small=false error=\"{quoted}\"");
        assert_eq!(found(&line("refused with 429")), Some((Cause::RateLimit, "refused with 429".to_owned())));
        assert_eq!(found(&line("it exploded")), Some((Cause::Overloaded, "it exploded".to_owned())));
        assert_eq!(found("level=ERROR stream error small=true error=\"refused with 429\""), None);
    }
}
