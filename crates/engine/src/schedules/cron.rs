//! Cron expressions: five fields, checked one by one so that an error names the field.
//!
//! `croner` knows which days match. It knows no time zone here: see `calendar.rs`.

use croner::Weekday;
use croner::parser::CronParser;
use jiff::civil::Date;

use super::TriggerError;
use super::trigger::quoted;

const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: &[&str] = &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// The longest expression, in bytes.
const MAX_BYTES: usize = 400;
/// The weekdays of a date recur after 28 years, or 40 across 2100.
const CYCLE_DAYS: usize = 41 * 366;

/// A cron expression.
#[derive(Debug, Clone)]
pub(super) struct Cron {
    /// The five fields with numbers for names.
    pub(super) fields: [String; 5],
    /// The minutes of a day that match, ascending.
    pub(super) minutes: Vec<u16>,
    /// Whether it names its minutes and hours; the others follow the clock, whatever it does.
    pub(super) fixed: bool,
    days: croner::Cron,
}

impl Cron {
    pub(super) fn parse(text: &str) -> Result<Self, TriggerError> {
        let expanded = nickname(text.trim()).unwrap_or(text);
        let parts: Vec<&str> = expanded.split_whitespace().take(9).collect();
        let hint = match parts.len() {
            6 => "; seconds and years are not supported",
            1 if expanded.trim().starts_with('@') => "; known are @hourly, @daily, @weekly, @monthly and @yearly",
            _ => "",
        };
        let refuse = |found: String| TriggerError::Fields { text: quoted(text, 60), found, hint };
        if text.len() > MAX_BYTES {
            return Err(refuse(format!("more than {MAX_BYTES} characters")));
        }
        let Ok([minute, hour, day, month, weekday]) = <[&str; 5]>::try_from(parts.as_slice()) else {
            return Err(refuse(match parts.len() {
                0 => "no fields".to_owned(),
                1 => "1 field".to_owned(),
                count => format!("{count} fields"),
            }));
        };
        let fields =
            [MINUTE.read(minute)?, HOUR.read(hour)?, DAY.read(day)?, MONTH.read(month)?, WEEKDAY.read(weekday)?];
        let star = |field: &str| field.starts_with('*');
        // Vixie's rule: of a day of month and a weekday, either counts, unless one of them begins with `*`.
        let both = star(&fields[2]) || star(&fields[4]);
        let parser = CronParser::builder().dom_and_dow(both).build();
        let unknown = |_| TriggerError::Field {
            field: "cron",
            item: quoted(text, 60),
            expected: "this expression is not supported".to_owned(),
        };
        let days = parser.parse(&fields.join(" ")).map_err(unknown)?;
        let hours = days.pattern.hours.values();
        let minutes = days.pattern.minutes.values();
        let cron = Self {
            minutes: hours.iter().flat_map(|hour| minutes.iter().map(move |minute| hour * 60 + minute)).collect(),
            fixed: !star(&fields[0]) && !star(&fields[1]),
            fields,
            days,
        };
        match cron.ever() {
            true => Ok(cron),
            false => Err(TriggerError::Never { text: quoted(text, 60) }),
        }
    }

    /// Whether a day matches.
    pub(super) fn on(&self, date: Date) -> bool {
        let (year, month, day) = (i32::from(date.year()), date.month().unsigned_abs(), date.day().unsigned_abs());
        let weekday = Weekday::from_days_from_sunday(u32::from(date.weekday().to_sunday_zero_offset().unsigned_abs()));
        self.days.pattern.month_match(month.into()).unwrap_or(false)
            && self.days.pattern.day_match(year, month.into(), day.into(), weekday).unwrap_or(false)
    }

    fn ever(&self) -> bool {
        let from = jiff::civil::date(2000, 1, 1);
        !self.minutes.is_empty() && from.series(jiff::Span::new().days(1)).take(CYCLE_DAYS).any(|date| self.on(date))
    }
}

/// The fields of a nickname.
fn nickname(text: &str) -> Option<&'static str> {
    match text.to_ascii_lowercase().as_str() {
        "@hourly" => Some("0 * * * *"),
        "@daily" | "@midnight" => Some("0 0 * * *"),
        "@weekly" => Some("0 0 * * 0"),
        "@monthly" => Some("0 0 1 * *"),
        "@yearly" | "@annually" => Some("0 0 1 1 *"),
        _ => None,
    }
}

