//! Edits: what may change when, dependencies counted again, cycles refused, and whose text it is then.

use domain::{AuthorKind, TaskId, TaskStatus, Visibility};
use protocol::{Criterion, TaskAdd, TaskDetail, TaskEdit, verbs};
use store::Reported;

use super::{
    add, add_one, cancel, conflict, detail, finish, invalid, named, report, shared, sound, status, take, taken, task,
};
use crate::fixture::{Fixture, id};

both! {
    an_edit_changes_what_it_names,
    priority_moves_a_task_in_the_queue,
    new_dependencies_block_and_free,
    a_cycle_is_refused_and_named,
    a_running_task_keeps_its_dependencies_and_its_worker_sees_the_edit,
    a_report_is_judged_by_the_criteria_it_was_checked_with,
    what_is_over_is_not_edited,
    two_edits_at_once_do_not_overwrite_each_other,
    the_editor_answers_for_the_text,
    an_edit_needs_write_access_and_valid_fields,
    an_edited_task_is_no_longer_similar_to_what_it_was,
}

fn edits(task: TaskId, input: TaskEdit) -> verbs::TaskEdit {
    verbs::TaskEdit { task, input }
}

async fn edit(fixture: &Fixture, task: TaskId, input: TaskEdit) -> protocol::Task {
    fixture.done(&fixture.ada, edits(task, input)).await
}

fn after(deps: &[&str]) -> TaskEdit {
    TaskEdit { deps: Some(deps.iter().map(|dep| (*dep).to_owned()).collect()), ..TaskEdit::default() }
}

fn says(description: &str) -> TaskEdit {
    TaskEdit { description: Some(description.into()), ..TaskEdit::default() }
}

async fn an_edit_changes_what_it_names(fixture: Fixture) {
    let project = shared(&fixture).await;
    let one = add_one(&fixture, project, TaskAdd { context: "kept".into(), ..task("old") }).await;
    let input = TaskEdit {
        acceptance: Some(vec![Criterion::Committed {}]),
        files: Some(vec!["src/**".into()]),
        needs: Some(vec!["rust".into()]),
        labels: Some(vec!["ui".into(), "v1".into()]),
        priority: Some(9),
        ..says("New title\nmore")
    };
    let edited = edit(&fixture, one, input).await;
    assert_eq!((edited.description.as_str(), edited.context.as_str()), ("New title\nmore", "kept"));
    assert_eq!((edited.priority, edited.files.len(), edited.needs.len(), edited.edits), (9, 1, 1, 1));
    assert_eq!(edited.labels, ["ui", "v1"]);
    assert_eq!(detail(&fixture, one).await.task, edited);
    assert_eq!(edit(&fixture, one, TaskEdit::default()).await.edits, 1, "nothing to change");
    assert_eq!(edit(&fixture, one, says("New title\nmore")).await.edits, 1, "the same again");
    let entry = fixture.raw().await.column("SELECT detail FROM audit WHERE verb = 'task.edit'").await;
    assert_eq!(entry, ["edited `New title`: description, acceptance, files, needs, labels, priority 5 → 9"]);
}

async fn priority_moves_a_task_in_the_queue(fixture: Fixture) {
    let project = shared(&fixture).await;
    let ids: Vec<TaskId> =
        add(&fixture, project, vec![task("a"), task("b"), task("c")]).await.tasks.iter().map(|task| task.id).collect();
    edit(&fixture, ids[2], TaskEdit { priority: Some(8), ..TaskEdit::default() }).await;
    edit(&fixture, ids[0], TaskEdit { priority: Some(0), ..TaskEdit::default() }).await;
    sound(&mut fixture.raw().await, project).await;
    for (worker, expected) in [("v", ids[2]), ("w", ids[1]), ("x", ids[0])] {
        assert_eq!(taken(&fixture, project, worker).await.task.id, expected);
    }
    sound(&mut fixture.raw().await, project).await;
}

