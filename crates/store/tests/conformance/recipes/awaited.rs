//! Events that schedules and steps wait for.

use domain::{ActivityStatus, ExecutionId, ExecutionStatus, Seq, TaskId, TickOutcome};
use protocol::{ActivityCreate, ActivityUpdate, Schedule, ScheduleText, Tick, TickPage, Trigger, verbs};
use serde_json::json;
use store::{Caller, Store};

use super::people::answer;
use super::{save, shown, started, status, step, tend};
use crate::fixture::Fixture;
use crate::tasks;
use crate::workers::{Shop, plain};

both! {
    a_schedule_starts_once_although_two_stores_look,
    only_matching_events_count,
    a_step_gets_the_event_that_it_waited_for,
    an_event_before_the_wait_does_not_count,
    what_was_announced_before_does_not_happen_again,
    what_begins_again_counts_again,
    the_end_of_its_own_execution_starts_nothing,
    nothing_is_read_while_nothing_waits,
}

const QUICK: &str = "name: quick\nsteps:\n  - id: tell\n    notify: {to: chat, text: tick}\n";

fn hub() -> Caller {
    Caller::hub("events")
}

/// Hands on what happened, as a hub's conductor does.
async fn hand_on(shop: &Shop) {
    let mut seen = Seq(0);
    while let Some(found) = shop.fixture.store.awaited_events(seen).await.unwrap() {
        seen = found.upto();
        if found.is_needed() {
            assert!(shop.fixture.done(&hub(), found).await);
        }
    }
    tend(shop).await;
}

async fn on(shop: &Shop, event: &str, matching: Option<&str>) -> Schedule {
    save(shop, QUICK).await;
    let trigger = Trigger::Event { event: event.into(), matching: matching.map(str::to_owned) };
    let input = ScheduleText { recipe: "quick".into(), trigger, ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleAdd { project: shop.project.id, input }).await
}

async fn ticks(shop: &Shop, schedule: &Schedule) -> Vec<Tick> {
    let page = TickPage::default();
    shop.fixture.store.schedule_ticks(&shop.fixture.ada, schedule.id, page).await.unwrap()
}

/// Adds a task and finishes it.
async fn finished(shop: &Shop, description: &str) -> TaskId {
    let task = shop.add(vec![plain(description)]).await[0];
    let held = tasks::taken(&shop.fixture, shop.project.id, "somebody").await;
    assert_eq!(held.task.id, task);
    tasks::finish(&shop.fixture, &held).await;
    task
}

async fn wait_for(shop: &Shop, event: &str, matching: &str) -> ExecutionId {
    let text = format!(
        "name: patient\ninputs:\n  word: {{type: string, default: second}}\nsteps:\n  - id: wait\n    \
         wait: {{event: {event}, matching: \"{matching}\"}}\n"
    );
    started(shop, &text, json!({})).await.id
}

async fn a_schedule_starts_once_although_two_stores_look(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let schedule = on(&shop, "task_done", None).await;
    finished(&shop, "the work").await;
    let second = match shop.fixture.place {
        crate::fixture::Place::Postgres(_) => shop.fixture.second_store().await,
        crate::fixture::Place::Sqlite(_) => shop.fixture.store.clone(),
    };
    let look = async |store: &Store| store.awaited_events(Seq(0)).await.unwrap().expect("something happened");
    let (one, two) = (look(&shop.fixture.store).await, look(&second).await);
    let by = hub();
    let (one, two) = tokio::join!(shop.fixture.store.write(&by, None, one), second.write(&by, None, two));
    assert!(one.unwrap().value != two.unwrap().value, "one of them was faster");
    hand_on(&shop).await;
    let ticks = ticks(&shop, &schedule).await;
    assert_eq!(ticks.iter().map(|tick| tick.outcome).collect::<Vec<_>>(), [TickOutcome::Started]);
    assert_eq!(status(&shop, ticks[0].execution.unwrap()).await, ExecutionStatus::Completed);
}

