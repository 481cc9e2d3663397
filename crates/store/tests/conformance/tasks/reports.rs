//! Reports: accepted, refused, failed, judged.

use domain::limits::{MAX_LISTED_CHARACTERS, MAX_OF_ONE_TASK};
use domain::{AnswerAct, AttemptOutcome, EscalationId, EscalationKind, ReportId, ReportVerdict, TaskStatus};
use protocol::{Criterion, EscalationAnswer, EscalationFilter, TaskAdd, Usage, verbs};

use super::{add_one, detail, failure, finish, invalid, report, shared, status, take, taken, takes, task, why_not};
use crate::fixture::Fixture;

both! {
    a_report_without_criteria_is_accepted_at_once,
    text_criteria_are_judged_by_a_person,
    file_criteria_need_a_workspace,
    a_failed_task_goes_to_another_worker_and_then_to_a_person,
    a_worker_that_failed_retries_only_if_it_is_alone,
    only_able_and_recently_seen_workers_count_as_others,
    an_invalid_report_is_refused_with_the_limits,
    reports_and_escalations_of_a_task_are_limited,
    usage_is_counted,
}

async fn a_report_without_criteria_is_accepted_at_once(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let report = finish(&fixture, &held).await;
    assert_eq!((report.verdict, report.attempt, report.context_score), (ReportVerdict::Accepted, 1, Some(4)));
    let shown = detail(&fixture, id).await;
    assert_eq!((shown.task.status, shown.task.lease, shown.task.assigned_to), (TaskStatus::Done, None, None));
    assert_eq!(shown.attempts[0].outcome, AttemptOutcome::Accepted);
    assert_eq!(shown.reports, [report]);
}

async fn text_criteria_are_judged_by_a_person(fixture: Fixture) {
    let project = shared(&fixture).await;
    let acceptance = vec![Criterion::Text { text: "It reads well".into() }];
    let id = add_one(&fixture, project, TaskAdd { acceptance, ..task("write") }).await;
    let held = taken(&fixture, project, "a").await;
    assert_eq!(finish(&fixture, &held).await.verdict, ReportVerdict::Pending);
    let asked = fixture.store.escalations(&fixture.bo, EscalationFilter::default()).await.unwrap();
    assert_eq!((asked[0].kind, asked[0].task), (EscalationKind::Judgement, id));
    assert_eq!(status(&fixture, id).await, TaskStatus::Escalated);
    let again = EscalationAnswer { option: Some("Retry".into()), act: None, text: Some("too dry".into()) };
    fixture.done(&fixture.bo, verbs::EscalationAnswer { escalation: asked[0].id, input: again }).await;
    let held = taken(&fixture, project, "a").await;
    assert_eq!(held.refused.as_deref(), Some("Bo: too dry"));
    assert!(held.brief.contains("too dry"), "{}", held.brief);
    finish(&fixture, &held).await;
    let asked = fixture.store.escalations(&fixture.bo, EscalationFilter::default()).await.unwrap();
    let accept = EscalationAnswer { option: Some("Accept".into()), act: None, text: None };
    let answered = fixture.done(&fixture.bo, verbs::EscalationAnswer { escalation: asked[0].id, input: accept }).await;
    assert_eq!(answered.act, Some(AnswerAct::Accept));
    let shown = detail(&fixture, id).await;
    assert_eq!(shown.task.status, TaskStatus::Done);
    let verdicts: Vec<_> = shown.reports.iter().map(|report| report.verdict).collect();
    assert_eq!(verdicts, [ReportVerdict::Refused, ReportVerdict::Accepted]);
    assert_eq!(shown.attempts[1].outcome, AttemptOutcome::Accepted);
    assert_eq!(fixture.raw().await.number("SELECT done FROM workers").await, 1);
}

async fn reports_and_escalations_of_a_task_are_limited(fixture: Fixture) {
    let project = shared(&fixture).await;
    let acceptance = vec![Criterion::Text { text: "It reads well".into() }];
    let id = add_one(&fixture, project, TaskAdd { acceptance, ..task("write") }).await;
    finish(&fixture, &taken(&fixture, project, "a").await).await;
    // The state after very many attempts.
    let (mut raw, long) = (fixture.raw().await, "x".repeat(100_000));
    let first = raw.rows("SELECT r.id, e.id FROM reports r, escalations e").await.remove(0);
    raw.run("BEGIN").await;
    for number in 1..=MAX_OF_ONE_TASK {
        let copied = "task, project, attempt, fence, worker";
        let rest = "deliverables, collected, verdict, results";
        let (report, question) = (ReportId::generate(), EscalationId::generate());
        raw.run(&format!(
            "INSERT INTO reports (id, {copied}, {rest}, at, summary) SELECT '{report}', {copied}, {rest}, at + {number}, \
             'number {number}' FROM reports WHERE id = '{}'; \
             INSERT INTO escalations (id, project, task, kind, options, created_at, context, question) SELECT \
             '{question}', project, task, kind, options, created_at + {number}, context, '{number} {long}' \
             FROM escalations WHERE id = '{}'",
            first[0], first[1]
        ))
        .await;
    }
    raw.run("COMMIT").await;
    let shown = detail(&fixture, id).await;
    assert_eq!(shown.reports.len(), MAX_OF_ONE_TASK);
    assert_eq!(shown.reports.last().unwrap().summary, format!("number {MAX_OF_ONE_TASK}"), "the newest");
    let listed = fixture.store.escalations(&fixture.bo, EscalationFilter::default()).await.unwrap();
    for asked in [&shown.escalations, &listed] {
        assert!(asked.iter().map(|one| one.question.len()).sum::<usize>() <= MAX_LISTED_CHARACTERS);
        assert!(asked.len() > 70 && asked.last().unwrap().question.starts_with(&format!("{MAX_OF_ONE_TASK} ")));
    }
}

