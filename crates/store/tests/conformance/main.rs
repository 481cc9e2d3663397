//! The store's guarantees, checked on SQLite and PostgreSQL: many small cases, one file per subject.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Makes two tests of each case, one for each database.
macro_rules! both {
    ($($case:ident),* $(,)?) => {$(
        mod $case {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$case($crate::fixture::Fixture::open($crate::fixture::Place::sqlite()).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$case($crate::fixture::Fixture::open($crate::fixture::Place::postgres().await).await).await;
            }
        }
    )*};
}

/// The same, with the store's writer in the test's own thread.
macro_rules! both_in_one_thread {
    ($($case:ident),* $(,)?) => {$(
        mod $case {
            #[tokio::test]
            async fn sqlite() {
                super::$case($crate::fixture::Fixture::open($crate::fixture::Place::sqlite()).await).await;
            }

            #[tokio::test]
            async fn postgres() {
                super::$case($crate::fixture::Fixture::open($crate::fixture::Place::postgres().await).await).await;
            }
        }
    )*};
}

mod access;
mod activities;
mod approvals;
mod artifacts;
mod audit;
mod chat;
mod credentials;
mod disk_full;
mod events;
mod execution;
mod faults;
mod fixture;
mod groups;
mod handoffs;
mod idempotency;
mod limits;
mod links;
mod merge;
mod model;
mod notify;
mod open;
mod overlaps;
mod people;
mod projects;
mod proxy;
mod recipes;
mod reservations;
mod script;
mod search;
mod search_terminals;
mod state;
mod tasks;
mod transfer;
mod two_hubs;
mod upkeep;
mod workers;
