//! Turns: many workers report and take their next tasks in one transaction.

use domain::{ReportVerdict, TaskStatus};
use protocol::{TaskTake, TaskTurn, Turned, TurnedIn, verbs};

use super::{add, invalid, report, shared, status, taken, takes, task};
use crate::fixture::Fixture;

both! {
    a_turn_reports_and_takes_the_next_task,
    each_report_of_a_turn_is_refused_separately,
    an_invalid_turn_changes_nothing,
    a_turn_with_an_unknown_task_still_takes_the_others,
    a_turn_with_the_same_key_acts_once,
}

fn take_for(worker: &str) -> TaskTake {
    TaskTake { worker: Some(worker.into()), ..TaskTake::default() }
}

fn turn(project: domain::ProjectId, reports: Vec<TurnedIn>, workers: &[String]) -> verbs::TaskTurn {
    let takes = workers.iter().map(|worker| take_for(worker)).collect();
    verbs::TaskTurn { project, input: TaskTurn { reports, takes } }
}

fn handed_back(turned: &Turned) -> Vec<TurnedIn> {
    let held = turned.taken.iter().filter_map(|taken| taken.taken.as_ref());
    let one = |held: &protocol::TakenTask| TurnedIn {
        task: held.task.id,
        report: report(held.task.id, held.lease.fence, "done").input,
    };
    held.map(one).collect()
}

async fn a_turn_reports_and_takes_the_next_task(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, (0..30).map(|n| task(&format!("Number {n}"))).collect()).await;
    let workers: Vec<String> = (0..20).map(|n| format!("w{n}")).collect();
    let first = fixture.done(&fixture.ada, turn(project, Vec::new(), &workers)).await;
    let mut ids: Vec<_> = handed_back(&first).iter().map(|one| one.task).collect();
    let second = fixture.done(&fixture.ada, turn(project, handed_back(&first), &workers)).await;
    let accepted = |one: &protocol::TurnReport| one.report.as_ref().map(|report| report.verdict);
    assert!(second.reports.iter().all(|one| accepted(one) == Some(ReportVerdict::Accepted)), "{second:?}");
    ids.extend(handed_back(&second).iter().map(|one| one.task));
    let nothing = second.taken.iter().filter_map(|taken| taken.why_not.as_deref());
    assert_eq!(nothing.collect::<Vec<_>>(), ["no task is ready in this project"; 10]);
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 30, "no task twice, and all of them");
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tasks WHERE status = 'done'").await, 20);
    assert_eq!(raw.number("SELECT COUNT(*) FROM workers WHERE status = 'working'").await, 10);
    assert_eq!(raw.number("SELECT COUNT(*) FROM attempts WHERE outcome = 'accepted'").await, 20);
}

async fn each_report_of_a_turn_is_refused_separately(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, (0..3).map(|n| task(&format!("Number {n}"))).collect()).await;
    let workers: Vec<String> = (0..3).map(|n| format!("w{n}")).collect();
    let first = fixture.done(&fixture.ada, turn(project, Vec::new(), &workers)).await;
    let mut reports = handed_back(&first);
    reports[1].report.fence += 1;
    let turned = fixture.done(&fixture.ada, turn(project, reports, &[])).await;
    let refused: Vec<bool> = turned.reports.iter().map(|one| one.refused.is_some()).collect();
    assert_eq!(refused, [false, true, false], "{turned:?}");
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM tasks WHERE status = 'done'").await, 2);
}

async fn an_invalid_turn_changes_nothing(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one"), task("two")]).await;
    let held = taken(&fixture, project, "a").await;
    let good = TurnedIn { task: held.task.id, report: report(held.task.id, held.lease.fence, "done").input };
    let mut bad = good.clone();
    bad.report.context_score = Some(9);
    let wrong = turn(project, vec![good.clone(), bad], &[]);
    assert_eq!(invalid(&fixture.refused(&fixture.ada, wrong).await), "reports[1]: `context_score` is 1 to 5, not 9");
    let mut waits = turn(project, vec![good], &["b".into()]);
    waits.input.takes[0].wait_seconds = Some(5);
    let refused = fixture.refused(&fixture.ada, waits).await;
    assert_eq!(invalid(&refused), "takes[0]: a turn does not wait; `task.take` does");
    let many = turn(project, Vec::new(), &vec!["w".into(); 513]);
    assert_eq!(invalid(&fixture.refused(&fixture.ada, many).await), "a turn has at most 512 `takes`, not 513");
    assert_eq!(status(&fixture, held.task.id).await, TaskStatus::Assigned);
}

async fn a_turn_with_an_unknown_task_still_takes_the_others(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one")]).await;
    let mut input = turn(project, Vec::new(), &["a".into(), "b".into()]);
    input.input.takes[0].task = Some(domain::TaskId::generate());
    let turned = fixture.done(&fixture.ada, input).await;
    assert_eq!(turned.taken[0].why_not.as_deref(), Some("task not found"));
    assert!(turned.taken[1].taken.is_some(), "{turned:?}");
}

async fn a_turn_with_the_same_key_acts_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    add(&fixture, project, vec![task("one"), task("two")]).await;
    let turns = || fixture.store.write(&fixture.ada, Some("k".into()), turn(project, Vec::new(), &["a".into()]));
    let first = turns().await.unwrap().value;
    assert_eq!(turns().await.unwrap().value, first);
    let again = takes(project, "a");
    assert!(fixture.done(&fixture.ada, again).await.taken.is_some());
}
