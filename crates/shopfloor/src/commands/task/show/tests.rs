//! A task with everything that can have happened to it.

use domain::{
    AttemptOutcome, EscalationId, EscalationKind, ProjectId, ReportId, SessionId, TaskId, TaskStatus, Timestamp,
    UserId, WorkerId,
};
use protocol::{Deliverables, EscalationContext, Lease, Usage, UserRef};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_794_774_000_000 + seconds * 1_000)
}

fn ann() -> UserRef {
    UserRef { id: UserId::generate(), name: "ann".into() }
}

#[test]
fn everything_about_a_task_is_said() {
    let (id, worker, session, escalation) =
        (TaskId::generate(), WorkerId::generate(), SessionId::generate(), EscalationId::generate());
    let task = Task {
        id,
        short: "CALC-12".into(),
        project: ProjectId::generate(),
        activity: None,
        description: "Keep comments\n\nAll of \u{1b}[2Jthem.".into(),
        context: "See the lexer.".into(),
        acceptance: vec![
            Criterion::FileExists { path: "src/lexer.rs".into() },
            Criterion::Command { argv: vec!["make".into(), "test".into()], exit_code: None, timeout_seconds: None },
            Criterion::Text { text: "It reads well".into() },
        ],
        files: vec!["src/lexer.rs".into()],
        deps: Vec::new(),
        priority: 7,
        needs: vec!["rust".into()],
        labels: vec!["ui".into(), "v1".into()],
        status: TaskStatus::Escalated,
        reason: Some("refused too often".into()),
        attempt: 1,
        lease: Some(Lease { worker, fence: 4, expires_at: at(90), edits: 0 }),
        assigned_to: Some(worker),
        session: Some(session),
        progress: Some("half way".into()),
        edits: 0,
        created_by: ann(),
        author_kind: domain::AuthorKind::User,
        author_session: None,
        created_at: at(-3_600),
        updated_at: at(0),
    };
    let usage = Usage { input_tokens: 5, cached_tokens: 0, output_tokens: 7, cost_micros: None };
    let attempt = Attempt {
        number: 1,
        fence: 4,
        worker,
        worker_name: "codex-1".into(),
        agent: "codex".into(),
        sessions: vec![session],
        workspace: None,
        branch: Some("keep-comments".into()),
        started_at: at(-120),
        ended_at: Some(at(-30)),
        outcome: AttemptOutcome::Refused,
        reason: Some("tests fail".into()),
        usage,
    };
    let result = |criterion, passed, reason: &str| CriterionResult { criterion, passed, reason: reason.into() };
    let report = Report {
        id: ReportId::generate(),
        task: id,
        attempt: 1,
        worker,
        at: at(-31),
        summary: "Did it.".into(),
        deliverables: Deliverables {
            files: vec!["src/lexer.rs".into()],
            branch: None,
            commits: vec!["abc".into()],
            more_commits: 7,
        },
        context_score: Some(4),
        usage: None,
        collected: true,
        verdict: ReportVerdict::Refused,
        results: vec![result(0, Some(true), "there"), result(1, Some(false), "exit code 2"), result(2, None, "")],
        reason: Some("make test ends with 2".into()),
    };
    let late = Report { verdict: ReportVerdict::Late, results: vec![result(0, Some(false), "x")], ..report.clone() };
    let question = Escalation {
        id: escalation,
        project: task.project,
        task: id,
        title: "Keep comments".into(),
        kind: EscalationKind::Refused,
        worker: Some(worker),
        session: Some(session),
        question: "What now?".into(),
        options: Vec::new(),
        context: EscalationContext::default(),
        created_at: at(-30),
        answered_by: None,
        answered_at: None,
        answer: None,
        act: None,
    };
    let reports = vec![report, late];
    let detail = TaskDetail {
        task,
        deps: vec![],
        dependants: vec![],
        attempts: vec![attempt],
        reports,
        escalations: vec![question],
    };
    let out = Output { json: false, color: false, width: None, now: at(0) };
    let text = render(&detail, "Parser", &out);
    for part in [
        "status    ! escalated",
        "why       refused too often",
        "lease     ends in 1 min 30 s, fence 4",
        "All of \u{FFFD}[2Jthem.",
        "Context\n  See the lexer.",
        "Acceptance\n  ✓ met       src/lexer.rs exists\n  ✗ not met   `make test` passes\n               exit code 2\n  ? review    It reads well",
        "1. codex-1 (codex), taken 2 min ago: refused after 1 min 30 s\n     tests fail\n     branch: keep-comments",
        "recording play ses_",
        "attempt 1, 31 s ago: refused, context 4 of 5, from the agent's last message\n     Did it.\n     refused: make test",
        "files: src/lexer.rs\n     commits: 7 earlier, abc",
        "needs you, refused, 30 s ago: `shopfloor escalation answer esc_",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}
