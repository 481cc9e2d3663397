//! Opening: one hub per SQLite file, a schema that is ours, a clear reason otherwise.

use domain::Timestamp;
use store::{OpenError, Store, StoreError};

use crate::floor::{Floor, Place};
use testkit::Raw;

both!(a_database_keeps_its_id, a_newer_schema_is_refused, what_was_closed_takes_no_more);

async fn open(url: &str) -> Result<Store, OpenError> {
    Store::open(url, || Timestamp::from_millis(0), |_| {}).await
}

fn refusal(opened: Result<Store, OpenError>) -> OpenError {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

async fn a_database_keeps_its_id(floor: Floor) {
    let hub = floor.store.hub();
    assert_eq!(floor.reopened().await.store.hub(), hub);
}

async fn a_newer_schema_is_refused(floor: Floor) {
    let mut raw = floor.raw().await;
    let sql = match raw {
        Raw::Sqlite(_) => "INSERT INTO _sqlx_migrations VALUES (9999, 'later', 0, 1, x'00', 0)",
        Raw::Postgres(_) => "INSERT INTO _sqlx_migrations VALUES (9999, 'later', now(), true, '', 0)",
    };
    raw.run(sql).await;
    let url = floor.url.clone();
    let (place, store) = (floor.place, floor.store);
    store.close().await;
    drop(store);
    let error = refusal(open(&url).await);
    assert!(matches!(error, OpenError::Newer(9999)), "{error}");
    assert!(error.to_string().contains("use the shopfloor that created it"), "{error}");
    drop(place);
}

async fn what_was_closed_takes_no_more(floor: Floor) {
    floor.store.close().await;
    let error = floor.refused(&floor.ada, crate::floor::create_project("x", domain::Visibility::Private)).await;
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn a_second_hub_on_the_same_file_is_refused() {
    let floor = Floor::open(Place::sqlite()).await;
    let error = refusal(open(&floor.url).await);
    assert!(matches!(error, OpenError::Held(_)), "{error}");
    assert!(error.to_string().contains("hub.db is in use by another hub"), "{error}");
    let url = floor.url.clone();
    let place = floor.place;
    floor.store.close().await;
    drop(floor.store);
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
async fn a_url_that_is_none_is_refused_without_its_password() {
    for url in ["", "mysql://ada:hunter2@db/x", "sqlite:", "sqlite::memory:", "hub.db"] {
        let error = refusal(open(url).await);
        assert!(matches!(error, OpenError::Url(_)), "{url}: {error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_named_as_such() {
    let error = refusal(open("postgres://ada:hunter2@127.0.0.1:1/x").await);
    assert!(matches!(error, OpenError::Store(StoreError::Unavailable(_))), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let error = refusal(open("sqlite:/nowhere/at/all/hub.db").await);
    assert!(matches!(error, OpenError::Lock(..)), "{error}");
}

/// Closing any handle of a file lets go of all locks that the process has on it, SQLite's too; then the next program
/// that looks at the file takes itself for the only one, and removes the log under the hub's feet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_second_hub_leaves_the_locks_of_the_first_alone() {
    let floor = Floor::open(Place::sqlite()).await;
    floor.project(domain::Visibility::ReadWrite).await;
    let file = std::fs::metadata(floor.url.strip_prefix("sqlite:").unwrap()).unwrap();
    let inode = format!(":{} ", std::os::unix::fs::MetadataExt::ino(&file));
    let held = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().filter(|line| line.contains(&inode)).count()
    };
    assert_eq!(held(), 1, "SQLite holds the file");
    refusal(open(&floor.url).await);
    assert_eq!(held(), 1, "SQLite still holds the file");
}
