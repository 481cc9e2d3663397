//! A trigger in words, as "every weekday at 09:00 (Europe/Berlin)".

use domain::text::{counted, plural};

use super::times::Kind;
use super::{Times, Trigger, zone};

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// More times of day than this are easier to read as an expression.
const MAX_HOURS: usize = 3;

/// The trigger in words; a complicated expression stays as it is.
pub fn in_words(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Cron { cron, time_zone } => match Times::parse(trigger).map(|times| times.0) {
            Ok(Kind::Cron(calendar)) => {
                let words = cron_words(&calendar.cron.fields).unwrap_or_else(|| format!("cron {}", cron.trim()));
                format!("{words} ({})", zone::spelled(&calendar.zone))
            }
            _ => format!("cron {} ({})", cron.trim(), time_zone.as_deref().unwrap_or("UTC")),
        },
        Trigger::Every { seconds } => match span(*seconds) {
            span if span.starts_with("1 ") => format!("every {}", &span[2..]),
            span => format!("every {span}"),
        },
        Trigger::At { at } => match jiff::Timestamp::from_millisecond(at.as_millis()) {
            Ok(at) => format!("once, on {} (UTC)", at.strftime("%Y-%m-%d at %H:%M")),
            Err(_) => format!("once, at {at}"),
        },
        Trigger::Event { event, matching } => {
            let what = match event.as_str() {
                "task_done" => "when a task is done",
                "task_failed" => "when a task fails",
                "activity_blocked" => "when an activity is blocked",
                "activity_completed" => "when an activity is completed",
                "execution_ended" => "when an execution ends",
                "push" => "when a branch is pushed",
                other => return format!("on {other}"),
            };
            match matching {
                Some(matching) => format!("{what}, if {}", matching.trim()),
                None => what.to_owned(),
            }
        }
    }
}

/// A number of seconds in the largest unit that fits.
pub(super) fn span(seconds: u32) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute")];
    let fitting = units.into_iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    let (unit, word) = fitting.unwrap_or((1, "second"));
    counted(seconds / unit, word, &plural(word))
}

fn cron_words(fields: &[String; 5]) -> Option<String> {
    let [minute, hour, day, month, weekday] = fields.each_ref().map(String::as_str);
    if let Some(often) = often(minute, hour) {
        return match (day, month, weekday) {
            ("*", "*", "*") => Some(often),
            ("*", "*", "1-5") => Some(format!("{often} on weekdays")),
            _ => None,
        };
    }
    let days = match (day, month, weekday) {
        ("*", "*", "*") => "every day".to_owned(),
        ("*", "*", "1-5") => "every weekday".to_owned(),
        ("*", "*", days) => format!("every {}", weekdays(days)?),
        ("L", "*", "*") => "on the last day of every month".to_owned(),
        (day, "*", "*") => format!("on day {} of every month", number(day)?),
        (day, month, "*") => format!("every year on {} {}", number(day)?, MONTHS.get(number(month)? - 1)?),
        _ => return None,
    };
    Some(format!("{days} at {}", hours(minute, hour)?))
}

/// The rhythm of an expression that is due several times a day.
fn often(minute: &str, hour: &str) -> Option<String> {
    let every = |text: &str, of: usize| number(text.strip_prefix("*/")?).filter(|step| of.is_multiple_of(*step));
    match (minute, hour) {
        ("*" | "*/1", "*" | "*/1") => Some("every minute".to_owned()),
        ("0", "*" | "*/1") => Some("every hour".to_owned()),
        (minute, "*" | "*/1") => match (number(minute), every(minute, 60)) {
            (Some(1), _) => Some("every hour, 1 minute past".to_owned()),
            (Some(minute), _) => Some(format!("every hour, {minute} minutes past")),
            (_, Some(step)) => Some(format!("every {step} minutes")),
            _ => None,
        },
        ("0", hour) => every(hour, 24).map(|step| format!("every {step} hours")),
        _ => None,
    }
}

fn hours(minute: &str, hour: &str) -> Option<String> {
    let minute = number(minute)?;
    let hours = hour.split(',').map(|hour| Some(format!("{:02}:{minute:02}", number(hour)?)));
    let hours: Vec<String> = hours.collect::<Option<_>>()?;
    (hours.len() <= MAX_HOURS).then(|| list(&hours))
}

fn weekdays(field: &str) -> Option<String> {
    let days = field.split(',').map(|day| Some((*DAYS.get(number(day)?)?).to_owned()));
    days.collect::<Option<Vec<_>>>().map(|days| list(&days))
}

fn list(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        items => items.concat(),
    }
}

fn number(text: &str) -> Option<usize> {
    text.parse().ok()
}
