//! What a person writes, what an error says, and the words for a trigger.

use super::super::{Trigger, in_words, next_after, next_times};
use super::{cron, time};

fn refusal(text: &str) -> String {
    cron(text, "UTC").check().map(|()| "no error".to_owned()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn an_error_names_the_field_and_what_it_may_be() {
    for (text, error) in [
        ("61 * * * *", "minute `61`: 0 to 59"),
        ("0 24 * * *", "hour `24`: 0 to 23"),
        ("0 0 32 * *", "day of month `32`: 1 to 31, or L for the last day"),
        ("0 0 * 13 *", "month `13`: 1 to 12, or JAN to DEC"),
        ("0 0 * JANUARY *", "month `JANUARY`: 1 to 12, or JAN to DEC"),
        ("0 0 * * 8", "day of week `8`: 0 to 7 (0 and 7 are Sunday), or SUN to SAT"),
        ("MON 0 * * *", "minute `MON`: 0 to 59"),
        ("0 0 * * FRI-MON", "day of week `FRI-MON`: the range ends before it begins"),
        ("*/0 * * * *", "minute `*/0`: the step is 1 to 59"),
        ("*/90 * * * *", "minute `*/90`: the step is 1 to 59"),
        ("5/10 * * * *", "minute `5/10`: write `*/10`, or a range before the step, as `0-59/10`"),
        ("0,,5 * * * *", "minute ``: 0 to 59"),
        ("+5 * * * *", "minute `+5`: 0 to 59"),
        ("0 0 ? * *", "day of month `?`: write `*`"),
        ("0 0 * * L", "day of week `L`: 0 to 7 (0 and 7 are Sunday), or SUN to SAT"),
        ("0 0 30 2 *", "cron `0 0 30 2 *` is never due: no month of it has such a day"),
        ("0 0 31 4,6,9,11 *", "cron `0 0 31 4,6,9,11 *` is never due: no month of it has such a day"),
        (
            "0 9 * *",
            "cron `0 9 * *` has 4 fields: write five, as `0 9 * * 1-5` (minute, hour, day of month, month, day of week)",
        ),
        (
            "0 0 9 * * *",
            "cron `0 0 9 * * *` has 6 fields: write five, as `0 9 * * 1-5` (minute, hour, day of month, month, day of week); seconds and years are not supported",
        ),
        (
            "@reboot",
            "cron `@reboot` has 1 field: write five, as `0 9 * * 1-5` (minute, hour, day of month, month, day of week); known are @hourly, @daily, @weekly, @monthly and @yearly",
        ),
    ] {
        assert_eq!(refusal(text), error);
    }
    assert!(refusal("").contains("no fields"));
    assert!(refusal(&"1,".repeat(500)).contains("more than 400 characters"));
}

#[test]
fn an_unknown_zone_names_the_nearest() {
    let refusal = |zone: &str| cron("0 9 * * *", zone).check().map_err(|error| error.to_string());
    for (zone, near) in [
        ("Europe/Berln", "Europe/Berlin"),
        ("berlin", "Europe/Berlin"),
        ("US/New_York", "America/New_York"),
        ("America/New York", "America/New_York"),
    ] {
        assert_eq!(refusal(zone), Err(format!("`{zone}` is not a known time zone; did you mean `{near}`?")));
    }
    assert_eq!(
        refusal("nowhere at all"),
        Err("`nowhere at all` is not a known time zone: use a name as Europe/Berlin".to_owned())
    );
    for zone in ["localtime", "posix/Europe/Berlin", "right/UTC", "../../etc/passwd", ""] {
        assert!(refusal(zone).is_err(), "{zone}");
    }
    assert_eq!(refusal("europe/berlin"), Ok(()));
}

#[test]
fn intervals_and_events_are_checked() {
    let refusal = |trigger: Trigger| trigger.check().map_err(|error| error.to_string());
    assert_eq!(
        refusal(Trigger::Every { seconds: 59 }),
        Err("an interval of 59 s is too short: use at least 60 s".to_owned())
    );
    assert_eq!(refusal(Trigger::Every { seconds: 60 }), Ok(()));
    let event = |name: &str| refusal(Trigger::Event { event: name.to_owned(), matching: None });
    assert_eq!(event("push"), Ok(()));
    let error = event("task_don").unwrap_err();
    assert!(error.starts_with("unknown event `task_don`; did you mean `task_done`?"), "{error}");
}

#[test]
fn a_trigger_keeps_its_form() {
    for text in [
        r#"{"on":"cron","cron":"0 9 * * *","time_zone":"Europe/Berlin"}"#,
        r#"{"on":"every","seconds":60}"#,
        r#"{"on":"at","at":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"on":"event","event":"push","matching":"event.branch == 'main'"}"#,
    ] {
        let trigger: Trigger = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&trigger).unwrap(), text);
    }
}

