//! Adding tasks: all or none, with names, limits, cycles and near-duplicates.

use domain::{TaskId, TaskStatus};
use protocol::{Change, Criterion, TaskAdd, TaskFilter, verbs};
use store::EventBody;

use super::{add, add_one, adds, finish, invalid, named, shared, taken, task};
use crate::fixture::Fixture;

both! {
    names_become_ids,
    invalid_lists_add_no_task,
    a_cycle_is_named,
    every_refusal_names_its_place,
    near_duplicates_of_open_tasks_are_reported,
    one_event_announces_all_added_tasks,
    a_list_has_pages,
    labels_group_tasks,
    a_retry_adds_once,
    deleting_a_project_deletes_its_tasks,
}

async fn names_become_ids(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("build", &["plan"]), named("plan", &[]), task("else")]).await;
    assert_eq!(added.names.iter().map(|named| named.name.as_str()).collect::<Vec<_>>(), ["build", "plan"]);
    let [build, plan, other] = &added.tasks[..] else { panic!("{added:?}") };
    assert_eq!((build.status, plan.status, other.status), (TaskStatus::Blocked, TaskStatus::Ready, TaskStatus::Ready));
    assert_eq!((build.deps.clone(), build.waits_for), (vec![plan.id], 1));
    assert_eq!(build.title, "Do build");
    let listed = fixture.store.tasks(&fixture.ada, &TaskFilter { project: Some(project), ..Default::default() }).await;
    assert_eq!(listed.unwrap(), added.tasks);
}

async fn invalid_lists_add_no_task(fixture: Fixture) {
    let project = shared(&fixture).await;
    let error = fixture.refused(&fixture.ada, adds(project, vec![task("fine"), task("  ")])).await;
    assert!(invalid(&error).starts_with("`tasks[1].description`"), "{error}");
    assert!(fixture.store.tasks(&fixture.ada, &TaskFilter::default()).await.unwrap().is_empty());
}

async fn a_cycle_is_named(fixture: Fixture) {
    let project = shared(&fixture).await;
    let ring = vec![named("a", &["b"]), named("b", &["c"]), named("c", &["a"])];
    let error = fixture.refused(&fixture.ada, adds(project, ring)).await;
    assert_eq!(invalid(&error), "these tasks depend on each other in a cycle: a → b → c → a");
    let error = fixture.refused(&fixture.ada, adds(project, vec![named("a", &["a"])])).await;
    assert_eq!(invalid(&error), "these tasks depend on each other in a cycle: a → a");
}

async fn every_refusal_names_its_place(fixture: Fixture) {
    let project = shared(&fixture).await;
    let elsewhere = add_one(&fixture, shared(&fixture).await, task("elsewhere")).await;
    let fine = || task("fine");
    let cases: Vec<(TaskAdd, &str)> = vec![
        (named("b", &["a", "nobody"]), "`tasks[1].deps[1]`: `nobody` is neither the name"),
        (TaskAdd { deps: vec![elsewhere.to_string()], ..fine() }, "`tasks[1].deps[0]`: there is no task"),
        (TaskAdd { deps: vec![TaskId::generate().to_string()], ..fine() }, "`tasks[1].deps[0]`: there is no task"),
        (TaskAdd { priority: Some(10), ..fine() }, "`tasks[1].priority`: 10 is given; it is 0 to 9"),
        (TaskAdd { description: "x".repeat(70_000), ..fine() }, "`tasks[1].description`: it has 70000 bytes"),
        (TaskAdd { files: vec!["ok".into(), "../x".into()], ..fine() }, "`tasks[1].files[1]`: `../x` leads out"),
        (TaskAdd { needs: vec![String::new()], ..fine() }, "`tasks[1].needs[0]`: it is empty"),
        (labelled(&["ui", "two words"]), "`tasks[1].labels[1]`: white space cannot be in a label"),
        (labelled(&["ui", "ui"]), "`tasks[1].labels[1]`: `ui` is given twice"),
        (labelled(&["x"; 11]), "`tasks[1].labels`: 11 are given; the limit is 10"),
        (
            TaskAdd {
                acceptance: vec![Criterion::Committed {}, Criterion::FileExists { path: "/etc/passwd".into() }],
                ..fine()
            },
            "`tasks[1].acceptance[1].path`: `/etc/passwd` leads out",
        ),
        (
            TaskAdd {
                acceptance: vec![Criterion::Command { argv: vec![], exit_code: None, timeout_seconds: None }],
                ..fine()
            },
            "`tasks[1].acceptance[0].argv`: name the program",
        ),
        (named("a", &[]), "`tasks[1].id`: `a` is the name of tasks[0], too"),
    ];
    for (wrong, expected) in cases {
        let error = fixture.refused(&fixture.ada, adds(project, vec![named("a", &[]), wrong])).await;
        assert!(invalid(&error).starts_with(expected), "{error}\n  expected {expected}");
    }
    let error = fixture.refused(&fixture.ada, adds(project, vec![])).await;
    assert!(invalid(&error).contains("1 to 10000 tasks"), "{error}");
}

