//! Small simulated worlds, a thousand of them in `make test-long`: workers are stopped and revived, crash, lose their
//! network; messages come late, twice, in another order; time jumps. No task ever has two leases, a worker without a lease
//! cannot write, each task is accepted once, and every world ends.
//!
//! The store is the real one, on a SQLite file in memory. A failing seed is named and can be run alone.

mod model;
mod world;

use crate::fixture::{Fixture, Place};

/// Seeds of each part; the parts run at the same time.
const SEEDS: u64 = 125;
/// Seeds of each part that `make test` runs.
const SAMPLE: u64 = 40;

async fn walk(part: u64) {
    let fixture = Fixture::open(Place::memory()).await;
    let seeds = if testkit::long_lane() { SEEDS } else { SAMPLE };
    for seed in part * SEEDS..part * SEEDS + seeds {
        world::World::new(&fixture, seed).await.run().await;
    }
}

macro_rules! parts {
    ($($name:ident = $part:literal,)*) => {$(
        #[tokio::test]
        async fn $name() {
            walk($part).await;
        }
    )*};
}

parts! {
    seeds_from_0 = 0,
    seeds_from_125 = 1,
    seeds_from_250 = 2,
    seeds_from_375 = 3,
    seeds_from_500 = 4,
    seeds_from_625 = 5,
    seeds_from_750 = 6,
    seeds_from_875 = 7,
}