async fn only_matching_events_count(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let schedule = on(&shop, "task_done", Some("event.title == 'right'")).await;
    let failing = on_named(&shop, "unclear", "event.nonsense.more").await;
    finished(&shop, "wrong").await;
    hand_on(&shop).await;
    assert!(ticks(&shop, &schedule).await.is_empty());
    finished(&shop, "right").await;
    hand_on(&shop).await;
    assert_eq!(ticks(&shop, &schedule).await.len(), 1);
    assert!(ticks(&shop, &failing).await.is_empty(), "an expression that fails counts as no");
}

async fn on_named(shop: &Shop, name: &str, matching: &str) -> Schedule {
    let trigger = Trigger::Event { event: "task_done".into(), matching: Some(matching.into()) };
    let input = ScheduleText { name: Some(name.into()), recipe: "quick".into(), trigger, ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleAdd { project: shop.project.id, input }).await
}

async fn a_step_gets_the_event_that_it_waited_for(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let id = wait_for(&shop, "task_done", "event.title == inputs.word").await;
    finished(&shop, "first").await;
    hand_on(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Waiting);
    let task = finished(&shop, "second").await;
    hand_on(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Completed);
    let output = step(&shop, id, "wait").await.output.expect("an output");
    assert_eq!((&output["kind"], &output["task"]), (&json!("task_done"), &json!(task)));
    assert_eq!(shown(&shop, id).await.attempts[0].state, "succeeded");
    let again = shop.fixture.store.execution_replay(&shop.fixture.ada, id).await.unwrap();
    assert_eq!(again.differences, Vec::<String>::new());
}

async fn an_event_before_the_wait_does_not_count(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    finished(&shop, "second").await;
    let id = wait_for(&shop, "task_done", "event.title == inputs.word").await;
    let schedule = on(&shop, "task_done", None).await;
    hand_on(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Waiting);
    assert!(ticks(&shop, &schedule).await.is_empty());
    finished(&shop, "second").await;
    hand_on(&shop).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Completed);
    assert_eq!(ticks(&shop, &schedule).await.len(), 1);
}

async fn what_was_announced_before_does_not_happen_again(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let activity = blocked(&shop).await;
    let schedule = on(&shop, "activity_blocked", None).await;
    let input = ActivityUpdate { content: Some("the same blocker, in other words".into()), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ActivityUpdate { activity, input }).await;
    hand_on(&shop).await;
    assert!(ticks(&shop, &schedule).await.is_empty());
}

async fn blocked(shop: &Shop) -> domain::ActivityId {
    let input = ActivityCreate { content: "work".into(), ..Default::default() };
    let made = shop.fixture.done(&shop.fixture.ada, verbs::ActivityCreate { project: shop.project.id, input }).await;
    turn(shop, made.id, ActivityStatus::Blocked).await;
    made.id
}

async fn turn(shop: &Shop, activity: domain::ActivityId, status: ActivityStatus) {
    let input = ActivityUpdate { status: Some(status), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ActivityUpdate { activity, input }).await;
}

async fn what_begins_again_counts_again(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let schedule = on(&shop, "activity_blocked", None).await;
    let activity = blocked(&shop).await;
    hand_on(&shop).await;
    turn(&shop, activity, ActivityStatus::Active).await;
    turn(&shop, activity, ActivityStatus::Blocked).await;
    hand_on(&shop).await;
    assert_eq!(ticks(&shop, &schedule).await.len(), 2);
}

async fn the_end_of_its_own_execution_starts_nothing(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let schedule = on(&shop, "execution_ended", None).await;
    let text = "name: ask\nsteps:\n  - id: ask\n    approve: {question: \"Go on?\"}\n";
    let id = started(&shop, text, json!({})).await.id;
    hand_on(&shop).await;
    assert!(ticks(&shop, &schedule).await.is_empty());
    shop.fixture.done(&shop.fixture.ada, answer(id, "ask", false)).await;
    for _ in 0..3 {
        hand_on(&shop).await;
    }
    assert_eq!(ticks(&shop, &schedule).await.len(), 1);
}

async fn nothing_is_read_while_nothing_waits(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    finished(&shop, "the work").await;
    assert!(shop.fixture.store.awaited_events(Seq(0)).await.unwrap().is_none());
}
