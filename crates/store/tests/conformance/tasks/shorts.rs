//! Short names of tasks, such as `PARS-12`: unique in a project, changed with its key, hidden with it.

use domain::Visibility;
use protocol::{ProjectUpdate, TaskAdd, TaskFilter, verbs};

use super::{add, add_one, adds, detail, invalid, shared, task};
use crate::fixture::{Fixture, create_project, send};

both! {
    numbers_count_up_in_each_project,
    numbers_and_messages_of_one_transaction_are_kept,
    a_task_is_found_by_its_short_name,
    a_short_name_is_a_dependency,
    a_new_key_renames_all_tasks,
    a_key_does_not_reveal_hidden_projects,
    only_the_owner_changes_the_key,
}

fn key(project: domain::ProjectId, key: &str) -> verbs::ProjectUpdate {
    verbs::ProjectUpdate { project, input: ProjectUpdate { key: Some(key.into()), ..ProjectUpdate::default() } }
}

fn short(name: &str) -> TaskFilter {
    TaskFilter { short: Some(name.into()), ..TaskFilter::default() }
}

async fn numbers_count_up_in_each_project(fixture: Fixture) {
    let (one, other) = (shared(&fixture).await, shared(&fixture).await);
    let names = async |project, count: usize| -> Vec<String> {
        let tasks = (0..count).map(|n| task(&format!("Number {n}"))).collect();
        add(&fixture, project, tasks).await.tasks.into_iter().map(|task| task.short).collect()
    };
    assert_eq!(names(one, 2).await, ["PARS-1", "PARS-2"]);
    assert_eq!(names(other, 1).await, ["PARS2-1"]);
    assert_eq!(names(one, 1).await, ["PARS-3"]);
    fixture.refused(&fixture.ada, adds(one, vec![task("fine"), task(" ")])).await;
    assert_eq!(names(one, 1).await, ["PARS-4"], "a refused list takes no numbers");
}

/// PostgreSQL updates a row once in a statement: both counters must be in it.
async fn numbers_and_messages_of_one_transaction_are_kept(fixture: Fixture) {
    let project = shared(&fixture).await;
    let both = async |n: usize| {
        let text = format!("message {n}");
        let (added, sent) = tokio::join!(
            fixture.store.write(&fixture.ada, None, adds(project, vec![task(&format!("Number {n}"))])),
            fixture.store.write(&fixture.bo, None, send(project, &text)),
        );
        added.unwrap();
        sent.unwrap();
    };
    tokio::join!(both(0), both(1), both(2), both(3), both(4), both(5));
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT last_task FROM projects").await, 6);
    assert_eq!(raw.number("SELECT last_message FROM projects").await, 6);
    assert_eq!(raw.number("SELECT COUNT(DISTINCT number) FROM tasks").await, 6);
}

async fn a_task_is_found_by_its_short_name(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![task("one"), task("two")]).await;
    let found = fixture.store.tasks(&fixture.bo, &short("pars-2")).await.unwrap();
    assert_eq!(found, added.tasks[1..]);
    assert_eq!(detail(&fixture, found[0].id).await.task.short, "PARS-2");
    assert!(fixture.store.tasks(&fixture.bo, &short("PARS-3")).await.unwrap().is_empty());
    let hidden = fixture.project(Visibility::Private).await;
    add(&fixture, hidden.id, vec![task("secret")]).await;
    let name = format!("{}-1", hidden.key);
    assert_eq!(fixture.store.tasks(&fixture.ada, &short(&name)).await.unwrap().len(), 1);
    assert!(fixture.store.tasks(&fixture.bo, &short(&name)).await.unwrap().is_empty());
    let error = fixture.store.tasks(&fixture.ada, &short("twelve")).await.unwrap_err();
    assert!(invalid(&error).contains("such as `CALC-12`"), "{error}");
}

async fn a_short_name_is_a_dependency(fixture: Fixture) {
    let project = shared(&fixture).await;
    let first = add_one(&fixture, project, task("first")).await;
    let after = |dep: &str| TaskAdd { deps: vec![dep.into()], ..task("second") };
    let added = add(&fixture, project, vec![after("pars-1")]).await;
    assert_eq!(added.tasks[0].deps, [first]);
    for unknown in ["PARS-9", "OTHER-1"] {
        let error = fixture.refused(&fixture.ada, adds(project, vec![after(unknown)])).await;
        let expected = format!("`tasks[0].deps[0]`: there is no task {unknown} in this project");
        assert_eq!(invalid(&error), expected);
    }
}

async fn a_new_key_renames_all_tasks(fixture: Fixture) {
    let project = shared(&fixture).await;
    let old = add_one(&fixture, project, task("one")).await;
    assert_eq!(fixture.done(&fixture.ada, key(project, "calc")).await.key, "CALC");
    assert_eq!(detail(&fixture, old).await.task.short, "CALC-1");
    assert_eq!(add(&fixture, project, vec![task("two")]).await.tasks[0].short, "CALC-2");
    assert!(fixture.store.tasks(&fixture.ada, &short("PARS-1")).await.unwrap().is_empty());
    let other = shared(&fixture).await;
    let error = fixture.refused(&fixture.ada, key(other, "Calc")).await;
    assert!(invalid(&error).contains("`CALC` is the key of another project"), "{error}");
    for wrong in ["", "C", "CALCULATE", "CA LC", "2CALC", "KÄSE"] {
        let error = fixture.refused(&fixture.ada, key(other, wrong)).await;
        assert!(invalid(&error).contains("2 to 6 letters"), "{wrong}: {error}");
    }
}

async fn a_key_does_not_reveal_hidden_projects(fixture: Fixture) {
    let hidden = fixture.project(Visibility::Private).await;
    let own = fixture.done(&fixture.bo, create_project("Parser", Visibility::Private)).await;
    assert_eq!((hidden.key.as_str(), own.key.as_str()), ("PARS", "PARS"));
    assert_eq!(fixture.done(&fixture.bo, create_project("Parsers", Visibility::Private)).await.key, "PARS2");
}

async fn only_the_owner_changes_the_key(fixture: Fixture) {
    let project = shared(&fixture).await;
    let error = fixture.refused(&fixture.bo, key(project, "MINE")).await;
    assert!(matches!(error, store::StoreError::Forbidden(_)), "{error:?}");
}
