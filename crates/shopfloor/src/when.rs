//! Times for people.

use domain::Timestamp;
use domain::text::plural;

const UNITS: [(i64, &str); 5] =
    [(7 * 86_400_000, "week"), (86_400_000, "day"), (3_600_000, "hour"), (60_000, "min"), (1_000, "s")];

/// Beyond this, show a date.
const FAR: i64 = 60 * 86_400_000;

/// How long ago `at` was, or how far ahead it is.
pub(crate) fn relative(at: Timestamp, now: Timestamp) -> String {
    let distance = now.as_millis().saturating_sub(at.as_millis());
    // The hub's clock may be slightly ahead of ours.
    if (-5_000..1_000).contains(&distance) {
        return "now".to_owned();
    }
    if distance < 0 {
        return ahead(at, now);
    }
    if distance > FAR {
        return date(at);
    }
    let (length, unit) = UNITS.into_iter().find(|(length, _)| distance >= *length).unwrap_or((1_000, "s"));
    format!("{} ago", counted(distance / length, unit))
}

/// When something with an end will end: a lease, an invitation.
pub(crate) fn ahead(at: Timestamp, now: Timestamp) -> String {
    match at.as_millis().saturating_sub(now.as_millis()) {
        gone if gone < 0 => relative(at, now),
        ..500 => "now".to_owned(),
        far if far > FAR => date(at),
        _ => format!("in {}", left(at, now)),
    }
}

/// The time until then, in its two largest units; rounded, so that seven days minus a moment are a week.
pub(crate) fn left(at: Timestamp, now: Timestamp) -> String {
    let distance = at.as_millis().saturating_sub(now.as_millis()).max(0);
    // Finer units for nearer times: a lease of a minute and a half is neither one minute nor two.
    let finest = match distance {
        ..599_500 => 1_000,
        599_500..86_370_000 => 60_000,
        86_370_000..603_000_000 => 3_600_000,
        _ => 86_400_000,
    };
    let distance = (distance + finest / 2) / finest * finest;
    let first = UNITS.iter().position(|(length, _)| distance >= *length).unwrap_or(UNITS.len() - 1);
    let (length, unit) = UNITS[first];
    let whole = counted(distance / length, unit);
    let rest =
        UNITS.get(first + 1).map(|(part, unit)| (distance % length / part, unit)).filter(|(count, _)| *count > 0);
    rest.map_or(whole.clone(), |(count, unit)| format!("{whole} {}", counted(count, unit)))
}

fn counted(count: i64, unit: &str) -> String {
    let units = if matches!(unit, "s" | "min") { unit.to_owned() } else { plural(unit) };
    domain::text::counted(count, unit, &units)
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take("2026-01-31".len()).collect()
}

/// Like [`ahead`], or `otherwise` when there is no such time.
pub(crate) fn ahead_or(at: Option<Timestamp>, now: Timestamp, otherwise: &str) -> String {
    at.map_or_else(|| otherwise.to_owned(), |at| ahead(at, now))
}

/// Like [`relative`], or `otherwise` when there is no such time.
pub(crate) fn relative_or(at: Option<Timestamp>, now: Timestamp, otherwise: &str) -> String {
    at.map_or_else(|| otherwise.to_owned(), |at| relative(at, now))
}

/// Parses a time: RFC 3339, or a duration from now such as `30m`, `12h`, `7d`, `2w`.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    parse_from(text, Timestamp::from_millis(jiff::Timestamp::now().as_millisecond()))
}

/// Parses a time: RFC 3339, or how long ago, such as `30m`, `12h`, `7d`, `2w`.
pub(crate) fn parse_past(text: &str) -> Result<Timestamp, String> {
    let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let at = parse_from(text, now).map_err(|error| error.replace("a duration from now", "how long ago"))?;
    // A duration counts backwards.
    let is_duration = text.parse::<Timestamp>().is_err();
    Ok(if is_duration { now.plus_millis(now.as_millis().saturating_sub(at.as_millis())) } else { at })
}

/// Parses a span into seconds: `90s`, `30m`, `12h`, `7d`, `2w`.
pub(crate) fn span(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is not a span, such as 90s, 30m, 12h, 7d or 2w");
    let (cut, unit) = text.char_indices().last().ok_or_else(wrong)?;
    let length = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return Err(wrong()),
    };
    text[..cut].parse::<u32>().ok().and_then(|count| count.checked_mul(length)).ok_or_else(wrong)
}

