//! Leases and fences: renewed by signs of life, lost without, and a zombie writes nothing.

use domain::limits::MAX_LATE_REPORTS;
use domain::{AttemptOutcome, EscalationKind, TaskStatus, Timestamp};
use protocol::{Change, TaskHeartbeat, TaskRelease, verbs};
use store::{EventBody, Reported, StoreError};

use super::{LEASE, add_one, beat, conflict, detail, expire, finish, report, shared, status, take, taken, task};
use crate::floor::Floor;

both! {
    a_lease_ends_unless_it_is_renewed,
    a_zombie_writes_nothing,
    a_late_report_is_kept_and_shown,
    late_reports_of_one_hold_end,
    a_heartbeat_without_news_tells_nobody,
    progress_is_told,
    only_the_holder_writes,
    what_is_reported_twice_is_said,
    a_lost_lease_is_a_decision_with_its_reason,
    the_next_end_is_known,
    a_task_that_loses_everybody_goes_to_a_person,
    signs_of_life_do_not_keep_a_task_for_ever_where_that_is_limited,
}

async fn a_lease_ends_unless_it_is_renewed(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    floor.pass(LEASE - 1);
    assert!(expire(&floor).await.is_empty());
    let lease = floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    assert_eq!(lease.expires_at, floor.store.now().plus_millis(LEASE));
    assert_eq!(status(&floor, id).await, TaskStatus::Running, "the first sign of life");
    floor.pass(LEASE - 1);
    assert!(expire(&floor).await.is_empty());
    floor.pass(1);
    assert_eq!(expire(&floor).await, [id]);
    assert!(expire(&floor).await.is_empty(), "once");
    let next = taken(&floor, project, "b").await;
    assert_eq!((next.task.id, next.lease.fence, next.task.attempt), (id, 2, 2));
    assert_eq!(next.handover.unwrap().outcome, AttemptOutcome::Lost);
}

async fn a_task_that_loses_everybody_goes_to_a_person(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("freezes its machine")).await;
    for taken_by in 1..=5 {
        assert_eq!(status(&floor, id).await, TaskStatus::Ready);
        taken(&floor, project, &format!("worker-{taken_by}")).await;
        floor.pass(LEASE);
        assert_eq!(expire(&floor).await, [id]);
    }
    let shown = detail(&floor, id).await;
    assert_eq!((shown.task.status, shown.escalations[0].kind), (TaskStatus::Escalated, EscalationKind::Stuck));
    assert!(shown.escalations[0].question.contains("5 workers in a row were lost"), "{:?}", shown.escalations[0]);
}

async fn a_zombie_writes_nothing(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let zombie = taken(&floor, project, "zombie").await;
    floor.pass(LEASE);
    expire(&floor).await;
    let error = floor.refused(&floor.ada, beat(id, zombie.lease.fence)).await;
    assert!(conflict(&error).contains("back in the queue. Stop working on it"), "{error}");
    let held = taken(&floor, project, "other").await;
    let before = detail(&floor, id).await.task;
    let error = floor.refused(&floor.ada, beat(id, zombie.lease.fence)).await;
    assert!(conflict(&error).contains("it was given to another worker, with fence 2"), "{error}");
    let input = TaskRelease { fence: zombie.lease.fence, reason: None };
    conflict(&floor.refused(&floor.ada, verbs::TaskRelease { task: id, input }).await);
    let input = protocol::TaskAsk {
        fence: zombie.lease.fence,
        question: "may I?".into(),
        options: vec![],
        context: String::new(),
        give_up: true,
    };
    conflict(&floor.refused(&floor.ada, verbs::TaskAsk { task: id, input }).await);
    assert_eq!(detail(&floor, id).await.task, before);
    finish(&floor, &held).await;
    assert_eq!(status(&floor, id).await, TaskStatus::Done);
    assert!(conflict(&floor.refused(&floor.ada, beat(id, held.lease.fence)).await).contains("it is done"));
}

async fn late_reports_of_one_hold_end(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let zombie = taken(&floor, project, "zombie").await;
    floor.pass(LEASE);
    expire(&floor).await;
    for _ in 0..MAX_LATE_REPORTS {
        let late = floor.done(&floor.ada, report(id, zombie.lease.fence, "look what I did")).await;
        assert!(matches!(late, Reported::Late { .. }), "{late:?}");
    }
    let refused = floor.refused(&floor.ada, report(id, zombie.lease.fence, "and once more")).await;
    assert!(conflict(&refused).contains("10 late reports of that hold are kept already"), "{refused}");
    assert_eq!(detail(&floor, id).await.reports.len(), MAX_LATE_REPORTS as usize);
}

