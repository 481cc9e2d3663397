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
    fn ends_are_given_as_time_or_duration() {
        let now = Timestamp::from_millis(0);
        assert_eq!(parse_from("7d", now), Ok(Timestamp::from_millis(7 * 86_400_000)));
        assert_eq!(parse_from("1970-01-01T00:00:01Z", now), Ok(Timestamp::from_millis(1_000)));
        for bad in ["", "d", "7", "-7d", "7y", "99999999999999d", "日"] {
            assert!(parse_from(bad, now).unwrap_err().contains("7d"), "{bad}");
        }
    }
}