async fn new_dependencies_block_and_free(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &[]), named("c", &["a"])]).await;
    let [a, b, c] = [0, 1, 2].map(|at| added.tasks[at].id);
    let blocked = edit(&fixture, b, after(&["PARS-1"])).await;
    assert_eq!((blocked.status, blocked.deps.as_slice()), (TaskStatus::Blocked, &[a][..]));
    assert_eq!(edit(&fixture, c, after(&[])).await.status, TaskStatus::Ready);
    sound(&mut fixture.raw().await, project).await;
    let held = taken(&fixture, project, "w").await;
    assert_eq!(held.task.id, a);
    finish(&fixture, &held).await;
    assert_eq!(status(&fixture, b).await, TaskStatus::Ready, "freed by the new dependency");
    assert_eq!(detail(&fixture, a).await.dependants.iter().map(|line| line.id).collect::<Vec<_>>(), [b]);
    // A dependency that failed is named.
    cancel(&fixture, c).await;
    let dead = edit(&fixture, b, after(&["PARS-3"])).await;
    assert_eq!(dead.status, TaskStatus::Blocked);
    assert!(dead.reason.unwrap().contains("which was cancelled"));
    assert_eq!(edit(&fixture, b, after(&["PARS-1"])).await.status, TaskStatus::Ready, "a done task is no obstacle");
    sound(&mut fixture.raw().await, project).await;
}

async fn a_cycle_is_refused_and_named(fixture: Fixture) {
    let project = shared(&fixture).await;
    let added = add(&fixture, project, vec![named("a", &[]), named("b", &["a"]), named("c", &["b"])]).await;
    let error = fixture.refused(&fixture.ada, edits(added.tasks[0].id, after(&["PARS-3"]))).await;
    let round = invalid(&error).strip_prefix("these tasks depend on each other in a cycle: ").unwrap().to_owned();
    let names: Vec<&str> = round.split(" → ").collect();
    assert_eq!((names.len(), names[0]), (4, names[3]), "{round}");
    let error = fixture.refused(&fixture.ada, edits(added.tasks[0].id, after(&["PARS-1"]))).await;
    assert_eq!(invalid(&error), "these tasks depend on each other in a cycle: PARS-1 → PARS-1");
    assert_eq!(detail(&fixture, added.tasks[0].id).await.task.edits, 0);
}

async fn a_running_task_keeps_its_dependencies_and_its_worker_sees_the_edit(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one"), task("two")]).await;
    let held = taken(&fixture, project, "w").await;
    let id = held.task.id;
    let error = fixture.refused(&fixture.ada, edits(id, after(&["PARS-2"]))).await;
    assert!(conflict(&error).contains("a worker has it"), "{error}");
    let needs = TaskEdit { needs: Some(vec!["rust".into()]), ..TaskEdit::default() };
    assert!(conflict(&fixture.refused(&fixture.ada, edits(id, needs)).await).contains("a worker has it"));
    let edited = edit(&fixture, id, TaskEdit { priority: Some(1), ..says("one, but better") }).await;
    assert_eq!(edited.lease.map(|lease| lease.edits), Some(1));
    let lease = fixture.done(&fixture.ada, super::beat(id, held.lease.fence)).await;
    assert_eq!(lease.edits, 1, "a heartbeat tells");
    finish(&fixture, &held).await;
}

async fn a_report_is_judged_by_the_criteria_it_was_checked_with(fixture: Fixture) {
    let project = shared(&fixture).await;
    let text = |text: &str| Criterion::Text { text: text.into() };
    let one = add_one(&fixture, project, TaskAdd { acceptance: vec![text("good")], ..task("one") }).await;
    let held = taken(&fixture, project, "w").await;
    let Reported::Taken(_) = fixture.done(&fixture.ada, report(one, held.lease.fence, "done")).await else {
        panic!("late");
    };
    assert_eq!(status(&fixture, one).await, TaskStatus::Escalated);
    let other = || TaskEdit { acceptance: Some(vec![text("better")]), ..TaskEdit::default() };
    let error = fixture.refused(&fixture.ada, edits(one, other())).await;
    assert!(conflict(&error).contains("waits for a verdict"), "{error}");
    super::retry(&fixture, one).await;
    edit(&fixture, one, other()).await;
    let TaskDetail { reports, .. } = detail(&fixture, one).await;
    assert!(reports.iter().all(|report| report.results.is_empty()), "{reports:?}");
}

