//! What the store promises, checked on SQLite and on PostgreSQL: many small cases, one file per subject.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

/// Makes two tests of each case, one for each database.
macro_rules! both {
    ($($case:ident),* $(,)?) => {$(
        mod $case {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$case($crate::floor::Floor::open($crate::floor::Place::sqlite()).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$case($crate::floor::Floor::open($crate::floor::Place::postgres().await).await).await;
            }
        }
    )*};
}

mod floor;
mod projects;
mod raw;
