//! Schedules: ticks, overlap, catch-up, and what people do.

use domain::{ExecutionStatus, Overlap, TickOutcome, Timestamp};
use protocol::{CatchUp, Schedule, ScheduleBackfill, ScheduleNote, ScheduleText, Tick, TickPage, Trigger, verbs};
use store::{Caller, StoreError, TendSchedule};

use super::{save, shown, tend};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    each_tick_starts_one_execution,
    two_hubs_decide_a_tick_once,
    three_hubs_write_each_tick_once_whatever_the_clock_does,
    an_overlapping_tick_is_skipped_and_says_why,
    a_queued_tick_starts_when_the_execution_before_it_is_over,
    missed_ticks_are_made_up_for_as_asked,
    a_paused_schedule_skips,
    a_person_runs_it_now_and_makes_up_for_the_past,
    a_removed_schedule_leaves_its_executions,
}

const QUICK: &str = "name: quick\nsteps:\n  - id: tell\n    notify: {to: chat, text: tick}\n";
const SLOW: &str = "name: slow\nsteps:\n  - id: pause\n    wait: {for: 90m}\n";
const HOUR: i64 = 3_600_000;

async fn add(shop: &Shop, recipe: &str, input: ScheduleText) -> Schedule {
    let trigger = Trigger::Every { seconds: 3600 };
    let input = ScheduleText { recipe: recipe.into(), trigger, ..input };
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleAdd { project: shop.project.id, input }).await
}

async fn ticks(shop: &Shop, schedule: &Schedule) -> Vec<Tick> {
    let mut ticks =
        shop.fixture.store.schedule_ticks(&shop.fixture.ada, schedule.id, TickPage::default()).await.unwrap();
    ticks.reverse();
    ticks
}

fn outcomes(ticks: &[Tick]) -> Vec<TickOutcome> {
    ticks.iter().map(|tick| tick.outcome).collect()
}

async fn each_tick_starts_one_execution(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    let now = shop.fixture.store.now();
    assert_eq!(schedule.next[0], now.plus_millis(HOUR));
    let due = shop.fixture.store.due_schedules(now).await.unwrap();
    assert_eq!((due.now, due.next), (vec![], Some(now.plus_millis(HOUR))));
    for _ in 0..3 {
        shop.fixture.pass(HOUR);
        tend(&shop).await;
    }
    let ticks = ticks(&shop, &schedule).await;
    assert_eq!(outcomes(&ticks), [TickOutcome::Started; 3]);
    for tick in &ticks {
        let started = shown(&shop, tick.execution.unwrap()).await.execution;
        assert_eq!((started.status, started.schedule), (ExecutionStatus::Completed, Some(schedule.id)));
    }
}

async fn two_hubs_decide_a_tick_once(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    shop.fixture.pass(HOUR);
    let tend = || TendSchedule { schedule: schedule.id };
    let (hub, store) = (Caller::hub("schedule"), &shop.fixture.store);
    let (one, two) = tokio::join!(store.write(&hub, None, tend()), store.write(&hub, None, tend()));
    one.unwrap();
    two.unwrap();
    assert_eq!(outcomes(&ticks(&shop, &schedule).await), [TickOutcome::Started]);
}

async fn an_overlapping_tick_is_skipped_and_says_why(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, SLOW).await;
    let schedule = add(&shop, "slow", ScheduleText::default()).await;
    for _ in 0..2 {
        shop.fixture.pass(HOUR);
        tend(&shop).await;
    }
    let ticks = ticks(&shop, &schedule).await;
    assert_eq!(outcomes(&ticks), [TickOutcome::Started, TickOutcome::Skipped]);
    assert!(ticks[1].reason.is_some(), "{ticks:?}");
}

