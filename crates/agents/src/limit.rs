//! Recognizes a provider's limit in an agent's words; the words are data.

use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::Value;

use crate::adapter::{Adapter, Pattern};

/// A provider's limit that holds an agent up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Limit {
    /// When to retry, if the provider says so.
    pub retry: Option<Retry>,
}

/// When a limit ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retry {
    /// After this many seconds.
    After(u64),
    /// At a time: seconds since 1970, or a date with its time and zone.
    At(String),
    /// The next time that clocks show this, such as `3pm` or `15:30`; with the day and the zone, if given.
    Clock {
        /// The time of day.
        time: String,
        /// The day, such as `Oct 13` or `Oct 13th, 2026`.
        day: Option<String>,
        /// The zone's name.
        zone: Option<String>,
    },
}

/// A rule for a limit. The groups `days`, `hours`, `minutes`, `seconds`, `at`, `clock`, `day` and `zone` say when it
/// ends.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitRule {
    /// Must match.
    #[serde(rename = "match")]
    pub(crate) pattern: Pattern,
    /// Must not match.
    pub(crate) unless: Option<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    limit: Vec<LimitRule>,
    retry: Vec<LimitRule>,
}

/// The longest plausible wait.
const LONGEST: u64 = 31 * 24 * 3600;

/// The limit in some words, by an agent's own rules and then by the common ones.
pub(crate) fn of(own: &[LimitRule], words: &str) -> Option<Limit> {
    let common = common();
    let fits = |rule: &&LimitRule| rule.fits(words);
    let rule = own.iter().find(fits).or_else(|| common.limit.iter().find(fits))?;
    Some(Limit { retry: rule.retry(words).or_else(|| until(words)) })
}

/// The limit in an agent's words.
pub fn limit(adapter: &Adapter, words: &str) -> Option<Limit> {
    of(&adapter.limit, words)
}

/// When a limit ends, according to some words.
pub(crate) fn until(words: &str) -> Option<Retry> {
    common().retry.iter().find_map(|rule| rule.retry(words))
}

/// A number of seconds, as JSON or as text.
pub(crate) fn seconds(value: &Value) -> Option<u64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (number.is_finite() && number >= 0.0).then(|| (number.ceil() as u64).min(LONGEST))
}

fn common() -> &'static Common {
    static COMMON: OnceLock<Common> = OnceLock::new();
    COMMON.get_or_init(|| toml::from_str(include_str!("builtin/limits.toml")).expect("it comes with us, and is tested"))
}

impl LimitRule {
    fn fits(&self, words: &str) -> bool {
        self.pattern.0.is_match(words) && !self.unless.as_ref().is_some_and(|unless| unless.0.is_match(words))
    }

    fn retry(&self, words: &str) -> Option<Retry> {
        let found = self.pattern.0.captures(words)?;
        let group = |name: &str| found.name(name).map(|found| found.as_str().to_owned());
        let number = |name: &str| group(name)?.parse::<f64>().ok().filter(|number| number.is_finite());
        let units = [("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0)];
        let parts: Vec<f64> = units.iter().filter_map(|(name, unit)| Some(number(name)? * unit)).collect();
        if !parts.is_empty() {
            return Some(Retry::After((parts.iter().sum::<f64>().ceil() as u64).min(LONGEST)));
        }
        if let Some(at) = group("at") {
            return Some(Retry::At(at));
        }
        group("clock").map(|time| Retry::Clock { time, day: group("day"), zone: group("zone") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_providers_are_understood() {
        let clock = |time: &str, zone: Option<&str>| {
            Some(Retry::Clock { time: time.into(), day: None, zone: zone.map(str::to_owned) })
        };
        let on = |day: &str, time: &str, zone: Option<&str>| {
            Some(Retry::Clock { time: time.into(), day: Some(day.into()), zone: zone.map(str::to_owned) })
        };
        for (words, retry) in [
            ("exceeded retry limit, last status: 429 Too Many Requests", None),
            ("API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}", None),
            (
                "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29000. Please try again in 6.5s.",
                Some(Retry::After(7)),
            ),
            ("Rate limit reached. Please try again in 1m12s.", Some(Retry::After(72))),
            ("You've hit your usage limit. Try again in 3 hours 42 minutes.", Some(Retry::After(13_320))),
            ("You've hit your usage limit. Try again in 2 days 1 hour.", Some(Retry::After(176_400))),
            ("Claude AI usage limit reached|1760000400", Some(Retry::At("1760000400".into()))),
            ("You've hit your session limit · resets 3pm (Europe/Berlin)", clock("3pm", Some("Europe/Berlin"))),
            ("5-hour limit reached ∙ resets 3:30am", clock("3:30am", None)),
            (
                "Limit reached · resets at 15:30 (America/Port-au-Prince)",
                clock("15:30", Some("America/Port-au-Prince")),
            ),
            (
                "You've hit your weekly limit · resets Oct 13, 9am (Europe/Berlin)",
                on("Oct 13", "9am", Some("Europe/Berlin")),
            ),
            ("Weekly limit reached ∙ resets Oct 13 at 9am", on("Oct 13", "9am", None)),
            (
                "You've hit your usage limit. Try again at Oct 13th, 2026 9:05 AM.",
                on("Oct 13th, 2026", "9:05 AM", None),
            ),
            ("You've hit your session limit · resets when the moon is full", None),
            (
                "Quota exceeded for quota metric 'Generate Content API requests per minute'. Please retry in 38.2s.",
                Some(Retry::After(39)),
            ),
            (
                "You have exhausted your capacity on this model. Your quota will reset after 2h13m5s.",
                Some(Retry::After(7985)),
            ),
            ("429: rate limited; retry-after: 20", Some(Retry::After(20))),
            ("Too many requests, resets at 2026-11-16T04:00:00Z", Some(Retry::At("2026-11-16T04:00:00Z".into()))),
            ("RESOURCE_EXHAUSTED", None),
            ("overloaded_error: Overloaded (529)", None),
        ] {
            assert_eq!(of(&[], words), Some(Limit { retry }), "{words}");
        }
    }

    #[test]
    fn other_errors_are_not_limits() {
        for words in [
            "stream disconnected before completion",
            "the file has 429 lines",
            "context length exceeded: your input exceeds the limit of 200000 tokens",
            "invalid api key",
            "the test checks the rate limiter",
        ] {
            assert_eq!(of(&[], words), None, "{words}");
        }
    }

    #[test]
    fn seconds_are_read_in_every_form() {
        for (json, expected) in
            [("3", Some(3)), ("\"2.5\"", Some(3)), ("-1", None), ("\"soon\"", None), ("1e99", Some(LONGEST))]
        {
            assert_eq!(seconds(&serde_json::from_str(json).unwrap()), expected, "{json}");
        }
    }
}
