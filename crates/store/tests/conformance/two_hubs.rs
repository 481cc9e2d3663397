//! Two stores on one PostgreSQL, like two hubs: one order of events, and every race has one winner.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Visibility;
use protocol::{MessagePage, ProjectUpdate, verbs};
use store::{Caller, CreateLoginLink, Secret, StoreError, UseLoginLink};

use crate::events::{crowd, follow};
use crate::fixture::{Fixture, Place, create_project, send};

async fn fixture() -> Fixture {
    Fixture::open(Place::postgres().await).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_never_sees_a_gap() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let stop = Arc::new(AtomicBool::new(false));
    let followers =
        [tokio::spawn(follow(fixture.store.clone(), stop.clone())), tokio::spawn(follow(other.clone(), stop.clone()))];
    tokio::join!(crowd(&fixture.store, &fixture.ada, project, 32, 10), crowd(&other, &fixture.bo, project, 32, 10),);
    stop.store(true, Ordering::SeqCst);
    let newest = fixture.store.extent().await.unwrap().newest.0;
    for follower in followers {
        assert_eq!(follower.await.unwrap().len() as u64, newest);
    }
    assert!(other.verify_audit().await.unwrap().is_ok());
    assert_eq!(fixture.raw().await.number("SELECT last_message FROM projects").await, 640);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_updates_of_the_same_version_wins() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for version in 1..=30 {
        let write = |text: &str| {
            let content = Some(format!("{text} {version}"));
            verbs::ProjectUpdate {
                project,
                input: ProjectUpdate { content, expected_version: Some(version), ..Default::default() },
            }
        };
        let results = tokio::join!(
            fixture.store.write(&fixture.ada, None, write("ada")),
            other.write(&fixture.bo, None, write("bo")),
        );
        let (won, lost) = match results {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            both => panic!("{both:?}"),
        };
        assert!(matches!(lost, StoreError::Conflict(_)), "{lost:?}");
        assert_eq!(won.value.version, version + 1);
        assert_eq!(other.project(&fixture.bo, project).await.unwrap(), won.value);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_projects_gets_a_name() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    for number in 0..30 {
        let create = || create_project(&format!("Parser {number}"), Visibility::Private);
        let results =
            tokio::join!(fixture.store.write(&fixture.ada, None, create()), other.write(&fixture.ada, None, create()),);
        assert!(
            matches!(&results, (Ok(_), Err(StoreError::Taken { .. })) | (Err(StoreError::Taken { .. }), Ok(_))),
            "{results:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_change_is_lost_between_two_hubs() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for round in 0..30 {
        let share = ProjectUpdate { share_execution: Some(round % 2 == 0), ..Default::default() };
        let retention = ProjectUpdate { retention_days: Some(Some(round + 1)), ..Default::default() };
        let (one, two) = tokio::join!(
            fixture.store.write(&fixture.ada, None, verbs::ProjectUpdate { project, input: share }),
            other.write(&fixture.ada, None, verbs::ProjectUpdate { project, input: retention }),
        );
        one.unwrap();
        two.unwrap();
        let after = fixture.store.project(&fixture.ada, project).await.unwrap();
        assert_eq!((after.share_execution, after.retention_days), (round % 2 == 0, Some(round + 1)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_link_works_once_on_two_hubs() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    for _ in 0..20 {
        let link = fixture.done(&fixture.bo, CreateLoginLink { user: None }).await.link;
        let enter = || UseLoginLink {
            hash: Secret::presented(&link).hash(),
            client: "Firefox".into(),
            address: "192.0.2.4".into(),
        };
        let hub = Caller::hub("192.0.2.4");
        let (one, two) = tokio::join!(fixture.store.write(&hub, None, enter()), other.write(&hub, None, enter()));
        assert_eq!(u8::from(one.is_ok()) + u8::from(two.is_ok()), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_acts_once_on_two_hubs() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for round in 0..30 {
        let key = || Some(format!("key {round}"));
        let (one, two) = tokio::join!(
            fixture.store.write(&fixture.ada, key(), send(project, "hi")),
            other.write(&fixture.ada, key(), send(project, "hi")),
        );
        assert_eq!(one.unwrap().value, two.unwrap().value);
    }
    let page = fixture.store.messages(&fixture.ada, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.len(), 30);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_receives_the_notifications_of_the_other() {
    let fixture = fixture().await;
    let other = fixture.second_store().await;
    let mut doorbell = other.doorbell().await.unwrap().expect("PostgreSQL has one");
    fixture.project(Visibility::ReadWrite).await;
    let newest = fixture.store.extent().await.unwrap().newest;
    fixture.store.ring(newest).await.unwrap();
    doorbell.heard().await.unwrap();
    assert_eq!(other.extent().await.unwrap().newest, newest);
    // A lost connection also rings the doorbell once, so that no event is missed.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' \
               AND datname = current_database()";
    fixture.raw().await.run(cut).await;
    doorbell.heard().await.unwrap();
    fixture.store.ring(newest).await.unwrap();
    doorbell.heard().await.unwrap();
    let alone = Fixture::open(Place::sqlite()).await;
    assert!(alone.store.doorbell().await.unwrap().is_none());
}
