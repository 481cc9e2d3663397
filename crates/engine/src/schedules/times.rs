//! The planned times of a trigger.

use domain::Timestamp;
use domain::near::hint;

use super::calendar::Calendar;
use super::cron::Cron;
use super::trigger::quoted;
use super::{EVENTS, MIN_SECONDS, Trigger, TriggerError, zone};

/// A trigger that was understood.
#[derive(Debug, Clone)]
pub struct Times(pub(super) Kind);

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Cron(Box<Calendar>),
    Every(i64),
    At(i64),
    Event,
}

/// The last planned times of a span, and how many came before them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Latest {
    /// Ascending.
    pub(super) times: Vec<Timestamp>,
    /// How many planned times of the span are older.
    pub(super) older: u64,
    /// Whether there are even more.
    pub(super) and_more: bool,
}

impl Times {
    /// Understands a trigger.
    pub fn parse(trigger: &Trigger) -> Result<Self, TriggerError> {
        Ok(Self(match trigger {
            Trigger::Cron { cron, time_zone } => {
                let calendar = Calendar { cron: Cron::parse(cron)?, zone: zone::zone(time_zone.as_deref())? };
                Kind::Cron(Box::new(calendar))
            }
            Trigger::Every { seconds } if *seconds < MIN_SECONDS => return Err(TriggerError::Interval(*seconds)),
            Trigger::Every { seconds } => Kind::Every(i64::from(*seconds) * 1000),
            Trigger::At { at } => Kind::At(at.as_millis()),
            Trigger::Event { event, .. } if EVENTS.contains(&event.as_str()) => Kind::Event,
            Trigger::Event { event, .. } => {
                let hint = hint(event, EVENTS.iter().copied());
                return Err(TriggerError::Event { name: quoted(event, 40), hint });
            }
        }))
    }

    /// The first planned time after `after`; `anchor`: when the schedule was created.
    pub fn next_after(&self, anchor: Timestamp, after: Timestamp) -> Option<Timestamp> {
        self.forward(anchor, after, None, 1).pop()
    }

    /// The planned times after `after` and up to `until`, at most `most`, ascending.
    pub fn forward(
        &self,
        anchor: Timestamp,
        after: Timestamp,
        until: Option<Timestamp>,
        most: usize,
    ) -> Vec<Timestamp> {
        let (anchor, after, until) = (anchor.as_millis(), after.as_millis(), until.map(Timestamp::as_millis));
        let found = match &self.0 {
            Kind::Cron(calendar) => calendar.forward(after, until, most),
            Kind::Every(step) => (first(anchor, *step, after)..)
                .map(|count| anchor.saturating_add(step.saturating_mul(count)))
                .take_while(|at| until.is_none_or(|until| *at <= until) && exists(*at))
                .take(most)
                .collect(),
            Kind::At(at) => {
                (*at > after && until.is_none_or(|until| *at <= until)).then_some(*at).into_iter().collect()
            }
            Kind::Event => Vec::new(),
        };
        found.into_iter().filter(|at| exists(*at)).map(Timestamp::from_millis).collect()
    }

    /// The last `most` planned times after `after` and up to `until`.
    pub(super) fn latest(&self, anchor: Timestamp, after: Timestamp, until: Timestamp, most: usize) -> Latest {
        let (start, after, end) = (anchor.as_millis(), after.as_millis(), until.as_millis());
        if end <= after {
            return Latest::default();
        }
        match &self.0 {
            Kind::Cron(calendar) => {
                let times = calendar.backward(after, end, most);
                let (older, all) = match times.first() {
                    Some(first) if times.len() >= most => calendar.count(after, first - 1),
                    _ => (0, true),
                };
                Latest { times: times.into_iter().map(Timestamp::from_millis).collect(), older, and_more: !all }
            }
            Kind::Every(step) => {
                let (from, to) = (first(start, *step, after), end.saturating_sub(start).div_euclid(*step));
                let cut = from.max(to.saturating_sub(i64::try_from(most).unwrap_or(i64::MAX)).saturating_add(1));
                let times = (cut..=to).map(|count| Timestamp::from_millis(start + step * count)).collect();
                Latest { times, older: (cut - from).unsigned_abs(), and_more: false }
            }
            Kind::At(_) | Kind::Event => Latest {
                times: self.forward(anchor, Timestamp::from_millis(after), Some(until), most),
                ..Latest::default()
            },
        }
    }
}

/// The first planned time after `after`; none for a trigger that is not understood.
pub fn next_after(trigger: &Trigger, anchor: Timestamp, after: Timestamp) -> Option<Timestamp> {
    Times::parse(trigger).ok()?.next_after(anchor, after)
}

/// The first `count` planned times after `after`.
pub fn next_times(trigger: &Trigger, anchor: Timestamp, after: Timestamp, count: usize) -> Vec<Timestamp> {
    Times::parse(trigger).map(|times| times.forward(anchor, after, None, count)).unwrap_or_default()
}

/// The planned times from `from` to `until`, both included; at most `most`, the first ones.
pub fn between(trigger: &Trigger, anchor: Timestamp, from: Timestamp, until: Timestamp, most: usize) -> Vec<Timestamp> {
    let Ok(times) = Times::parse(trigger) else { return Vec::new() };
    times.forward(anchor, from.plus_millis(-1), Some(until), most)
}

/// Which interval after the anchor is the first to end after `after`.
fn first(anchor: i64, step: i64, after: i64) -> i64 {
    (after.saturating_sub(anchor).div_euclid(step) + 1).max(1)
}

/// Whether every part of the system can write this time down.
fn exists(at: i64) -> bool {
    Timestamp::from_millis(at).as_millis() == at
}