/// A span of seconds as [`span`] reads it.
pub(crate) fn spelled(seconds: u32) -> String {
    match [(7 * 86_400, 'w'), (86_400, 'd'), (3_600, 'h'), (60, 'm')]
        .into_iter()
        .find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit))
    {
        Some((unit, letter)) => format!("{}{letter}", seconds / unit),
        None => format!("{seconds}s"),
    }
}

fn parse_from(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    let distance = text.char_indices().last().and_then(|(cut, unit)| {
        let length = match unit {
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            'w' => 7 * 86_400_000,
            _ => return None,
        };
        text[..cut].parse::<u32>().ok().map(|count| i64::from(count) * length)
    });
    match distance {
        Some(distance) => Ok(now.plus_millis(distance)),
        None => {
            text.parse().map_err(|error: String| format!("{error}, or a duration from now, such as 30m, 12h, 7d, 2w"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_read_naturally() {
        let now = Timestamp::from_millis(1_794_774_000_000);
        let check = |millis: i64, text: &str| assert_eq!(relative(now.plus_millis(millis), now), text);
        check(0, "now");
        check(900, "now");
        check(-5_000, "5 s ago");
        check(-61_000, "1 min ago");
        check(-2 * 3_600_000, "2 hours ago");
        check(-86_400_000, "1 day ago");
        check(-15 * 86_400_000, "2 weeks ago");
        check(7 * 86_400_000 - 2_000, "in 1 week");
        check(-100 * 86_400_000, "2026-08-07");
    }

    #[test]
    fn near_times_are_shown_exactly() {
        let now = Timestamp::from_millis(1_794_774_000_000);
        let check = |millis: i64, text: &str| assert_eq!(ahead(now.plus_millis(millis), now), text);
        check(200, "now");
        check(5_000, "in 5 s");
        check(4_600, "in 5 s");
        check(35_000, "in 35 s");
        check(59_000, "in 59 s");
        check(59_900, "in 1 min");
        check(90_000, "in 1 min 30 s");
        check(89_400, "in 1 min 29 s");
        check(120_000, "in 2 min");
        check(599_900, "in 10 min");
        check(725_000, "in 12 min");
        check(3_599_000, "in 1 hour");
        check(100 * 60_000, "in 1 hour 40 min");
        check(36 * 3_600_000, "in 1 day 12 hours");
        check(86_400_000 - 2_000, "in 1 day");
        check(8 * 86_400_000, "in 1 week 1 day");
        check(7 * 86_400_000 - 2_000, "in 1 week");
        check(100 * 86_400_000, "2027-02-23");
        check(-5_000, "5 s ago");
        assert_eq!(left(now.plus_millis(5_000), now), "5 s");
        assert_eq!(left(now.plus_millis(-5_000), now), "0 s");
    }

    #[test]
    fn spans_are_read_and_spelled() {
        for (text, seconds) in [("90s", 90), ("30m", 1_800), ("1h", 3_600), ("7d", 604_800)] {
            assert_eq!(span(text), Ok(seconds), "{text}");
            assert_eq!(span(&spelled(seconds)), Ok(seconds));
        }
        for bad in ["", "h", "1", "1.5h", "-1h", "9999999w", "日"] {
            assert!(span(bad).unwrap_err().contains("30m"), "{bad}");
        }
        assert_eq!((spelled(3_600), spelled(0)), ("1h".into(), "0s".into()));
    }

    #[test]
    fn a_time_in_the_past_is_given_as_time_or_duration() {
        let now = Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
        let day = now.as_millis() - parse_past("1d").unwrap().as_millis();
        assert!((86_390_000..86_400_001).contains(&day), "{day}");
        assert_eq!(parse_past("1970-01-01T00:00:01Z"), Ok(Timestamp::from_millis(1_000)));
        assert!(parse_past("soon").unwrap_err().contains("how long ago"));
    }

    #[test]
    fn ends_are_given_as_time_or_duration() {
        let now = Timestamp::from_millis(0);
        assert_eq!(parse_from("7d", now), Ok(Timestamp::from_millis(7 * 86_400_000)));
        assert_eq!(parse_from("1970-01-01T00:00:01Z", now), Ok(Timestamp::from_millis(1_000)));
        for bad in ["", "d", "7", "-7d", "7y", "99999999999999d", "日"] {
            assert!(parse_from(bad, now).unwrap_err().contains("7d"), "{bad}");
        }
    }
}
