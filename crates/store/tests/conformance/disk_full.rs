//! A full disk: writes are refused with the reason, reads still work, and the hub recovers when space is freed.

use domain::{Timestamp, Visibility};
use protocol::MessagePage;
use store::{Store, StoreError};
use testkit::disk::{Filler, mount_tiny, run_with_own_mounts};

use crate::fixture::{Fixture, Place, send};
use testkit::Raw;

#[test]
fn a_full_disk_refuses_work_and_recovers_when_space_is_freed() {
    run_with_own_mounts("disk_full::on_a_tiny_disk");
}

#[test]
fn room_for_any_number_of_pages_breaks_nothing() {
    run_with_own_mounts("disk_full::with_room_for_some_pages");
}

#[test]
fn a_hub_starts_on_a_full_disk_and_shows_what_it_has() {
    run_with_own_mounts("disk_full::opened_on_a_full_disk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run in a mount namespace by the test above"]
async fn on_a_tiny_disk() {
    let (directory, disk) = tiny(2 << 20);
    let fixture = Fixture::open(Place::Sqlite(directory)).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let mut acknowledged = 0;
    for round in 0..3 {
        let filler = Filler::fill(&disk);
        // The space that the log file already has is still usable.
        let refusal = loop {
            match fixture.store.write(&fixture.ada, None, send(project, &"x".repeat(4000))).await {
                Ok(_) => acknowledged += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(refusal, StoreError::Storage(_)), "round {round}: {refusal:?}");
        assert!(refusal.to_string().contains("reads still work"), "{refusal}");
        assert!(fixture.store.trouble().is_some());
        // Concurrent writes are a group, which fails as a whole and then one by one.
        let (one, two) = tokio::join!(
            fixture.store.write(&fixture.ada, None, send(project, &"y".repeat(9000))),
            fixture.store.write(&fixture.bo, None, send(project, &"y".repeat(9000))),
        );
        assert!(matches!((one, two), (Err(StoreError::Storage(_)), Err(StoreError::Storage(_)))));
        let page = fixture.store.messages(&fixture.bo, project, MessagePage::default()).await.unwrap();
        assert_eq!(page.len(), acknowledged.min(50));
        fixture.store.state(&fixture.bo).await.unwrap();
        drop(filler);
        fixture.say(&fixture.ada, project, "there is room").await;
        acknowledged += 1;
        assert_eq!(fixture.store.trouble(), None);
    }
    let mut raw = Raw::connect(&fixture.url).await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM messages").await as usize, acknowledged);
    assert_eq!(raw.column("PRAGMA integrity_check").await, ["ok"]);
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
    let newest = fixture.store.extent().await.unwrap().newest.0;
    assert_eq!(raw.number("SELECT COUNT(*) FROM events").await.cast_unsigned(), newest);
}

/// For each n, the n-th written page does not fit: the write is rolled back, and reads and the next write work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run in a mount namespace by a test above"]
async fn with_room_for_some_pages() {
    let (directory, disk) = tiny(48 << 20);
    let fixture = Fixture::open(Place::Sqlite(directory)).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let (mut acknowledged, mut refused) = (0, 0);
    for pages in 0..=200 {
        let mut filler = Filler::fill(&disk);
        filler.give_back(pages);
        let texts: Vec<String> = (0..4).map(|_| "x".repeat(9_000)).collect();
        let (one, two, three, four) = tokio::join!(
            fixture.store.write(&fixture.ada, None, send(project, &texts[0])),
            fixture.store.write(&fixture.bo, None, send(project, &texts[1])),
            fixture.store.write(&fixture.ada, None, send(project, &texts[2])),
            fixture.store.write(&fixture.bo, None, send(project, &texts[3])),
        );
        for done in [one, two, three, four] {
            match done {
                Ok(_) => acknowledged += 1,
                Err(StoreError::Storage(_)) => refused += 1,
                Err(other) => panic!("{pages} pages: {other:?}"),
            }
        }
        // Readers still work, including those of the whole state.
        fixture.store.state(&fixture.bo).await.unwrap();
        drop(filler);
        fixture.say(&fixture.ada, project, "there is room").await;
        acknowledged += 1;
        assert_eq!(fixture.store.trouble(), None, "{pages} pages");
    }
    assert!(refused > 0, "the disk was never full");
    let mut raw = Raw::connect(&fixture.url).await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM messages").await, acknowledged);
    assert_eq!(raw.column("PRAGMA integrity_check").await, ["ok"]);
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run in a mount namespace by a test above"]
async fn opened_on_a_full_disk() {
    let (directory, disk) = tiny(4 << 20);
    let fixture = Fixture::open(Place::Sqlite(directory)).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    fixture.say(&fixture.ada, project, "before").await;
    let Fixture { store, ada, bo, url, place: _place, .. } = fixture;
    store.close().await;
    drop(store);
    let filler = Filler::fill(&disk);
    let store = Store::open(&url, || Timestamp::from_millis(1_000_000), |_| {}).await.unwrap();
    let messages = async || store.messages(&bo, project, MessagePage::default()).await.unwrap().len();
    assert_eq!(messages().await, 1);
    store.state(&bo).await.unwrap();
    assert_eq!(store.outage().await, None);
    let refused = store.write(&ada, None, send(project, &"x".repeat(9_000))).await.unwrap_err();
    assert!(matches!(refused, StoreError::Storage(_)), "{refused:?}");
    drop(filler);
    store.write(&ada, None, send(project, "after")).await.unwrap();
    assert_eq!((messages().await, store.trouble()), (2, None));
    store.close().await;
}

/// A folder on its own disk of this many bytes.
fn tiny(bytes: u64) -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let disk = directory.path().to_owned();
    mount_tiny(&disk, bytes);
    (directory, disk)
}
