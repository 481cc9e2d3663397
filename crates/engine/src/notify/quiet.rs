//! Quiet hours: a daily span of local time, also on days when the clocks change.

use domain::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};

/// Why quiet hours or their time zone are not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuietError {
    /// Not a time of day.
    #[error("`{0}` is not a time of day: write it as 22:30")]
    Time(String),
    /// Both ends are the same.
    #[error("quiet hours that begin and end at {0} are ambiguous: choose two different times")]
    Empty(String),
    /// An unknown time zone.
    #[error("`{0}` is not a known time zone: use a name as Europe/Berlin")]
    Zone(String),
}

/// The daily quiet hours in a person's time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    from: Time,
    until: Time,
    zone: TimeZone,
}

impl Quiet {
    /// From two times of day, as `22:30`, and the name of a time zone.
    pub fn parse(from: &str, until: &str, zone: &str) -> Result<Self, QuietError> {
        let (from_time, until_time) = (time(from)?, time(until)?);
        if from_time == until_time {
            return Err(QuietError::Empty(from.to_owned()));
        }
        Ok(Self { from: from_time, until: until_time, zone: Self::zone(zone)? })
    }

    /// The time zone with this name.
    pub fn zone(name: &str) -> Result<TimeZone, QuietError> {
        TimeZone::get(name).map_err(|_| QuietError::Zone(name.chars().take(60).collect()))
    }

    /// When the quiet hours end that `now` is in; `None` outside of quiet hours.
    pub fn end(&self, now: Timestamp) -> Option<Timestamp> {
        let mut end = self.end_of_span(now)?;
        // On a day when the clocks change, the next span may begin before this one ends.
        while let Some(later) = self.end_of_span(end) {
            end = later;
        }
        Some(end)
    }

    fn end_of_span(&self, now: Timestamp) -> Option<Timestamp> {
        let at = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
        let today = Zoned::new(at, self.zone.clone()).date();
        // A span that contains `now` began today or yesterday, by the local calendar.
        [-1, 0].into_iter().find_map(|day| {
            let first = today.checked_add(day.days()).ok()?;
            let last = if self.until > self.from { first } else { first.tomorrow().ok()? };
            // A time that the clocks skip counts as later; of a time that occurs twice, the wider span counts.
            let begin = self.zone.to_ambiguous_timestamp(first.to_datetime(self.from)).compatible().ok()?;
            let end = self.zone.to_ambiguous_timestamp(last.to_datetime(self.until)).later().ok()?;
            (begin <= at && at < end).then(|| Timestamp::from_millis(end.as_millisecond()))
        })
    }
}

fn time(text: &str) -> Result<Time, QuietError> {
    let refuse = || QuietError::Time(text.chars().take(20).collect());
    let (hour, minute) = text.split_once(':').ok_or_else(refuse)?;
    let number = |digits: &str| match digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit()) {
        true => digits.parse::<i8>().map_err(|_| refuse()),
        false => Err(refuse()),
    };
    Time::new(number(hour)?, number(minute)?, 0, 0).map_err(|_| refuse())
}