async fn a_late_report_is_kept_and_shown(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let zombie = taken(&floor, project, "zombie").await;
    floor.pass(LEASE);
    expire(&floor).await;
    let held = taken(&floor, project, "other").await;
    match floor.done(&floor.ada, report(id, zombie.lease.fence, "look what I did")).await {
        Reported::Late { why, .. } => assert!(why.contains("it was given to another worker"), "{why}"),
        taken => panic!("{taken:?}"),
    }
    assert_eq!(status(&floor, id).await, TaskStatus::Assigned);
    finish(&floor, &held).await;
    let shown = detail(&floor, id).await;
    let verdicts: Vec<_> = shown.reports.iter().map(|report| (report.attempt, report.verdict.word())).collect();
    assert_eq!(verdicts, [(1, "late"), (2, "accepted")]);
    assert_eq!(shown.reports[0].summary, "look what I did");
    let never = floor.refused(&floor.ada, report(id, 17, "who am I")).await;
    conflict(&never);
    assert_eq!(detail(&floor, id).await.reports.len(), 2, "a fence that never was leaves nothing");
}

async fn a_heartbeat_without_news_tells_nobody(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    floor.heard().clear();
    for _ in 0..3 {
        floor.pass(1000);
        floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    }
    assert!(floor.heard().is_empty(), "{:?}", floor.heard());
}

async fn progress_is_told(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    floor.heard().clear();
    let input = TaskHeartbeat { fence: held.lease.fence, progress: Some("3 of 7".into()) };
    floor.done(&floor.ada, verbs::TaskHeartbeat { task: id, input }).await;
    let told = floor.heard().iter().any(|event| match &event.body {
        EventBody::Change { change: Change::Tasks { tasks } } => tasks[0].progress.as_deref() == Some("3 of 7"),
        _ => false,
    });
    assert!(told);
}

async fn only_the_holder_writes(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    for error in [
        floor.refused(&floor.bo, beat(id, held.lease.fence)).await,
        floor.refused(&floor.bo, report(id, held.lease.fence, "mine")).await,
        floor.refused(&Floor::observer(project), beat(id, held.lease.fence)).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
    assert!(matches!(
        floor.refused(&Floor::observer(shared(&floor).await), beat(id, held.lease.fence)).await,
        StoreError::NotFound("task")
    ));
}

async fn what_is_reported_twice_is_said(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    finish(&floor, &held).await;
    let error = floor.refused(&floor.ada, report(id, held.lease.fence, "again")).await;
    assert!(conflict(&error).contains("it is done"), "{error}");
    assert_eq!(detail(&floor, id).await.reports.len(), 1);
}

async fn a_lost_lease_is_a_decision_with_its_reason(floor: Floor) {
    let project = shared(&floor).await;
    let id = add_one(&floor, project, task("one")).await;
    taken(&floor, project, "a").await;
    floor.pass(LEASE + 5);
    floor.heard().clear();
    expire(&floor).await;
    let said = floor.heard().iter().find_map(|event| match &event.body {
        EventBody::Change { change: Change::WorkEntry { entry } } if entry.what.word() == "lease_lost" => {
            Some(entry.clone())
        }
        _ => None,
    });
    let entry = said.unwrap();
    assert_eq!(entry.task, Some(id));
    assert!(entry.reason.contains("`a` was not heard from"), "{}", entry.reason);
    let shown = detail(&floor, id).await;
    assert!(shown.task.reason.unwrap().contains("not heard from"));
    assert!(take(&floor, project, "b").await.taken.is_some());
}

async fn the_next_end_is_known(floor: Floor) {
    let project = shared(&floor).await;
    let next = async || floor.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap().lease;
    assert_eq!(next().await, None);
    add_one(&floor, project, task("one")).await;
    let held = taken(&floor, project, "a").await;
    assert_eq!(next().await, Some(held.lease.expires_at));
    finish(&floor, &held).await;
    assert_eq!(next().await, None);
}

async fn signs_of_life_do_not_keep_a_task_for_ever_where_that_is_limited(floor: Floor) {
    let project = shared(&floor).await;
    let input = protocol::WorkConfigure { task_minutes: Some(2), ..Default::default() };
    floor.done(&floor.ada, verbs::WorkConfigure { project, input }).await;
    let id = add_one(&floor, project, task("hangs")).await;
    let held = taken(&floor, project, "a").await;
    let begun = floor.store.now();
    floor.pass(60_000);
    let lease = floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    assert_eq!(lease.expires_at, begun.plus_millis(120_000), "a lease of 90 s would be longer");
    floor.pass(59_999);
    floor.done(&floor.ada, beat(id, held.lease.fence)).await;
    assert!(expire(&floor).await.is_empty());
    floor.pass(1);
    assert_eq!(expire(&floor).await, [id]);
}
