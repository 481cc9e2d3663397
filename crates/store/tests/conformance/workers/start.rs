//! Starting, changing, restarting and removing workers.

use domain::{Visibility, WorkerStatus};
use protocol::{Change, WorkerFilter, WorkerStart, WorkerUpdate, verbs};
use store::StoreError;

use super::Shop;
use crate::execution::runner;
use crate::fixture::Fixture;

both!(
    names_and_colours_are_unique_and_stable,
    unusable_workers_are_refused,
    only_the_owner_changes_a_worker,
    people_who_see_a_project_see_its_workers,
);

fn named(agent: &str, count: u32) -> WorkerStart {
    WorkerStart { agent: agent.into(), count: Some(count), ..Default::default() }
}

async fn names_and_colours_are_unique_and_stable(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let made = shop.start(3).await;
    let names: Vec<&str> = made.iter().map(|worker| worker.name.as_str()).collect();
    assert_eq!(names, ["codex 1", "codex 2", "codex 3"]);
    assert_eq!(made.iter().map(|worker| worker.colour).collect::<Vec<_>>(), [0, 1, 2]);
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerRemove { worker: made[1].id }).await;
    let role = WorkerStart { role: Some("tester".into()), ..named("codex", 1) };
    let tester = shop.start_as(&shop.fixture.ada, role).await.remove(0);
    assert_eq!((tester.name.as_str(), tester.colour), ("tester 1", 1), "a free colour is reused");
    let more = shop.start(1).await.remove(0);
    assert_eq!((more.name.as_str(), more.colour), ("codex 2", 3));
    assert_eq!(shop.worker(made[2].id).await.colour, 2, "no colour changes");
    let gone = shop.fixture.store.worker(&shop.fixture.ada, made[1].id).await;
    assert!(matches!(gone, Err(StoreError::NotFound("worker"))));
}

async fn unusable_workers_are_refused(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let refused = async |input: WorkerStart| shop.fixture.refused(&shop.fixture.ada, shop.starting(input)).await;
    for input in [
        named("codex", 0),
        named("codex", 33),
        named("../x", 1),
        named("command", 1),
        named("shell", 1),
        WorkerStart { model: Some("-x".into()), ..named("codex", 1) },
        WorkerStart { abilities: vec![String::new()], ..named("codex", 1) },
        WorkerStart { budget_micros: Some(u64::MAX), ..named("codex", 1) },
        WorkerStart { budget_micros: Some(0), ..named("codex", 1) },
    ] {
        let error = refused(input.clone()).await;
        assert!(matches!(error, StoreError::Invalid { .. }), "{input:?}: {error}");
    }
    for (agent, said) in [
        ("gemini", "`box` has no `gemini` installed"),
        ("nonesuch", "unknown agent `nonesuch`; known: codex, command, shell"),
    ] {
        let error = refused(named(agent, 1)).await;
        assert!(matches!(&error, StoreError::Conflict(why) if why.contains(said)), "{error}");
    }
    shop.start(30).await;
    let error = refused(named("codex", 3)).await;
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("32")), "{error}");
    let theirs = shop.fixture.refused(&shop.fixture.bo, shop.starting(named("codex", 1))).await;
    assert!(matches!(&theirs, StoreError::Conflict(why) if why.contains("no runner")), "{theirs}");
}

async fn only_the_owner_changes_a_worker(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let input = WorkerUpdate {
        name: Some("Rita".into()),
        abilities: Some(vec!["css".into()]),
        budget_micros: Some(7),
        ..Default::default()
    };
    let update = verbs::WorkerUpdate { worker: worker.id, input: input.clone() };
    let error = shop.fixture.refused(&shop.fixture.bo, update).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = shop.fixture.refused(&shop.fixture.bo, verbs::WorkerRestart { worker: worker.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let after = shop.fixture.done(&shop.fixture.ada, verbs::WorkerUpdate { worker: worker.id, input }).await;
    assert_eq!((after.name.as_str(), after.budget_micros), ("Rita", Some(7)));
    assert_eq!(after.abilities, ["css"]);
    let other = shop.start(1).await.remove(0);
    let taken = WorkerUpdate { name: Some("Rita".into()), ..Default::default() };
    let error = shop.fixture.refused(&shop.fixture.ada, verbs::WorkerUpdate { worker: other.id, input: taken }).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    let restarted = shop.fixture.done(&shop.fixture.ada, verbs::WorkerRestart { worker: worker.id }).await;
    assert_eq!((restarted.status, restarted.failures), (WorkerStatus::Idle, 0));
    assert!(shop.decided("restarted").await);
}

async fn people_who_see_a_project_see_its_workers(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let filter = WorkerFilter { project: Some(shop.project.id) };
    let seen = shop.fixture.store.workers(&shop.fixture.bo, filter).await.unwrap();
    assert_eq!(seen.len(), 1);
    let (_, state) = shop.fixture.store.state(&shop.fixture.bo).await.unwrap();
    assert!(state.contains(&Change::Workers { workers: vec![worker.clone()] }));
    let input = protocol::ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    let command = verbs::ProjectUpdate { project: shop.project.id, input };
    shop.fixture.done(&shop.fixture.ada, command).await;
    let hidden = shop.fixture.store.worker(&shop.fixture.bo, worker.id).await;
    assert!(matches!(hidden, Err(StoreError::NotFound("worker"))));
    assert!(shop.fixture.store.workers(&shop.fixture.bo, WorkerFilter::default()).await.unwrap().is_empty());
    let (_, state) = shop.fixture.store.state(&shop.fixture.bo).await.unwrap();
    assert!(!state.iter().any(|change| matches!(change, Change::Workers { .. })));
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    assert_ne!(theirs, shop.runner);
}
