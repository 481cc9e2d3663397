//! Compaction: old events are deleted; the horizon says how far back a client can resume.

use domain::{Seq, Visibility};
use store::{Caller, Compact, CreateLoginLink, Extent};

use crate::fixture::{DAY, Fixture};

both!(the_oldest_events_are_deleted, a_short_log_is_kept, expired_login_links_are_deleted);

async fn compact(fixture: &Fixture, keep: u64) -> u64 {
    fixture.done(&Caller::hub("upkeep"), Compact { keep }).await
}

async fn the_oldest_events_are_deleted(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for _ in 0..30 {
        fixture.say(&fixture.ada, project, "hi").await;
    }
    let Extent { horizon, newest } = fixture.store.extent().await.unwrap();
    assert_eq!(horizon, Seq(0));
    let horizon = newest.0 - 10;
    assert_eq!(compact(&fixture, 10).await, horizon);
    let expected = Extent { horizon: Seq(horizon), newest };
    assert_eq!(fixture.store.extent().await.unwrap(), expected);
    let left: Vec<u64> = fixture.store.events_after(Seq(0), 100).await.unwrap().iter().map(|e| e.seq.0).collect();
    assert_eq!(left, (horizon + 1..=newest.0).collect::<Vec<_>>());
    assert_eq!(compact(&fixture, 10).await, 0);
    assert_eq!(compact(&fixture, 20).await, 0, "the horizon never goes back");
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store.extent().await.unwrap(), expected);
    fixture.say(&fixture.ada, project, "on").await;
    assert_eq!(fixture.store.extent().await.unwrap().newest, Seq(newest.0 + 1));
}

async fn a_short_log_is_kept(fixture: Fixture) {
    let before = fixture.store.extent().await.unwrap();
    assert_eq!(compact(&fixture, 1_000_000).await, 0);
    assert_eq!(fixture.store.extent().await.unwrap(), before);
}

async fn expired_login_links_are_deleted(fixture: Fixture) {
    fixture.done(&fixture.ada, CreateLoginLink { user: None }).await;
    fixture.pass(2 * DAY);
    fixture.done(&fixture.ada, CreateLoginLink { user: None }).await;
    compact(&fixture, 1000).await;
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM login_links").await, 1);
}