async fn file_criteria_need_a_workspace(fixture: Fixture) {
    let project = shared(&fixture).await;
    let acceptance = vec![Criterion::FileExists { path: "a.md".into() }];
    let id = add_one(&fixture, project, TaskAdd { acceptance, ..task("write") }).await;
    let held = taken(&fixture, project, "a").await;
    finish(&fixture, &held).await;
    let asked = fixture.store.escalations(&fixture.ada, EscalationFilter::default()).await.unwrap();
    assert_eq!((asked[0].kind, asked[0].task), (EscalationKind::Uncheckable, id));
}

async fn a_failed_task_goes_to_another_worker_and_then_to_a_person(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("hard")).await;
    add_one(&fixture, project, task("easy")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.done(&fixture.ada, failure(id, held.lease.fence, "no idea")).await;
    let shown = detail(&fixture, id).await;
    assert_eq!((shown.task.status, shown.task.reason.as_deref()), (TaskStatus::Ready, Some("no idea")));
    assert_eq!(shown.reports[0].verdict, ReportVerdict::Refused);
    assert_eq!(taken(&fixture, project, "a").await.task.description, "easy", "others go first");
    let second = taken(&fixture, project, "b").await;
    assert_eq!((second.task.id, second.refused.as_deref()), (id, Some("no idea")));
    fixture.done(&fixture.ada, failure(id, second.lease.fence, "me neither")).await;
    let shown = detail(&fixture, id).await;
    assert_eq!(shown.task.status, TaskStatus::Escalated);
    assert_eq!(shown.escalations[0].kind, EscalationKind::GaveUp);
    assert_eq!(shown.attempts.iter().map(|attempt| attempt.outcome).collect::<Vec<_>>(), [AttemptOutcome::Failed; 2]);
}

async fn a_worker_that_failed_retries_only_if_it_is_alone(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("hard")).await;
    let held = taken(&fixture, project, "a").await;
    fixture.done(&fixture.ada, failure(id, held.lease.fence, "no idea")).await;
    assert_eq!(taken(&fixture, project, "a").await.task.id, id, "there is no other worker");
    let again = taken(&fixture, project, "a").await;
    assert!(take(&fixture, project, "b").await.taken.is_none());
    let input = protocol::TaskRelease { fence: again.lease.fence, reason: None };
    fixture.done(&fixture.ada, verbs::TaskRelease { task: id, input }).await;
    assert_eq!(why_not(&fixture, project, "a").await, "`a` failed at the ready tasks: other workers go first");
}

async fn only_able_and_recently_seen_workers_count_as_others(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, TaskAdd { needs: vec!["rust".into()], ..task("hard") }).await;
    assert!(take(&fixture, project, "plain").await.taken.is_none(), "it lacks rust");
    let able = |name: &str| {
        let mut takes = takes(project, name);
        takes.input.abilities = vec!["rust".into()];
        takes
    };
    let held = fixture.done(&fixture.ada, able("a")).await.taken.unwrap();
    let nothing = fixture.done(&fixture.ada, able("b")).await;
    assert!(nothing.taken.is_none());
    fixture.done(&fixture.ada, failure(id, held.lease.fence, "no idea")).await;
    let why = fixture.done(&fixture.ada, able("a")).await.why_not.unwrap();
    assert_eq!(why, "`a` failed at the ready tasks: other workers go first");
    fixture.pass(11 * 60_000);
    let again = fixture.done(&fixture.ada, able("a")).await.taken;
    assert_eq!(again.map(|taken| taken.task.id), Some(id), "`b` was silent for too long, and `plain` is not able");
}

async fn an_invalid_report_is_refused_with_the_limits(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let mut wrong = report(id, held.lease.fence, "done");
    wrong.input.context_score = Some(6);
    assert_eq!(invalid(&fixture.refused(&fixture.ada, wrong).await), "`context_score` is 1 to 5, not 6");
    let empty = fixture.refused(&fixture.ada, report(id, held.lease.fence, " ")).await;
    assert!(invalid(&empty).contains("`summary` is empty"), "{empty}");
    assert_eq!(status(&fixture, id).await, TaskStatus::Assigned);
}

async fn usage_is_counted(fixture: Fixture) {
    let project = shared(&fixture).await;
    let id = add_one(&fixture, project, task("one")).await;
    let held = taken(&fixture, project, "a").await;
    let mut report = report(id, held.lease.fence, "done");
    let usage = Usage { input_tokens: 10, cached_tokens: 2, output_tokens: 5, cost_micros: Some(77) };
    report.input.usage = Some(usage.clone());
    fixture.done(&fixture.ada, report).await;
    assert_eq!(detail(&fixture, id).await.attempts[0].usage, usage);
}
