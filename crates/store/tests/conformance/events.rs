//! Events are numbered without a gap, become visible in order, and are published in order.

use protocol::verbs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{ProjectId, Seq, Visibility};
use store::{Caller, Event, Store};

use crate::fixture::{Fixture, send};

both!(
    sixty_four_writers_leave_no_gap,
    stored_events_equal_the_published_ones,
    a_commit_contains_its_own_event,
    a_page_of_events_has_a_limit,
);

/// `writers` people at once, each with `each` messages.
pub(crate) async fn crowd(store: &Arc<Store>, who: &Caller, project: ProjectId, writers: usize, each: usize) {
    let mut tasks = Vec::new();
    for writer in 0..writers {
        let (store, who) = (store.clone(), who.clone());
        tasks.push(tokio::spawn(async move {
            for number in 0..each {
                store.write(&who, None, send(project, &format!("{writer}/{number}"))).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

/// Polls for events until stopped and none is left; panics at a gap.
pub(crate) async fn follow(store: Arc<Store>, stop: Arc<AtomicBool>) -> Vec<Event> {
    let mut seen: Vec<Event> = Vec::new();
    loop {
        let last = stop.load(Ordering::SeqCst);
        let since = Seq(seen.len() as u64);
        let page = store.events_after(since, 50).await.unwrap();
        for (expected, event) in (since.0 + 1..).zip(&page) {
            assert_eq!(event.seq, Seq(expected), "an event is missing, and may come later");
        }
        if page.is_empty() && last {
            return seen;
        }
        seen.extend(page);
    }
}

async fn sixty_four_writers_leave_no_gap(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let stop = Arc::new(AtomicBool::new(false));
    let follower = tokio::spawn(follow(fixture.store.clone(), stop.clone()));
    crowd(&fixture.store, &fixture.bo, project, 64, 8).await;
    stop.store(true, Ordering::SeqCst);
    let seen = follower.await.unwrap();
    let newest = fixture.store.extent().await.unwrap().newest;
    assert_eq!(seen.len() as u64, newest.0);
    let told: Vec<Event> = fixture.heard().iter().map(|event| Event::clone(event)).collect();
    assert_eq!(told, seen, "the listener and the table agree");
    let mut numbers: Vec<i64> = Vec::new();
    for row in fixture.raw().await.column("SELECT number FROM messages ORDER BY number").await {
        numbers.push(row.parse().unwrap());
    }
    assert_eq!(numbers, (1..=512).collect::<Vec<_>>());
}

async fn stored_events_equal_the_published_ones(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    fixture.say(&fixture.bo, project.id, "🦀 \"quoted\" \\").await;
    let input = protocol::ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    let told: Vec<Event> = fixture.heard().iter().map(|event| Event::clone(event)).collect();
    assert_eq!(fixture.store.events_after(Seq(0), 100).await.unwrap(), told);
}

async fn a_commit_contains_its_own_event(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let committed = fixture.store.write(&fixture.bo, Some("one".into()), send(project, "hi")).await.unwrap();
    let change = protocol::Change::Message { message: committed.value, key: Some("one".into()) };
    assert_eq!(committed.events[0].body, store::EventBody::Change { change });
    assert_eq!(committed.events[0].project, Some(project));
}

async fn a_page_of_events_has_a_limit(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for _ in 0..5 {
        fixture.say(&fixture.ada, project, "hi").await;
    }
    let page = fixture.store.events_after(Seq(2), 3).await.unwrap();
    assert_eq!(page.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(fixture.store.events_after(Seq(1000), 3).await.unwrap(), vec![]);
}
