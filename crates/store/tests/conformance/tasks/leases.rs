//! Leases and fences: heartbeats renew a lease, and a worker that lost its lease cannot write.

use domain::limits::MAX_LATE_REPORTS;
use domain::{AttemptOutcome, EscalationKind, TaskStatus, Timestamp};
use protocol::{Change, TaskHeartbeat, TaskRelease, verbs};
use store::{EventBody, Reported, StoreError};

use super::{LEASE, add_one, beat, conflict, detail, expire, finish, report, shared, status, take, taken, task};
use crate::fixture::Fixture;

both! {
    a_lease_expires_unless_it_is_renewed,
    a_worker_without_the_current_fence_cannot_write,
    a_late_report_is_kept_and_shown,
    late_reports_of_one_lease_are_limited,
    a_heartbeat_without_progress_creates_no_event,
    progress_creates_an_event,
    only_the_lease_holder_can_write,
    a_second_report_is_refused_with_the_reason,
    a_lost_lease_is_logged_with_its_reason,
    the_next_expiry_is_known,
    a_task_whose_leases_keep_expiring_goes_to_a_person,
    heartbeats_do_not_extend_a_lease_beyond_its_limit,
}

async fn a_lease_expires_unless_it_is_renewed(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.pass(LEASE - 1);
    assert!(expire(&fixture).await.is_empty());
    let lease = fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    assert_eq!(lease.expires_at, fixture.store.now().plus_millis(LEASE));
    assert_eq!(status(&fixture, id).await, TaskStatus::Running, "the first heartbeat");
    fixture.pass(LEASE - 1);
    assert!(expire(&fixture).await.is_empty());
    fixture.pass(1);
    assert_eq!(expire(&fixture).await, [id]);
    assert!(expire(&fixture).await.is_empty(), "once");
    let next = taken(&fixture, project, "b").await;
    assert_eq!((next.task.id, next.lease.fence, next.task.attempt), (id, 2, 2));
    assert_eq!(next.handover.unwrap().outcome, AttemptOutcome::Lost);
}

async fn a_task_whose_leases_keep_expiring_goes_to_a_person(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("freezes its machine")).await;
    for taken_by in 1..=5 {
        assert_eq!(status(&fixture, id).await, TaskStatus::Ready);
        taken(&fixture, project, &format!("worker-{taken_by}")).await;
        fixture.pass(LEASE);
        assert_eq!(expire(&fixture).await, [id]);
    }
    let shown = detail(&fixture, id).await;
    assert_eq!((shown.task.status, shown.escalations[0].kind), (TaskStatus::Escalated, EscalationKind::Stuck));
    assert!(shown.escalations[0].question.contains("5 workers in a row were lost"), "{:?}", shown.escalations[0]);
}

async fn a_worker_without_the_current_fence_cannot_write(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let zombie = taken(&fixture, project, "zombie").await;
    fixture.pass(LEASE);
    expire(&fixture).await;
    let error = fixture.refused(&fixture.ada, beat(id, zombie.lease.fence)).await;
    assert!(conflict(&error).contains("back in the queue. Stop working on it"), "{error}");
    let held = taken(&fixture, project, "other").await;
    let before = detail(&fixture, id).await.task;
    let error = fixture.refused(&fixture.ada, beat(id, zombie.lease.fence)).await;
    assert!(conflict(&error).contains("it was given to another worker, with fence 2"), "{error}");
    let input = TaskRelease { fence: zombie.lease.fence, reason: None };
    conflict(&fixture.refused(&fixture.ada, verbs::TaskRelease { task: id, input }).await);
    let input = protocol::TaskAsk {
        fence: zombie.lease.fence,
        question: "may I?".into(),
        options: vec![],
        context: String::new(),
        give_up: true,
    };
    conflict(&fixture.refused(&fixture.ada, verbs::TaskAsk { task: id, input }).await);
    assert_eq!(detail(&fixture, id).await.task, before);
    finish(&fixture, &held).await;
    assert_eq!(status(&fixture, id).await, TaskStatus::Done);
    assert!(conflict(&fixture.refused(&fixture.ada, beat(id, held.lease.fence)).await).contains("it is done"));
}

async fn late_reports_of_one_lease_are_limited(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let zombie = taken(&fixture, project, "zombie").await;
    fixture.pass(LEASE);
    expire(&fixture).await;
    for _ in 0..MAX_LATE_REPORTS {
        let late = fixture.done(&fixture.ada, report(id, zombie.lease.fence, "look what I did")).await;
        assert!(matches!(late, Reported::Late { .. }), "{late:?}");
    }
    let refused = fixture.refused(&fixture.ada, report(id, zombie.lease.fence, "and once more")).await;
    assert!(conflict(&refused).contains("10 late reports of that hold are kept already"), "{refused}");
    assert_eq!(detail(&fixture, id).await.reports.len(), MAX_LATE_REPORTS as usize);
}

