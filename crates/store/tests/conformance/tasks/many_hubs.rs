//! Several hubs on one PostgreSQL claim at once: no task twice, none lost.

use std::collections::HashSet;
use std::sync::Arc;

use domain::{ProjectId, TaskId};
use protocol::{TakenTask, TaskTake, TaskTurn, TurnedIn, verbs};
use store::{Caller, Reported, Store};

use super::{adds, named, report, shared, sound, takes, task};
use crate::fixture::{Fixture, Place};

/// Takes and reports tasks as one worker until none is left.
async fn work(store: Arc<Store>, caller: Caller, project: ProjectId, name: String) -> Vec<TaskId> {
    let mut done = Vec::new();
    while let Some(held) = store.write(&caller, None, takes(project, &name)).await.unwrap().value.taken {
        let reported = store.write(&caller, None, report(held.task.id, held.lease.fence, "done")).await.unwrap().value;
        assert!(matches!(reported, Reported::Taken(_)), "{reported:?}");
        done.push(held.task.id);
    }
    done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_hubs_claim_at_once_and_no_task_is_done_twice() {
    let fixture = Fixture::open(Place::postgres().await).await;
    let other = fixture.second_store().await;
    let project = shared(&fixture).await;
    let tasks = (0..120).map(|n| task(&format!("Number {n}"))).collect();
    fixture.done(&fixture.ada, adds(project, tasks)).await;
    let workers: Vec<_> = (0..8)
        .map(|n| {
            let store = if n % 2 == 0 { fixture.store.clone() } else { other.clone() };
            tokio::spawn(work(store, fixture.ada.clone(), project, format!("w{n}")))
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    assert_eq!((all.len(), all.iter().collect::<HashSet<_>>().len()), (120, 120));
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tasks WHERE status = 'done' AND attempt = 1").await, 120);
    assert_eq!(raw.number("SELECT COUNT(*) FROM reports WHERE verdict = 'accepted'").await, 120);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dependants_become_ready_once_on_several_hubs() {
    let fixture = Fixture::open(Place::postgres().await).await;
    let other = fixture.second_store().await;
    let project = shared(&fixture).await;
    let names: Vec<String> = (0..10).map(|n| format!("n{n}")).collect();
    let mut tasks: Vec<_> = names.iter().map(|name| named(name, &[])).collect();
    tasks.push(named("end", &names.iter().map(String::as_str).collect::<Vec<_>>()));
    fixture.done(&fixture.ada, adds(project, tasks)).await;
    let (one, two) = tokio::join!(
        work(fixture.store.clone(), fixture.ada.clone(), project, "one".into()),
        work(other, fixture.ada.clone(), project, "two".into()),
    );
    // A worker that finds no task exits; the last one to finish finds the task that it made ready.
    assert_eq!(one.len() + two.len(), 11);
}

/// A hub that was alone decides ahead of its in-flight transaction; then another hub writes in between, repeatedly.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn early_decisions_are_repeated_if_another_hub_wrote() {
    let fixture = Fixture::open(Place::postgres().await).await;
    let other = fixture.second_store().await;
    let project = shared(&fixture).await;
    fixture.done(&fixture.ada, adds(project, (0..1500).map(|n| task(&format!("Number {n}"))).collect())).await;
    let workers: Vec<_> = (0..40)
        .map(|n| {
            let (store, caller, worker) = (fixture.store.clone(), fixture.ada.clone(), format!("w{n}"));
            tokio::spawn(async move {
                let mut held: Vec<TakenTask> = Vec::new();
                let mut done = Vec::new();
                loop {
                    let reports = held.drain(..).map(|held| TurnedIn {
                        task: held.task.id,
                        report: report(held.task.id, held.lease.fence, "done").input,
                    });
                    let takes = vec![TaskTake { worker: Some(worker.clone()), ..TaskTake::default() }];
                    let input = TaskTurn { reports: reports.collect(), takes };
                    let turned = store.write(&caller, None, verbs::TaskTurn { project, input }).await.unwrap().value;
                    assert!(turned.reports.iter().all(|one| one.refused.is_none()), "{turned:?}");
                    done.extend(turned.reports.into_iter().filter_map(|one| one.report).map(|report| report.task));
                    held.extend(turned.taken.into_iter().filter_map(|taken| taken.taken));
                    if held.is_empty() {
                        return done;
                    }
                }
            })
        })
        .collect();
    let mut between = 0;
    while workers.iter().any(|worker| !worker.is_finished()) {
        let more = adds(project, vec![task(&format!("In between {between}"))]);
        other.write(&fixture.ada, None, more).await.unwrap();
        between += 1;
        // The first hub is alone for a while.
        let seen = fixture.raw().await.number("SELECT writes FROM ledger").await;
        while fixture.raw().await.number("SELECT writes FROM ledger").await < seen + 12
            && workers.iter().any(|worker| !worker.is_finished())
        {
            tokio::task::yield_now().await;
        }
    }
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    assert!(between > 1, "another hub wrote in between");
    assert_eq!(all.len(), all.iter().collect::<HashSet<_>>().len(), "no task was done twice");
    let mut raw = fixture.raw().await;
    let done = i64::try_from(all.len()).unwrap();
    assert_eq!(raw.number("SELECT COUNT(*) FROM reports WHERE verdict = 'accepted'").await, done);
    assert_eq!(raw.number("SELECT COUNT(*) FROM tasks WHERE status = 'done' AND attempt = 1").await, done);
    assert_eq!(raw.number("SELECT COUNT(*) FROM events").await, raw.number("SELECT seq FROM ledger").await);
    assert_eq!(raw.number("SELECT MAX(seq) FROM events").await, raw.number("SELECT seq FROM ledger").await);
    sound(&mut raw, project).await;
}
