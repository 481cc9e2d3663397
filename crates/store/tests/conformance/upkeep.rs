//! Compaction: old events go, the horizon says how far back a client can resume.

use domain::{Seq, Visibility};
use store::{Caller, Compact, CreateLoginLink, Extent};

use crate::floor::{DAY, Floor};

both!(the_oldest_events_go, a_short_log_stays, dead_login_links_go);

async fn compact(floor: &Floor, keep: u64) -> u64 {
    floor.done(&Caller::hub("upkeep"), Compact { keep }).await
}

async fn the_oldest_events_go(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    for _ in 0..30 {
        floor.say(&floor.ada, project, "hi").await;
    }
    let Extent { horizon, newest } = floor.store.extent().await.unwrap();
    assert_eq!(horizon, Seq(0));
    let horizon = newest.0 - 10;
    assert_eq!(compact(&floor, 10).await, horizon);
    let expected = Extent { horizon: Seq(horizon), newest };
    assert_eq!(floor.store.extent().await.unwrap(), expected);
    let left: Vec<u64> = floor.store.events_after(Seq(0), 100).await.unwrap().iter().map(|e| e.seq.0).collect();
    assert_eq!(left, (horizon + 1..=newest.0).collect::<Vec<_>>());
    assert_eq!(compact(&floor, 10).await, 0);
    assert_eq!(compact(&floor, 20).await, 0, "the horizon never goes back");
    let floor = floor.reopened().await;
    assert_eq!(floor.store.extent().await.unwrap(), expected);
    floor.say(&floor.ada, project, "on").await;
    assert_eq!(floor.store.extent().await.unwrap().newest, Seq(newest.0 + 1));
}

async fn a_short_log_stays(floor: Floor) {
    let before = floor.store.extent().await.unwrap();
    assert_eq!(compact(&floor, 1_000_000).await, 0);
    assert_eq!(floor.store.extent().await.unwrap(), before);
}

async fn dead_login_links_go(floor: Floor) {
    floor.done(&floor.ada, CreateLoginLink { user: None }).await;
    floor.pass(2 * DAY);
    floor.done(&floor.ada, CreateLoginLink { user: None }).await;
    compact(&floor, 1000).await;
    assert_eq!(floor.raw().await.number("SELECT COUNT(*) FROM login_links").await, 1);
}
