//! A cron expression in a time zone: which instants it names, also on days when the clocks change.
//!
//! Vixie's rules. An expression that names its minutes and hours means times of day: one that the clocks skip is due
//! right after the gap, one that occurs twice is due the first time. Any other expression follows the clock: what the
//! clocks skip is left out, what they repeat is due again.

use domain::Timestamp;
use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::cron::Cron;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// No expression that is ever due pauses for longer: the weekdays of 29 February recur after 40 years at most.
const HORIZON_DAYS: u32 = 41 * 366;
/// A count gives up here.
const MAX_COUNT: u64 = 1_000_000;
const MAX_COUNT_DAYS: u32 = 100 * 366;

/// A cron expression in a time zone.
#[derive(Debug, Clone)]
pub(super) struct Calendar {
    pub(super) cron: Cron,
    pub(super) zone: TimeZone,
}

impl Calendar {
    /// The first `most` instants after `after`, up to `until`.
    pub(super) fn forward(&self, after: i64, until: Option<i64>, most: usize) -> Vec<i64> {
        let mut found = Vec::new();
        let last = until.and_then(|until| self.date(until)?.tomorrow().ok());
        let mut date = self.date(after).map(|date| date.yesterday().unwrap_or(date));
        let (mut idle, mut full) = (0, false);
        while let Some(day) = date.filter(|day| last.is_none_or(|last| *day <= last)) {
            let before = found.len();
            found.extend(self.on(day).into_iter().filter(|at| *at > after && until.is_none_or(|until| *at <= until)));
            tidy(&mut found, before);
            idle = if found.len() > before { 0 } else { idle + 1 };
            // Clocks that go back across midnight let the days overlap: the day after counts, too.
            if full || idle > HORIZON_DAYS {
                break;
            }
            full = found.len() >= most;
            date = day.tomorrow().ok();
        }
        found.truncate(most);
        found
    }

    /// The last `most` instants after `after` and up to `until`, ascending.
    pub(super) fn backward(&self, after: i64, until: i64, most: usize) -> Vec<i64> {
        let mut found = Vec::new();
        let first = self.date(after).map(|date| date.yesterday().unwrap_or(date));
        let mut date = self.date(until).map(|date| date.tomorrow().unwrap_or(date));
        let mut full = false;
        while let Some(day) = date.filter(|day| first.is_some_and(|first| *day >= first)) {
            let before = found.len();
            found.extend(self.on(day).into_iter().rev().map(|at| -at).filter(|at| -at > after && -at <= until));
            tidy(&mut found, before);
            if full {
                break;
            }
            full = found.len() >= most;
            date = day.yesterday().ok();
        }
        found.truncate(most);
        found.iter().rev().map(|at| -at).collect()
    }

    /// How many instants there are after `after` and up to `until`, and whether all of them were counted.
    pub(super) fn count(&self, after: i64, until: i64) -> (u64, bool) {
        let (mut counted, mut others, mut days) = (0_u64, Vec::new(), 0);
        let last = self.date(until).map(|date| date.tomorrow().unwrap_or(date));
        let mut date = self.date(after).map(|date| date.yesterday().unwrap_or(date));
        while let Some(day) = date.filter(|day| last.is_some_and(|last| *day <= last)) {
            if counted + others.len() as u64 >= MAX_COUNT || days > MAX_COUNT_DAYS {
                return (counted + others.len() as u64, false);
            }
            let whole = |midnight: &i64| *midnight > after && midnight + DAY <= until;
            match self.plain(day).filter(whole) {
                Some(_) if self.cron.on(day) => counted += self.cron.minutes.len() as u64,
                Some(_) => {}
                None => others.extend(self.on(day).into_iter().filter(|at| *at > after && *at <= until)),
            }
            days += 1;
            date = day.tomorrow().ok();
        }
        others.sort_unstable();
        others.dedup();
        (counted + others.len() as u64, true)
    }

    /// The instants of a local day, ascending.
    fn on(&self, date: Date) -> Vec<i64> {
        if !self.cron.on(date) {
            return Vec::new();
        }
        if let Some(midnight) = self.plain(date) {
            return self.cron.minutes.iter().map(|minute| midnight + i64::from(*minute) * MINUTE).collect();
        }
        let mut found: Vec<i64> =
            self.cron.minutes.iter().flat_map(|minute| self.at(date, *minute)).flatten().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The instants of a local time.
    fn at(&self, date: Date, minute: u16) -> [Option<i64>; 2] {
        let local = local(date) + i64::from(minute) * MINUTE;
        let at = |offset: Offset| Some(local - i64::from(offset.seconds()) * 1000);
        let (hour, minute) = (i8::try_from(minute / 60).unwrap_or(0), i8::try_from(minute % 60).unwrap_or(0));
        match self.zone.to_ambiguous_timestamp(date.at(hour, minute, 0, 0)).offset() {
            AmbiguousOffset::Unambiguous { offset } => [at(offset), None],
            AmbiguousOffset::Fold { before, .. } if self.cron.fixed => [at(before), None],
            AmbiguousOffset::Fold { before, after } => [at(before), at(after)],
            AmbiguousOffset::Gap { after, .. } if self.cron.fixed => {
                [at(after).and_then(|before_gap| self.change_after(before_gap)), None]
            }
            AmbiguousOffset::Gap { .. } => [None, None],
        }
    }

    /// The midnight of a local day without a change of the clocks nearby.
    fn plain(&self, date: Date) -> Option<i64> {
        // Time zones are at most 26 hours apart from UTC; a day on both sides keeps the neighbours apart as well.
        let (from, until) = (local(date) - 2 * DAY, local(date) + 3 * DAY);
        if self.change_after(from).is_some_and(|change| change <= until) {
            return None;
        }
        let from = jiff::Timestamp::from_millisecond(from).ok()?;
        Some(local(date) - i64::from(self.zone.to_offset(from).seconds()) * 1000)
    }

    /// When the clocks change next.
    fn change_after(&self, after: i64) -> Option<i64> {
        let after = jiff::Timestamp::from_millisecond(after).ok()?;
        self.zone.following(after).next().map(|change| change.timestamp().as_millisecond())
    }

    fn date(&self, at: i64) -> Option<Date> {
        let at = jiff::Timestamp::from_millisecond(Timestamp::from_millis(at).as_millis()).ok()?;
        Some(self.zone.to_datetime(at).date())
    }
}

/// A date's midnight as if it were in UTC.
fn local(date: Date) -> i64 {
    let days = date.since(jiff::civil::date(1970, 1, 1)).map_or(0, |span| i64::from(span.get_days()));
    days * DAY
}

/// Sorts what a day has added at `from`, if it is not in order already.
fn tidy(found: &mut Vec<i64>, from: usize) {
    if from > 0 && from < found.len() && found[from - 1] >= found[from] {
        found.sort_unstable();
        found.dedup();
    }
}
