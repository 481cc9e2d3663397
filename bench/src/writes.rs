//! Writes: durable changes per second through the store, beside raw sqlx that commits each change by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use domain::{MessageId, Timestamp, Visibility};
use protocol::{MessageText, Project, ProjectCreate, verbs};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use store::{Caller, EnterHubOwner, Store};
use testkit::{Fsync, Postgres};

use crate::report::{Goal, Report, Row, section};

const RUN: Duration = Duration::from_secs(4);

/// What one change writes, without anything that makes it ordered, checked or resumable.
const INSERTS: [&str; 3] = [
    "INSERT INTO messages (id, project, number, author, author_kind, content, refs, mentions, created_at) \
     VALUES ($1, 'prj', $2, 'usr', 'user', $3, '[]', '[]', 0)",
    "INSERT INTO events (seq, at, body) VALUES ($1, 0, $2)",
    "INSERT INTO audit (number, at, origin, verb, subject, detail, hash) VALUES ($1, 0, 'bench', 'chat.send', $2, $3, $2)",
];

const TABLES: &str = "CREATE TABLE messages (id TEXT PRIMARY KEY, project TEXT, number BIGINT, author TEXT, \
    author_kind TEXT, content TEXT, refs TEXT, mentions TEXT, created_at BIGINT, UNIQUE (project, number)); \
    CREATE TABLE events (seq BIGINT PRIMARY KEY, at BIGINT, body TEXT); \
    CREATE TABLE audit (number BIGINT PRIMARY KEY, at BIGINT, origin TEXT, verb TEXT, subject TEXT, detail TEXT, hash TEXT)";

/// Measures both databases with one and with 64 writers.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section("Writes: durable changes per second");
    let postgres = Postgres::start(Fsync::On);
    for writers in [1_usize, 64] {
        let folder = tempfile::tempdir()?;
        let raw = raw_sqlite(folder.path(), writers).await?;
        let ours = ours(&format!("sqlite:{}", folder.path().join("ours.db").display()), writers).await?;
        let goal = (writers == 64).then_some(Goal::RatioAtLeast(4.0));
        add(report, &format!("SQLite (synchronous=FULL), {writers} writers"), ours, raw, goal);

        let raw = raw_postgres(postgres.database().await.url(), writers).await?;
        let database = postgres.database().await;
        let ours = self::ours(database.url(), writers).await?;
        let goal = (writers == 64).then_some(Goal::RatioAtLeast(0.8));
        add(report, &format!("PostgreSQL (fsync on), {writers} writers"), ours, raw, goal);
    }
    Ok(())
}

fn add(report: &mut Report, what: &str, ours: f64, baseline: f64, goal: Option<Goal>) {
    report.add(Row { what: what.into(), ours, baseline: Some(baseline), unit: "changes/s", goal });
}

/// Runs `work` in `writers` tasks at once for a while; returns how often it was done per second.
async fn rate<F, W>(writers: usize, work: F) -> anyhow::Result<f64>
where
    F: Fn(usize) -> W + Send + Sync + 'static,
    W: Future<Output = anyhow::Result<()>> + Send,
{
    let (work, done, begun) = (Arc::new(work), Arc::new(AtomicUsize::new(0)), Instant::now());
    let tasks: Vec<_> = (0..writers)
        .map(|_| {
            let (work, done) = (work.clone(), done.clone());
            tokio::spawn(async move {
                while begun.elapsed() < RUN {
                    work(done.fetch_add(1, Ordering::Relaxed)).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(done.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64())
}

async fn ours(url: &str, writers: usize) -> anyhow::Result<f64> {
    let now = || Timestamp::from_millis(jiff::Timestamp::now().as_millisecond());
    let store = Arc::new(Store::open(url, now, |_| ()).await?);
    let owner = store.write(&Caller::hub("bench"), None, EnterHubOwner { name: "ann".into() }).await?.value;
    let caller = Caller::user(owner.id, true, owner.name, "bench");
    let input =
        ProjectCreate { content: "Bench".into(), visibility: Some(Visibility::ReadWrite), ..ProjectCreate::default() };
    let project: Project = store.write(&caller, None, verbs::ProjectCreate { input }).await?.value;
    let kept = store.clone();
    let speed = rate(writers, move |number| {
        let (store, caller) = (store.clone(), caller.clone());
        async move {
            let command = verbs::ChatSend { project: project.id, input: MessageText { content: content(number) } };
            store.write(&caller, Some(format!("bench-{number}")), command).await?;
            Ok(())
        }
    })
    .await?;
    kept.close().await;
    Ok(speed)
}

fn content(number: usize) -> String {
    format!("change {number}: the parser now keeps comments, see the branch")
}

/// The body of an event as long as ours.
fn body(number: usize) -> String {
    format!("{{\"change\":{number},\"text\":\"{}\"}}", "x".repeat(520))
}

macro_rules! change {
    ($pool:expr, $number:expr) => {{
        let number = i64::try_from($number)?;
        let id = MessageId::generate().to_string();
        let mut tx = $pool.begin().await?;
        sqlx::query(INSERTS[0]).bind(&id).bind(number).bind(content($number)).execute(&mut *tx).await?;
        sqlx::query(INSERTS[1]).bind(number).bind(body($number)).execute(&mut *tx).await?;
        sqlx::query(INSERTS[2]).bind(number).bind(&id).bind(content($number)).execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(())
    }};
}

async fn raw_sqlite(folder: &std::path::Path, writers: usize) -> anyhow::Result<f64> {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("raw.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    // One connection: SQLite has one writer, and waiting in the pool is cheaper than waiting for its lock.
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    sqlx::raw_sql(TABLES).execute(&pool).await?;
    rate(writers, move |number| {
        let pool = pool.clone();
        async move { change!(pool, number) }
    })
    .await
}

async fn raw_postgres(url: &str, writers: usize) -> anyhow::Result<f64> {
    let connections = u32::try_from(writers)?;
    let pool = PgPoolOptions::new().max_connections(connections).connect(url).await?;
    sqlx::raw_sql(TABLES).execute(&pool).await?;
    let kept = pool.clone();
    let speed = rate(writers, move |number| {
        let pool = pool.clone();
        async move { change!(pool, number) }
    })
    .await?;
    kept.close().await;
    Ok(speed)
}
