//! Quiet hours on days when the clocks change, coalescing, presence, retries.

use domain::{NotifyKind, Timestamp, UserId};
use proptest::prelude::*;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn prefs(quiet: Option<Quiet>) -> Prefs {
    Prefs { quiet, gather_seconds: 10, at_most_seconds: 60 }
}

fn pending(kind: NotifyKind, seconds: i64) -> Pending {
    Pending { kind, at: Timestamp::from_millis(seconds * 1000) }
}

fn decided(pending: &[Pending], looking: Option<i64>, now: i64) -> Decision {
    let looking_until = looking.map(|seconds| Timestamp::from_millis(seconds * 1000));
    decide(&prefs(None), &Facts { pending, looking_until }, Timestamp::from_millis(now * 1000))
}

fn hold(seconds: i64, seen: Vec<usize>) -> Decision {
    Decision::Hold { until: Timestamp::from_millis(seconds * 1000), seen }
}

#[test]
fn one_event_is_sent_alone_and_several_as_a_digest() {
    let one = [pending(NotifyKind::Question, 100)];
    assert_eq!(decided(&[], None, 100), Decision::Nothing);
    assert_eq!(decided(&one, None, 100), hold(110, vec![]));
    assert_eq!(decided(&one, None, 110), Decision::Send);
    let two = [one[0], pending(NotifyKind::Approval, 105)];
    assert_eq!(decided(&two, None, 110), hold(115, vec![]));
    assert_eq!(decided(&two, None, 115), Decision::Digest);
}

#[test]
fn a_stream_of_events_waits_no_longer_than_the_maximum() {
    let many: Vec<_> = (0..30).map(|n| pending(NotifyKind::Waiting, 100 + n * 5)).collect();
    assert_eq!(decided(&many[..12], None, 158), hold(160, vec![]));
    assert_eq!(decided(&many[..13], None, 160), Decision::Digest);
}

#[test]
fn a_person_at_the_page_gets_nothing_and_later_only_what_still_needs_them() {
    let both = [pending(NotifyKind::Done, 100), pending(NotifyKind::Question, 101)];
    assert_eq!(decided(&both, Some(130), 120), hold(130, vec![0]));
    assert_eq!(decided(&both[1..], Some(130), 130), Decision::Send);
}

#[test]
fn quiet_hours_follow_the_local_clock() {
    let check = |from: &str, until: &str, zone: &str, now: &str, end: Option<&str>| {
        let quiet = Quiet::parse(from, until, zone).unwrap();
        assert_eq!(quiet.end(at(now)), end.map(at), "{from}-{until} {zone} at {now}");
    };
    let berlin = "Europe/Berlin";
    check("22:00", "07:00", berlin, "2026-06-10T19:59:59Z", None);
    check("22:00", "07:00", berlin, "2026-06-10T20:00:00Z", Some("2026-06-11T05:00:00Z"));
    check("22:00", "07:00", berlin, "2026-06-11T05:00:00Z", None);
    check("12:00", "13:00", berlin, "2026-01-10T11:30:00Z", Some("2026-01-10T12:00:00Z"));
    // The night that is an hour shorter, and the one that is an hour longer.
    check("22:00", "07:00", berlin, "2026-03-28T22:00:00Z", Some("2026-03-29T05:00:00Z"));
    check("22:00", "07:00", berlin, "2026-10-24T22:00:00Z", Some("2026-10-25T06:00:00Z"));
    // 02:30 does not exist on the first, and occurs twice on the second.
    check("22:00", "02:30", berlin, "2026-03-29T00:30:00Z", Some("2026-03-29T01:30:00Z"));
    check("22:00", "02:30", berlin, "2026-10-25T00:45:00Z", Some("2026-10-25T01:30:00Z"));
    check("22:00", "07:00", "Asia/Kathmandu", "2026-06-10T16:15:00Z", Some("2026-06-11T01:15:00Z"));
}

#[test]
fn quiet_hours_hold_everything_until_they_end() {
    let quiet = Quiet::parse("22:00", "07:00", "Europe/Berlin").unwrap();
    let one = [Pending { kind: NotifyKind::Approval, at: at("2026-06-10T20:30:00Z") }];
    let decided =
        |now: &str| decide(&prefs(Some(quiet.clone())), &Facts { pending: &one, looking_until: None }, at(now));
    assert_eq!(decided("2026-06-11T04:00:00Z"), Decision::Hold { until: at("2026-06-11T05:00:00Z"), seen: vec![] });
    assert_eq!(decided("2026-06-11T05:00:00Z"), Decision::Send);
}

