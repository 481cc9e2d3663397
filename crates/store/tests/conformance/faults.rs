//! PostgreSQL disconnects, restarts, or refuses writes: no acknowledged write is lost, and the store recovers by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{ProjectId, Visibility};
use protocol::MessagePage;
use store::{Caller, Store, StoreError};
use testkit::{Fsync, Postgres, wait_until};

use crate::fixture::{Fixture, Place, send};
use crate::proxy::Proxy;

/// Sends messages, retrying each with its own key until it is acknowledged; returns the acknowledged ones.
async fn write_on(
    store: Arc<Store>,
    who: Caller,
    project: ProjectId,
    name: usize,
    stop: Arc<AtomicBool>,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let content = format!("{name}/{}", acknowledged.len());
        wait_until("a write is acknowledged", || async {
            match store.write(&who, Some(content.clone()), send(project, &content)).await {
                Ok(sent) => (sent.value.content == content).then_some(()),
                Err(StoreError::Unavailable(_)) => None,
                Err(other) => panic!("{other:?}"),
            }
        })
        .await;
        acknowledged.push(content);
    }
    acknowledged
}

/// Lets eight people write during `harm`, then checks that each of their messages is stored once.
async fn survives(fixture: &Fixture, harm: impl AsyncFnOnce()) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|name| tokio::spawn(write_on(fixture.store.clone(), fixture.bo.clone(), project, name, stop.clone())))
        .collect();
    harm().await;
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.unwrap());
    }
    let mut there = fixture.raw().await.column("SELECT content FROM messages").await;
    acknowledged.sort();
    there.sort();
    assert_eq!(there, acknowledged);
    let newest = fixture.store.extent().await.unwrap().newest.0;
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM events").await.cast_unsigned(), newest);
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
    assert_eq!(fixture.store.trouble(), None);
}

/// Waits until the chat has grown.
async fn progress(fixture: &Fixture) {
    let before = fixture.raw().await.number("SELECT MAX(seq) FROM events").await;
    wait_until("writers got on", || async {
        (fixture.raw().await.number("SELECT MAX(seq) FROM events").await > before + 20).then_some(())
    })
    .await;
}

const OTHERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                      WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_repeatedly_lose_nothing() {
    let fixture = Fixture::open(Place::postgres().await).await;
    survives(&fixture, async || {
        for _ in 0..50 {
            progress(&fixture).await;
            fixture.raw().await.run(OTHERS).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_crash_loses_nothing() {
    let server = Postgres::start(Fsync::On);
    let fixture = Fixture::open(Place::Postgres(server.database().await)).await;
    survives(&fixture, async || {
        for _ in 0..3 {
            progress(&fixture).await;
            let server = server.clone();
            tokio::task::spawn_blocking(move || server.restart_immediately()).await.unwrap();
        }
        progress(&fixture).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_turns_read_only_refuses_with_the_reason_and_recovers() {
    let fixture = Fixture::open(Place::postgres().await).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    fixture.say(&fixture.ada, project, "before").await;
    let Place::Postgres(database) = &fixture.place else { unreachable!("opened on PostgreSQL") };
    let read_only =
        |value: &str| format!("ALTER DATABASE {} SET default_transaction_read_only = {value}", database.name());
    database.administer(&read_only("on")).await;
    fixture.raw().await.run(OTHERS).await;
    wait_until("writes are refused for the right reason", || async {
        matches!(fixture.refused(&fixture.ada, send(project, "lost")).await, StoreError::Storage(_)).then_some(())
    })
    .await;
    assert!(fixture.store.trouble().unwrap().contains("read-only"), "{:?}", fixture.store.trouble());
    assert_eq!(fixture.store.messages(&fixture.bo, project, MessagePage::default()).await.unwrap().len(), 1);
    database.administer(&read_only("off")).await;
    wait_until("writes are taken again", || async {
        fixture.store.write(&fixture.ada, None, send(project, "after")).await.ok()
    })
    .await;
    assert_eq!(fixture.store.trouble(), None);
}

/// The server commits, but the hub gets no answer: only the caller, who has the key, may retry.
#[tokio::test]
async fn a_commit_whose_answer_is_lost_is_not_run_again() {
    let server = Postgres::start(Fsync::Off);
    let database = server.database().await;
    let proxy = Proxy::start(database.url()).await;
    let direct = database.url().to_owned();
    let fixture = Fixture::open_at(proxy.url(), Place::Postgres(database)).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let mut raw = testkit::Raw::connect(&direct).await;
    proxy.swallow_next_commit();
    let alone = fixture.refused(&fixture.ada, send(project, "one")).await;
    assert!(matches!(alone, StoreError::Unavailable(_)), "{alone:?}");
    assert_eq!(raw.number("SELECT COUNT(*) FROM messages").await, 1);
    proxy.swallow_next_commit();
    let (two, three, four) = tokio::join!(
        fixture.store.write(&fixture.ada, None, send(project, "two")),
        fixture.store.write(&fixture.ada, None, send(project, "three")),
        fixture.store.write(&fixture.ada, Some("key".into()), send(project, "four")),
    );
    for result in [two, three, four] {
        assert!(matches!(result, Err(StoreError::Unavailable(_))), "{result:?}");
    }
    assert_eq!(raw.number("SELECT COUNT(*) FROM messages").await, 4);
    let again = fixture.store.write(&fixture.ada, Some("key".into()), send(project, "four")).await.unwrap().value;
    assert_eq!(again.number, 4);
    assert_eq!(fixture.say(&fixture.ada, project, "on").await.number, 5);
}

/// A hub stops in the middle of a commit: the other one continues, and the first one gives up and recovers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_stops_does_not_stop_the_other() {
    let server = Postgres::start(Fsync::Off);
    let database = server.database().await;
    let proxy = Proxy::start(database.url()).await;
    let direct = database.url().to_owned();
    let fixture = Fixture::open_at(proxy.url(), Place::Postgres(database)).await;
    let other = Store::open(&direct, || domain::Timestamp::from_millis(0), |_| {}).await.unwrap();
    let project = fixture.project(Visibility::ReadWrite).await.id;
    proxy.freeze_next_commit();
    let (stopped, on) =
        tokio::join!(fixture.store.write(&fixture.ada, Some("key".into()), send(project, "held up")), async {
            let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE state = 'idle in transaction'";
            wait_until("the first hub is in the middle of it", || async {
                (testkit::Raw::connect(&direct).await.number(waits).await == 1).then_some(())
            })
            .await;
            other.write(&fixture.bo, None, send(project, "on")).await
        },);
    assert_eq!(on.unwrap().value.number, 1);
    assert!(matches!(stopped, Err(StoreError::Unavailable(_))), "{stopped:?}");
    let again = fixture.store.write(&fixture.ada, Some("key".into()), send(project, "held up")).await.unwrap();
    assert_eq!(again.value.number, 2);
}