async fn a_queued_tick_starts_when_the_execution_before_it_is_over(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, SLOW).await;
    let input = ScheduleText { overlap: Some(Overlap::QueueOne), ..Default::default() };
    let schedule = add(&shop, "slow", input).await;
    for _ in 0..2 {
        shop.fixture.pass(HOUR);
        tend(&shop).await;
    }
    assert_eq!(outcomes(&ticks(&shop, &schedule).await), [TickOutcome::Started, TickOutcome::Queued]);
    shop.fixture.pass(HOUR / 2);
    tend(&shop).await;
    let ticks = ticks(&shop, &schedule).await;
    assert_eq!(outcomes(&ticks), [TickOutcome::Started; 2]);
    assert_ne!(ticks[0].execution, ticks[1].execution);
}

async fn missed_ticks_are_made_up_for_as_asked(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    shop.fixture.pass(3 * HOUR + HOUR / 2);
    tend(&shop).await;
    let ticks = ticks(&shop, &schedule).await;
    let expected = [TickOutcome::Missed, TickOutcome::Missed, TickOutcome::Started];
    assert_eq!(outcomes(&ticks), expected, "the latest within an hour");
}

async fn a_paused_schedule_skips(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    let pause = verbs::SchedulePause { schedule: schedule.id, input: ScheduleNote { note: "holidays".into() } };
    let paused = shop.fixture.done(&shop.fixture.ada, pause).await;
    assert_eq!((paused.paused, paused.note.as_deref(), paused.next.len()), (true, Some("holidays"), 0));
    shop.fixture.pass(2 * HOUR);
    tend(&shop).await;
    assert!(ticks(&shop, &schedule).await.is_empty(), "nobody looks at a paused schedule");
    let resumed = shop.fixture.done(&shop.fixture.ada, verbs::ScheduleResume { schedule: schedule.id }).await;
    assert!(!resumed.paused);
    assert_eq!(outcomes(&ticks(&shop, &schedule).await), [TickOutcome::Skipped; 2]);
    shop.fixture.pass(HOUR);
    tend(&shop).await;
    assert_eq!(ticks(&shop, &schedule).await.last().unwrap().outcome, TickOutcome::Started);
}

async fn a_person_runs_it_now_and_makes_up_for_the_past(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    let now = shop.fixture.done(&shop.fixture.ada, verbs::ScheduleRunNow { schedule: schedule.id }).await;
    assert_eq!((now.outcome, now.by_hand), (TickOutcome::Started, true));
    let until: Timestamp = shop.fixture.store.now();
    let input = ScheduleBackfill { from: until.plus_millis(-3 * HOUR), until };
    let backfill = || verbs::ScheduleBackfill { schedule: schedule.id, input: input.clone() };
    let made = shop.fixture.done(&shop.fixture.ada, backfill()).await;
    assert!(!made.is_empty());
    let refused = shop.fixture.refused(&shop.fixture.ada, backfill()).await;
    assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
}

async fn a_removed_schedule_leaves_its_executions(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    let schedule = add(&shop, "quick", ScheduleText::default()).await;
    let tick = shop.fixture.done(&shop.fixture.ada, verbs::ScheduleRunNow { schedule: schedule.id }).await;
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleRemove { schedule: schedule.id }).await;
    assert_eq!(shown(&shop, tick.execution.unwrap()).await.execution.schedule, None);
    let gone = shop.fixture.store.schedule(&shop.fixture.ada, schedule.id).await;
    assert!(matches!(gone, Err(StoreError::NotFound("schedule"))), "{gone:?}");
}

