//! What a runner is asked while somebody waits.

use domain::SessionStatus;
use protocol::link::{FromRunner, RunnerAnswer, RunnerAsk, ToRunner};
use protocol::{
    Call, LogPage, Problem, ProblemKind, RecordingHits, RecordingQuery, RecordingRange, Save, SessionLog,
    SessionScreen, SessionText, WorkspaceRestore,
};

use reqwest::Method;
use serde_json::json;

use super::{Fixture, share};
use crate::support::runner::Heard;
use crate::support::{Reply, begin, call, send};

impl Fixture {
    /// The verb's reply, while the runner says what `react` makes of the question.
    async fn while_asked(
        &mut self,
        verb: Call,
        react: impl FnOnce(u32, RunnerAsk) -> Option<FromRunner>,
    ) -> (Reply, RunnerAsk) {
        let credential = self.olga.clone();
        let runner = &mut self.runner;
        let answering = async {
            let asked = runner.told("an ask", |frame| matches!(frame, ToRunner::Ask { .. })).await;
            let ToRunner::Ask { id, ask } = asked else { unreachable!() };
            match react(id, ask.clone()) {
                Some(frame) => runner.tell(&frame).await,
                None => drop(runner.stream.close(None).await),
            }
            ask
        };
        tokio::join!(call(&self.hub, &credential, &verb), answering)
    }
}

fn told(answer: RunnerAnswer) -> impl FnOnce(u32, RunnerAsk) -> Option<FromRunner> {
    |id, _| Some(FromRunner::Told { id, answer })
}

#[tokio::test]
async fn a_picture_of_a_screen_is_requested_once_for_all_viewers() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let verb = Call::SessionScreen { session };
    let Fixture { hub, olga, pete, runner, .. } = &mut fixture;
    let answering = async {
        let asked = runner.told("an ask", |frame| matches!(frame, ToRunner::Ask { .. })).await;
        let ToRunner::Ask { id, ask } = asked else { unreachable!() };
        assert_eq!(ask, RunnerAsk::Screen { session });
        let answer = RunnerAnswer::Screen(SessionScreen { cols: 80, rows: 24, lines: vec!["hello".into()] });
        runner.tell(&FromRunner::Told { id, answer }).await;
    };
    let (hers, his, ()) = tokio::join!(call(hub, olga, &verb), call(hub, pete, &verb), answering);
    for reply in [hers, his] {
        assert_eq!((reply.status, reply.body["lines"][0].as_str()), (200, Some("hello")));
    }
    share(&fixture.hub, &fixture.olga, fixture.project, false).await;
    assert_eq!(call(&fixture.hub, &fixture.pete, &verb).await.status, 404, "not even a picture that is there");
}