async fn near_duplicates_of_open_tasks_are_reported(fixture: Fixture) {
    let project = shared(&fixture).await;
    let text = "Write unit tests for the parser's handling of comments";
    let first = add_one(&fixture, project, task(text)).await;
    let added = add(
        &fixture,
        project,
        vec![task("Paint the doors"), task("write unit tests for the parser's handling of comments!")],
    )
    .await;
    let [similar] = &added.similar[..] else { panic!("{:?}", added.similar) };
    assert_eq!((similar.task, similar.to, similar.title.as_str()), (added.tasks[1].id, first, text));
    let twins = add(&fixture, project, vec![task("Sharpen all saws"), task("sharpen all saws")]).await;
    assert_eq!(twins.similar.iter().map(|like| like.to).collect::<Vec<_>>(), [twins.tasks[0].id]);
    for _ in 0..5 {
        let held = taken(&fixture, project, "w").await;
        finish(&fixture, &held).await;
    }
    assert!(add(&fixture, project, vec![task(text)]).await.similar.is_empty(), "a done task is no duplicate");
}

async fn one_event_announces_all_added_tasks(fixture: Fixture) {
    let project = shared(&fixture).await;
    fixture.heard().clear();
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &["a"])]).await;
    let told: Vec<_> = fixture
        .heard()
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Change { change: Change::Tasks { tasks } } => Some((event.project, tasks.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(Some(project), added.tasks)]);
}

async fn a_list_has_pages(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, (0..5).map(|n| task(&format!("Number {n}"))).collect()).await;
    let ids: Vec<TaskId> = added.tasks.iter().map(|task| task.id).collect();
    let page = |after, limit| TaskFilter { project: Some(project), after, limit: Some(limit), ..Default::default() };
    let list = async |filter: &TaskFilter| -> Vec<TaskId> {
        fixture.store.tasks(&fixture.bo, filter).await.unwrap().iter().map(|task| task.id).collect()
    };
    assert_eq!(list(&page(None, 2)).await, ids[..2]);
    assert_eq!(list(&page(Some(ids[1]), 1000)).await, ids[2..]);
    taken(&fixture, project, "w").await;
    let ready = TaskFilter { status: Some(TaskStatus::Ready), ..Default::default() };
    assert_eq!(list(&ready).await, ids[1..]);
    let whole = async |filter: &TaskFilter| fixture.store.whole_tasks(&fixture.bo, filter).await.unwrap();
    let pages = [whole(&page(None, 2)).await, whole(&page(Some(ids[1]), 200)).await].concat();
    assert_eq!(pages.iter().map(|task| task.id).collect::<Vec<_>>(), ids);
    for task in pages {
        assert_eq!(task, fixture.store.task_detail(&fixture.bo, task.id).await.unwrap().task, "nothing is left out");
    }
    let error = fixture.store.tasks(&fixture.ada, &page(None, 0)).await.unwrap_err();
    assert!(invalid(&error).contains("1 to 1000"), "{error}");
}

fn labelled(labels: &[&str]) -> TaskAdd {
    TaskAdd { labels: labels.iter().map(|label| (*label).to_owned()).collect(), ..task("fine") }
}

async fn labels_group_tasks(fixture: Fixture) {
    let project = shared(&fixture).await;
    let tasks = vec![labelled(&["ui", "größe"]), labelled(&["ui2", "a_b"]), labelled(&[]), labelled(&["UI", "aXb"])];
    let added = add(&fixture, project, tasks).await.tasks;
    assert_eq!(added[0].labels, ["ui", "größe"]);
    let with = async |label: &str| -> Vec<TaskId> {
        let filter = TaskFilter { label: Some(label.into()), ..Default::default() };
        fixture.store.tasks(&fixture.bo, &filter).await.unwrap().iter().map(|task| task.id).collect()
    };
    assert_eq!(with("ui").await, [added[0].id], "neither a part nor another case");
    assert_eq!(with("größe").await, [added[0].id]);
    assert_eq!(with("a_b").await, [added[1].id], "no pattern");
    for other in ["", "i", "%", "\"", "ui\", \"größe"] {
        assert_eq!(with(other).await, Vec::<TaskId>::new(), "{other:?}");
    }
}

async fn a_retry_adds_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    let once = || fixture.store.write(&fixture.ada, Some("k".into()), adds(project, vec![task("one")]));
    let (first, second) = (once().await.unwrap().value, once().await.unwrap().value);
    assert_eq!(first, second);
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM tasks").await, 1);
}

async fn deleting_a_project_deletes_its_tasks(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![named("a", &[]), named("b", &["a"])]).await;
    taken(&fixture, project, "w").await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project }).await;
    for table in ["tasks", "task_deps", "task_gists", "attempts", "workers"] {
        assert_eq!(fixture.raw().await.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
}
