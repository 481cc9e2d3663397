//! Reports that runners check.

use domain::{AnswerAct, AttemptOutcome, EscalationKind, ReportId, ReportVerdict, TaskId, TaskStatus, WorkerStatus};
use protocol::link::{Changes, CheckTrouble, FactBody};
use protocol::{Criterion, CriterionResult, EscalationAnswer, TaskAdd, WorkerStop, verbs};

use store::Caller;

use super::conflicts::changes;
use super::{Shop, checked, plain};
use crate::execution::runner;
use crate::fixture::Fixture;

both!(
    a_report_is_accepted_or_goes_back_with_the_unmet_criteria,
    a_task_refused_too_often_goes_to_another_worker_and_then_to_a_person,
    a_worker_without_progress_loses_its_task,
    a_stuck_task_is_escalated_once,
    only_people_with_access_to_the_session_see_patches,
    only_people_with_access_to_the_session_see_command_output,
    a_report_is_judged_even_if_its_worker_is_stopped,
    an_uncheckable_report_is_escalated,
    only_the_checking_runner_reports_the_result,
    a_report_is_pending_until_its_runner_starts_the_check,
);

fn result(passed: bool, reason: &str) -> CriterionResult {
    CriterionResult { criterion: 0, passed: Some(passed), reason: reason.into() }
}

impl Shop {
    /// The pending report of a task.
    pub(super) async fn pending(&self, task: TaskId) -> ReportId {
        let (_, checks) = self.desired().await;
        checks.iter().find(|check| check.task == task).expect("its report is to be checked").report
    }

    pub(super) async fn found(&mut self, task: TaskId, passed: bool, reason: &str, changes: Option<Changes>) {
        let report = self.pending(task).await;
        let results = vec![result(passed, reason)];
        self.memory.happened(&self.fixture, FactBody::Checked { report, results, changes }).await;
    }
}

async fn a_report_is_accepted_or_goes_back_with_the_unmet_criteria(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    let first = shop.session(task).await;
    shop.costs(first, 5).await;
    shop.finishes(task, "Wrote it.").await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported);
    assert_eq!(shop.worker(worker.id).await.task, Some(task), "it waits for the verdict");
    shop.found(task, false, "`out.txt` does not exist", None).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.task.attempt), (TaskStatus::Running, 1), "back under the same lease");
    let second = detail.task.session.unwrap();
    assert_ne!(first, second);
    let (sessions, checks) = shop.desired().await;
    assert!(checks.is_empty());
    let plan = sessions.iter().find(|plan| plan.session == second).unwrap();
    assert_eq!(plan.conversation.as_deref(), Some("thread-1"), "it resumes the conversation");
    assert!(plan.prompt.contains("`out.txt` does not exist"), "{}", plan.prompt);
    assert_eq!(detail.attempts[0].sessions, [first, second]);
    shop.finishes(task, "Now it is there.").await;
    let report = shop.pending(task).await;
    shop.found(task, true, "it is there", None).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Done);
    let again = FactBody::Checked { report, results: vec![result(false, "no")], changes: None };
    shop.memory.happened(&shop.fixture, again).await;
    assert_eq!(shop.detail(task).await, detail, "the first verdict counts");
    assert_eq!(shop.worker(worker.id).await.done, 1);
}

async fn a_task_refused_too_often_goes_to_another_worker_and_then_to_a_person(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let task = shop.add(vec![checked("Hopeless")]).await[0];
    let mut holders = Vec::new();
    for round in 0..6 {
        shop.dispatch().await;
        holders.push(shop.task(task).await.assigned_to.unwrap());
        shop.finishes(task, &format!("Try {round}")).await;
        shop.found(task, false, "still wrong", Some(changes(&format!("t{round}"), (1, 1)))).await;
    }
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Escalated);
    assert_eq!(detail.escalations[0].kind, EscalationKind::Refused);
    assert_eq!(detail.attempts.len(), 2);
    assert!(detail.attempts.iter().all(|attempt| attempt.outcome != AttemptOutcome::Open));
    assert!(holders[..3].iter().all(|worker| *worker == holders[0]), "sent back twice");
    assert!(holders[3..].iter().all(|worker| *worker == holders[3]) && holders[3] != holders[0]);
}