#[tokio::test]
async fn an_answer_reaches_the_caller_that_waits_for_it() {
    let mut fixture = Fixture::new().await;
    let (session, workspace) = (fixture.session.id, fixture.session.workspace);
    let log = SessionLog { text: "hello".into(), truncated: false, setup: false };
    let verb = Call::SessionLog { session, page: LogPage { lines: Some(50_000), setup: None } };
    let (reply, asked) = fixture.while_asked(verb, told(RunnerAnswer::Log(log))).await;
    assert_eq!((reply.status, reply.body["text"].as_str()), (200, Some("hello")));
    assert_eq!(asked, RunnerAsk::Log { session, lines: 10_000, setup: false }, "at most this many");

    let printed = SessionLog { text: "npm ci".into(), truncated: false, setup: true };
    let setup = || Call::SessionLog { session, page: LogPage { lines: None, setup: Some(true) } };
    let (reply, asked) = fixture.while_asked(setup(), told(RunnerAnswer::Log(printed))).await;
    assert_eq!((reply.status, reply.body["setup"].as_bool()), (200, Some(true)));
    assert_eq!(asked, RunnerAsk::Log { session, lines: 1_000, setup: true });
    let shown = SessionLog { text: "a screen".into(), truncated: false, setup: false };
    let (reply, _) = fixture.while_asked(setup(), told(RunnerAnswer::Log(shown))).await;
    assert_eq!(reply.status, 503, "a runner that knows nothing of setups shows its terminal");

    let input = SessionText { text: "go on".into(), submit: true };
    let (reply, asked) = fixture.while_asked(Call::SessionSend { session, input }, told(RunnerAnswer::Done)).await;
    assert_eq!(reply.status, 204);
    assert_eq!(asked, RunnerAsk::Send { session, text: "go on".into(), submit: true });

    let save = Save { id: "abcdef".into(), at: fixture.session.created_at, files: 3, left_out: vec![], restored: None };
    let (reply, _) =
        fixture.while_asked(Call::WorkspaceSaves { workspace }, told(RunnerAnswer::Saves(vec![save]))).await;
    assert_eq!(reply.body[0]["files"], 3);
    let input = WorkspaceRestore { save: Some("abcdef".into()) };
    let (reply, asked) =
        fixture.while_asked(Call::WorkspaceRestore { workspace, input }, told(RunnerAnswer::Done)).await;
    assert_eq!((reply.status, asked), (204, RunnerAsk::Restore { workspace, save: Some("abcdef".into()) }));
    let (reply, _) = fixture.while_asked(Call::WorkspaceClean { workspace }, told(RunnerAnswer::Done)).await;
    assert_eq!(reply.status, 204);
    let verb = Call::RecordingSearch { session, query: RecordingQuery { text: "err".into() } };
    let (reply, _) =
        fixture.while_asked(verb, told(RunnerAnswer::Hits(RecordingHits { hits: vec![], truncated: true }))).await;
    assert_eq!((reply.status, reply.text.as_str()), (200, r#"{"hits":[],"truncated":true}"#));
}

#[tokio::test]
async fn a_refusal_is_passed_on_and_cannot_speak_for_the_hub() {
    let mut fixture = Fixture::new().await;
    let (session, workspace) = (fixture.session.id, fixture.session.workspace);
    let refuse = |kind, detail: &str| {
        let problem = Problem::new(kind, detail);
        move |id, _| Some(FromRunner::Refused { id, problem })
    };
    let (reply, _) = fixture
        .while_asked(Call::WorkspaceClean { workspace }, refuse(ProblemKind::Conflict, "3 files\u{1b}[2J"))
        .await;
    assert_eq!((reply.status, reply.body["detail"].as_str()), (409, Some("3 files\\u{1b}[2J")));
    let log = || Call::SessionLog { session, page: LogPage::default() };
    for kind in [ProblemKind::Unauthenticated, ProblemKind::Forbidden, ProblemKind::RateLimited, ProblemKind::Internal]
    {
        let (reply, _) = fixture.while_asked(log(), refuse(kind, "log in again")).await;
        assert_eq!(reply.status, 503, "{kind:?}");
    }
    let mut lying = Problem::new(ProblemKind::NotFound, "gone");
    lying.status = 200;
    let (reply, _) = fixture.while_asked(log(), |id, _| Some(FromRunner::Refused { id, problem: lying })).await;
    assert_eq!(reply.status, 404);
    // Something else than was asked for, and an answer that nobody waits for.
    let (reply, _) = fixture.while_asked(log(), told(RunnerAnswer::Done)).await;
    assert_eq!(reply.status, 503);
    fixture.runner.tell(&FromRunner::Told { id: 4_000_000, answer: RunnerAnswer::Done }).await;
    assert!(fixture.runner.sync().await.is_empty());
}

#[tokio::test]
async fn a_request_ends_when_its_runner_is_gone() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let part = || Call::RecordingPart { session, range: RecordingRange { from_ms: Some(5) } };
    let (reply, _) = fixture.while_asked(part(), |_, _| None).await;
    assert_eq!(reply.status, 503, "the link ended while it was asked: {}", reply.text);
    testkit::wait_until("the runner is gone", async || {
        let reply = call(&fixture.hub, &fixture.olga, &part()).await;
        (reply.status == 503 && reply.text.contains("not connected")).then_some(())
    })
    .await;
    let reply = call(&fixture.hub, &fixture.pete, &Call::RecordingShow { session }).await;
    assert_eq!(reply.status, 503);
    let stop = Call::SessionStop { session, input: Default::default() };
    assert_eq!(call(&fixture.hub, &fixture.olga, &stop).await.status, 200, "the wish is stored anyway");
    fixture.runner.again(fixture.hub.url()).await;
    fixture.runner.hello(8).await;
    fixture.runner.desired("the stop", |sessions| sessions.iter().any(|plan| !plan.run)).await;
}

#[tokio::test]
async fn a_request_to_a_silent_runner_times_out() {
    let mut fixture = Fixture::with(|options| options.limits.runner_answer_seconds = 1).await;
    let session = fixture.session.id;
    let late = |id| FromRunner::Told {
        id,
        answer: RunnerAnswer::Log(SessionLog { text: "x".into(), truncated: false, setup: false }),
    };
    let mut asked = 0;
    let credential = fixture.olga.clone();
    let verb = Call::SessionLog { session, page: LogPage::default() };
    let reply = call(&fixture.hub, &credential, &verb).await;
    assert!(reply.status == 503 && reply.text.contains("in time"), "{}", reply.text);
    for heard in fixture.runner.sync().await {
        if let Heard::Told(ToRunner::Ask { id, .. }) = heard {
            asked = id;
        }
    }
    // The answer comes too late, and the next question gets its own.
    fixture.runner.tell(&late(asked)).await;
    let answer = RunnerAnswer::Log(SessionLog { text: "in time".into(), truncated: false, setup: false });
    let (reply, _) = fixture.while_asked(verb, told(answer)).await;
    assert_eq!(reply.body["text"], "in time");
    fixture.runner.at(session, SessionStatus::Exited).await;
}

#[tokio::test]
async fn requests_without_permission_do_not_reach_the_runner() {
    let mut fixture = Fixture::new().await;
    let (session, workspace) = (fixture.session.id, fixture.session.workspace);
    let text = SessionText { text: "rm -rf".into(), submit: true };
    for verb in [
        Call::SessionSend { session, input: text.clone() },
        Call::WorkspaceClean { workspace },
        Call::WorkspaceRestore { workspace, input: Default::default() },
    ] {
        assert_eq!(call(&fixture.hub, &fixture.pete, &verb).await.status, 403, "{}", verb.verb());
    }
    super::share(&fixture.hub, &fixture.olga, fixture.project, false).await;
    for verb in [
        Call::SessionSend { session, input: text },
        Call::SessionLog { session, page: LogPage::default() },
        Call::WorkspaceDiff { workspace },
        Call::RecordingShow { session },
        Call::RecordingPart { session, range: Default::default() },
    ] {
        assert_eq!(call(&fixture.hub, &fixture.pete, &verb).await.status, 404, "{}", verb.verb());
    }
    let asked = fixture.runner.sync().await;
    assert!(asked.is_empty(), "{asked:?}");
}

#[tokio::test]
async fn a_text_with_a_key_is_typed_once_at_most() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let send_it = |text: &str| {
        let path = format!("/api/sessions/{session}/send");
        let request = begin(&fixture.hub, Method::POST, &path).headers(fixture.olga.headers(fixture.hub.url()));
        send(request.header("idempotency-key", "once").json(&json!({ "text": text, "submit": true })))
    };
    let (first, again, other) = (send_it("go on"), send_it("go on"), send_it("something else"));
    let runner = &mut fixture.runner;
    let answering = async {
        let asked = runner.told("an ask", |frame| matches!(frame, ToRunner::Ask { .. })).await;
        let ToRunner::Ask { id, .. } = asked else { unreachable!() };
        runner.tell(&FromRunner::Told { id, answer: RunnerAnswer::Done }).await;
    };
    let (reply, ()) = tokio::join!(first, answering);
    assert_eq!(reply.status, 204);
    let repeated = again.await;
    assert_eq!(repeated.status, 409, "{}", repeated.text);
    assert!(repeated.text.contains("check before you repeat it"), "{}", repeated.text);
    assert_eq!(other.await.status, 409, "the key stands for another text");
    // The next question that the runner hears is this one: neither of those reached it.
    let log = SessionLog { text: String::new(), truncated: false, setup: false };
    let verb = Call::SessionLog { session, page: LogPage::default() };
    let (_, asked) = fixture.while_asked(verb, told(RunnerAnswer::Log(log))).await;
    assert!(matches!(asked, RunnerAsk::Log { .. }), "{asked:?}");
}
