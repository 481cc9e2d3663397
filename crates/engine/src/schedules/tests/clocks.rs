//! Days when the clocks change, leap days, ends of months: cases, and a comparison with every minute of a span.

use domain::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::{Times, between, next_after, next_times};
use super::{cron, time};

/// The planned times between two local times, as local times with their offset.
fn local(text: &str, zone: &str, from: &str, until: &str) -> Vec<String> {
    let tz = TimeZone::get(zone).unwrap();
    let instant = |text: &str| {
        let local: jiff::civil::DateTime = text.parse().unwrap();
        Timestamp::from_millis(tz.to_zoned(local).unwrap().timestamp().as_millisecond())
    };
    let times = between(&cron(text, zone), time("2020-01-01T00:00:00Z"), instant(from), instant(until), 200);
    let shown = |at: &Timestamp| {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap().to_zoned(tz.clone());
        at.strftime("%d %H:%M %z").to_string()
    };
    times.iter().map(shown).collect()
}

#[test]
fn a_time_in_the_gap_is_due_right_after_it() {
    let berlin = local("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00", "2026-03-30T12:00");
    assert_eq!(berlin, ["28 02:30 +0100", "29 03:00 +0200", "30 02:30 +0200"]);
    let new_york = local("30 2 * * *", "America/New_York", "2026-03-07T00:00", "2026-03-09T12:00");
    assert_eq!(new_york, ["07 02:30 -0500", "08 03:00 -0400", "09 02:30 -0400"]);
    // Several times of the gap, and one right after it, are one tick.
    let several = local("0,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00", "2026-03-29T12:00");
    assert_eq!(several, ["29 03:00 +0200", "29 03:30 +0200"]);
    // Lists and ranges of times are times of day, too.
    let listed = local("30 1-3 * * *", "Europe/Berlin", "2026-03-29T00:00", "2026-03-29T12:00");
    assert_eq!(listed, ["29 01:30 +0100", "29 03:00 +0200", "29 03:30 +0200"]);
}

#[test]
fn a_time_in_the_repeated_hour_is_due_once() {
    let berlin = local("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00", "2026-10-26T12:00");
    assert_eq!(berlin, ["24 02:30 +0200", "25 02:30 +0200", "26 02:30 +0100"]);
    let new_york = local("30 1 * * *", "America/New_York", "2026-10-31T00:00", "2026-11-02T12:00");
    assert_eq!(new_york, ["31 01:30 -0400", "01 01:30 -0400", "02 01:30 -0500"]);
    let listed = local("30 1,2 * * *", "Europe/Berlin", "2026-10-25T00:00", "2026-10-25T12:00");
    assert_eq!(listed, ["25 01:30 +0200", "25 02:30 +0200"]);
}

#[test]
fn wildcards_follow_the_clock() {
    let spring = local("*/15 * * * *", "Europe/Berlin", "2026-03-29T01:30", "2026-03-29T03:15");
    assert_eq!(spring, ["29 01:30 +0100", "29 01:45 +0100", "29 03:00 +0200", "29 03:15 +0200"]);
    let autumn = local("0 * * * *", "Europe/Berlin", "2026-10-25T01:00", "2026-10-25T04:00");
    assert_eq!(autumn, ["25 01:00 +0200", "25 02:00 +0200", "25 02:00 +0100", "25 03:00 +0100", "25 04:00 +0100"]);
    let half = local("*/30 * * * *", "America/New_York", "2026-11-01T00:30", "2026-11-01T02:00");
    let expected = ["00:30 -0400", "01:00 -0400", "01:30 -0400", "01:00 -0500", "01:30 -0500", "02:00 -0500"];
    assert_eq!(half, expected.map(|at| format!("01 {at}")));
    let spring = local("0 * * * *", "America/New_York", "2026-03-08T01:00", "2026-03-08T04:00");
    assert_eq!(spring, ["08 01:00 -0500", "08 03:00 -0400", "08 04:00 -0400"]);
    // The hour that the clocks skip is left out.
    assert!(local("*/15 2 * * *", "Europe/Berlin", "2026-03-29T00:00", "2026-03-29T12:00").is_empty());
}

#[test]
fn unusual_zones_are_in_order() {
    // Half an hour: what comes after the gap is not moved.
    let lord_howe = local("45 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00", "2026-10-05T12:00");
    assert_eq!(lord_howe, ["03 02:45 +1030", "04 02:45 +1100", "05 02:45 +1100"]);
    let lord_howe = local("10 2 * * *", "Australia/Lord_Howe", "2026-10-04T00:00", "2026-10-04T12:00");
    assert_eq!(lord_howe, ["04 02:30 +1100"]);
    // A gap at midnight.
    let cairo = local("0 0 * * *", "Africa/Cairo", "2026-04-23T00:00", "2026-04-25T12:00");
    assert_eq!(cairo, ["23 00:00 +0200", "24 01:00 +0300", "25 00:00 +0300"]);
    // A day that does not exist: its tick and that of the next day are one.
    let apia = local("0 0 * * *", "Pacific/Apia", "2011-12-29T00:00", "2012-01-01T12:00");
    assert_eq!(apia, ["29 00:00 -1000", "31 00:00 +1400", "01 00:00 +1400"]);
    // The clocks go back across midnight: two days overlap.
    let johns = local("*/30 * * * *", "America/St_Johns", "2010-11-06T23:00", "2010-11-07T00:30");
    let expected =
        ["06 23:00 -0230", "06 23:30 -0230", "07 00:00 -0230", "06 23:30 -0330", "07 00:00 -0330", "07 00:30 -0330"];
    assert_eq!(johns, expected);
    // One after the other as well as all at once.
    let trigger = cron("*/30 * * * *", "America/St_Johns");
    let (start, end) = (time("2010-11-07T01:00:00Z"), time("2010-11-07T06:00:00Z"));
    let all = between(&trigger, start, start.plus_millis(1), end, 100);
    let one_by_one = std::iter::successors(Some(start), |at| next_after(&trigger, start, *at));
    assert_eq!(all, one_by_one.skip(1).take_while(|at| *at <= end).collect::<Vec<_>>());
    assert_eq!(all.len(), 10);
}

