//! A provider's limit: for how long it holds a session up, as far as the provider says.

use agents::{Limit, Retry};
use domain::Timestamp;

/// How many seconds from now; nothing when nobody said.
pub(super) fn seconds(limit: &Limit, now: Timestamp) -> Option<u64> {
    let until = |at: i64| u64::try_from(at.saturating_sub(now.as_millis() / 1000)).ok().or(Some(0));
    match limit.retry.as_ref()? {
        Retry::After(seconds) => Some(*seconds),
        Retry::At(at) => match at.parse::<i64>() {
            Ok(at) => until(at),
            Err(_) => until(at.parse::<Timestamp>().ok()?.as_millis() / 1000),
        },
        Retry::Clock { time, zone } => {
            // Where this machine's clock stands is not known here: only what needs no zone can be said.
            let utc = zone.as_deref().is_some_and(|zone| ["UTC", "GMT"].contains(&zone));
            let at = minutes(time).filter(|_| utc)? * 60;
            let day = now.as_millis() / 1000 % 86_400;
            u64::try_from((at - day).rem_euclid(86_400)).ok()
        }
    }
}

/// What a clock shows, in minutes since midnight: `3pm`, `3:30 am`, `15:30`.
fn minutes(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let (digits, half) = match text.trim_end_matches('m').trim_end() {
        short if short.ends_with('p') => (short.trim_end_matches('p').trim(), Some(12)),
        short if short.ends_with('a') => (short.trim_end_matches('a').trim(), Some(0)),
        _ => (text.trim(), None),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let hours = half.map_or(hours, |half| hours % 12 + half);
    ((0..24).contains(&hours) && (0..60).contains(&minutes)).then_some(hours * 60 + minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limits_end_is_told_in_seconds() {
        // 2025-10-09 09:00:00 UTC
        let now = Timestamp::from_millis(1_760_000_400_000);
        let check = |retry, expected| assert_eq!(seconds(&Limit { retry }, now), expected);
        check(None, None);
        check(Some(Retry::After(7)), Some(7));
        check(Some(Retry::At("1760000460".into())), Some(60));
        check(Some(Retry::At("1750000000".into())), Some(0));
        check(Some(Retry::At("2025-10-09T09:01:00Z".into())), Some(60));
        check(Some(Retry::At("soon".into())), None);
        let clock =
            |time: &str, zone: Option<&str>| Some(Retry::Clock { time: time.into(), zone: zone.map(str::to_owned) });
        check(clock("10am", Some("UTC")), Some(3600));
        check(clock("8:30 AM", Some("UTC")), Some(86_400 - 1800));
        check(clock("12am", Some("UTC")), Some(15 * 3600));
        check(clock("15:30", Some("UTC")), Some(6 * 3600 + 1800));
        check(clock("3pm", Some("Europe/Berlin")), None);
        check(clock("3pm", None), None);
        check(clock("25:00", Some("UTC")), None);
    }
}
