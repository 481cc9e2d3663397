//! A journal whose disk fills up, or whose statements fail anywhere, recovers as soon as possible.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::SessionId;
use protocol::link::FactBody;
use sqlx::AssertSqlSafe;

use super::tests::{desired, state};
use super::*;

/// How many points of failure to try.
const POINTS: i64 = 200;

async fn open() -> (tempfile::TempDir, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).await.unwrap();
    (folder, journal)
}

async fn run(journal: &Journal, sql: String) -> i64 {
    let mut held = journal.connection.hold().await.unwrap();
    let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(held.connection().unwrap()).await.unwrap();
    row.try_get(0).unwrap()
}

/// A write that needs several pages and several statements.
fn much(session: SessionId) -> (Vec<Change>, Vec<FactBody>) {
    let mut wanted = desired(session);
    wanted.prompt = "word ".repeat(4_000);
    let memory = Memory { conversation: Some("c".repeat(9_000)), ..Memory::default() };
    let changes = vec![
        Change::Desired(Box::new(wanted), Step::Accepted),
        Change::Step(session, Step::Running),
        Change::Memory(session, Box::new(memory)),
    ];
    (changes, vec![state(session), state(session), state(session)])
}

/// Everything that was acknowledged is stored, and nothing else.
async fn agrees(journal: &Journal, written: &[SessionId]) {
    let rows = journal.sessions(false).await.unwrap();
    let mut there: Vec<_> = rows.iter().map(|row| row.session).collect();
    let mut written = written.to_vec();
    there.sort_unstable();
    written.sort_unstable();
    assert_eq!(there, written);
    let facts = journal.to_send(0, 10_000).await.unwrap();
    assert!(facts.iter().map(|fact| fact.number).eq(1..=3 * written.len() as u64), "numbered without gaps");
}

/// SQLite's own "the disk is full", at every page that a transaction adds.
#[tokio::test]
async fn a_full_disk_undoes_a_write_and_nothing_else() {
    let (_folder, journal) = open().await;
    let mut written = Vec::new();
    for pages in 0..POINTS {
        let session = SessionId::generate();
        let (changes, facts) = much(session);
        let there = run(&journal, "PRAGMA page_count".into()).await;
        run(&journal, format!("PRAGMA max_page_count = {}", there + pages % 12)).await;
        let done = journal.write_once(&changes, &facts).await;
        if pages % 12 == 0 {
            let error = done.as_ref().unwrap_err().to_string();
            assert!(error.contains("full"), "{error}");
            assert_eq!(journal.trouble().unwrap().why, "its disk is full");
        }
        if done.is_ok() {
            written.push(session);
        }
        // There is space again: the next write succeeds, whatever happened before.
        run(&journal, "PRAGMA max_page_count = 1000000".into()).await;
        let session = SessionId::generate();
        let (changes, facts) = much(session);
        journal.write_once(&changes, &facts).await.unwrap();
        written.push(session);
    }
    agrees(&journal, &written).await;
}

/// A transaction that SQLite ends by itself after the n-th step of its work, for n from 1 on.
#[tokio::test]
async fn a_write_that_fails_at_any_step_can_be_repeated() {
    let (_folder, journal) = open().await;
    let mut written = Vec::new();
    let left = Arc::new(AtomicI64::new(i64::MAX));
    for point in 1..=POINTS {
        let seen = left.clone();
        {
            let mut held = journal.connection.hold().await.unwrap();
            let mut handle = held.connection().unwrap().lock_handle().await.unwrap();
            handle.set_progress_handler(1, move || seen.fetch_sub(1, Ordering::SeqCst) > 0);
        }
        let session = SessionId::generate();
        let (changes, facts) = much(session);
        left.store(point * 7, Ordering::SeqCst);
        let done = journal.write_once(&changes, &facts).await;
        left.store(i64::MAX, Ordering::SeqCst);
        assert_eq!(done.is_err(), journal.trouble().is_some());
        journal.well_again().await;
        journal.write_once(&changes, &facts).await.unwrap();
        written.push(session);
        if done.is_ok() {
            // The same facts were written twice, so they are sent twice.
            return assert!(point > 1, "nothing failed");
        }
        agrees(&journal, &written).await;
    }
}

/// The caller disappears in the middle of a transaction.
#[tokio::test]
async fn an_abandoned_write_does_not_block_others() {
    let (_folder, journal) = open().await;
    for point in 1..=POINTS {
        let session = SessionId::generate();
        let (changes, facts) = much(session);
        let mut polls = 0;
        // Dropped at an arbitrary point.
        let mut write = Box::pin(journal.write_once(&changes, &facts));
        std::future::poll_fn(|context| {
            polls += 1;
            let over = write.as_mut().poll(context).is_ready() || polls > point % 25;
            if over { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        drop(write);
        let session = SessionId::generate();
        let (changes, facts) = much(session);
        journal.write_once(&changes, &facts).await.unwrap();
        assert!(journal.session(session).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn it_reports_trouble_until_it_can_write() {
    let (_folder, journal) = open().await;
    let journal = Arc::new(journal);
    let mut troubles = journal.troubles();
    let looks = journal.clone();
    let looking = tokio::spawn(async move { looks.look_after().await });
    let there = run(&journal, "PRAGMA page_count".into()).await;
    run(&journal, format!("PRAGMA max_page_count = {there}")).await;
    let session = SessionId::generate();
    let writer = journal.clone();
    let write = tokio::spawn(async move {
        let (changes, facts) = much(session);
        writer.write(&changes, &facts).await;
    });
    let trouble = troubles.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    assert_eq!(trouble.why, "its disk is full");
    run(&journal, "PRAGMA max_page_count = 1000000".into()).await;
    troubles.wait_for(Option::is_none).await.unwrap();
    write.await.unwrap();
    agrees(&journal, &[session]).await;
    looking.abort();
}

#[test]
fn a_journal_is_opened_on_a_full_disk() {
    testkit::disk::run_with_own_mounts("journal::full_tests::opened_on_a_full_disk");
}

#[tokio::test]
#[ignore = "run in a mount namespace by the test above"]
async fn opened_on_a_full_disk() {
    use testkit::disk::{Filler, mount_tiny};
    let folder = tempfile::tempdir().unwrap();
    mount_tiny(folder.path(), 4 << 20);
    let journal = Journal::open(folder.path()).await.unwrap();
    let one = SessionId::generate();
    let (changes, facts) = much(one);
    journal.write_once(&changes, &facts).await.unwrap();
    drop(journal);
    let mut filler = Filler::fill(folder.path());
    let journal = Arc::new(Journal::open(folder.path()).await.unwrap());
    filler.take_all();
    agrees(&journal, &[one]).await;
    let two = SessionId::generate();
    let (changes, facts) = much(two);
    let refused = journal.write_once(&changes, &facts).await.unwrap_err().to_string();
    assert!(refused.contains("full"), "{refused}");
    let looks = journal.clone();
    let looking = tokio::spawn(async move { looks.look_after().await });
    drop(filler);
    journal.troubles().wait_for(Option::is_none).await.unwrap();
    journal.write_once(&changes, &facts).await.unwrap();
    agrees(&journal, &[one, two]).await;
    looking.abort();
}
