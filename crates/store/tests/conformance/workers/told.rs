//! Events about workers: one event for all workers of a project that changed together.

use domain::{ProjectId, Visibility, WorkerId, WorkerStatus};
use protocol::{Change, Freeze, Worker, WorkerStart, verbs};
use store::{EventBody, Placed};

use super::{Shop, plain};
use crate::execution::project;
use crate::fixture::Fixture;

both!(one_event_announces_all_workers_of_a_project, a_sync_has_the_visible_workers_of_each_project);

/// The published events about workers: the project and the workers of each.
fn told(shop: &Shop) -> Vec<(Option<ProjectId>, Vec<Worker>)> {
    let heard = shop.fixture.heard();
    let told = heard.iter().filter_map(|event| match &event.body {
        EventBody::Change { change: Change::Workers { workers } } => Some((event.project, workers.clone())),
        _ => None,
    });
    told.collect()
}

async fn start_in(shop: &Shop, project: ProjectId, count: u32) -> Vec<WorkerId> {
    let input = WorkerStart { agent: "codex".into(), count: Some(count), ..Default::default() };
    let command = Placed { verb: verbs::WorkerStart { project, input }, connected: vec![shop.runner] };
    shop.fixture.done(&shop.fixture.ada, command).await.iter().map(|worker| worker.id).collect()
}

async fn one_event_announces_all_workers_of_a_project(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let hidden = project(&shop.fixture, Visibility::Private, false).await.id;
    let here = start_in(&shop, shop.project.id, 3).await;
    let there = start_in(&shop, hidden, 2).await;
    let ids = |workers: &[Worker]| workers.iter().map(|worker| worker.id).collect::<Vec<_>>();
    let started: Vec<_> = told(&shop).iter().map(|(project, workers)| (*project, workers.len())).collect();
    assert_eq!(started, [(Some(shop.project.id), 3), (Some(hidden), 2)]);
    shop.add(vec![plain("A job"), plain("Other work")]).await;
    assert_eq!(shop.dispatch().await, 2);

    shop.fixture.heard().clear();
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: Freeze { project: None } }).await;
    let told = told(&shop);
    assert_eq!(told.len(), 2, "an event for each project: {told:?}");
    for (project, mut expected) in [(shop.project.id, here), (hidden, there)] {
        let (_, workers) = told.iter().find(|(of, _)| *of == Some(project)).expect("there is an event");
        let mut found = ids(workers);
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "each worker of this project once");
        let last = |worker: &Worker| worker.status == WorkerStatus::Paused && worker.task.is_none();
        assert!(workers.iter().all(last), "in their final state: {workers:?}");
    }
}

async fn a_sync_has_the_visible_workers_of_each_project(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let hidden = project(&shop.fixture, Visibility::Private, false).await.id;
    let here = start_in(&shop, shop.project.id, 2).await;
    let there = start_in(&shop, hidden, 3).await;
    let gone = start_in(&shop, shop.project.id, 1).await.remove(0);
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerRemove { worker: gone }).await;
    let synced = async |caller| {
        let (_, state) = shop.fixture.store.state(caller).await.unwrap();
        let workers = state.into_iter().filter_map(|change| match change {
            Change::Workers { workers } => Some(workers.iter().map(|worker| worker.id).collect::<Vec<_>>()),
            _ => None,
        });
        let mut workers: Vec<_> = workers.collect();
        workers.sort_by_key(Vec::len);
        workers
    };
    assert_eq!(synced(&shop.fixture.ada).await, [here.clone(), there.clone()]);
    assert_eq!(synced(&shop.fixture.bo).await, [here], "no worker of an invisible project");
    let whole = shop.fixture.store.state_of(&shop.fixture.ada, hidden).await.unwrap();
    let of_workers: Vec<&Change> = whole.iter().filter(|one| matches!(one, Change::Workers { .. })).collect();
    assert!(matches!(of_workers[..], [Change::Workers { workers }] if workers.len() == there.len()));
    assert_eq!(shop.fixture.store.state_of(&shop.fixture.bo, hidden).await.unwrap(), []);
}
