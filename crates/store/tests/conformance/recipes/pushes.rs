//! Pushes by others, as runners see them.

use domain::{ExecutionStatus, TickOutcome};
use protocol::{ProjectUpdate, Repository, Schedule, ScheduleText, Tick, TickPage, Trigger, verbs};
use serde_json::json;
use store::{Caller, ForgetTips, SeeTips};

use super::{save, shown, started, status, step, tend};
use crate::fixture::Fixture;
use crate::workers::Shop;

both! {
    a_push_counts_once_for_each_branch_and_commit,
    nothing_is_watched_while_nobody_waits,
    a_wait_gets_the_push,
}

const QUICK: &str = "name: quick\nsteps:\n  - id: tell\n    notify: {to: chat, text: tick}\n";
const PLACE: &str = "https://example.org/repository.git";

fn hub() -> Caller {
    Caller::hub("pushes")
}

/// What a runner saw, as a hub handles it; `None`: nothing was new.
async fn seen(shop: &Shop, tips: &[(&str, &str)]) -> Option<u32> {
    let tips = tips.iter().map(|(branch, commit)| ((*branch).to_owned(), (*commit).to_owned())).collect();
    let base = Some("main".to_owned());
    let seen = SeeTips { project: shop.project.id, repository: PLACE.into(), tips, base };
    let news = shop.fixture.store.new_tips(seen).await.unwrap()?;
    let pushes = shop.fixture.done(&hub(), news).await;
    tend(shop).await;
    Some(pushes)
}

async fn with_repository(fixture: Fixture) -> Shop {
    let shop = Shop::open(fixture).await;
    let repository: Repository = serde_json::from_value(json!({ "location": PLACE })).unwrap();
    let input = ProjectUpdate { repositories: Some(vec![repository]), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ProjectUpdate { project: shop.project.id, input }).await;
    save(&shop, QUICK).await;
    shop
}

async fn on_push(shop: &Shop) -> Schedule {
    let trigger = Trigger::Event { event: "push".into(), matching: Some("event.branch != 'ignored'".into()) };
    let input = ScheduleText { recipe: "quick".into(), trigger, ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleAdd { project: shop.project.id, input }).await
}

async fn ticks(shop: &Shop, schedule: &Schedule) -> Vec<Tick> {
    let page = TickPage::default();
    shop.fixture.store.schedule_ticks(&shop.fixture.ada, schedule.id, page).await.unwrap()
}

async fn a_push_counts_once_for_each_branch_and_commit(fixture: Fixture) {
    let shop = with_repository(fixture).await;
    let schedule = on_push(&shop).await;
    assert_eq!(seen(&shop, &[("main", "a1"), ("old", "a2")]).await, Some(0), "what was there was not pushed now");
    assert_eq!(seen(&shop, &[("main", "a1"), ("old", "a2")]).await, None);
    assert_eq!(seen(&shop, &[("main", "b1"), ("old", "a2")]).await, Some(1));
    assert_eq!(seen(&shop, &[("main", "b1"), ("old", "a2")]).await, None, "another runner sees the same");
    assert_eq!(seen(&shop, &[("main", "a1"), ("old", "a2")]).await, None, "a runner that sees it late changes nothing");
    assert_eq!(seen(&shop, &[("main", "b1"), ("new", "b1"), ("ignored", "c1")]).await, Some(2));
    let ticks = ticks(&shop, &schedule).await;
    assert_eq!(ticks.iter().map(|tick| tick.outcome).collect::<Vec<_>>(), [TickOutcome::Started; 2]);
}

async fn nothing_is_watched_while_nobody_waits(fixture: Fixture) {
    let shop = with_repository(fixture).await;
    assert_eq!(shop.fixture.store.watched_repositories().await.unwrap(), (Vec::new(), false));
    let schedule = on_push(&shop).await;
    let (watched, others) = shop.fixture.store.watched_repositories().await.unwrap();
    assert_eq!((watched.len(), watched[0].repository.as_str(), others), (1, PLACE, false));
    assert_eq!(watched[0].owner, schedule.owner.id);
    seen(&shop, &[("main", "a1")]).await;
    shop.fixture.done(&shop.fixture.ada, verbs::ScheduleRemove { schedule: schedule.id }).await;
    assert_eq!(shop.fixture.store.watched_repositories().await.unwrap(), (Vec::new(), true));
    shop.fixture.done(&hub(), ForgetTips {}).await;
    assert_eq!(shop.fixture.store.watched_repositories().await.unwrap(), (Vec::new(), false));
    let schedule = on_push(&shop).await;
    assert_eq!(seen(&shop, &[("main", "b1")]).await, Some(0), "it was pushed while nobody waited");
    assert!(ticks(&shop, &schedule).await.is_empty());
}

async fn a_wait_gets_the_push(fixture: Fixture) {
    let shop = with_repository(fixture).await;
    let text = "name: patient\nsteps:\n  - id: wait\n    wait: {event: push, matching: \"event.base\"}\n";
    let id = started(&shop, text, json!({})).await.id;
    seen(&shop, &[("main", "a1")]).await;
    seen(&shop, &[("main", "a1"), ("other", "b1")]).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Waiting);
    seen(&shop, &[("main", "b2")]).await;
    assert_eq!(status(&shop, id).await, ExecutionStatus::Completed);
    let output = step(&shop, id, "wait").await.output.unwrap();
    assert_eq!((&output["branch"], &output["commit"], &output["by"]), (&json!("main"), &json!("b2"), &json!(null)));
    assert!(shown(&shop, id).await.execution.ended_at.is_some());
}