/// Berlin's clock changes, a leap day, jumps of an hour and of 400 days.
async fn three_hubs_write_each_tick_once_whatever_the_clock_does(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    save(&shop, QUICK).await;
    // Berlin leaves daylight-saving time on 25 October 2026 and enters it on 28 March 2027; 2028 has a leap day.
    for from in ["2026-10-24T00:30:00Z", "2027-03-27T00:30:00Z", "2028-02-27T00:30:00Z"] {
        let from: Timestamp = from.parse().unwrap();
        shop.fixture.pass(from.as_millis() - shop.fixture.store.now().as_millis());
        let schedules = every_trigger(&shop, from).await;
        let stores = hubs(&shop).await;
        for minutes in [30, 30, 1440, 60, -60, 30, 61, 0, 1440, -60, 60, 59] {
            shop.fixture.pass(minutes * 60_000);
            look(&stores).await;
        }
        // 400 days are more than anything makes up for.
        shop.fixture.pass(400 * crate::fixture::DAY);
        look(&stores).await;
        shop.fixture.pass(-400 * crate::fixture::DAY);
        look(&stores).await;
        for (schedule, name) in &schedules {
            once(&shop, schedule, name).await;
        }
        for (schedule, _) in schedules {
            shop.fixture.done(&shop.fixture.ada, verbs::ScheduleRemove { schedule: schedule.id }).await;
        }
    }
}

/// Schedules of every kind that follow a clock.
async fn every_trigger(shop: &Shop, from: Timestamp) -> Vec<(Schedule, &'static str)> {
    let cron = |cron: &str, zone: Option<&str>| Trigger::Cron { cron: cron.into(), time_zone: zone.map(str::to_owned) };
    let triggers = [
        ("hourly", cron("0 * * * *", None)),
        ("in the gap and the repeated hour", cron("30 2 * * *", Some("Europe/Berlin"))),
        ("leap day", cron("15 12 29 2 *", Some("Europe/Berlin"))),
        ("interval", Trigger::Every { seconds: 1_800 }),
        ("one-off", Trigger::At { at: from.plus_millis(3 * HOUR) }),
    ];
    let mut made = Vec::new();
    for (name, trigger) in triggers {
        let input = ScheduleText {
            name: Some(format!("{name} {from}").replace(':', "-")),
            recipe: "quick".into(),
            trigger,
            overlap: Some(Overlap::Allow),
            catch_up: Some(CatchUp::All { most: 20 }),
            ..Default::default()
        };
        let verb = verbs::ScheduleAdd { project: shop.project.id, input };
        made.push((shop.fixture.done(&shop.fixture.ada, verb).await, name));
    }
    made
}

/// The stores of three hubs; on SQLite one, which three callers share.
async fn hubs(shop: &Shop) -> Vec<std::sync::Arc<store::Store>> {
    let mut stores = vec![shop.fixture.store.clone()];
    while stores.len() < 3 {
        stores.push(match shop.fixture.place {
            crate::fixture::Place::Postgres(_) => shop.fixture.second_store().await,
            crate::fixture::Place::Sqlite(_) => shop.fixture.store.clone(),
        });
    }
    stores
}

/// Every hub looks and decides, at the same time and twice.
async fn look(stores: &[std::sync::Arc<store::Store>]) {
    for _ in 0..2 {
        let looks = stores.iter().map(|store| async move {
            for schedule in store.due_schedules(store.now()).await.unwrap().now {
                store.write(&Caller::hub("schedule"), None, TendSchedule { schedule }).await.unwrap();
            }
        });
        futures_util::future::join_all(looks).await;
    }
}

/// No planned time has two ticks, no tick has two executions, and what was due has started.
async fn once(shop: &Shop, schedule: &Schedule, name: &str) {
    let mut raw = shop.fixture.raw().await;
    let id = schedule.id;
    let mut number = async |what: &str| raw.number(&format!("SELECT {what} schedule = '{id}'")).await;
    let planned = number("COUNT(*) - COUNT(DISTINCT planned_at) FROM schedule_ticks WHERE").await;
    assert_eq!(planned, 0, "{name}: a planned time has two ticks");
    let executions = number("COUNT(*) FROM executions WHERE").await;
    let ticks = number("COUNT(DISTINCT execution) FROM schedule_ticks WHERE").await;
    let started = number("COUNT(*) FROM schedule_ticks WHERE outcome = 'started' AND").await;
    assert_eq!((ticks, started), (executions, executions), "{name}: each started tick has an execution of its own");
    let shown = self::ticks(shop, schedule).await;
    assert!(started > 0 || name == "leap day", "{name}: nothing has started: {shown:?}");
}
