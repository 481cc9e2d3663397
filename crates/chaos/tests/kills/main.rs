//! The real hub is killed at random moments under load: nothing acknowledged is lost, nothing acts twice, and watchers
//! miss nothing.
//!
//! `SHOPFLOOR_CHAOS_KILLS` says how often (10), `SHOPFLOOR_CHAOS_SEED` repeats a run's moments and verbs.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod auditor;
mod book;
mod lane;
mod people;
#[path = "../support/mod.rs"]
mod support;
mod watcher;
mod writer;

use testkit::Postgres;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("shopfloor.db").display());
    lane::run("sqlite", folder.path(), &database).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Postgres::shared().database().await;
    lane::run("postgres", folder.path(), database.url()).await;
}
