//! The state at a position equals the events up to it, for every viewer, even with concurrent writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::Seq;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::Change;
use store::{Caller, Store};

use crate::fixture::{Fixture, Place};
use crate::model::Model;
use crate::script::{Known, Op, op, play};

/// Reads the state repeatedly until stopped.
async fn look(store: Arc<Store>, caller: Caller, stop: Arc<AtomicBool>) -> Vec<(Seq, Vec<Change>)> {
    let mut looks = Vec::new();
    loop {
        let last = stop.load(Ordering::SeqCst);
        looks.push(store.state(&caller).await.unwrap());
        if last {
            return looks;
        }
    }
}

async fn check(place: Place, scripts: Vec<Vec<Op>>) {
    let fixture = Fixture::open(place).await;
    let known = Arc::new(Known::default());
    let stop = Arc::new(AtomicBool::new(false));
    let lookers: Vec<_> = [&fixture.ada, &fixture.bo]
        .map(|who| (who.clone(), tokio::spawn(look(fixture.store.clone(), who.clone(), stop.clone()))))
        .into_iter()
        .collect();
    let people = [fixture.ada.clone(), fixture.bo.clone()];
    let players: Vec<_> = scripts
        .into_iter()
        .map(|script| tokio::spawn(play(fixture.store.clone(), people.clone(), known.clone(), script)))
        .collect();
    for player in players {
        player.await.unwrap();
    }
    stop.store(true, Ordering::SeqCst);
    for (who, looker) in lookers {
        let mut model = Model::default();
        for (seq, changes) in looker.await.unwrap() {
            model.read_on(&fixture.heard(), seq);
            assert_eq!(Model::of_state(&changes), model.seen_by(&who), "at {seq}");
        }
    }
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
}

fn run(cases: u32, place: impl AsyncFn() -> Place) {
    let config = Config { cases, max_shrink_iters: 30, failure_persistence: None, ..Config::default() };
    let scripts = prop::collection::vec(prop::collection::vec(op(), 5..25), 1..8);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    TestRunner::new(config)
        .run(&scripts, |scripts| {
            runtime.block_on(async { check(place().await, scripts).await });
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_state_equals_the_replayed_events_on_sqlite() {
    run(24, async || Place::sqlite());
}

#[test]
fn the_state_equals_the_replayed_events_on_postgres() {
    run(8, Place::postgres);
}
