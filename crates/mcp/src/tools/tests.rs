//! The tools over scripted verbs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use domain::{
    ActivityId, OverlapId, ProjectId, ReservationId, SessionId, TaskId, TaskStatus, Timestamp, UserId, WorkerId,
};
use parking_lot::Mutex;
use protocol::{
    Answer, Attempt, Call, Criterion, CriterionResult, Lease, OverlapPlace, OverlapSide, Problem, ProblemKind, Report,
    Reservation, Taken, TakenTask, Task, TaskDetail, UserRef, WorkOverlap,
};
use serde_json::{Value, json};

use super::{ALL, run};
use crate::{Desk, Running, Settings, Verbs};

/// Answers calls from a list, and records them.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<Answer, Problem>>>,
    asked: Mutex<Vec<Call>>,
}

impl Verbs for Script {
    fn run(&self, call: Call) -> Running<'_> {
        let answer = match &call {
            Call::TaskHeartbeat { input, .. } if input.progress.is_none() => Ok(Answer::Lease(lease(input.fence))),
            _ => self.answers.lock().pop_front().unwrap_or_else(|| panic!("nothing is scripted for {call:?}")),
        };
        self.asked.lock().push(call);
        Box::pin(async move { answer })
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(1_000)
}

fn lease(fence: u64) -> Lease {
    Lease { worker: WorkerId::generate(), fence, expires_at: now(), edits: 0 }
}

/// There is a lease while a worker works, and none while a report is checked.
fn task(id: TaskId, status: TaskStatus, fence: u64) -> Task {
    let works = matches!(status, TaskStatus::Assigned | TaskStatus::Running);
    Task {
        id,
        short: "CALC-12".into(),
        project: ProjectId::generate(),
        activity: None,
        description: "Write it".into(),
        context: String::new(),
        acceptance: vec![],
        files: vec![],
        deps: vec![],
        priority: 5,
        needs: vec![],
        labels: vec![],
        status,
        reason: None,
        attempt: 1,
        lease: works.then(|| lease(fence)),
        assigned_to: None,
        session: None,
        progress: None,
        edits: 0,
        created_by: UserRef { id: UserId::generate(), name: "ann".into() },
        author_kind: domain::AuthorKind::User,
        author_session: None,
        created_at: now(),
        updated_at: now(),
    }
}

fn taken(id: TaskId, fence: u64) -> Answer {
    let task = task(id, TaskStatus::Assigned, fence);
    let brief = "Write it well.".to_owned();
    let taken = TakenTask { task, lease: lease(fence), heartbeat_seconds: 30, handover: None, refused: None, brief };
    Answer::Taken(Taken { taken: Some(taken), why_not: None })
}

fn report(id: TaskId, verdict: domain::ReportVerdict, reasons: &[&str]) -> Report {
    let results = reasons.iter().map(|reason| CriterionResult {
        criterion: 0,
        passed: Some(false),
        reason: (*reason).to_owned(),
    });
    Report {
        id: "rep_01900000000070008000000000000001".parse().unwrap(),
        task: id,
        attempt: 1,
        worker: WorkerId::generate(),
        at: now(),
        summary: "done".into(),
        deliverables: protocol::Deliverables::default(),
        context_score: None,
        usage: None,
        collected: false,
        verdict,
        results: results.collect(),
        reason: None,
    }
}

fn shown(task: Task, fence: u64, reports: Vec<Report>) -> Answer {
    let attempt = Attempt {
        number: task.attempt,
        fence,
        worker: WorkerId::generate(),
        worker_name: "ann".into(),
        agent: "external".into(),
        sessions: vec![],
        workspace: None,
        branch: None,
        started_at: now(),
        ended_at: None,
        outcome: domain::AttemptOutcome::Open,
        reason: None,
        usage: protocol::Usage::default(),
    };
    Answer::TaskDetail(TaskDetail {
        task,
        deps: vec![],
        dependants: vec![],
        attempts: vec![attempt],
        reports,
        escalations: vec![],
    })
}

