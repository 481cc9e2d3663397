//! One database's lane: start, load, kill, check, and again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::HubProcess;

use crate::auditor::Auditor;
use crate::book::Book;
use crate::people::People;
use crate::support::{environment, free_port};
use crate::{watcher, writer};

const WRITERS: u64 = 8;
/// How often the trail's chain of hashes is verified from its beginning, in kills.
const THOROUGH: u32 = 10;

/// Kills a hub on `database` as often as the environment says.
pub(crate) async fn run(name: &str, folder: &Path, database: &str) {
    let kills: u32 = environment("SHOPFLOOR_CHAOS_KILLS").unwrap_or(10);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    eprintln!("{name}: {kills} kills, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let port = free_port(&mut random);

    let mut hub = HubProcess::spawn(folder, database, port);
    let url = hub.ready().await;
    let people = People::gather(&url, folder).await;
    let book = Arc::new(Book::default());
    let writing = Arc::new(AtomicBool::new(true));
    let watchers = people.watchers().await.map(watcher::start);
    for watcher in &watchers {
        watcher.began().await;
    }
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let (client, project) = people.writer(number);
            tokio::spawn(writer::run(number, seed, client, project, book.clone(), writing.clone()))
        })
        .collect();

    let mut auditor = Auditor::new(database);
    for kill in 1..=kills {
        let moment = Duration::from_micros(random.random_range(0..600_000));
        tokio::time::sleep(moment).await;
        hub.kill().await;
        if kill % THOROUGH == 0 {
            auditor.follow_the_chain().await;
        }
        hub = HubProcess::spawn(folder, database, port);
        if random.random_ratio(1, 8) {
            // Starting is a moment, too.
            tokio::time::sleep(Duration::from_micros(random.random_range(0..80_000))).await;
            hub.kill().await;
            hub = HubProcess::spawn(folder, database, port);
        }
        assert_eq!(hub.ready().await, url);
        auditor.look(&book).await;
        eprintln!("{name}: kill {kill} after {moment:?}, {}", book.summary());
    }

    writing.store(false, Ordering::SeqCst);
    for writer in writers {
        writer.await.unwrap();
    }
    auditor.look(&book).await;
    auditor.settle(&book).await;
    hub.kill().await;
    auditor.follow_the_chain().await;
    let events = auditor.events().await;
    let mut hub = HubProcess::spawn(folder, database, port);
    assert_eq!(hub.ready().await, url);
    for watcher in watchers {
        watcher.finish(&events).await;
    }
    hub.kill().await;
    eprintln!("{name}: done, {}, {} events", book.summary(), events.len());
}
