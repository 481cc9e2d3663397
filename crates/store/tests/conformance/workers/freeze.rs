//! Stop everything, and thaw.

use domain::{TaskStatus, WorkerStatus};
use protocol::{Change, Freeze, SessionSpawn, WorkSettings, WorkerStart, WorkerStop, verbs};
use store::{EventBody, StoreError};

use super::{Shop, plain};
use crate::execution::{in_project, runner, show, spawn};
use crate::fixture::Fixture;

both!(
    everything_stops_and_continues_after_a_thaw,
    already_stopped_workers_are_not_counted,
    a_freeze_covers_one_project_or_all,
    other_peoples_workers_continue,
    a_freeze_names_the_person_who_started_it
);

async fn everything_stops_and_continues_after_a_thaw(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let tasks = shop.add(vec![plain("A job"), plain("Other work"), plain("More of it")]).await;
    assert_eq!(shop.dispatch().await, 2);
    let mine = SessionSpawn { agent: "codex".into(), ..in_project(&shop.project, "look around") };
    let mine = shop.fixture.done(&shop.fixture.ada, spawn(mine, &[shop.runner])).await;
    let done = shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: Freeze { project: None } }).await;
    assert_eq!((done.frozen, done.workers, done.sessions), (true, 2, 3));
    assert!(show(&shop.fixture, &shop.fixture.ada, mine.id).await.stopping);
    for task in &tasks {
        assert_eq!(shop.task(*task).await.status, TaskStatus::Ready);
    }
    assert_eq!(shop.dispatch().await, 0);
    assert!(shop.fixture.store.work_settings(&shop.fixture.bo, shop.project.id).await.unwrap().frozen);
    let frozen = shop.worker(workers[0].id).await;
    assert_eq!(frozen.status, WorkerStatus::Paused);
    assert!(frozen.reason.unwrap().contains("thaw"));
    let again = shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: Freeze { project: None } }).await;
    assert_eq!((again.frozen, again.workers, again.sessions), (true, 2, 0), "they were asked to stop already");
    let thawed = shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: Freeze { project: None } }).await;
    assert_eq!((thawed.frozen, thawed.workers), (false, 2));
    let again = shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: Freeze { project: None } }).await;
    assert_eq!((again.frozen, again.workers), (false, 0), "there was nothing left to thaw");
    assert_eq!(shop.dispatch().await, 2);
    assert!(!shop.fixture.store.work_settings(&shop.fixture.bo, shop.project.id).await.unwrap().frozen);
}

async fn already_stopped_workers_are_not_counted(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(3).await;
    let stop = verbs::WorkerStop { worker: workers[0].id, input: WorkerStop { force: false } };
    shop.fixture.done(&shop.fixture.ada, stop).await;
    let everywhere = || Freeze { project: None };
    let frozen = shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: everywhere() }).await;
    assert_eq!((frozen.workers, frozen.sessions), (2, 0));
    let thawed = shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: everywhere() }).await;
    assert_eq!(thawed.workers, 2, "and it stays stopped");
    assert_eq!(shop.worker(workers[0].id).await.status, WorkerStatus::Stopped);
}

async fn a_freeze_covers_one_project_or_all(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    shop.add(vec![plain("A job")]).await;
    let here = Freeze { project: Some(shop.project.id) };
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: here.clone() }).await;
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: Freeze { project: None } }).await;
    let still = shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: here.clone() }).await;
    assert!(still.frozen, "everything is still stopped everywhere");
    assert_eq!(shop.dispatch().await, 0);
    shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: Freeze { project: None } }).await;
    assert_eq!(shop.dispatch().await, 1);
    let hidden = Freeze { project: Some(domain::ProjectId::generate()) };
    let error = shop.fixture.refused(&shop.fixture.ada, verbs::FloorFreeze { input: hidden }).await;
    assert!(matches!(error, StoreError::NotFound("project")), "{error}");
}

async fn other_peoples_workers_continue(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let mut command = shop.starting(input);
    command.connected = vec![theirs];
    let worker = shop.fixture.done(&shop.fixture.bo, command).await.remove(0);
    shop.start(1).await;
    shop.add(vec![plain("A job"), plain("Other work")]).await;
    let here = Freeze { project: Some(shop.project.id) };
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: here.clone() }).await;
    assert_eq!(shop.dispatch_with(&[shop.runner, theirs]).await, 1);
    assert!(shop.worker(worker.id).await.task.is_some());
}

fn names(settings: &WorkSettings) -> Vec<&str> {
    settings.frozen_by.iter().map(|person| person.name.as_str()).collect()
}

async fn a_freeze_names_the_person_who_started_it(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let cy = shop.fixture.join("Cy").await;
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let mut command = shop.starting(WorkerStart { agent: "codex".into(), ..Default::default() });
    command.connected = vec![theirs];
    let worker = shop.fixture.done(&shop.fixture.bo, command).await.remove(0);
    shop.start(1).await;
    let now = async || shop.fixture.store.work_settings(&shop.fixture.ada, shop.project.id).await.unwrap();
    let told = || {
        let heard = shop.fixture.heard();
        let last = heard.iter().rev().find_map(|event| match &event.body {
            EventBody::Change { change: Change::WorkSettings { settings, .. } } => Some(settings.clone()),
            _ => None,
        });
        last.expect("there is an event")
    };
    let everywhere = || Freeze { project: None };
    shop.fixture.done(&cy, verbs::FloorFreeze { input: everywhere() }).await;
    assert_eq!(names(&now().await), Vec::<&str>::new(), "a person without workers here stops nothing here");
    shop.fixture.done(&shop.fixture.bo, verbs::FloorFreeze { input: everywhere() }).await;
    assert_eq!((now().await.frozen, names(&now().await)), (false, vec!["Bo"]));
    assert_eq!(told(), now().await);
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: Freeze { project: Some(shop.project.id) } }).await;
    assert_eq!((now().await.frozen, names(&now().await)), (true, vec!["Ada", "Bo"]));
    shop.fixture.done(&shop.fixture.bo, verbs::WorkerRemove { worker: worker.id }).await;
    assert_eq!(names(&now().await), ["Ada"]);
    assert_eq!(told(), now().await);
    shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: everywhere() }).await;
    assert_eq!((now().await.frozen, now().await.frozen_by), (false, vec![]));
    assert_eq!(told(), now().await);
}