async fn a_late_report_is_kept_and_shown(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let zombie = taken(&fixture, project, "zombie").await;
    fixture.pass(LEASE);
    expire(&fixture).await;
    let held = taken(&fixture, project, "other").await;
    match fixture.done(&fixture.ada, report(id, zombie.lease.fence, "look what I did")).await {
        Reported::Late { why, .. } => assert!(why.contains("it was given to another worker"), "{why}"),
        taken => panic!("{taken:?}"),
    }
    assert_eq!(status(&fixture, id).await, TaskStatus::Assigned);
    finish(&fixture, &held).await;
    let shown = detail(&fixture, id).await;
    let verdicts: Vec<_> = shown.reports.iter().map(|report| (report.attempt, report.verdict.word())).collect();
    assert_eq!(verdicts, [(1, "late"), (2, "accepted")]);
    assert_eq!(shown.reports[0].summary, "look what I did");
    let never = fixture.refused(&fixture.ada, report(id, 17, "who am I")).await;
    conflict(&never);
    assert_eq!(detail(&fixture, id).await.reports.len(), 2, "a report with an unknown fence is not stored");
}

async fn a_heartbeat_without_progress_creates_no_event(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    fixture.heard().clear();
    for _ in 0..3 {
        fixture.pass(1000);
        fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    }
    assert!(fixture.heard().is_empty(), "{:?}", fixture.heard());
}

async fn progress_creates_an_event(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.heard().clear();
    let input = TaskHeartbeat { fence: held.lease.fence, progress: Some("3 of 7".into()) };
    fixture.done(&fixture.ada, verbs::TaskHeartbeat { task: id, input }).await;
    let told = fixture.heard().iter().any(|event| match &event.body {
        EventBody::Change { change: Change::Tasks { tasks } } => tasks[0].progress.as_deref() == Some("3 of 7"),
        _ => false,
    });
    assert!(told);
}

async fn only_the_lease_holder_can_write(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    for error in [
        fixture.refused(&fixture.bo, beat(id, held.lease.fence)).await,
        fixture.refused(&fixture.bo, report(id, held.lease.fence, "mine")).await,
        fixture.refused(&Fixture::observer(project), beat(id, held.lease.fence)).await,
    ] {
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
    assert!(matches!(
        fixture.refused(&Fixture::observer(shared(&fixture).await), beat(id, held.lease.fence)).await,
        StoreError::NotFound("task")
    ));
}

async fn a_second_report_is_refused_with_the_reason(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    finish(&fixture, &held).await;
    let error = fixture.refused(&fixture.ada, report(id, held.lease.fence, "again")).await;
    assert!(conflict(&error).contains("it is done"), "{error}");
    assert_eq!(detail(&fixture, id).await.reports.len(), 1);
}

async fn a_lost_lease_is_logged_with_its_reason(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    taken(&fixture, project, "a").await;
    fixture.pass(LEASE + 5);
    fixture.heard().clear();
    expire(&fixture).await;
    let said = fixture.heard().iter().find_map(|event| match &event.body {
        EventBody::Change { change: Change::WorkEntry { entry } } if entry.what.word() == "lease_lost" => {
            Some(entry.clone())
        }
        _ => None,
    });
    let entry = said.unwrap();
    assert_eq!(entry.task, Some(id));
    assert!(entry.reason.contains("`a` was not heard from"), "{}", entry.reason);
    let shown = detail(&fixture, id).await;
    assert!(shown.task.reason.unwrap().contains("not heard from"));
    assert!(take(&fixture, project, "b").await.taken.is_some());
}

async fn the_next_expiry_is_known(fixture: Fixture) {
    let project = shared(&fixture).await;
    let next = async || fixture.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap().lease;
    assert_eq!(next().await, None);
    add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    assert_eq!(next().await, Some(held.lease.expires_at));
    finish(&fixture, &held).await;
    assert_eq!(next().await, None);
}

async fn heartbeats_do_not_extend_a_lease_beyond_its_limit(fixture: Fixture) {
    let project = shared(&fixture).await;
    let input = protocol::WorkConfigure { task_minutes: Some(2), ..Default::default() };
    fixture.done(&fixture.ada, verbs::WorkConfigure { project, input }).await;
    let id = add_one(&fixture, project, task("hangs")).await;
    let held = taken(&fixture, project, "a").await;
    let begun = fixture.store.now();
    fixture.pass(60_000);
    let lease = fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    assert_eq!(lease.expires_at, begun.plus_millis(120_000), "a lease of 90 s would be longer");
    fixture.pass(59_999);
    fixture.done(&fixture.ada, beat(id, held.lease.fence)).await;
    assert!(expire(&fixture).await.is_empty());
    fixture.pass(1);
    assert_eq!(expire(&fixture).await, [id]);
}
