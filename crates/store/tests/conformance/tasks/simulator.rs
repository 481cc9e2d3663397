//! A thousand small worlds: workers are stopped and revived, crash, lose their network; messages come late, twice, in
//! another order; time jumps. Whatever happens: no task has two live holds, a zombie writes nothing, each task is accepted
//! once, and all end.
//!
//! The store is the real one, on a SQLite file in memory. A seed that fails is named and can be run alone.

mod model;
mod world;

use crate::floor::{Floor, Place};

/// How many worlds one test walks through; the tests share the seeds.
const WORLDS: u64 = 125;

async fn walk(part: u64) {
    let floor = Floor::open(Place::memory()).await;
    for seed in part * WORLDS..(part + 1) * WORLDS {
        world::World::new(&floor, seed).await.run().await;
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
    seeds_0_to_124 = 0,
    seeds_125_to_249 = 1,
    seeds_250_to_374 = 2,
    seeds_375_to_499 = 3,
    seeds_500_to_624 = 4,
    seeds_625_to_749 = 5,
    seeds_750_to_874 = 6,
    seeds_875_to_999 = 7,
}