#[test]
fn a_trigger_in_words() {
    for (text, words) in [
        ("0 9 * * *", "every day at 09:00 (Europe/Berlin)"),
        ("@daily", "every day at 00:00 (Europe/Berlin)"),
        ("5 9,17 * * 1-5", "every weekday at 09:05 and 17:05 (Europe/Berlin)"),
        ("0 8 * * MON", "every Monday at 08:00 (Europe/Berlin)"),
        ("0 8 * * MON,WED,7", "every Monday, Wednesday and Sunday at 08:00 (Europe/Berlin)"),
        ("0 6 1 * *", "on day 1 of every month at 06:00 (Europe/Berlin)"),
        ("0 6 L * *", "on the last day of every month at 06:00 (Europe/Berlin)"),
        ("0 6 29 FEB *", "every year on 29 February at 06:00 (Europe/Berlin)"),
        ("* * * * *", "every minute (Europe/Berlin)"),
        ("*/15 * * * *", "every 15 minutes (Europe/Berlin)"),
        ("*/15 * * * 1-5", "every 15 minutes on weekdays (Europe/Berlin)"),
        ("*/7 * * * *", "cron */7 * * * * (Europe/Berlin)"),
        ("0 * * * *", "every hour (Europe/Berlin)"),
        ("10 * * * *", "every hour, 10 minutes past (Europe/Berlin)"),
        ("0 */6 * * *", "every 6 hours (Europe/Berlin)"),
        ("0 9 1-7 * MON", "cron 0 9 1-7 * MON (Europe/Berlin)"),
        ("nonsense", "cron nonsense (Europe/Berlin)"),
    ] {
        assert_eq!(in_words(&cron(text, "Europe/Berlin")), words);
    }
    assert_eq!(in_words(&Trigger::Cron { cron: "0 9 * * *".into(), time_zone: None }), "every day at 09:00 (UTC)");
    for (seconds, words) in [
        (60, "every minute"),
        (900, "every 15 minutes"),
        (3600, "every hour"),
        (90, "every 90 seconds"),
        (172_800, "every 2 days"),
    ] {
        assert_eq!(in_words(&Trigger::Every { seconds }), words);
    }
    assert_eq!(in_words(&Trigger::At { at: time("2026-03-01T08:30:00Z") }), "once, on 2026-03-01 at 08:30 (UTC)");
    let event = Trigger::Event { event: "push".into(), matching: Some("event.branch == 'main'".into()) };
    assert_eq!(in_words(&event), "when a branch is pushed, if event.branch == 'main'");
}

#[test]
fn intervals_count_from_the_anchor_and_one_offs_come_once() {
    let anchor = time("2026-01-01T00:00:10Z");
    let every = Trigger::Every { seconds: 90 };
    let times = next_times(&every, anchor, time("2026-01-01T00:02:00Z"), 2);
    assert_eq!(times, [time("2026-01-01T00:03:10Z"), time("2026-01-01T00:04:40Z")]);
    assert_eq!(next_after(&every, anchor, time("2020-01-01T00:00:00Z")), Some(time("2026-01-01T00:01:40Z")));
    let once = Trigger::At { at: time("2026-01-02T00:00:00Z") };
    assert_eq!(next_after(&once, anchor, anchor), Some(time("2026-01-02T00:00:00Z")));
    assert_eq!(next_after(&once, anchor, time("2026-01-02T00:00:00Z")), None);
}