async fn a_worker_without_progress_loses_its_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let settings = protocol::WorkConfigure { tries_per_worker: Some(10), ..Default::default() };
    shop.configure(settings).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Turn in circles")]).await[0];
    shop.dispatch().await;
    let holder = shop.task(task).await.assigned_to;
    for round in 0..3 {
        assert_eq!(shop.task(task).await.assigned_to, holder, "round {round}");
        shop.finishes(task, "All done!").await;
        shop.found(task, false, "nothing changed", Some(changes("same", (1, 1)))).await;
    }
    assert_eq!(shop.task(task).await.assigned_to, None, "the same worker does not get it again");
    let log = shop.log().await;
    let stuck = log.iter().find(|entry| entry.what.word() == "stuck").expect("it is logged");
    assert!(stuck.reason.contains("3 reports by codex"), "{}", stuck.reason);
}

async fn a_stuck_task_is_escalated_once(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.configure(protocol::WorkConfigure { tries_per_worker: Some(10), ..Default::default() }).await;
    shop.start(2).await;
    let task = shop.add(vec![checked("Turn in circles")]).await[0];
    let mut entries = Vec::new();
    for _ in 0..4 {
        shop.dispatch().await;
        shop.finishes(task, "All done!").await;
        shop.found(task, false, "`out.txt` is empty", Some(changes("same", (1, 1)))).await;
        entries.push(shop.log().await.iter().filter(|entry| entry.what.word() == "stuck").count());
    }
    assert_eq!(entries, [0, 0, 1, 1], "the third report decides, and the fourth adds no entry");
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts.len()), (TaskStatus::Escalated, 2));
    let asked = &detail.escalations[0];
    assert_eq!(asked.kind, EscalationKind::Stuck);
    assert!(asked.question.contains("4 reports by codex left the same files and the same report"), "{asked:?}");
    assert!(asked.question.contains(": `out.txt` is empty. What should happen?"), "and why: {asked:?}");
    assert!(asked.context.text.contains("`out.txt` is empty"), "{asked:?}");
    assert!(asked.options.iter().any(|option| option.act == AnswerAct::Accept));
    let told: Vec<_> = shop.log().await.into_iter().filter(|entry| entry.what.word() == "escalated").collect();
    assert!(told.len() == 1 && told[0].reason.starts_with("stuck: 4 reports"), "{told:?}");
    // A retry by a person allows several more tries.
    let input = EscalationAnswer { option: None, act: Some(AnswerAct::Retry), text: None };
    shop.fixture.done(&shop.fixture.ada, verbs::EscalationAnswer { escalation: asked.id, input }).await;
    shop.fixture.pass(1_000);
    shop.dispatch().await;
    let holder = shop.task(task).await.assigned_to;
    for _ in 0..2 {
        shop.finishes(task, "All done!").await;
        shop.found(task, false, "`out.txt` is empty", Some(changes("same", (1, 1)))).await;
        assert_eq!(shop.task(task).await.assigned_to, holder);
    }
    shop.finishes(task, "All done!").await;
    shop.found(task, false, "`out.txt` is empty", Some(changes("same", (1, 1)))).await;
    assert_eq!(shop.log().await.iter().filter(|entry| entry.what.word() == "stuck").count(), 2);
}

async fn a_report_is_judged_even_if_its_worker_is_stopped(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let tasks = shop.add(vec![plain("Rename the function"), checked("Write out.txt")]).await;
    shop.dispatch().await;
    for task in &tasks {
        shop.ends(*task, "Done.").await;
    }
    for worker in &workers {
        let stop = verbs::WorkerStop { worker: worker.id, input: WorkerStop { force: false } };
        shop.fixture.done(&shop.fixture.ada, stop).await;
    }
    shop.looked_at(tasks[0], None).await;
    shop.found(tasks[1], true, "fine", None).await;
    for task in &tasks {
        let detail = shop.detail(*task).await;
        assert_eq!((detail.task.status, detail.reports[0].verdict), (TaskStatus::Done, ReportVerdict::Accepted));
    }
    for worker in &workers {
        let worker = shop.worker(worker.id).await;
        assert_eq!((worker.status, worker.task, worker.done), (WorkerStatus::Stopped, None, 1));
    }
}

async fn an_uncheckable_report_is_escalated(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Beyond reach")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    let report = shop.pending(task).await;
    let fact = FactBody::CheckFailed { report, detail: "the workspace is gone".into(), cause: CheckTrouble::Other };
    shop.memory.happened(&shop.fixture, fact).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.escalations[0].kind, EscalationKind::Uncheckable);
    assert!(detail.escalations[0].context.text.contains("gone"));
}

async fn only_the_checking_runner_reports_the_result(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Guarded")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    let report = shop.pending(task).await;
    let foreign = runner(&shop.fixture, &shop.fixture.bo, "foreign", 1).await;
    let mut liar = crate::execution::Memory::new(foreign);
    let fact = FactBody::Checked { report, results: vec![result(true, "trust me")], changes: None };
    liar.happened(&shop.fixture, fact).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported);
}