#[test]
fn unusable_quiet_hours_are_refused() {
    for (from, until, zone) in
        [("24:00", "07:00", "UTC"), ("7", "08:00", "UTC"), ("+1:00", "08:00", "UTC"), ("07:00", "07:00", "UTC")]
    {
        assert!(Quiet::parse(from, until, zone).is_err(), "{from} {until}");
    }
    assert_eq!(Quiet::parse("22:00", "07:00", "Moon/Tycho"), Err(QuietError::Zone("Moon/Tycho".into())));
}

#[test]
fn retries_follow_the_schedule_and_the_receiver() {
    let now = Timestamp::from_millis(0);
    let failed = |wait_seconds| Outcome::Failed { wait_seconds };
    let again = |seconds: i64| Next::Again { at: Timestamp::from_millis(seconds * 1000) };
    assert_eq!(next(1, Outcome::Delivered, now), Next::Done);
    assert_eq!(next(1, failed(None), now), again(5));
    assert_eq!(next(1, failed(Some(90)), now), again(90));
    assert_eq!(next(2, failed(Some(90)), now), again(300));
    assert_eq!(next(1, failed(Some(u32::MAX)), now), again(86_400));
    assert_eq!(next(9, failed(None), now), again(86_400));
    assert_eq!(next(10, failed(None), now), Next::GiveUp);
    assert_eq!(next(1, Outcome::Gone, now), Next::Disable);
    assert_eq!(next(1, Outcome::Refused, now), Next::GiveUp);
}

#[test]
fn an_event_concerns_the_people_whom_the_page_shows_it_to() {
    let [owner, mine, author, other] = [(); 4].map(|()| UserId::generate());
    let involved =
        Involved { project_owner: Some(owner), owner: Some(mine), author: Some(author), named: vec![other, author] };
    let check = |kind, expected: &[UserId]| {
        assert_eq!(concerned(kind, &involved), expected.iter().copied().collect(), "{kind}");
    };
    check(NotifyKind::Approval, &[mine]);
    check(NotifyKind::Waiting, &[mine]);
    check(NotifyKind::Worker, &[mine]);
    check(NotifyKind::Question, &[owner, mine]);
    check(NotifyKind::Blocked, &[owner, mine]);
    check(NotifyKind::Failed, &[owner, author]);
    check(NotifyKind::Landed, &[owner, author]);
    check(NotifyKind::Mention, &[other]);
}

#[test]
fn a_digest_counts_each_kind() {
    let kinds = [NotifyKind::Failed, NotifyKind::Approval, NotifyKind::Failed];
    assert_eq!(counts(&kinds), [(NotifyKind::Approval, 1), (NotifyKind::Failed, 2)]);
}

proptest! {
    /// Whatever the zone and the day: the end is in the future, at most two days ahead, and not quiet itself.
    #[test]
    fn quiet_hours_end(
        from in 0..1440_i32,
        length in 1..1440_i32,
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia"]),
        now in 1_300_000_000_000..2_000_000_000_000_i64,
    ) {
        let clock = |minutes: i32| format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60);
        let quiet = Quiet::parse(&clock(from), &clock(from + length), zone).unwrap();
        if let Some(end) = quiet.end(Timestamp::from_millis(now)) {
            prop_assert!(end.as_millis() > now && end.as_millis() - now <= 50 * 3_600_000, "{end}");
            prop_assert_eq!(quiet.end(end), None);
        }
    }

    /// What was decided to be held is held until a later time, and everything is sent once nothing holds it.
    #[test]
    fn every_notification_is_sent_in_the_end(times in prop::collection::vec(0..1000_i64, 1..20), looking in prop::option::of(0..2000_i64)) {
        let all: Vec<_> = times.iter().map(|seconds| pending(NotifyKind::Question, *seconds)).collect();
        let (mut now, mut rounds) = (0, 0);
        while let Decision::Hold { until, seen } = decided(&all, looking, now) {
            prop_assert!(until.as_millis() > now * 1000 && seen.is_empty());
            now = until.as_millis() / 1000;
            rounds += 1;
            prop_assert!(rounds < 10);
        }
        prop_assert!(now <= 2000 + 1060);
    }
}
