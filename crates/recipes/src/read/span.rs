//! Time spans with their limits: `90s`, `1h30m`.

use engine::recipes::model::Millis;

use super::{At, Reader};
use crate::node::Kind;

const UNITS: &[(&str, u64)] = &[("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Parses a span, such as `90s`, `30m`, `1h30m` or `2d`.
pub(crate) fn parse(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{}` is not a time span such as `90s`, `30m`, `1h30m` or `2d`", super::at::short(text));
    engine::recipes::span(text).ok_or_else(wrong)
}

/// A span as it is written.
pub(crate) fn say(span: Millis) -> String {
    let unit = UNITS.iter().rev().find(|(_, unit)| span >= *unit && span.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{span}ms"), |(name, unit)| format!("{}{name}", span / unit))
}

impl<'n> Reader<'n> {
    /// A span of at least a millisecond and at most `most`.
    pub(super) fn span(&mut self, at: &At<'n>, most: Millis) -> Option<Millis> {
        let text = match &at.node.kind {
            Kind::Text(text) => &text.value,
            Kind::Number(number) => {
                let said = "is a number without a unit; expected a time span such as `90s`, `30m` or `4h`";
                self.error(at.say(said).instead(format!("{number}s")));
                return None;
            }
            _ => {
                let what = at.node.what();
                self.error(at.say(format!("is {what}; expected a time span such as `90s`, `30m` or `4h`")));
                return None;
            }
        };
        let span = match parse(text) {
            Ok(span) => span,
            Err(why) => {
                let finding = at.say(why);
                let meant = meant(text);
                self.error(finding.perhaps(meant));
                return None;
            }
        };
        if span == 0 || span > most {
            self.error(at.say(format!("is {text}; expected more than 0 and at most {}", say(most))));
            return None;
        }
        Some(span)
    }
}

/// A span with a word such as `minutes`, or with spaces.
fn meant(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let word = text[digits..].trim().to_ascii_lowercase();
    let unit = match word.as_str() {
        "ms" | "millis" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hour" | "hours" | "hr" | "hrs" => "h",
        "d" | "day" | "days" => "d",
        _ => return None,
    };
    Some(format!("{}{unit}", &text[..digits]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said() {
        assert_eq!(
            (say(90_000), say(7_200_000), say(172_800_000), say(1)),
            ("90s".into(), "2h".into(), "2d".into(), "1ms".into())
        );
        assert_eq!(meant("30 minutes").as_deref(), Some("30m"));
    }
}