/// One of the five fields.
struct Field {
    name: &'static str,
    first: u16,
    last: u16,
    names: &'static [&'static str],
    /// What it may be.
    expected: &'static str,
}

const MINUTE: Field = Field { name: "minute", first: 0, last: 59, names: &[], expected: "0 to 59" };
const HOUR: Field = Field { name: "hour", first: 0, last: 23, names: &[], expected: "0 to 23" };
const DAY: Field =
    Field { name: "day of month", first: 1, last: 31, names: &[], expected: "1 to 31, or L for the last day" };
const MONTH: Field = Field { name: "month", first: 1, last: 12, names: MONTHS, expected: "1 to 12, or JAN to DEC" };
const WEEKDAY: Field = Field {
    name: "day of week",
    first: 0,
    last: 7,
    names: DAYS,
    expected: "0 to 7 (0 and 7 are Sunday), or SUN to SAT",
};

impl Field {
    /// The field with numbers for names.
    fn read(&self, text: &str) -> Result<String, TriggerError> {
        let items = text.split(',').map(|item| self.item(item)).collect::<Result<Vec<_>, _>>()?;
        // `croner` knows `*` on its own only.
        Ok(if items.iter().any(|item| item == "*") { "*".to_owned() } else { items.join(",") })
    }

    fn item(&self, item: &str) -> Result<String, TriggerError> {
        let refuse = |expected: String| self.refuse(item, expected);
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (item, None),
        };
        if let Some(step) = step {
            let steps = digits(step).filter(|step| (1..=self.last).contains(step));
            let Some(step) = steps else { return Err(refuse(format!("the step is 1 to {}", self.last))) };
            return match (range, range.split_once('-')) {
                ("*", _) => Ok(format!("*/{step}")),
                (_, Some((from, to))) => Ok(format!("{}/{step}", self.range(item, from, to)?)),
                _ => Err(refuse(format!(
                    "write `*/{step}`, or a range before the step, as `{}-{}/{step}`",
                    self.first, self.last
                ))),
            };
        }
        if range == "*" {
            return Ok("*".to_owned());
        }
        if let Some((from, to)) = range.split_once('-') {
            return self.range(item, from, to);
        }
        if let Some(special) = self.special(range) {
            return Ok(special);
        }
        // A `?` is how another dialect writes "any".
        let hint = if item == "?" { "write `*`".to_owned() } else { self.expected.to_owned() };
        self.value(range).map(|value| self.sunday(value).to_string()).ok_or_else(|| refuse(hint))
    }

    fn range(&self, item: &str, from: &str, to: &str) -> Result<String, TriggerError> {
        let refuse = |expected: &str| self.refuse(item, expected.to_owned());
        let (Some(from), Some(mut until)) = (self.value(from), self.value(to)) else {
            return Err(refuse(self.expected));
        };
        if to.eq_ignore_ascii_case("SUN") && from > 0 {
            until = 7;
        }
        match from <= until {
            true => Ok(format!("{from}-{until}")),
            false => Err(refuse("the range ends before it begins")),
        }
    }

    /// The last day, the weekday next to a day, the second Monday, the last Friday.
    fn special(&self, item: &str) -> Option<String> {
        let upper = item.to_ascii_uppercase();
        if self.name == DAY.name {
            if upper == "L" || upper == "LW" {
                return Some(upper);
            }
            return self.value(upper.strip_suffix('W')?).map(|day| format!("{day}W"));
        }
        if self.name != WEEKDAY.name {
            return None;
        }
        if let Some((day, nth)) = upper.split_once('#') {
            let nth = digits(nth).filter(|nth| (1..=5).contains(nth))?;
            return self.value(day).map(|day| format!("{}#{nth}", self.sunday(day)));
        }
        self.value(upper.strip_suffix('L')?).map(|day| format!("{}L", self.sunday(day)))
    }

    fn value(&self, text: &str) -> Option<u16> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let number = named.and_then(|at| u16::try_from(at).ok()).map(|at| at + self.first).or_else(|| digits(text))?;
        (self.first..=self.last).contains(&number).then_some(number)
    }

    /// Sunday is 0 on its own; in a range it can be 7.
    fn sunday(&self, value: u16) -> u16 {
        if self.name == WEEKDAY.name && value == 7 { 0 } else { value }
    }

    fn refuse(&self, item: &str, expected: String) -> TriggerError {
        TriggerError::Field { field: self.name, item: quoted(item, 30), expected }
    }
}

fn digits(text: &str) -> Option<u16> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}
