//! Search in terminals: whom the hub asks about what, and what of the answers reaches whom.

use domain::{ProjectId, SessionId, Timestamp, Visibility};
use protocol::link::{FromRunner, RunnerAnswer, RunnerAsk, TerminalLine, TerminalLines, ToRunner};
use protocol::{Call, Problem, ProblemKind, Session, TerminalQuery};
use serde_json::{Value, json};

use super::{Fixture, project, share, spawn};
use crate::support::{Credential, FakeRunner, Reply, call, join, observe};

/// Longer than any answer takes on a busy machine.
fn patient(options: &mut hub::Options) {
    options.limits.search_milliseconds = 60_000;
}

fn verb(text: &str, project: Option<ProjectId>) -> Call {
    Call::SearchTerminals { query: TerminalQuery { text: text.into(), project, limit: None } }
}

fn line(session: SessionId, at_ms: i64, text: &str) -> TerminalLine {
    let at = Timestamp::from_millis(1_700_000_000_000 + at_ms);
    TerminalLine { session, at_ms: at_ms.cast_unsigned(), at, line: text.into() }
}

fn lines(lines: Vec<TerminalLine>) -> Result<RunnerAnswer, Problem> {
    Ok(RunnerAnswer::Lines(TerminalLines { lines, truncated: false }))
}

/// The verb's reply while each runner answers this; and the projects that the runners were asked about.
async fn asked(
    fixture: &mut Fixture,
    credential: &Credential,
    verb: &Call,
    others: Vec<(&mut FakeRunner, Result<RunnerAnswer, Problem>)>,
    answer: Result<RunnerAnswer, Problem>,
) -> (Reply, Vec<Vec<ProjectId>>) {
    let Fixture { hub, runner, .. } = fixture;
    let answering = async {
        let mut projects = Vec::new();
        for (runner, answer) in [(runner, answer)].into_iter().chain(others) {
            let asked = runner.told("an ask", |frame| matches!(frame, ToRunner::Ask { .. })).await;
            let ToRunner::Ask { id, ask: RunnerAsk::Search { projects: about, text, .. } } = asked else {
                panic!("{asked:?}")
            };
            assert_eq!(text, "narw");
            projects.push(about);
            let frame = match answer {
                Ok(answer) => FromRunner::Told { id, answer },
                Err(problem) => FromRunner::Refused { id, problem },
            };
            runner.tell(&frame).await;
        }
        projects
    };
    tokio::join!(call(hub, credential, verb), answering)
}

fn shown(reply: &Reply) -> Vec<String> {
    let text = |hit: &Value| {
        let pieces = hit["line"].as_array().into_iter().flatten();
        pieces.map(|piece| piece["text"].as_str().unwrap_or_default()).collect::<String>()
    };
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["hits"].as_array().expect("hits").iter().map(text).collect()
}

#[tokio::test]
async fn runners_are_asked_at_once_and_the_newest_lines_come_first() {
    let mut fixture = Fixture::with(patient).await;
    let (olga, mine) = (fixture.olga.clone(), fixture.session.clone());
    let mut second = FakeRunner::start(&fixture.hub, &fixture.pete, "laptop").await;
    let theirs = spawn(&fixture.hub, &fixture.pete, fixture.project, "their work").await;
    let own = lines(vec![line(mine.id, 5000, "a narwhal\u{1b}[31m"), line(mine.id, 1000, "the first narwhal")]);
    let others = vec![(&mut second, lines(vec![line(theirs.id, 3000, "their narwhal")]))];
    let (reply, projects) = asked(&mut fixture, &olga, &verb("narw", None), others, own).await;
    assert_eq!(shown(&reply), ["a narwhal[31m", "their narwhal", "the first narwhal"]);
    assert_eq!(projects, [[fixture.project], [fixture.project]]);
    let hit = &reply.body["hits"][0];
    assert_eq!(hit["line"][1], json!({ "text": "narwhal", "hit": true }), "{hit}");
    assert_eq!((&hit["session"], &hit["at_ms"], &hit["open"]), (&json!(mine.id), &json!(5000), &json!(true)));
    assert_eq!((&hit["title"], &hit["project"]), (&json!("work"), &json!(fixture.project)));
    assert_eq!((&reply.body["truncated"], &reply.body["unanswered"]), (&json!(false), &json!(0)));
}