fn desk(answers: impl IntoIterator<Item = Result<Answer, Problem>>) -> (Arc<Desk>, Arc<Script>) {
    let script = Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() });
    let settings = Settings { project: Some(ProjectId::generate().to_string()), ..Settings::default() };
    (Arc::new(Desk::new(script.clone(), settings)), script)
}

async fn call(desk: &Arc<Desk>, tool: &str, given: Value) -> Result<Value, String> {
    let spec = ALL.iter().find(|spec| spec.name == tool).unwrap();
    let Value::Object(given) = given else { panic!("arguments are an object") };
    run(spec, desk.clone(), Some(given)).await.map_err(|trouble| trouble.text)
}

#[tokio::test(start_paused = true)]
async fn a_worker_takes_reports_is_refused_and_reports_again() {
    let id = TaskId::generate();
    let accepted = report(id, domain::ReportVerdict::Accepted, &[]);
    let refused = report(id, domain::ReportVerdict::Refused, &["src/a.rs is not there"]);
    let (desk, script) = desk([
        Ok(taken(id, 7)),
        Ok(Answer::Report(report(id, domain::ReportVerdict::Pending, &[]))),
        Ok(shown(task(id, TaskStatus::Validating, 7), 7, vec![report(id, domain::ReportVerdict::Pending, &[])])),
        Ok(shown(task(id, TaskStatus::Running, 7), 7, vec![refused])),
        Ok(Answer::Report(report(id, domain::ReportVerdict::Pending, &[]))),
        Ok(shown(task(id, TaskStatus::Done, 7), 7, vec![accepted])),
    ]);
    let answer = call(&desk, "take_task", json!({})).await.unwrap();
    assert_eq!((&answer["task"], &answer["fence"], &answer["taken"]), (&json!(id), &json!(7), &json!(true)));
    assert_eq!(answer["brief"], "Write it well.");

    tokio::time::sleep(Duration::from_secs(100)).await;
    let beats = || script.asked.lock().iter().filter(|call| matches!(call, Call::TaskHeartbeat { .. })).count();
    assert_eq!(beats(), 3, "every thirty seconds, without the model");

    let answer = call(&desk, "report", json!({ "summary": "done" })).await.unwrap();
    assert_eq!(answer["verdict"], "refused");
    assert_eq!(answer["reasons"], json!(["src/a.rs is not there"]));
    assert!(answer["next"].as_str().unwrap().contains("report again"));
    let answer = call(&desk, "report", json!({ "summary": "mended", "files": ["src/a.rs"] })).await.unwrap();
    assert_eq!(answer["verdict"], "accepted");
    let fences: Vec<u64> = script
        .asked
        .lock()
        .iter()
        .filter_map(|call| if let Call::TaskReport { input, .. } = call { Some(input.fence) } else { None })
        .collect();
    assert_eq!(fences, [7, 7]);

    let before = beats();
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(beats(), before, "the lease of a done task is not renewed");
    let error = call(&desk, "report", json!({ "summary": "again" })).await.unwrap_err();
    assert!(error.contains("You hold no task") && error.contains("take_task"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_lease_tells_the_model_to_stop() {
    let id = TaskId::generate();
    let conflict = || Problem::new(ProblemKind::Conflict, "another worker has this task");
    let gone = || Ok(shown(task(id, TaskStatus::Running, 8), 8, vec![]));
    let (desk, _) = desk([Ok(taken(id, 7)), Err(conflict()), gone()]);
    call(&desk, "take_task", json!({})).await.unwrap();
    let error = call(&desk, "report", json!({ "summary": "done" })).await.unwrap_err();
    assert!(error.contains("another worker has this task. Stop working on this task"), "{error}");
    assert!(desk.is_empty());
}

/// A desk with a reported task that has no verdict yet.
async fn handed_in(id: TaskId, later: impl IntoIterator<Item = Result<Answer, Problem>>) -> (Arc<Desk>, Arc<Script>) {
    let pending = || report(id, domain::ReportVerdict::Pending, &[]);
    let checking = shown(task(id, TaskStatus::Validating, 7), 7, vec![pending()]);
    let first = [Ok(taken(id, 7)), Ok(Answer::Report(pending())), Ok(checking)];
    let (desk, script) = desk(first.into_iter().chain(later));
    call(&desk, "take_task", json!({})).await.unwrap();
    let answer = call(&desk, "report", json!({ "summary": "done", "wait_seconds": 0 })).await.unwrap();
    assert_eq!(answer["verdict"], "pending");
    (desk, script)
}

#[tokio::test(start_paused = true)]
async fn a_late_verdict_can_be_waited_for_again() {
    let id = TaskId::generate();
    let judged = |verdict, status| Ok(shown(task(id, status, 7), 7, vec![report(id, verdict, &["no tests"])]));
    let checking = || judged(domain::ReportVerdict::Pending, TaskStatus::Validating);

    let accepted = judged(domain::ReportVerdict::Accepted, TaskStatus::Done);
    let (desk, _) = handed_in(id, [checking(), accepted]).await;
    let answer = call(&desk, "report", json!({ "summary": "same" })).await.unwrap();
    assert_eq!(answer["verdict"], "accepted");
    assert!(desk.is_empty());

    let refused = judged(domain::ReportVerdict::Refused, TaskStatus::Running);
    let (desk, script) =
        handed_in(id, [refused, Ok(Answer::Report(report(id, domain::ReportVerdict::Pending, &[]))), checking()]).await;
    let answer = call(&desk, "report", json!({ "summary": "same" })).await.unwrap();
    assert_eq!((&answer["verdict"], &answer["reasons"]), (&json!("refused"), &json!(["no tests"])));
    let reported = || script.asked.lock().iter().filter(|call| matches!(call, Call::TaskReport { .. })).count();
    assert_eq!(reported(), 1, "waiting for the verdict does not report again");
    call(&desk, "report", json!({ "summary": "mended", "wait_seconds": 0 })).await.unwrap();
    assert_eq!(reported(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_found_after_a_restart() {
    let id = TaskId::generate();
    let done = || Ok(shown(task(id, TaskStatus::Done, 7), 7, vec![report(id, domain::ReportVerdict::Accepted, &[])]));
    let conflict = Problem::new(ProblemKind::Conflict, "it is done");
    let (desk, _) = desk([Err(conflict), done(), done()]);
    let answer = call(&desk, "report", json!({ "summary": "same", "task": id, "fence": 7 })).await.unwrap();
    assert_eq!(answer["verdict"], "accepted");
}

#[tokio::test(start_paused = true)]
async fn a_reported_task_is_kept_until_another_is_taken() {
    let id = TaskId::generate();
    let checking = || Ok(shown(task(id, TaskStatus::Validating, 7), 7, vec![]));
    let none = Ok(Answer::Taken(Taken { taken: None, why_not: None }));
    let (desk, _) = handed_in(id, [checking(), none, checking(), Ok(taken(TaskId::generate(), 3))]).await;
    assert_eq!(call(&desk, "take_task", json!({})).await.unwrap()["taken"], false);
    assert!(!desk.is_empty(), "it may be refused and return");
    let other = call(&desk, "take_task", json!({})).await.unwrap();
    assert_eq!(desk.hold(None, None).await.unwrap().task.to_string(), other["task"]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_is_silent_for_too_long_over_http_loses_the_lease() {
    let id = TaskId::generate();
    let script = Arc::new(Script { answers: Mutex::new(VecDeque::from([Ok(taken(id, 7))])), asked: Mutex::default() });
    let project = Some(ProjectId::generate().to_string());
    let settings = Settings { project, grace: Some(Duration::from_secs(100)), ..Settings::default() };
    let desk = Arc::new(Desk::new(script.clone(), settings));
    call(&desk, "take_task", json!({})).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1000)).await;
    assert_eq!(script.asked.lock().len(), 1 + 3, "one take, and three beats within the hundred seconds");
}

#[tokio::test(start_paused = true)]
async fn a_sessions_agent_holds_its_task_without_taking_it() {
    let (id, session) = (TaskId::generate(), SessionId::generate());
    let mut mine = task(id, TaskStatus::Running, 3);
    mine.session = Some(session);
    let mut theirs = mine.clone();
    theirs.session = Some(SessionId::generate());
    let answers = [Ok(shown(mine, 3, vec![])), Ok(Answer::Lease(lease(3))), Ok(shown(theirs, 3, vec![]))];
    let script = Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() });
    let settings = Settings { session: Some(session), task: Some(id), ..Settings::default() };
    let desk = Arc::new(Desk::new(script.clone(), settings));
    call(&desk, "heartbeat", json!({ "progress": "half" })).await.unwrap();
    let asked = script.asked.lock().clone();
    assert!(matches!(&asked[1], Call::TaskHeartbeat { task, input } if *task == id && input.fence == 3), "{asked:?}");
    let error = call(&desk, "heartbeat", json!({ "progress": "half" })).await.unwrap_err();
    assert!(error.contains("You hold no task"), "another session has it now: {error}");
}

#[tokio::test]
async fn invalid_tasks_are_refused_with_their_place() {
    let (desk, script) = desk([]);
    for (tasks, place) in [
        (json!(["text"]), "`tasks[0]` is the string \"text\"; it takes an object"),
        (json!([{ "description": "a" }, { "descriptoin": "b" }]), "tasks[1] is invalid: unknown field"),
        (json!([{ "description": "a", "acceptance": [{ "kind": "file" }] }]), "did you mean `file_exists`?"),
        (json!([{ "description": "a", "acceptance": [{ "kind": "file_exists" }] }]), "missing field `path`"),
        (
            json!([{ "description": "a", "acceptance": ["committed", "comand: make"] }]),
            "tasks[0].acceptance[1]: `comand` is not a kind of criterion; did you mean `command`?",
        ),
    ] {
        let error = call(&desk, "add_tasks", json!({ "tasks": tasks })).await.unwrap_err();
        assert!(error.contains(place), "{error}");
    }
    assert!(script.asked.lock().is_empty(), "nothing was added");
}

/// An example value for a property.
fn example(name: &str, schema: &Value) -> Value {
    match (schema["type"].as_str().unwrap(), schema["enum"].as_array()) {
        (_, Some(words)) => words[0].clone(),
        ("string", _) if name == "task" || name == "after" => json!(TaskId::generate()),
        ("string", _) if name == "activity" => json!(domain::ActivityId::generate()),
        ("string", _) if name == "thread" => json!(domain::ThreadId::generate()),
        ("string", _) => json!("text"),
        ("integer", _) => schema.get("minimum").cloned().unwrap_or(json!(1)),
        ("number", _) => json!(0.5),
        ("boolean", _) => json!(true),
        ("array", _) => json!([example(name, &schema["items"])]),
        ("object", _) => {
            let properties = schema["properties"].as_object().cloned().unwrap_or_default();
            properties.iter().map(|(name, schema)| (name.clone(), example(name, schema))).collect()
        }
        (other, _) => panic!("{name} is of type {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn tools_accept_exactly_what_their_schemas_offer() {
    for spec in ALL {
        let schema = (spec.schema)();
        let Value::Object(mut given) = example(spec.name, &schema) else { panic!("arguments are an object") };
        if spec.name == "activity_update" {
            given.remove("append");
        }
        if spec.name == "merge_request" {
            given["after"] = json!(domain::CandidateId::generate());
        }
        if spec.name == "artifact_get" {
            given["artifact"] = json!(domain::ArtifactId::generate());
        }
        if spec.name == "release" {
            given["reservation"] = json!(ReservationId::generate());
        }
        if spec.name == "artifact_list" {
            given["execution"] = json!(domain::ExecutionId::generate());
        }
        if spec.name == "add_tasks" {
            given["tasks"][0]["acceptance"] = json!(["committed"]);
        }
        if spec.name == "edit_task" {
            given["acceptance"] = json!(["committed"]);
        }
        let (desk, _) = desk([Err(Problem::new(ProblemKind::Unavailable, "scripted"))]);
        let answer = run(spec, desk.clone(), Some(given.clone())).await.unwrap_err();
        // A call that reached the hub was understood, as was one that only a session may make.
        assert!(
            answer.text.starts_with("scripted")
                || answer.text.contains("nothing is scripted")
                || (spec.name.starts_with("handoff_") && answer.text.starts_with("Only agents in sessions")),
            "{}: {answer:?}",
            spec.name
        );
        given.insert("nonsense".into(), json!(1));
        let error = run(spec, desk, Some(given)).await.unwrap_err().text;
        assert!(error.contains("There is no argument `nonsense`"), "{}: {error}", spec.name);
        assert!(spec.description.contains('{'), "{} shows an example", spec.name);
        assert!(spec.description.len() < 1000, "{} is read by models each time", spec.name);
    }
}

#[tokio::test]
async fn criteria_are_lines_or_objects() {
    let command = || Criterion::Command {
        argv: ["make", "test"].map(str::to_owned).to_vec(),
        exit_code: None,
        timeout_seconds: None,
    };
    let object = json!({ "kind": "command", "argv": ["make", "test"], "exit_code": null });
    for one in [json!("command: make test"), object, json!("{\"kind\": \"command\", \"argv\": [\"make\", \"test\"]}")] {
        for name in ["acceptance", "accept"] {
            let (desk, script) = desk([Err(Problem::new(ProblemKind::Unavailable, "scripted"))]);
            let labels = json!(["ui"]);
            call(&desk, "add_tasks", json!({ "tasks": [{ "description": "a", name: [one], "labels": labels }] }))
                .await
                .unwrap_err();
            let asked = script.asked.lock().clone();
            let [Call::TaskAdd { input, .. }] = asked.as_slice() else { panic!("{asked:?}") };
            assert_eq!(input.tasks[0].acceptance, [command()], "{name}: {one}");
            assert_eq!(input.tasks[0].labels, ["ui"]);
            let (desk, script) = self::desk([Err(Problem::new(ProblemKind::Unavailable, "scripted"))]);
            call(&desk, "edit_task", json!({ "task": TaskId::generate(), name: [one], "labels": labels }))
                .await
                .unwrap_err();
            let asked = script.asked.lock().clone();
            let [Call::TaskEdit { input, .. }] = asked.as_slice() else { panic!("{asked:?}") };
            assert_eq!(input.acceptance.as_deref(), Some([command()].as_slice()), "{name}: {one}");
            assert_eq!(input.labels.as_deref(), Some(["ui".to_owned()].as_slice()));
        }
    }
}

/// An overlap of files that are reserved for one activity, and changed in another.
fn declared(reserver: ActivityId, changer: ActivityId, made: &Reservation) -> WorkOverlap {
    let owner = UserRef { id: UserId::generate(), name: "bo".into() };
    let side = |activity, name: &str| OverlapSide {
        activity,
        name: name.into(),
        workspace: None,
        reservation: None,
        task: None,
        until: None,
        owner: owner.clone(),
    };
    let kind = domain::OverlapKind::Declared;
    let path = "src/parser.rs".to_owned();
    WorkOverlap {
        id: OverlapId::generate(),
        project: made.project,
        one: OverlapSide { reservation: Some(made.id), until: Some(made.expires_at), ..side(reserver, "Add parser") },
        other: Some(OverlapSide { workspace: Some(domain::WorkspaceId::generate()), ..side(changer, "Tidy") }),
        base: None,
        kind,
        places: vec![OverlapPlace { path, kind, first: None, last: None, symbol: None, why: "declared".into() }],
        more: 0,
        since: now(),
        updated_at: now(),
        ended_at: None,
    }
}

fn reservation(activity: ActivityId) -> Reservation {
    Reservation {
        id: ReservationId::generate(),
        project: ProjectId::generate(),
        activity,
        name: "Add parser".into(),
        by: UserRef { id: UserId::generate(), name: "ann".into() },
        by_agent: true,
        patterns: vec!["src/**".into()],
        reason: None,
        since: now(),
        expires_at: Timestamp::from_millis(52_200_000),
        ended_at: None,
    }
}

#[tokio::test]
async fn an_agent_reserves_and_releases_for_its_own_activity() {
    let (mine, theirs) = (ActivityId::generate(), ActivityId::generate());
    let made = reservation(mine);
    let answers = [
        Ok(Answer::Reservation(made.clone())),
        Ok(Answer::Overlaps(vec![declared(mine, theirs, &made)])),
        Ok(Answer::Reservations(vec![made.clone()])),
        Ok(Answer::Reservation(made.clone())),
    ];
    let script = Arc::new(Script { answers: Mutex::new(answers.into_iter().collect()), asked: Mutex::default() });
    let desk = Arc::new(Desk::new(script.clone(), Settings { activity: Some(mine), ..Settings::default() }));
    let answer = call(&desk, "reserve", json!({ "files": ["src/**"], "minutes": 30 })).await.unwrap();
    assert_eq!(answer["meets"][0]["with"]["name"], "Tidy", "{answer}");
    assert_eq!(answer["meets"][0]["with"]["state"], "Changed");
    assert!(answer["next"].as_str().unwrap().contains("read `meets`"), "{answer}");
    let answer = call(&desk, "release", json!({})).await.unwrap();
    assert_eq!(answer["released"][0]["reservation"], json!(made.id), "{answer}");
    let asked = script.asked.lock();
    assert!(
        matches!(&asked[0], Call::OverlapReserve { activity, input } if *activity == mine && input.seconds == Some(1800)),
        "{asked:?}"
    );
    assert!(matches!(&asked[3], Call::OverlapRelease { reservation } if *reservation == made.id), "{asked:?}");
}

#[tokio::test]
async fn an_agent_without_an_activity_is_told_what_to_name() {
    let (desk, _) = desk([]);
    let error = call(&desk, "reserve", json!({ "files": ["src"] })).await.unwrap_err();
    assert!(error.contains("Name the activity in `activity`"), "{error}");
}

#[tokio::test]
async fn an_agent_is_told_once_of_files_that_others_reserved() {
    let (mine, theirs) = (ActivityId::generate(), ActivityId::generate());
    let overlap = declared(theirs, mine, &reservation(theirs));
    let beat = || [Ok(Answer::Lease(lease(7))), Ok(Answer::Overlaps(vec![overlap.clone()]))];
    let answers = beat().into_iter().chain(beat()).collect();
    let script = Arc::new(Script { answers: Mutex::new(answers), asked: Mutex::default() });
    let (session, task) = (Some(SessionId::generate()), Some(TaskId::generate()));
    let settings = Settings { activity: Some(mine), session, task, fence: Some(7), ..Settings::default() };
    let desk = Arc::new(Desk::new(script, settings));
    let answer = call(&desk, "heartbeat", json!({ "progress": "half" })).await.unwrap();
    assert_eq!(answer["declared"][0]["with"]["state"], "Reserved by `Add parser` until 14:30 UTC", "{answer}");
    assert!(answer["next"].as_str().unwrap().contains("before you edit"), "{answer}");
    let again = call(&desk, "heartbeat", json!({ "progress": "more" })).await.unwrap();
    assert!(again.get("declared").is_none(), "{again}");
}

#[test]
fn what_to_do_follows_the_most_severe_overlap() {
    use domain::OverlapKind::{Base, Declared, SameFile, SameLines, SameSymbol};
    let (mine, theirs) = (ActivityId::generate(), ActivityId::generate());
    let declared = declared(mine, theirs, &reservation(mine));
    let met = |kind| match kind {
        Base => WorkOverlap { kind, other: None, base: Some("main".into()), ..declared.clone() },
        _ => WorkOverlap { kind, ..declared.clone() },
    };
    for (kinds, expected) in [
        (vec![], "meets no other work"),
        (vec![Declared], "Others have reserved"),
        (vec![SameFile, Declared], "keep your changes small"),
        (vec![SameFile, SameSymbol, Declared], "Ask the other side"),
        (vec![Base, SameSymbol], "merge that branch into yours"),
        (vec![Base, SameLines], "agree with the other side"),
    ] {
        let found: Vec<_> = kinds.iter().copied().map(met).collect();
        let next = super::overlaps::next(&found);
        assert!(next.contains(expected), "{kinds:?}: {next}");
    }
}