#[test]
fn leap_days_and_ends_of_months() {
    let times = |text: &str, count| {
        next_times(&cron(text, "UTC"), time("2026-01-01T00:00:00Z"), time("2026-01-01T00:00:00Z"), count)
    };
    let days =
        |text: &str, count| times(text, count).iter().map(|at| at.to_string()[..10].to_owned()).collect::<Vec<_>>();
    assert_eq!(days("0 0 29 2 *", 3), ["2028-02-29", "2032-02-29", "2036-02-29"]);
    assert_eq!(days("0 0 31 * *", 4), ["2026-01-31", "2026-03-31", "2026-05-31", "2026-07-31"]);
    assert_eq!(days("0 0 L * *", 3), ["2026-01-31", "2026-02-28", "2026-03-31"]);
    assert_eq!(days("0 0 LW * *", 2), ["2026-01-30", "2026-02-27"]);
    assert_eq!(days("0 0 15W 8 *", 1), ["2026-08-14"]);
    assert_eq!(days("0 0 * * 5L", 2), ["2026-01-30", "2026-02-27"]);
    assert_eq!(days("0 0 * * 7L", 2), ["2026-01-25", "2026-02-22"]);
    assert_eq!(days("0 0 * * mon#2", 2), ["2026-01-12", "2026-02-09"]);
    assert_eq!(days("0 0 * * FRI-SUN", 4), ["2026-01-02", "2026-01-03", "2026-01-04", "2026-01-09"]);
    // Of a day of month and a weekday, either counts, unless one of them begins with `*`.
    assert_eq!(days("0 0 13 * FRI", 3), ["2026-01-02", "2026-01-09", "2026-01-13"]);
    assert_eq!(days("0 0 */10 * FRI", 2), ["2026-05-01", "2026-07-31"]);
}

#[test]
fn a_leap_day_across_2100_and_in_the_last_year() {
    let from = time("2096-03-01T00:00:00Z");
    let times = next_times(&cron("0 0 29 2 *", "Europe/Berlin"), from, from, 1);
    assert_eq!(times, [time("2104-02-28T23:00:00Z")]);
    let end = time("9999-12-30T22:00:00Z");
    assert!(next_times(&cron("0 0 1 1 *", "UTC"), end, end, 3).is_empty());
}

/// What Vixie's cron would do, minute by minute.
fn model(minutes: &[u16], fixed: bool, zone: &TimeZone, from: i64, until: i64) -> Vec<i64> {
    let matches = |minute: i64| minutes.contains(&u16::try_from(minute.rem_euclid(1440)).unwrap());
    let wall = |at: i64| {
        let at = jiff::Timestamp::from_millisecond(at).unwrap();
        at.as_millisecond().div_euclid(60_000) + i64::from(zone.to_offset(at).seconds()) / 60
    };
    let mut due = Vec::new();
    let mut seen = wall(from - 60_000);
    for at in (from..=until).step_by(60_000) {
        let now = wall(at);
        let runs = match fixed {
            // Everything that the clock has passed for the first time.
            true => (seen + 1..=now).any(matches),
            false => matches(now),
        };
        seen = seen.max(now);
        if runs {
            due.push(at);
        }
    }
    due
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn planned_times_are_what_a_scan_of_every_minute_finds(
        zone in prop::sample::select(&["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/St_Johns", "UTC", "Asia/Kathmandu"][..]),
        start in prop::sample::select(&["2026-03-06T00:00:00Z", "2026-03-27T00:00:00Z", "2026-04-03T00:00:00Z", "2026-04-22T00:00:00Z", "2026-10-02T00:00:00Z", "2026-10-23T00:00:00Z", "2026-10-28T00:00:00Z", "2010-11-05T00:00:00Z", "2026-06-01T00:00:00Z"][..]),
        minute in prop::sample::select(&["*", "*/15", "*/7", "0", "30", "10", "0,30", "5-20/5", "59"][..]),
        hour in prop::sample::select(&["*", "*/2", "0", "1", "2", "3", "23", "1-3", "0,23"][..]),
    ) {
        let text = format!("{minute} {hour} * * *");
        let trigger = cron(&text, zone);
        let tz = TimeZone::get(zone).unwrap();
        let parsed = super::super::cron::Cron::parse(&text).unwrap();
        let from = time(start);
        let until = from.plus_millis(4 * 86_400_000);
        let expected = model(&parsed.minutes, parsed.fixed, &tz, from.as_millis(), until.as_millis());
        let found = between(&trigger, from, from, until, 10_000);
        let found: Vec<i64> = found.iter().map(|at| at.as_millis()).collect();
        prop_assert_eq!(&found, &expected, "{} in {}", text, zone);

        // The last ones and the number of those before them agree with it.
        let latest = Times::parse(&trigger).unwrap().latest(from, from.plus_millis(-1), until, 7);
        let last: Vec<i64> = latest.times.iter().map(|at| at.as_millis()).collect();
        let cut = expected.len().saturating_sub(7);
        prop_assert_eq!(&last, &expected[cut..]);
        prop_assert_eq!(latest.older, cut as u64);
        // So does one after the other.
        let mut at = from.plus_millis(-1);
        for expected in expected.iter().take(200) {
            at = Times::parse(&trigger).unwrap().next_after(from, at).unwrap();
            prop_assert_eq!(at.as_millis(), *expected);
        }
    }
}