#[tokio::test]
async fn search_results_of_a_runner_are_filtered_by_rights() {
    let mut fixture = Fixture::with(patient).await;
    let (olga, pete) = (fixture.olga.clone(), fixture.pete.clone());
    let hidden = project(&fixture.hub, &olga, Visibility::Private, false).await;
    let secret = spawn(&fixture.hub, &olga, hidden, "secret work").await;
    let kept = project(&fixture.hub, &olga, Visibility::ReadWrite, false).await;
    let private = spawn(&fixture.hub, &olga, kept, "work that is not shared").await;
    let all = |session: &Session| {
        let found = [session, &secret, &private].map(|one| line(one.id, 1000, &format!("narwhal {}", one.title)));
        lines(found.to_vec())
    };
    // The runner answers more than it was asked about.
    let answer = all(&fixture.session);
    let (reply, projects) = asked(&mut fixture, &pete, &verb("narw", None), vec![], answer).await;
    assert_eq!((shown(&reply), projects), (vec!["narwhal work".to_owned()], vec![vec![fixture.project]]));
    assert!(!reply.text.contains("secret") && !reply.text.contains("not shared"), "{}", reply.text);
    // Its owner sees all of them: the lines are there to be found.
    let answer = all(&fixture.session);
    let (reply, projects) = asked(&mut fixture, &olga, &verb("narw", None), vec![], answer).await;
    assert_eq!((shown(&reply).len(), projects[0].len()), (3, 3), "{}", reply.text);
    let (visitor, _) = observe(&fixture.hub, &olga, fixture.project).await;
    let answer = all(&fixture.session);
    let (reply, projects) = asked(&mut fixture, &visitor, &verb("narw", None), vec![], answer).await;
    assert_eq!((shown(&reply), projects), (vec!["narwhal work".to_owned()], vec![vec![fixture.project]]));
    // A project that is not shared is not asked about, and the other one not at all.
    share(&fixture.hub, &olga, fixture.project, false).await;
    for (credential, project, status) in
        [(&pete, None, 200), (&pete, Some(fixture.project), 200), (&pete, Some(hidden), 404), (&visitor, None, 200)]
    {
        let reply = call(&fixture.hub, credential, &verb("narw", project)).await;
        assert_eq!(reply.status, status, "{}", reply.text);
        assert!(status != 200 || shown(&reply).is_empty() && reply.body["unanswered"] == 0, "{}", reply.text);
    }
    assert!(fixture.runner.sync().await.is_empty(), "the runner was not asked");
}

#[tokio::test]
async fn a_runner_speaks_only_for_its_own_sessions() {
    let mut fixture = Fixture::with(patient).await;
    let pete = fixture.pete.clone();
    let mut other = FakeRunner::start(&fixture.hub, &pete, "laptop").await;
    let theirs = spawn(&fixture.hub, &pete, fixture.project, "their work").await;
    let forged = vec![(&mut other, lines(vec![line(fixture.session.id, 9000, "forged narwhal")]))];
    let own =
        lines(vec![line(fixture.session.id, 1000, "narwhal"), line(SessionId::generate(), 1, "narwhal of nothing")]);
    let (reply, _) = asked(&mut fixture, &pete, &verb("narw", None), forged, own).await;
    assert_eq!(shown(&reply), ["narwhal"], "{}", reply.text);
    assert!(!reply.text.contains(&theirs.id.to_string()));
}

#[tokio::test]
async fn an_answer_has_bounds() {
    let mut fixture = Fixture::with(patient).await;
    let (olga, session) = (fixture.olga.clone(), fixture.session.id);
    let many = (0..60).map(|number| line(session, number, &format!("narwhal {number} {}", "x".repeat(9000))));
    let many = lines(many.collect());
    let (reply, _) = asked(&mut fixture, &olga, &verb("narw", None), vec![], many).await;
    assert_eq!((shown(&reply).len(), &reply.body["truncated"]), (3, &json!(true)), "three of a session");
    assert!(reply.text.len() < 4000, "long lines are cut");
    for text in ["", " … "] {
        let reply = call(&fixture.hub, &olga, &verb(text, None)).await;
        assert!(reply.status == 200 || reply.status == 400, "{}", reply.text);
    }
    assert_eq!(call(&fixture.hub, &olga, &verb(&"x".repeat(201), None)).await.status, 400);
    assert!(fixture.runner.sync().await.is_empty(), "nothing to ask");
}

#[tokio::test]
async fn a_runner_that_does_not_answer_is_counted() {
    let mut fixture = Fixture::with(|options| options.limits.search_milliseconds = 1).await;
    let (hub, olga) = (&fixture.hub, &fixture.olga);
    // Connected, and silent.
    let reply = call(hub, olga, &verb("narw", None)).await;
    assert_eq!((shown(&reply).len(), &reply.body["unanswered"]), (0, &json!(1)), "{}", reply.text);
    let asked = fixture.runner.sync().await;
    assert_eq!(asked.len(), 1, "{asked:?}");

    let mut fixture = Fixture::with(patient).await;
    let olga = fixture.olga.clone();
    let busy = Err(Problem::new(ProblemKind::Unavailable, "the search of terminals took too long"));
    let (reply, _) = asked_once(&mut fixture, &olga, busy).await;
    assert_eq!((shown(&reply).len(), &reply.body["unanswered"]), (0, &json!(1)));
    let (reply, _) = asked_once(&mut fixture, &olga, Ok(RunnerAnswer::Done)).await;
    assert_eq!((shown(&reply).len(), &reply.body["unanswered"]), (0, &json!(1)), "an older runner");
    // Away.
    let _ = fixture.runner.stream.close(None).await;
    fixture.runner.until_closed().await;
    let reply = call(&fixture.hub, &olga, &verb("narw", None)).await;
    assert_eq!((shown(&reply).len(), &reply.body["unanswered"]), (0, &json!(1)));
    let stranger = join(&fixture.hub, "stranger").await;
    share(&fixture.hub, &olga, fixture.project, false).await;
    let reply = call(&fixture.hub, &stranger, &verb("narw", None)).await;
    assert_eq!(reply.body["unanswered"], 0, "nobody counts what they may not see: {}", reply.text);
}

async fn asked_once(
    fixture: &mut Fixture,
    credential: &Credential,
    answer: Result<RunnerAnswer, Problem>,
) -> (Reply, Vec<Vec<ProjectId>>) {
    asked(fixture, credential, &verb("narw", None), vec![], answer).await
}
