//! Requests and retries.

use std::time::{Duration, Instant};

use client::{Client, ClientError, Token};
use domain::{ProjectId, Timestamp, UserId, Visibility};
use protocol::{Answer, Call, Problem, ProblemKind, Project, ProjectCreate, UserRef};

use crate::fake_http::{Reply, serve};

fn project() -> Project {
    let at = Timestamp::from_millis(0);
    Project {
        id: ProjectId::generate(),
        name: "Parser".into(),
        key: "PARS".into(),
        owner: UserRef { id: UserId::generate(), name: "ann".into() },
        visibility: Visibility::Private,
        share_execution: false,
        archive_recordings: false,
        sandbox_others: false,
        retention_days: None,
        content: "Parser".into(),
        version: 1,
        repositories: Vec::new(),
        created_at: at,
        updated_at: at,
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

fn problem(kind: ProblemKind, headers: &'static str) -> Reply {
    Reply::Answer(kind.status(), headers, json(&Problem::new(kind, "no")))
}

fn create() -> Call {
    Call::ProjectCreate { input: ProjectCreate { content: "Parser".into(), ..Default::default() } }
}

#[tokio::test]
async fn a_change_is_retried_with_the_same_key() {
    let project = project();
    let script = vec![
        Reply::HangUp,
        problem(ProblemKind::Unavailable, ""),
        Reply::Answer(201, "content-type: application/json\r\n", json(&project)),
    ];
    let (url, served) = serve(script).await;
    let answer = Client::new(&url, "sf_secret").unwrap().call(create()).await.unwrap();
    assert_eq!(answer, Answer::Project(project));
    let asked = served.await.unwrap();
    let keys: Vec<_> = asked.iter().map(|asked| asked.header("idempotency-key").unwrap()).collect();
    assert!(keys[0].len() >= 32 && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    for asked in &asked {
        assert_eq!(asked.line, "POST /api/projects HTTP/1.1");
        assert_eq!(asked.header("authorization"), Some("Bearer sf_secret"));
        assert_eq!(asked.body, r#"{"content":"Parser"}"#);
    }
}

#[tokio::test]
async fn each_change_has_its_own_key_and_a_query_has_none() {
    let body = json(&project());
    let answers = || Reply::Answer(201, "", body.clone());
    let (url, served) = serve(vec![answers(), answers(), Reply::Answer(200, "", "[]".into())]).await;
    let client = Client::new(&url, "t").unwrap();
    client.ask::<Project>(create()).await.unwrap();
    client.ask::<Project>(create()).await.unwrap();
    client.ask::<Vec<Project>>(Call::ProjectList {}).await.unwrap();
    let asked = served.await.unwrap();
    assert_ne!(asked[0].header("idempotency-key"), asked[1].header("idempotency-key"));
    assert_eq!(asked[2].header("idempotency-key"), None);
}

#[tokio::test]
async fn a_busy_hub_is_retried_at_the_time_it_named() {
    let script = vec![problem(ProblemKind::RateLimited, "retry-after: 1\r\n"), Reply::Answer(200, "", "[]".into())];
    let (url, _served) = serve(script).await;
    let started = Instant::now();
    Client::new(&url, "t").unwrap().ask::<Vec<Project>>(Call::ProjectList {}).await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_left_to_the_caller() {
    let (url, served) = serve(vec![problem(ProblemKind::RateLimited, "retry-after: 3600\r\n")]).await;
    let error = Client::new(&url, "t").unwrap().call(Call::ProjectList {}).await.unwrap_err();
    assert_eq!(error.problem().unwrap().retry_after_seconds, Some(3600));
    assert_eq!(served.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_refusal_is_not_retried() {
    for kind in [ProblemKind::Conflict, ProblemKind::NotFound, ProblemKind::Invalid, ProblemKind::Internal] {
        let (url, served) = serve(vec![problem(kind, "")]).await;
        let error = Client::new(&url, "t").unwrap().call(create()).await.unwrap_err();
        assert_eq!(error.problem().map(|problem| problem.kind), Some(kind));
        assert_eq!(served.await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_from_a_hub_is_reported() {
    let (url, _served) = serve(vec![Reply::Answer(404, "", "<html>".into())]).await;
    let error = Client::new(&url, "t").unwrap().call(Call::Me {}).await.unwrap_err();
    assert!(matches!(&error, ClientError::Protocol(detail) if detail.contains("Shopfloor hub")), "{error:?}");
    let (url, _served) = serve(vec![Reply::Answer(200, "", "{}".into())]).await;
    let error = Client::new(&url, "t").unwrap().call(Call::Me {}).await.unwrap_err();
    assert!(matches!(&error, ClientError::Protocol(detail) if detail.contains("answer to me")), "{error:?}");
}

#[tokio::test]
async fn a_token_is_not_sent_to_a_redirect_target() {
    let (url, served) = serve(vec![Reply::Answer(307, "location: http://127.0.0.1:1/\r\n", String::new())]).await;
    let error = Client::new(&url, "t").unwrap().call(Call::Me {}).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error:?}");
    assert_eq!(served.await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_address_without_a_hub_is_unreachable() {
    let (url, served) = serve(Vec::new()).await;
    served.await.unwrap();
    let error = Client::new(&url, "t").unwrap().call(create()).await.unwrap_err();
    assert!(matches!(&error, ClientError::Unreachable { url: named, .. } if *named == url), "{error:?}");
}

#[tokio::test]
async fn a_token_file_is_read_for_each_request_and_again_after_a_refusal() {
    let answered = || Reply::Answer(201, "content-type: application/json\r\n", json(&project()));
    let (url, served) = serve(vec![answered(), problem(ProblemKind::Unauthenticated, ""), answered()]).await;
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("token-of-{}", std::process::id()));
    let client = Client::with(&url, Token::File(path.clone())).unwrap();
    std::fs::write(&path, "sf_one\n").unwrap();
    client.call(create()).await.unwrap();
    std::fs::write(&path, "sf_two").unwrap();
    client.call(create()).await.unwrap();
    let asked = served.await.unwrap();
    let tokens: Vec<_> = asked.iter().map(|asked| asked.header("authorization").unwrap()).collect();
    assert_eq!(tokens, ["Bearer sf_one", "Bearer sf_two", "Bearer sf_two"]);
    std::fs::remove_file(path).unwrap();
}