async fn what_is_over_is_not_edited(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one"), task("two")]).await;
    let held = taken(&fixture, project, "w").await;
    finish(&fixture, &held).await;
    let error = fixture.refused(&fixture.ada, edits(held.task.id, says("more"))).await;
    assert!(conflict(&error).contains("it is done: reopen it"), "{error}");
    let two = take(&fixture, project, "w").await.taken.unwrap().task.id;
    cancel(&fixture, two).await;
    let error = fixture.refused(&fixture.ada, edits(two, says("more"))).await;
    assert!(conflict(&error).contains("it is over: retry it first"), "{error}");
}

async fn two_edits_at_once_do_not_overwrite_each_other(fixture: Fixture) {
    let project = shared(&fixture).await;
    let one = add_one(&fixture, project, task("one")).await;
    let expecting = |text: &str| edits(one, TaskEdit { expected_edits: Some(0), ..says(text) });
    fixture.done(&fixture.ada, expecting("first")).await;
    let error = fixture.refused(&fixture.bo, expecting("second")).await;
    assert!(conflict(&error).contains("was edited meanwhile"), "{error}");
    assert_eq!(detail(&fixture, one).await.task.description, "first");
}

async fn the_editor_answers_for_the_text(fixture: Fixture) {
    let project = shared(&fixture).await;
    let one = add_one(&fixture, project, task("one")).await;
    let priority = TaskEdit { priority: Some(7), ..TaskEdit::default() };
    let same = fixture.done(&fixture.bo, edits(one, priority)).await;
    assert_eq!(same.created_by.id, id(&fixture.ada), "a priority is no text");
    let theirs = fixture.done(&fixture.bo, edits(one, says("Bo's words"))).await;
    assert_eq!((theirs.created_by.id, theirs.author_kind), (id(&fixture.bo), AuthorKind::User));
    let mut agent = fixture.bo.clone();
    agent.by_agent = true;
    let theirs = fixture.done(&agent, edits(one, says("an agent's words"))).await;
    assert_eq!((theirs.created_by.id, theirs.author_kind), (id(&fixture.bo), AuthorKind::Agent));
    let mixed = edit(&fixture, one, says("an agent's words, changed by Ada")).await;
    assert_eq!((mixed.created_by.id, mixed.author_kind), (id(&fixture.ada), AuthorKind::Agent));
}

async fn an_edit_needs_write_access_and_valid_fields(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadOnly).await.id;
    let one = add_one(&fixture, project, task("one")).await;
    let error = fixture.refused(&fixture.bo, edits(one, says("mine"))).await;
    assert!(matches!(error, store::StoreError::Forbidden(_)), "{error:?}");
    let error = fixture.refused(&fixture.ada, edits(one, says("  "))).await;
    assert!(invalid(&error).starts_with("`description`"), "{error}");
    let error = fixture.refused(&fixture.ada, edits(one, after(&["PARS-1", "nothing"]))).await;
    assert_eq!(invalid(&error), "`deps[1]`: there is no task nothing in this project");
    let outside = TaskEdit { files: Some(vec!["../x".into()]), ..TaskEdit::default() };
    assert!(invalid(&fixture.refused(&fixture.ada, edits(one, outside)).await).starts_with("`files[0]`"));
}

async fn an_edited_task_is_no_longer_similar_to_what_it_was(fixture: Fixture) {
    let project = shared(&fixture).await;
    let text = "Write unit tests for the parser's handling of comments";
    let one = add_one(&fixture, project, task(text)).await;
    edit(&fixture, one, says("Paint the doors of the workshop in two colours")).await;
    assert!(add(&fixture, project, vec![task(text)]).await.similar.is_empty());
    let again = add(&fixture, project, vec![task("paint the doors of the workshop in two colours")]).await;
    assert_eq!(again.similar.iter().map(|like| like.to).collect::<Vec<_>>(), [one]);
}