async fn a_report_is_pending_until_its_runner_starts_the_check(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Wrote it.").await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported);
    let report = shop.pending(task).await;
    let aside = runner(&shop.fixture, &shop.fixture.ada, "aside", 4).await;
    crate::execution::Memory::new(aside).happened(&shop.fixture, FactBody::Checking { report }).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported, "another runner may not report this");
    for _ in 0..2 {
        shop.memory.happened(&shop.fixture, FactBody::Checking { report }).await;
        assert_eq!(shop.task(task).await.status, TaskStatus::Validating);
        assert_eq!(shop.pending(task).await, report, "the check stays wanted until it is done");
    }
    shop.found(task, true, "it is there", None).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    shop.memory.happened(&shop.fixture, FactBody::Checking { report }).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done, "a later fact changes nothing");
}

async fn only_people_with_access_to_the_session_see_patches(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(2).await;
    let tasks = shop.add(vec![checked("Rename the function"), checked("Rewrite its body")]).await;
    shop.dispatch().await;
    for (index, task) in tasks.iter().enumerate() {
        shop.finishes(*task, "Done.").await;
        shop.found(*task, true, "fine", Some(changes(&format!("t{index}"), (10, 12)))).await;
    }
    // As if the second worker were external: the question has no session.
    shop.fixture.raw().await.run("UPDATE escalations SET session = NULL").await;
    let asked = async |caller: &Caller| {
        let store = &shop.fixture.store;
        let mut seen = store.task_detail(caller, tasks[1]).await.unwrap().escalations;
        seen.extend(store.escalations(caller, Default::default()).await.unwrap());
        seen.push(store.escalation(caller, seen[0].id).await.unwrap());
        for change in store.state(caller).await.unwrap().1 {
            if let protocol::Change::Escalation { escalation } = change {
                seen.push(escalation);
            }
        }
        assert_eq!(seen.len(), 4);
        seen.into_iter().map(|one| (one.context.diff, one.context.other_diff)).collect::<Vec<_>>()
    };
    for seen in asked(&shop.fixture.ada).await {
        assert_eq!(seen, (Some("+t1".into()), Some("+t0".into())));
    }
    for caller in [&shop.fixture.bo, &Fixture::observer(shop.project.id)] {
        for seen in asked(caller).await {
            assert_eq!(seen, (None, None), "{caller:?}");
        }
    }
    // The other output is Bo's: he sees that one, but not Ada's.
    let bo = crate::fixture::id(&shop.fixture.bo);
    shop.fixture.raw().await.run(&format!("UPDATE escalations SET other_owner = '{bo}'")).await;
    for seen in asked(&shop.fixture.bo).await {
        assert_eq!(seen, (None, Some("+t0".into())));
    }
}

async fn only_people_with_access_to_the_session_see_command_output(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let argv = vec!["cat".into(), "token".into()];
    let acceptance = vec![Criterion::Command { argv, exit_code: None, timeout_seconds: None }];
    let task = shop.add(vec![TaskAdd { acceptance, ..plain("Look around") }]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "sf_printed").await;
    shop.found(task, false, "`cat token` ended with 1 instead of 0; the end of what it printed:\nsf_hidden", None)
        .await;
    let open = "not met: `cat token` exits with 0 within 300 s";
    let whole = shop.detail(task).await;
    assert_eq!(whole.task.reason.as_deref(), Some(open), "everybody reads this");
    assert_eq!(whole.reports[0].summary, "sf_printed");
    assert!(whole.reports[0].reason.as_deref().unwrap().contains("sf_hidden"));
    assert!(whole.reports[0].results[0].reason.contains("sf_hidden"));
    let theirs = shop.fixture.store.task_detail(&shop.fixture.bo, task).await.unwrap();
    assert_eq!(theirs.reports[0].reason.as_deref(), Some(open));
    assert_eq!(theirs.reports[0].results[0].reason, open);
    assert_eq!(theirs.reports[0].results[0].passed, Some(false));
    assert_eq!((theirs.task.session, theirs.attempts[0].sessions.len()), (None, 0));
    let text = serde_json::to_string(&theirs).unwrap();
    assert!(!text.contains("sf_"), "{text}");
    let log = shop.fixture.store.work_log(&shop.fixture.bo, shop.project.id, Default::default()).await.unwrap();
    assert!(!serde_json::to_string(&log).unwrap().contains("sf_"), "{log:?}");
    for event in shop.fixture.heard().iter().filter(|event| event.execution_of.is_none()) {
        let text = serde_json::to_string(&event.body).unwrap();
        assert!(!text.contains("sf_hidden") && !text.contains("sf_printed"), "{text}");
    }
}
