//! Search: the time of one query at 100,000 entries of several kinds, half of them in projects that the caller may not see,
//! beside a scan of the messages with LIKE.

use std::time::{Duration, Instant};

use domain::{ActivityId, MessageId, ProjectId, Timestamp, UserId, Visibility};
use protocol::{Project, ProjectCreate, SearchQuery, verbs};
use store::{Caller, EnterHubOwner, Store};
use testkit::{Fsync, Postgres, Raw};

use crate::report::{Goal, Report, Row, section};

const ENTRIES: u32 = 100_000;

/// How many projects the caller has, and how many somebody else hides.
const PROJECTS: u32 = 50;

/// Of how many entries one is an activity; the others are messages.
const ACTIVITY: u32 = 10;

/// How often each query is asked.
const TIMES: usize = 15;

/// The queries: what they are, and a text that a scan looks for.
const QUERIES: [(&str, &str, &str); 6] = [
    ("a rare word", "w77777", "%w77777%"),
    ("a word in every message", "common", "%common%"),
    ("one letter", "w", "% w%"),
    ("two words", "common w777", "%common%w777%"),
    ("a word that is only in hidden projects", "hidden", "%hidden%"),
    ("a typo that nothing matches", "comomn", "%comomn%"),
];

const WORDS: [&str; 8] = ["parser", "deploy", "lexer", "worker", "branch", "review", "queue", "terminal"];

/// Measures both databases.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section("Search: milliseconds of one query, 100,000 entries");
    let folder = tempfile::tempdir()?;
    on(report, "SQLite", &format!("sqlite:{}", folder.path().join("search.db").display())).await?;
    let postgres = Postgres::start(Fsync::On);
    let database = postgres.database().await;
    on(report, "PostgreSQL", database.url()).await
}

async fn on(report: &mut Report, name: &str, url: &str) -> anyhow::Result<()> {
    let ada = fill(url).await?;
    let begun = Instant::now();
    let store = open(url).await?;
    let built = begun.elapsed().as_secs_f64();
    report.add(Row { what: format!("{name}: build the index"), ours: built, baseline: None, unit: "s", goal: None });
    let mut raw = Raw::connect(url).await;
    for (what, text, like) in QUERIES {
        let query = SearchQuery { text: text.into(), ..Default::default() };
        let (mut ours, mut scans) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            let begun = Instant::now();
            store.find(&ada, &query).await?;
            ours.push(begun.elapsed());
            let begun = Instant::now();
            raw.rows(&format!("SELECT id FROM messages WHERE content LIKE '{like}' ORDER BY created_at DESC LIMIT 20"))
                .await;
            scans.push(begun.elapsed());
        }
        let (ours, baseline) = (slow(ours), Some(slow(scans)));
        report.add(Row { what: format!("{name}: {what}"), ours, baseline, unit: "ms", goal: Some(Goal::AtMost(50.0)) });
    }
    store.close().await;
    Ok(())
}

/// The slowest but one, in milliseconds.
fn slow(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.iter().rev().nth(1).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

async fn open(url: &str) -> anyhow::Result<Store> {
    let now = || Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    Ok(Store::open(url, now, |_: &[std::sync::Arc<store::Event>]| {}).await?)
}

/// Writes the entries, and leaves the index to the next start.
async fn fill(url: &str) -> anyhow::Result<Caller> {
    let store = open(url).await?;
    let ada = store.write(&Caller::hub("bench"), None, EnterHubOwner { name: "Ada".into() }).await?.value;
    let ada = Caller::user(ada.id, true, "Ada", "bench");
    let author = ada.person()?.id;
    let mut raw = Raw::connect(url).await;
    let bo = UserId::generate();
    raw.run(&format!(
        "INSERT INTO users (id, name, name_key, hub_owner, disabled, created_at) VALUES ('{bo}', 'Bo', 'bo', 0, 0, 1)"
    ))
    .await;
    let bo = Caller::user(bo, false, "Bo", "bench");
    let (mut seen, mut hidden) = (Vec::new(), Vec::new());
    for number in 0..PROJECTS {
        seen.push(project(&store, &ada, number).await?);
        hidden.push(project(&store, &bo, number).await?);
    }
    store.close().await;
    let mut done = 0;
    while done < ENTRIES {
        let (mut messages, mut activities) = (Vec::new(), Vec::new());
        for number in done + 1..=done + 500 {
            let (of, place) = (number % 2, (number / 2 % PROJECTS) as usize);
            let (project, text) =
                if of == 0 { (seen[place], text(number)) } else { (hidden[place], format!("{} hidden", text(number))) };
            if number / 2 % ACTIVITY == 0 {
                let id = ActivityId::generate();
                activities.push(format!(
                    "('{id}', '{project}', '{author}', 'active', '{text}', 1, '[]', {number}, {number})"
                ));
            } else {
                let id = MessageId::generate();
                messages.push(format!(
                    "('{id}', '{project}', {number}, '{author}', 'user', '{text}', '[]', '[]', {number})"
                ));
            }
        }
        let head =
            "INSERT INTO messages (id, project, number, author, author_kind, content, refs, mentions, created_at)";
        raw.run(&format!("{head} VALUES {}", messages.join(", "))).await;
        let head =
            "INSERT INTO activities (id, project, owner, status, content, version, links, created_at, updated_at)";
        raw.run(&format!("{head} VALUES {}", activities.join(", "))).await;
        done += 500;
    }
    raw.run("UPDATE search_index SET version = 0").await;
    raw.close().await;
    Ok(ada)
}

async fn project(store: &Store, owner: &Caller, number: u32) -> anyhow::Result<ProjectId> {
    let (content, visibility) = (format!("Bench {number}"), Some(Visibility::Private));
    let input = ProjectCreate { content, visibility, ..ProjectCreate::default() };
    let made: Project = store.write(owner, None, verbs::ProjectCreate { input }).await?.value;
    Ok(made.id)
}

fn text(number: u32) -> String {
    let word = |at: u32| WORDS[(number.wrapping_mul(2_654_435_761) >> (at * 3)) as usize % WORDS.len()];
    let (a, b, c) = (word(1), word(2), word(3));
    format!("{a} {b} of the {c}, a common message with w{number} and some more words in it")
}
