//! Opening: one hub per SQLite file, a known schema, and a clear error otherwise.

use domain::Timestamp;
use store::{OpenError, Store, StoreError};

use crate::fixture::{Fixture, Place};
use testkit::Raw;

both!(a_database_keeps_its_id, a_newer_schema_is_refused, a_closed_store_refuses_writes);

async fn open(url: &str) -> Result<Store, OpenError> {
    Store::open(url, || Timestamp::from_millis(0), |_| {}).await
}

fn refusal(opened: Result<Store, OpenError>) -> OpenError {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

async fn a_database_keeps_its_id(fixture: Fixture) {
    let hub = fixture.store.hub();
    assert_eq!(fixture.reopened().await.store.hub(), hub);
}

async fn a_newer_schema_is_refused(fixture: Fixture) {
    let mut raw = fixture.raw().await;
    let sql = match raw {
        Raw::Sqlite(_) => "INSERT INTO _sqlx_migrations VALUES (9999, 'later', 0, 1, x'00', 0)",
        Raw::Postgres(_) => "INSERT INTO _sqlx_migrations VALUES (9999, 'later', now(), true, '', 0)",
    };
    raw.run(sql).await;
    let url = fixture.url.clone();
    let (place, store) = (fixture.place, fixture.store);
    store.close().await;
    drop(store);
    let error = refusal(open(&url).await);
    assert!(matches!(error, OpenError::Newer(9999)), "{error}");
    assert!(error.to_string().contains("use the shopfloor that created it"), "{error}");
    drop(place);
}

async fn a_closed_store_refuses_writes(fixture: Fixture) {
    fixture.store.close().await;
    let error = fixture.refused(&fixture.ada, crate::fixture::create_project("x", domain::Visibility::Private)).await;
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn a_second_hub_on_the_same_file_is_refused() {
    let fixture = Fixture::open(Place::sqlite()).await;
    let error = refusal(open(&fixture.url).await);
    assert!(matches!(error, OpenError::Held(_)), "{error}");
    assert!(error.to_string().contains("hub.db: stop it (`shopfloor down`"), "{error}");
    let url = fixture.url.clone();
    let place = fixture.place;
    fixture.store.close().await;
    drop(fixture.store);
    open(&url).await.unwrap();
    drop(place);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hubs_may_open_an_empty_postgres_at_once() {
    let place = Place::postgres().await;
    let url = place.url();
    let (one, two) = tokio::join!(open(&url), open(&url));
    assert_eq!(one.unwrap().hub(), two.unwrap().hub());
}

#[tokio::test]
async fn an_invalid_url_is_refused_without_showing_its_password() {
    for url in ["", "mysql://ada:hunter2@db/x", "sqlite:", "sqlite::memory:", "hub.db"] {
        let error = refusal(open(url).await);
        assert!(matches!(error, OpenError::Url(_)), "{url}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn an_unreachable_database_is_reported_as_unreachable() {
    let error = refusal(open("postgres://ada:hunter2@127.0.0.1:1/x").await);
    assert!(matches!(error, OpenError::Store(StoreError::Unavailable(_))), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let error = refusal(open("sqlite:/nowhere/at/all/hub.db").await);
    assert!(matches!(error, OpenError::Lock(..)), "{error}");
}

/// Closing any handle of a file releases all locks of the process on it, including SQLite's. The next program that opens
/// the file then believes that it is alone, and removes the log of the running hub.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_second_hub_does_not_release_the_locks_of_the_first() {
    let fixture = Fixture::open(Place::sqlite()).await;
    fixture.project(domain::Visibility::ReadWrite).await;
    let file = std::fs::metadata(fixture.url.strip_prefix("sqlite:").unwrap()).unwrap();
    let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&file));
    let held = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().filter(|line| line.contains(&inode)).count()
    };
    assert_eq!(held(), 1, "SQLite holds the file");
    refusal(open(&fixture.url).await);
    assert_eq!(held(), 1, "SQLite still holds the file");
}
