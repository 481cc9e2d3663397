//! How long a provider's limit holds a session up, as far as the provider says.

use agents::{Limit, Retry};
use domain::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

/// A date without a year that is longer ago than this is in the next year.
const PAST_DAYS: i32 = 30;

/// Seconds from now; `None` if unknown. `local` is the time zone of the agent's clock.
pub(super) fn seconds(limit: &Limit, now: Timestamp, local: &TimeZone) -> Option<u64> {
    let until = |at: i64| u64::try_from(at.saturating_sub(now.as_millis() / 1000)).ok().or(Some(0));
    match limit.retry.as_ref()? {
        Retry::After(seconds) => Some(*seconds),
        Retry::At(at) => match at.parse::<i64>() {
            Ok(at) => until(at),
            Err(_) => until(at.parse::<Timestamp>().ok()?.as_millis() / 1000),
        },
        Retry::Clock { time, day, zone } => {
            let zone = match zone {
                Some(name) => TimeZone::get(name).ok()?,
                None => local.clone(),
            };
            let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?.to_zoned(zone);
            until(reset(&now, clock(time)?, day.as_deref())?.timestamp().as_second())
        }
    }
}

/// The next time that clocks show this, on the given day.
fn reset(now: &Zoned, time: Time, day: Option<&str>) -> Option<Zoned> {
    let at = |date: Date| date.to_datetime(time).to_zoned(now.time_zone().clone()).ok();
    match day {
        Some(day) => at(date(day, now.date())?),
        None => {
            let today = at(now.date())?;
            if today < *now { at(now.date().tomorrow().ok()?) } else { Some(today) }
        }
    }
}

/// A date such as `Oct 13`, `October 13th` or `Oct 13, 2026`; without a year, the nearest one.
fn date(text: &str, today: Date) -> Option<Date> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let month = words.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|known| month.starts_with(known))? as i8 + 1;
    let day = words.next()?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    if let Some(year) = words.next() {
        return Date::new(year.parse().ok()?, month, day).ok();
    }
    let this = Date::new(today.year(), month, day).ok()?;
    match this < today.checked_sub(PAST_DAYS.days()).ok()? {
        true => Date::new(today.year() + 1, month, day).ok(),
        false => Some(this),
    }
}

/// A time of day: `3pm`, `3:30 am`, `15:30`.
fn clock(text: &str) -> Option<Time> {
    let text = text.to_ascii_lowercase();
    let (digits, half) = match text.trim_end_matches('m').trim_end() {
        short if short.ends_with('p') => (short.trim_end_matches('p').trim(), Some(12)),
        short if short.ends_with('a') => (short.trim_end_matches('a').trim(), Some(0)),
        _ => (text.trim(), None),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hours, minutes): (i8, i8) = (hours.parse().ok()?, minutes.parse().ok()?);
    Time::new(half.map_or(hours, |half| hours % 12 + half), minutes, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limits_end_is_told_in_seconds() {
        // 2025-10-09 09:00:00 UTC
        let now = Timestamp::from_millis(1_760_000_400_000);
        let local = TimeZone::get("America/New_York").unwrap();
        let check = |retry, expected| assert_eq!(seconds(&Limit { retry }, now, &local), expected);
        check(None, None);
        check(Some(Retry::After(7)), Some(7));
        check(Some(Retry::At("1760000460".into())), Some(60));
        check(Some(Retry::At("1750000000".into())), Some(0));
        check(Some(Retry::At("2025-10-09T09:01:00Z".into())), Some(60));
        check(Some(Retry::At("soon".into())), None);
        let clock = |time: &str, zone: Option<&str>| {
            Some(Retry::Clock { time: time.into(), day: None, zone: zone.map(str::to_owned) })
        };
        check(clock("10am", Some("UTC")), Some(3600));
        check(clock("8:30 AM", Some("UTC")), Some(86_400 - 1800));
        check(clock("12am", Some("UTC")), Some(15 * 3600));
        check(clock("15:30", Some("UTC")), Some(6 * 3600 + 1800));
        check(clock("3pm", Some("Europe/Berlin")), Some(4 * 3600));
        check(clock("10:30am", Some("Europe/Berlin")), Some(86_400 - 1800));
        check(clock("3pm", Some("Atlantis/Poseidon")), None);
        check(clock("3pm", None), Some(10 * 3600));
        check(clock("25:00", Some("UTC")), None);
        let on = |day: &str, time: &str, zone: &str| {
            Some(Retry::Clock { time: time.into(), day: Some(day.into()), zone: Some(zone.into()) })
        };
        check(on("Oct 12", "11am", "Europe/Berlin"), Some(3 * 86_400));
        check(on("Oct 12th, 2025", "11am", "Europe/Berlin"), Some(3 * 86_400));
        check(on("October 9", "8am", "UTC"), Some(0));
        // Summer time ends on the 26th: that day is an hour longer.
        check(on("Oct 26", "11am", "Europe/Berlin"), Some(17 * 86_400 + 3600));
        check(on("Jan 2", "9am", "UTC"), Some(85 * 86_400));
        check(on("Brumaire 18", "9am", "UTC"), None);
        check(on("Feb 30", "9am", "UTC"), None);
    }
}
